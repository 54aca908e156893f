"""States leave a game, are kept, copied and sent, and come back only where they belong."""

import copy
import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from messages import assert_one_sentence

import hanamachi
from hanamachi import UserError
from hanamachi.adapters.aec import AEC
from hanamachi.adapters.gymnasium import SeatEnv
from hanamachi.engine import contract, kernels
from hanamachi.sessions import states
from hanamachi.sessions.states import checked_state, state_of

SMALL = {"colours": 2, "ranks": 3}


def begun(id="hanabi:2p", seed=3, **options):
    env = AEC(id, **options)
    env.reset(seed=seed)
    return env


def refusal(call):
    """The sentence with which it is refused."""
    with pytest.raises(UserError) as error:
        call()
    return assert_one_sentence(error.value)


@pytest.mark.parametrize(
    "way", [copy.copy, copy.deepcopy, lambda state: pickle.loads(pickle.dumps(state))]
)
def test_a_state_can_be_copied_sent_and_compared(way):
    env = begun()
    state = env.get_state()
    assert way(state) == state
    assert hash(way(state)) == hash(state)
    env.step(int(env.observe("player_0")["action_mask"].argmax()) or 5)
    assert env.get_state() != state
    env.set_state(way(state))
    assert env.get_state() == state


def test_a_state_never_changes():
    state = begun().get_state()
    with pytest.raises(FrozenInstanceError):
        state.data = b""
    with pytest.raises(ValueError, match="read-only"):
        state.record["clues"] = 0


def test_a_state_of_a_variant_that_does_not_exist_has_no_record():
    state = replace(begun().get_state(), variant="hanabi:9p")
    assert "hanabi:9p" in refusal(lambda: state.record)


def test_a_state_goes_to_every_game_of_the_same_variant_and_options():
    state = begun("hanabi:2p", **SMALL).get_state()
    for other in (AEC("hanabi:2p", **SMALL), AEC("hanabi:2p", ranks=3, colours=2)):
        other.set_state(state)
        assert other.get_state() == state
    SeatEnv("hanabi:2p", **SMALL).reset(options={"state": state})


@pytest.mark.parametrize(
    ("id", "options"),
    [("hanabi:3p", {}), ("hanabi:2p:multicolour", {}), ("hanamikoji", {}), ("hanabi:2p", SMALL)],
)
def test_a_state_of_another_variant_or_other_options_is_refused_by_name(id, options):
    env = begun("hanabi:2p")
    before, state = env.get_state(), begun(id, **options).get_state()
    for call in (lambda: env.set_state(state), lambda: env.reset(options={"state": state})):
        sentence = refusal(call)
        assert id in sentence
        assert "hanabi:2p" in sentence
        assert env.get_state() == before


@pytest.mark.parametrize("state", [None, 3, "x", b"", np.zeros(3), begun().get_state().record])
def test_only_a_state_is_a_state(state):
    env = begun()
    before = env.get_state()
    assert "get_state" in refusal(lambda: env.set_state(state))
    assert env.get_state() == before


@pytest.mark.parametrize("data", [b"", b"\0" * 8, "text", None])
def test_a_state_whose_bytes_were_cut_is_refused(data):
    env = begun()
    assert "hanabi:2p" in refusal(lambda: env.set_state(replace(env.get_state(), data=data)))


def test_an_altered_state_is_refused_and_the_game_stays():
    env = begun()
    before, record = env.get_state(), env.get_state().record.copy()
    record["clues"] = 9
    altered = replace(before, data=record.tobytes())
    assert "hanabi:2p" in refusal(lambda: env.set_state(altered))
    assert env.get_state() == before


def test_before_the_first_game_there_is_no_state():
    assert "reset" in refusal(AEC("hanamikoji").get_state)


# --- A game that cannot judge positions


@pytest.fixture
def simple(monkeypatch):
    """Hanamikoji without `valid`."""
    monkeypatch.setattr(contract, "IMPLEMENTATIONS", dict(contract.IMPLEMENTATIONS))
    whole = hanamachi.variant("hanamikoji")
    functions = {name: f for name, f in whole.game.functions.items() if name != "valid"}
    return replace(whole, game=replace(whole.game, functions=functions))


@pytest.fixture
def state(simple):
    games = simple.new(np.arange(1, dtype=np.uint64))
    kernels.reset(simple.rule_set, games)
    return state_of(simple, games)


def test_a_simple_game_takes_back_what_this_process_handed_out(simple, state):
    sent = pickle.loads(pickle.dumps(state))
    assert checked_state(simple, sent).tobytes() == state.data


def test_a_simple_game_refuses_what_was_altered_or_made_elsewhere(simple, state, monkeypatch):
    other = bytearray(state.data)
    other[20] ^= 1
    altered = replace(state, data=bytes(other))
    assert "hanamikoji lacks valid" in refusal(lambda: checked_state(simple, altered))
    monkeypatch.setattr(states, "KEY", b"another process")
    assert "hanamikoji lacks valid" in refusal(lambda: checked_state(simple, state))


def test_a_reset_that_is_refused_leaves_a_game_from_a_state_as_it_was():
    env = begun()
    env.set_state(env.get_state())
    before = env.unwrapped.worlds().view(0)
    with pytest.raises(UserError, match="deal"):
        env.reset(seed=9, options={"deal": [10**6]})
    assert env.unwrapped.worlds().view(0) == before
