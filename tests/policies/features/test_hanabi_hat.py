"""The feature set `hat` says what the policy `hat` works out, and nothing that is not so."""

import numpy as np
import pytest
from samples import sample

from hanamachi.errors import UserError
from hanamachi.games.hanabi.rules import CLUE, DISCARD, NONE, PLAY
from hanamachi.games.registry import variant as make_variant
from hanamachi.policies import load_policy
from hanamachi.policies.features.base import Features
from hanamachi.policies.features.hanabi import GROUPS
from hanamachi.policies.features.hanabi_hat import CHOICES, CLUE_EFFECTS, SIGNS, TRUTHS
from hanamachi.policies.rules import hanabi_hat
from hanamachi.policies.sampling import sample as draw
from hanamachi.training.config import Config
from hanamachi.training.learner.vecenv import SelfPlayVecEnv

ROWS = 8


@pytest.fixture(params=["hanabi:3p", "hanabi:4p", "hanabi:3p:multicolour"])
def variant(request):
    return make_variant(request.param)


class Segments:
    """The features of one decision, by the names of their segments."""

    def __init__(self, layout, row):
        self.layout, self.row = layout, row

    def __call__(self, name, *shape):
        return self.row[self.layout.slice(name)].reshape(shape)


class Played:
    """Games of `hat`, a share of the moves left to the dice, and the features at every decision."""

    def __init__(self, variant, astray=0.0):
        self.hat, self.astray = load_policy("hat", variant.id), astray
        self.features, self.env = Features(variant, ["hat"]), SelfPlayVecEnv(variant, ROWS, 0)
        shape = (ROWS, variant.seats)
        self.memory = np.zeros((*shape, self.hat.initial_memory(1).shape[1]), np.int32)
        self.env.reset()

    def decisions(self, steps):
        """At each: the game, the features by segment, and the scores of `hat`, by row."""
        rng, rows = np.random.default_rng(1), np.arange(ROWS)
        for _ in range(steps):
            env, movers = self.env, self.env.games["mover"].astype(np.int64)
            given = env.observations.copy(), env.masks.copy(), self.memory[rows, movers]
            scores, after = self.hat.scores(*given)
            extended, memory = self.features.extend(*given)
            np.testing.assert_array_equal(memory, after)
            for game, row, score in zip(env.games, extended, scores, strict=True):
                yield game, Segments(self.features.layout, row), score
            self.memory[rows, movers] = after
            dice = given[1] / given[1].sum(1, keepdims=True)
            best = np.eye(len(dice[0]))[scores.argmax(1)]
            chances = np.where(rng.random((ROWS, 1)) < self.astray, dice, best)
            env.advance(draw(chances, rng.random(ROWS)))
            self.memory[env.terminated] = 0


def test_among_hat_players_my_true_cards_are_possible(variant):
    rule_set = variant.rule_set
    each = int(rule_set.cards) + GROUPS + SIGNS
    for game, features, _ in Played(variant).decisions(sample(2_000, 0.05)):
        hand = game["hand"][game["mover"]][: rule_set.hand_size]
        chances = features("my hat reading", -1, each)[:, : rule_set.cards]
        for slot in np.flatnonzero(hand != NONE):
            assert chances[slot, hand[slot]] > 0
            assert chances[slot].sum() == pytest.approx(1, abs=1e-5)


def test_the_right_clues_are_those_that_hat_would_give(variant):
    rule_set, right = variant.rule_set, 0
    for _, features, scores in Played(variant, 0.125).decisions(sample(2_000, 0.05)):
        sums = features("sums", -1, CLUE_EFFECTS)
        clues = scores[rule_set.first[CLUE] : rule_set.first[CLUE + 1]]
        legal = np.isfinite(clues)
        np.testing.assert_array_equal(sums[legal, 0] == 1, clues[legal] >= hanabi_hat.CLUE)
        right += np.count_nonzero(sums[:, 0])
    assert right > 0


def test_the_right_choices_of_three_players_are_those_that_hat_would_make():
    variant = make_variant("hanabi:3p")
    first, hand_size = variant.rule_set.first, int(variant.rule_set.hand_size)
    wrong = 0
    for _, features, scores in Played(variant, 0.125).decisions(sample(2_000, 0.05)):
        choices = features("choices", hand_size, CHOICES)
        for i, did in enumerate((PLAY, DISCARD)):
            slots = scores[first[did] : first[did] + hand_size]
            legal = np.isfinite(slots)
            is_wrong = slots[legal] == hanabi_hat.WRONG_SUM
            np.testing.assert_array_equal(choices[legal, i] == 0, is_wrong)
            wrong += np.count_nonzero(is_wrong)
    assert wrong > 0


def test_the_truth_is_of_the_cards_that_i_see(variant):
    rule_set = variant.rule_set
    for game, features, _ in Played(variant, 0.125).decisions(sample(200, 0.1)):
        truth = features("true cards", variant.seats - 1, -1, TRUTHS)
        for side in range(1, variant.seats):
            hand = game["hand"][(game["mover"] + side) % variant.seats][: rule_set.hand_size]
            for slot in np.flatnonzero(hand != NONE):
                suit, rank = divmod(int(hand[slot]), int(rule_set.ranks))
                assert truth[side - 1, slot, 0] == (game["fireworks"][suit] == rank)


def test_two_players_are_refused():
    with pytest.raises(UserError, match="three players"):
        Config.from_dict({"game": "hanabi:2p", "network": {"features": ["hat"]}})
