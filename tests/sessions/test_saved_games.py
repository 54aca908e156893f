"""Any game can be saved, and played again to the last bit."""

import json
from contextlib import suppress
from itertools import repeat

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from messages import assert_one_sentence
from samples import sample

import hanamachi
from hanamachi import UserError, variant
from hanamachi.adapters.aec import AEC
from hanamachi.adapters.gymnasium import SeatEnv
from hanamachi.engine.contract import OVER
from hanamachi.limits import RECORD_BYTES
from hanamachi.sessions.saved_games import KEYS, Record, load, positions, replay, save

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


def test_before_a_game_there_is_none_to_save():
    with pytest.raises(UserError, match="call reset"):
        AEC("hanamikoji").record()


def test_an_action_after_the_end_is_refused():
    whole = played("hanabi:2p", steps=200).record()
    assert replay(whole).mover == OVER
    longer = Record(whole.variant, whole.generator, whole.chance, (*whole.actions, 0))
    with pytest.raises(UserError, match="after the end"):
        replay(longer)


def test_saving_where_nothing_can_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="is a file"):
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
    assert_one_sentence(error.value)


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


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@settings(
    max_examples=sample(2_000, 0.05),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(field=st.sampled_from(sorted(KEYS)), value=JSON)
def test_any_value_in_a_record_is_refused_or_harmless(field, value, content, tmp_path):
    with suppress(UserError):
        assert isinstance(load_json(content | {field: value}, tmp_path), Record)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("options", {"cards": "[" * 600}),
        ("options", {"cards": "9" * 4_000}),
        ("options", {"\ud800": 1}),
        ("variant", "\0"),
        ("chance", [2**63]),
        ("chance", [10**4_000]),
        ("chance", [0] * 100_000),
        ("actions", [-(2**64)]),
        ("actions", [10**4_000]),
    ],
    ids=lambda value: str(value)[:20],
)
def test_values_beyond_all_bounds_are_refused_in_a_sentence(field, value, content, tmp_path):
    with pytest.raises(UserError) as error:
        load_json(content | {field: value}, tmp_path)
    assert_one_sentence(error.value)


def test_a_record_nested_deep_or_larger_than_any_game_is_refused(content, tmp_path):
    deep = json.dumps(content).replace('"random"', "[" * 600 + "]" * 600)
    large = json.dumps(content) + " " * RECORD_BYTES
    for text in (deep, large):
        with pytest.raises(UserError):
            load_json(text, tmp_path)


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "", "x" * 5_000])
def test_a_name_that_no_file_can_have_is_refused(name, tmp_path):
    record = played().record()
    for call in (lambda: load(f"{tmp_path}/{name}"), lambda: save(record, f"{tmp_path}/{name}")):
        with pytest.raises(UserError) as error:
            call()
        assert_one_sentence(error.value)


def test_a_deal_without_an_end_is_refused():
    with pytest.raises(UserError, match="deal"):
        AEC("hanamikoji").reset(options={"deal": repeat(0)})


def test_a_record_may_be_written_by_hand():
    env = played()
    record = env.record()
    written = Record(variant("hanamikoji"), record.generator, (), record.actions)
    assert replay(written).get_state() == env.get_state()


@pytest.mark.parametrize("moves", [-1, 1.5, True])
def test_only_a_number_of_first_moves_is_replayed(moves):
    record = played().record()
    with pytest.raises(UserError, match="moves"):
        replay(record, moves)


@pytest.mark.parametrize("path", [None, 5], ids=str)
def test_only_texts_and_paths_name_a_saved_game(path):
    for use in load, lambda path: save(played().record(), path):
        with pytest.raises(UserError, match="path"):
            use(path)
