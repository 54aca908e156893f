"""TextArena plays the same games as TextGame, and tells each player the same."""

import copy
from typing import Any

import pytest

from hanamachi.adapters.text import TextGame
from hanamachi.errors import UserError

ta = pytest.importorskip("textarena")

from hanamachi.adapters.textarena import TextArenaEnv  # noqa: E402

pytestmark = pytest.mark.uncompiled


def begun(id: str = "hanamikoji", seed: int = 1, **settings: Any) -> TextArenaEnv:
    env = TextArenaEnv(id, **settings)
    env.reset(num_players=env.game.variant.seats, seed=seed)
    return env


def last_legal(game: TextGame) -> str:
    return f"I see. <action>{list(game.legal().values())[-1]}</action>"


@pytest.mark.parametrize("id", ["hanamikoji", "hanabi:3p"])
def test_a_game_is_that_of_text_game(id: str) -> None:
    env, plain = begun(id, prompt="deductions"), TextGame(id, prompt="deductions")
    told: dict[int, list[str]] = {player: [] for player in range(plain.variant.seats)}
    plain.reset(seed=1)
    done = False
    while not done:
        player, observations = env.get_observation()
        told[player] += [words for _, words, _ in observations]
        talk = [message["content"] for message in plain.messages(player)]
        assert told[player] == talk, "the rules, then turns and replies"
        done, info = env.step(last_legal(env.game))
        step = plain.step(last_legal(plain))
        assert info == {"illegal": None}
        assert done == step.done
    rewards, game_info = env.close()
    assert rewards == dict(enumerate(step.info["returns"]))
    assert {each["reason"] for each in game_info.values()} == {plain.result()}
    assert sum(each["turn_count"] for each in game_info.values()) == len(plain.session.actions)


def test_a_model_reads_one_text_of_all_that_it_was_told() -> None:
    env = ta.wrappers.LLMObservationWrapper(TextArenaEnv("hanamikoji"))
    env.reset(num_players=2, seed=1)
    for _ in range(4):
        player, observation = env.get_observation()
        assert f"You are player {player}." in observation
        env.step(action=last_legal(env.game))


@pytest.mark.parametrize("reply", ["I would rather not say.", "", 5, None, b"x"], ids=repr)
def test_an_illegal_reply_is_asked_again_and_then_forfeits(reply: Any) -> None:
    env = begun(illegal="retry:1")
    player, _ = env.get_observation()
    done, info = env.step(reply)
    again, observations = env.get_observation()
    assert (done, again) == (False, player)
    assert info["illegal"]
    assert observations[-1][2] is ta.ObservationType.GAME_ADMIN
    assert env.step(reply)[0]
    rewards, game_info = env.close()
    assert rewards == {player: -1, 1 - player: 1}
    assert game_info[player]["invalid_move"]
    assert not game_info[1 - player]["invalid_move"]


def test_a_copy_is_a_game_of_its_own() -> None:
    env = begun()
    other = copy.deepcopy(env)
    env.step(last_legal(env.game))
    assert (len(env.game.session.actions), len(other.game.session.actions)) == (1, 0)
    other.step(last_legal(other.game))
    assert env.get_observation() == other.get_observation()


@pytest.mark.parametrize("players", [1, 3, None, "2"])
def test_another_number_of_players_is_refused(players: Any) -> None:
    with pytest.raises(UserError, match="2 players"):
        TextArenaEnv("hanamikoji").reset(num_players=players)


def test_a_step_without_a_game_is_refused() -> None:
    with pytest.raises(UserError, match="reset"):
        TextArenaEnv("hanamikoji").step("secret 5")
    env = begun(illegal="forfeit")
    env.step("nothing")
    with pytest.raises(UserError, match="reset"):
        env.step("nothing")
