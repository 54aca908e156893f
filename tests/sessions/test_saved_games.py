"""Any game can be saved, and played again to the last bit."""

import json

import numpy as np
import pytest

import hanamachi
from hanamachi import UserError, variant
from hanamachi.adapters.aec import AEC
from hanamachi.adapters.gymnasium import SeatEnv
from hanamachi.sessions.saved_games import Record, load, positions, replay, save

pytestmark = pytest.mark.uncompiled


def played(id="hanamikoji", steps=40, seed=3, deal=(), **options):
    """An environment in or after a game of random legal play."""
    env = AEC(id, **options)
    env.reset(seed=seed, options={"deal": deal})
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        if not env.terminations[env.agent_selection]:
            env.step(rng.choice(np.flatnonzero(env.last()[0]["action_mask"])))
    return env


@pytest.mark.parametrize("id", hanamachi.VARIANTS)
def test_a_game_is_replayed_to_the_bit(id, tmp_path):
    for seed in range(20):
        env = played(id, steps=5 * seed, seed=seed)
        save(env.record(), tmp_path / "game.json")
        again = replay(load(tmp_path / "game.json"))
        assert again.get_state() == env.get_state()


@pytest.mark.parametrize(
    ("id", "deal"),
    [
        ("hanamikoji", [6, 6, 6, 6, 5, 5, 5, 4, 4, 4, 3, 3, 6]),
        ("geishas_road:2021", range(12)),
        ("geishas_road:advanced", [4, 4, 4, 3, 3, 3, 2, 2, 2, 19, 18, 17]),
        ("hanabi:3p", [0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 5, 5, 6, 6, 7]),
    ],
)
def test_a_second_game_and_a_dealt_game_are_replayed_to_the_bit(id, deal, tmp_path):
    env = played(id, starter=0)
    env.reset(options={"deal": deal})
    env.step(env.last()[0]["action_mask"].argmax())
    save(env.record(), tmp_path / "game.json")
    assert replay(load(tmp_path / "game.json")).get_state() == env.get_state()


def test_a_position_for_each_action_and_words_for_it():
    env = played(max_rounds=1)
    record = env.record()
    steps = list(positions(record))
    assert len(steps) == 1 + len(record.actions)
    assert steps[-1][0] == env.get_state().record
    assert steps[0][0]["turn"] == 0
    words = [happened.split(": ")[1].split()[0] for _, happened in steps[1:]]
    assert set(words) == {"secret", "trade-off", "gift", "competition", "take"}


def test_the_game_of_a_single_agent_is_recorded_with_the_opponents_moves():
    env = SeatEnv("hanamikoji", seat=1, starter=0)
    _, info = env.reset(seed=2)
    env.step(info["action_mask"].argmax())
    assert len(env.record().actions) >= 2
    assert len(list(positions(env.record()))) == len(env.record().actions) + 1


def test_a_game_from_a_position_cannot_be_saved():
    env = played(steps=3)
    env.set_state(env.get_state())
    with pytest.raises(UserError, match="given position"):
        env.record()


def test_saving_where_nothing_can_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot write"):
        save(played().record(), tmp_path / "file" / "game.json")


@pytest.fixture
def content(tmp_path):
    save(played(max_rounds=1).record(), tmp_path / "game.json")
    return json.loads((tmp_path / "game.json").read_text())


def load_json(content, tmp_path):
    path = tmp_path / "changed.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return load(path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"hanamachi_record": 2}, "another version"),
        ({"variant": "chess"}, "no game 'chess'"),
        ({"variant": ["hanamikoji"]}, "names no variant"),
        ({"options": {"max_round": 1}}, "did you mean max_rounds"),
        ({"options": {"cards": [2, 2]}}, "cards"),
        ({"catalogue": "0"}, "numbered as in another version"),
        ({"generator": "0x0000000000000000"}, "generator must be"),
        ({"generator": 5}, "generator must be"),
        ({"chance": "0, 1"}, "chance must be a list"),
        ({"actions": [1.5]}, "actions must be a list"),
        ({"actions": [499]}, "may not take"),
        ({"actions": [10**30]}, "no action 1000"),
        ({"chance": [0, 9]}, r"deal\[1\] is 9"),
        ({"surprise": 1}, "does not have the keys"),
    ],
)
def test_a_changed_file_is_refused_in_one_sentence(change, sentence, content, tmp_path):
    with pytest.raises(UserError, match=sentence) as error:
        load_json(content | change, tmp_path)
    assert "\n" not in str(error.value)


def test_a_cut_file_is_refused_wherever_it_is_cut(content, tmp_path):
    text = json.dumps(content)
    for end in range(0, len(text), 7):
        with pytest.raises(UserError, match="no saved game"):
            load_json(text[:end], tmp_path)
    with pytest.raises(UserError, match="deal was cut"):
        load_json(content | {"chance": content["chance"][:-1]}, tmp_path)
    with pytest.raises(UserError, match="deal was cut"):
        load_json(content | {"chance": [*content["chance"], 0]}, tmp_path)
    with pytest.raises(UserError, match="No such file"):
        load(tmp_path / "nowhere.json")


def test_random_changes_are_refused_or_harmless(content, tmp_path):
    text, rng, refused = json.dumps(content), np.random.default_rng(0), 0
    for _ in range(300):
        place = rng.integers(len(text))
        changed = text[:place] + chr(rng.integers(32, 127)) + text[place + 1 :]
        try:
            record = load_json(changed, tmp_path)
        except UserError:
            refused += 1
        else:
            assert isinstance(record, Record)
    assert refused > 200


def test_a_record_may_be_written_by_hand():
    env = played()
    record = env.record()
    written = Record(variant("hanamikoji"), record.generator, (), record.actions)
    assert replay(written).get_state() == env.get_state()
