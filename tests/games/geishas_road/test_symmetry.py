"""Under a symmetry, a game looks as the game with the circle of houses turned does."""

import re

import numpy as np
import pytest
from geishas_road_positions import VARIANTS
from hypothesis import given, settings
from hypothesis import strategies as st
from positions import Table, observed

from hanamachi.engine import kernels
from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.games.geishas_road.rules import DEAL, DRAW, DRAW_MARKERS, REDRAW

CARD_BY_CARD = "slots", "prospects", "gains", "harvest"  # as the hand lists its cards
PLACE_BY_PLACE = "pairs", "picked", "orders", "countered", "face down", "to play"

WITHOUT_OFFERS = "reveal", "intrigue"
GAMES = [
    (variant.id, {**variant.options, "starter": 0, **fewer})
    for variant in VARIANTS
    for fewer in ({}, {"actions": WITHOUT_OFFERS})
]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.id)
def test_there_is_one_for_each_turn_and_the_first_changes_nothing(variant):
    for table in variant.symmetries:
        assert (table[0] == np.arange(table.shape[1])).all()
        assert len(table) == variant.options["colours"]
        assert (np.sort(table, axis=1) == table[0]).all()
    assert len(np.unique(variant.symmetries.entries, axis=0)) == variant.options["colours"]


@settings(deadline=None, max_examples=30)
@given(st.sampled_from(GAMES), st.integers(0, 2**32 - 1))
def test_a_game_under_a_symmetry_is_the_game_with_the_circle_turned(any_game, seed):
    """Until cards are played whose order nobody chooses, as it makes no difference: by place."""
    turned, rng = Turned(any_game, seed), np.random.default_rng(seed)
    true, seen = turned.true, turned.seen
    while true.game.mover != OVER:
        if true.game.mover == CHANCE:
            turned.resolve(rng)
            continue
        shown, expected = turned.observations()
        played = true.variant.observation.slice("played")
        if (shown[:, played] != expected[:, played]).any():
            assert not set(true.variant.options["actions"]) <= set(WITHOUT_OFFERS)
            return
        assert (shown == expected).all()
        turned.act(rng)
    assert (seen.game.rewards == true.game.rewards).all()


class Turned:
    """Two games, the second of which is the first with the circle turned."""

    def __init__(self, any_game, seed):
        id, options = any_game
        self.true, self.seen = (Table(id, **options) for _ in range(2))
        self.layout, symmetries = self.true.variant.observation, self.true.variant.symmetries
        self.entries = symmetries.entries[seed % len(symmetries.entries)]
        self.cards, self.colours = self.order("hand"), self.order("worth")
        actions = self.true.actions
        self.names = {actions.names[card]: actions.names[i] for i, card in enumerate(self.cards)}
        self.names |= {actions.colours[c]: actions.colours[i] for i, c in enumerate(self.colours)}

    def order(self, name):
        """What each card, or colour, of the second game stands for in the first."""
        segment = self.layout.slice(name)
        return self.entries[segment] - segment.start

    def resolve(self, rng):
        outcomes, chances = zip(*self.seen.outcomes(), strict=True)
        outcome = int(rng.choice(outcomes, p=np.array(chances) / sum(chances)))
        phase = self.seen.game.phase
        self.seen.bring(outcome)
        if phase in (DEAL, DRAW, REDRAW):
            outcome = int(self.cards[outcome])
        elif phase == DRAW_MARKERS:
            outcome = int(self.colours[outcome])
        self.true.bring(outcome)

    def act(self, rng):
        """The same action in both, found by its words: each hand lists its cards by number."""
        of_true = {self.words(self.translated(action)): action for action in legal(self.true)}
        of_seen = {self.words(self.told(self.seen, action)): action for action in legal(self.seen)}
        assert of_true.keys() == of_seen.keys()
        words = list(of_true)[int(rng.integers(len(of_true)))]
        kernels.apply_one(self.true.rule_set, self.true.game, of_true[words])
        kernels.apply_one(self.seen.rule_set, self.seen.game, of_seen[words])

    def told(self, table, action):
        return table.actions.describe(action, table.game)

    def words(self, text):
        verb, piles = self.seen.actions.words(text)
        return verb, tuple(map(tuple, map(sorted, piles))) if verb == "take" else piles

    def translated(self, action):
        """The words of an action of the first game, with the names of the second."""

        def renamed(found):
            word = found[0]
            if word.startswith("?"):  # the card that lies there face down, wherever it lies
                card = self.true.game.offer[int(word[1:]) - 1]
                return (
                    f"?{self.seen.game.offer.tolist().index(self.cards.tolist().index(card)) + 1}"
                )
            return self.names.get(word, word)

        return re.sub(r"\??\w+", renamed, self.told(self.true, action))

    def observations(self):
        """What every seat sees in the second game, and what it should see, (2, N) each.

        Without what depends on the order in which cards are listed or lie.
        """
        rows = observations(self.seen), observations(self.true)[:, self.entries]
        for name in (*CARD_BY_CARD, *PLACE_BY_PLACE):
            for row in rows:
                row[:, self.layout.slice(name)] = 0
        return rows


def legal(table):
    return np.flatnonzero(table.mask()).tolist()


def observations(table):
    """What every seat sees, (2, N)."""
    return observed(table.variant, np.repeat(np.array([table.game]), 2), np.arange(2))
