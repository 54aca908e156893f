"""The Gymnasium environment in words."""

from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from samples import sample

import hanamachi
from hanamachi.adapters.gymnasium import SeatEnv
from hanamachi.adapters.gymnasium_text import TextEnv
from hanamachi.adapters.gymnasium_vector import VectorSeatEnv
from hanamachi.adapters.text import PROMPTS, ScriptedModel
from hanamachi.errors import UserError

every_variant = pytest.mark.parametrize("id", hanamachi.VARIANTS)


def played(env: TextEnv, model: str, seed: int) -> float:
    """What a policy behind words earns in a game."""
    env.reset(seed=seed)
    player, over, total = ScriptedModel(model, env.game, np.random.default_rng(seed)), False, 0.0
    while not over:
        assert env.game.session.mover == env.seat
        _, reward, over, _, _ = env.step(player.reply())
        total += reward
    return total


@pytest.mark.filterwarnings("ignore:.*is not within the observation space")
@every_variant
def test_gymnasium_finds_nothing_wrong(id: str) -> None:
    check_env(TextEnv(id, illegal="random"), skip_render_check=True, skip_close_check=True)


@every_variant
@pytest.mark.parametrize("prompt", PROMPTS)
def test_every_prompt_lies_in_the_observation_space(id: str, prompt: str) -> None:
    env = TextEnv(id, prompt=prompt)
    told, _ = env.reset(seed=0)
    player, over = ScriptedModel("random", env.game, np.random.default_rng(0)), False
    while not over:
        assert told in env.observation_space
        told, _, over, _, _ = env.step(player.reply())
    assert told in env.observation_space


def test_an_expert_behind_words_beats_random() -> None:
    env = TextEnv("hanamikoji", opponent="random")
    results = [played(env, "expert", seed) for seed in range(sample(200, 0.15))]
    assert np.mean(np.array(results) > 0) > 0.8


@pytest.mark.parametrize("id", ["hanamikoji", "hanabi:3p", "geishas_road:2021"])
def test_it_is_the_game_that_is_played_by_numbers(id: str) -> None:
    """The same seed and actions bring the same rewards."""
    words, numbers = TextEnv(id, opponent="expert"), SeatEnv(id, opponent="expert")
    words.reset(seed=5)
    _, info = numbers.reset(seed=5)
    assert words.seat == numbers.seat
    over = False
    while not over:
        action = int(info["action_mask"].argmax())
        _, reward, over, _, _ = words.step(words.game.legal()[action])
        _, same, same_over, _, info = numbers.step(action)
        assert (reward, over) == (same, same_over)


def test_an_illegal_reply_is_asked_again_and_then_loses() -> None:
    env = TextEnv("hanamikoji", seat=0, illegal="retry:1", starter=0)
    env.reset(seed=0)
    prompt, reward, over, _, info = env.step("no idea")
    assert (reward, over) == (0, False)
    assert info["illegal"].lower() in prompt.lower()
    assert [message["role"] for message in info["messages"]][-2:] == ["assistant", "user"]
    prompt, reward, over, _, info = env.step("no idea")
    assert (reward, over) == (-1, True)
    with pytest.raises(UserError, match="reset"):
        env.step("secret 5")


def test_the_model_never_moves_for_an_opponent_that_has_failed() -> None:
    def fails(observation: Any, mask: Any) -> int:
        raise KeyboardInterrupt

    env = TextEnv("hanamikoji", seat=0, starter=0, opponent=fails)
    env.reset(seed=1)
    reply = next(iter(env.game.legal().values()))
    with pytest.raises(KeyboardInterrupt):
        env.step(reply)
    with pytest.raises(UserError, match="opponent failed"):
        env.step(reply)


def test_a_seed_is_checked_before_the_game_in_progress_is_left() -> None:
    env = TextEnv("hanamikoji", seat=0, starter=0)
    assert (
        env.reset(seed=np.int64(3))[0] == TextEnv("hanamikoji", seat=0, starter=0).reset(seed=3)[0]
    )
    for seed in (-1, 2**64):
        with pytest.raises(UserError, match="seed"):
            env.reset(seed=seed)
    env.step(next(iter(env.game.legal().values())))


def test_the_seed_of_a_game_in_words_is_the_opponents_too() -> None:
    def talk(env: TextEnv) -> Any:
        _, info = env.reset()
        over = False
        while not over:
            reply = next(iter(env.game.legal().values()))
            _, _, over, _, info = env.step(reply)
        return info["messages"]

    first, second = (TextEnv("hanamikoji", seed=5, max_rounds=1) for _ in range(2))
    assert talk(first) == talk(second)
    assert talk(first) == talk(second), "the games that follow are the same, too"


def test_a_seat_is_drawn_for_each_game_or_chosen() -> None:
    env = TextEnv("hanabi:5p")
    assert len({env.reset(seed=seed)[1]["seat"] for seed in range(20)}) == 5
    assert TextEnv("hanabi:5p", seat=4).reset(seed=0)[1]["seat"] == 4
    with pytest.raises(UserError):
        TextEnv("hanabi:5p", seat=5)


@pytest.mark.parametrize("opponent", [None, lambda observation, mask: int(mask.argmax())])
def test_the_same_seed_draws_the_same_seat_in_every_environment(opponent: Any) -> None:
    many = VectorSeatEnv("hanabi:3p", 8, opponent=opponent)
    many.reset(seed=0)
    one, words = (make("hanabi:3p", opponent=opponent) for make in (SeatEnv, TextEnv))
    drawn = []
    for seed in range(8):
        one.reset(seed=seed)
        drawn.append(one.seat)
        assert words.reset(seed=seed)[1]["seat"] == one.seat
    assert many.worlds()._seats.tolist() == drawn
    assert set(drawn) == {0, 1, 2}
