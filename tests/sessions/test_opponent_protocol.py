"""Opponents: random play is fair, and what cannot play is refused in one sentence."""

import numpy as np
import pytest

from hanamachi.errors import IllegalAction, UserError
from hanamachi.games.registry import variant
from hanamachi.policies.user_functions import as_policy
from hanamachi.sessions.opponent_protocol import RandomPlay, as_opponent
from hanamachi.sessions.policy_checks import actions_of

both_uses = pytest.mark.parametrize("use", [as_opponent, as_policy])  # of a function of one game


def test_the_random_opponent_chooses_every_legal_action_equally_often():
    mask = np.zeros((6000, 5), np.int8)
    mask[:, [0, 2, 3]] = 1
    actions, _ = RandomPlay().act(mask, mask, mask, np.random.default_rng(0))
    counts = np.bincount(actions, minlength=5)
    assert counts[[1, 4]].tolist() == [0, 0]
    assert (abs(counts[[0, 2, 3]] - 2000) < 200).all()


def test_a_class_is_refused_in_the_place_of_an_opponent():
    with pytest.raises(UserError, match=r"RandomPlay\(\)"):
        as_opponent(RandomPlay, variant("hanamikoji"))


def test_an_opponent_may_have_a_variant_of_its_own_kind():
    opponent = RandomPlay()
    opponent.variant = "the strongest one"
    assert as_opponent(opponent, variant("hanamikoji")) is opponent


def chosen(use, answer):
    """The actions in two games, in which actions 1 and 3 are legal, of what answers this."""
    game = variant("hanamikoji")
    seen = np.zeros((2, game.observation.size), np.float32)
    masks = np.zeros((2, game.actions.size), np.int8)
    masks[:, [1, 3]] = 1
    asked = use(lambda observation, mask: answer, game)
    actions, _ = actions_of(asked, seen, masks, np.zeros((2, 0)), np.random.default_rng(0))
    return actions.tolist()


@both_uses
@pytest.mark.parametrize("answer", [3, np.int8(3), np.array(3)], ids=repr)
def test_a_function_may_choose_by_a_whole_number_of_any_type(use, answer):
    assert chosen(use, answer) == [3, 3]


@both_uses
@pytest.mark.parametrize("answer", [True, 1.0, "1", None, np.array([1]), np.array(True)], ids=repr)
def test_a_function_that_chooses_no_whole_number_is_refused(use, answer):
    with pytest.raises(UserError, match="whole number"):
        chosen(use, answer)


@both_uses
@pytest.mark.parametrize("answer", [0, -1, 10_000, 10**30])
def test_a_function_that_chooses_an_illegal_action_learns_how_many_are_legal(use, answer):
    with pytest.raises(IllegalAction, match="2 legal"):
        chosen(use, answer)
