"""A seat's observation and mask hold all that it has seen of the round, and nothing else."""

from collections import defaultdict
from itertools import islice
from typing import Any

import numpy as np
import pytest
from geishas_road_positions import GeishasRoadHistories, cards_of
from positions import Node, batch, copied, masked, observed
from samples import UNCOMPILED, WHOLE, sample

from hanamachi.engine.game import Variant
from hanamachi.games.geishas_road.rules import (
    COMPETITION,
    COUNTEROFFER,
    GIFT,
    INTRIGUE,
    NONE,
    SIZES,
)
from hanamachi.games.registry import variant
from hanamachi.rendering.parts import render_part
from hanamachi.rendering.pixels import pixels

pytestmark = pytest.mark.uncompiled

EDITION_2021, INTRODUCTORY, STANDARD, ADVANCED = (
    f"geishas_road:{name}" for name in ("2021", "introductory", "standard", "advanced")
)
VARIANTS = {
    "2021": variant(EDITION_2021),
    "2021, start markers drawn": variant(
        EDITION_2021, start_marker="random", loser_picks_starter="before_deal", rounds_to_win=3
    ),
    "introductory": variant(INTRODUCTORY, tiebreaker_alone_wins=False, rounds=3),
    "standard": variant(STANDARD),
    "standard, declining": variant(STANDARD, decline_collecting=True, item_values=(1, 2, 5, 6)),
    "advanced": variant(ADVANCED),
    "advanced, shares kept": variant(ADVANCED, counteroffer_shares="keep", starter=1),
    "advanced, hidden cards safe": variant(ADVANCED, can_counter_hidden=False, rounds=1),
    "advanced, own cards safe": variant(ADVANCED, counter_own=False, rounds=1),
    "advanced, small": variant(
        ADVANCED, colours=2, item_values=(1, 2, 3, 4, 5, 6), actions=("intrigue", "competition")
    ),
}
POSITIONS = max(sample(200_000) // len(VARIANTS), 100)


# --- Nothing that is hidden


def permuted(variant: Variant, game: np.record, seat: int, rng: np.random.Generator) -> np.record:
    """The same table with all that `seat` cannot know shuffled, whether or not it could be so."""
    other, foe = copied(game), 1 - seat
    down = game.face_down == foe
    turned_up = game.turn == 2 * variant.rule_set.markers  # then an Intrigue card lies face down
    offered = cards_of(game.offer[down & (not turned_up)])
    intrigue = [card for card in cards_of(game.laid[foe, INTRIGUE]) if game.played_as[card] == 0]
    hand = cards_of(game.hand[foe])
    deck = [card for card in range(variant.rule_set.cards) if game.unseen >> card & 1]
    cards = [*offered, *intrigue, *hand, *deck]
    beside = laid_beside(game, foe) - {*offered}
    new = dict(zip(cards, rng.permutation(cards).tolist(), strict=True))
    while beside & {new[card] for card in offered}:
        new = dict(zip(cards, rng.permutation(cards).tolist(), strict=True))
    other.hand[foe, : len(hand)] = sorted(new[card] for card in hand)
    other.unseen = sum(1 << new[card] for card in deck)
    other.laid[foe, INTRIGUE] = [new.get(card, card) for card in game.laid[foe, INTRIGUE]]
    other.received[foe] = [
        card if card == NONE else rng.integers(variant.rule_set.cards)
        for card in game.received[foe]
    ]
    other.offer[down] = [new[card] for card in game.offer[down]]
    if offered:
        rename_hidden(other, foe, new[offered[0]])
    elif foe in game.counter_out_by:  # it is back in the deck, or anywhere since
        rename_hidden(
            other,
            foe,
            rng.choice([card for card in range(variant.rule_set.cards) if card not in beside]),
        )
    other.rng = rng.integers(1, 2**63)
    return other


def laid_beside(game: np.record, seat: int) -> set[int]:
    """The cards with which a seat laid down a hidden one."""
    use = game.hidden_use[seat]
    return set(cards_of(game.laid[seat, use])) if use in (GIFT, COMPETITION) else set()


def rename_hidden(game: np.record, seat: int, card: int) -> None:
    """Let the card that a seat laid face down in an offer be this one."""
    use = game.hidden_use[seat]
    game.hidden_card[seat] = card
    if use == COUNTEROFFER:
        game.counter_in[seat] = card
    else:
        game.laid[seat, use, SIZES[use] - 1] = card
    game.counter_out[game.counter_out_by == seat] = card


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS.keys())
def test_permuting_what_a_seat_cannot_know_changes_nothing_it_gets(variant: Variant) -> None:
    rng = np.random.default_rng(1)
    nodes = GeishasRoadHistories(variant).random_positions(POSITIONS, seed=2)
    seats = rng.integers(2, size=len(nodes))  # to move or waiting
    others = [
        node._replace(game=permuted(variant, node.game, seat, rng))
        for node, seat in zip(nodes, seats, strict=True)
    ]
    games, shuffled = batch(variant, nodes), batch(variant, others)
    np.testing.assert_array_equal(
        observed(variant, games, seats), observed(variant, shuffled, seats)
    )
    to_move = seats == games["mover"]
    np.testing.assert_array_equal(
        masked(variant, games[to_move]), masked(variant, shuffled[to_move])
    )
    assert (games["hand"] != shuffled["hand"]).any((1, 2)).mean() > 0.2
    assert (games["unseen"] != shuffled["unseen"]).mean() > 0.2
    if variant.rule_set.offer_tokens:
        assert (games["offer"] != shuffled["offer"]).any(1).mean() > 0.03
        assert (games["hidden_card"] != shuffled["hidden_card"]).any(1).mean() > 0.06


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS.keys())
def test_a_seat_is_shown_no_more_than_it_knows(variant: Variant) -> None:
    text, drawing = render_part(variant, "text"), render_part(variant, "drawing")
    rng = np.random.default_rng(4)
    for i, node in enumerate(GeishasRoadHistories(variant).random_positions(40, seed=5)):
        seat = i % 2
        other = permuted(variant, node.game, seat, rng)
        assert text(variant, node.game, seat) == text(variant, other, seat)
    image = pixels(drawing(variant, node.game, seat))
    np.testing.assert_array_equal(image, pixels(drawing(variant, other, seat)))
    assert (image != pixels(drawing(variant, node.game))).any()


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS.keys())
def test_observations_keep_within_their_bounds(variant: Variant) -> None:
    nodes = GeishasRoadHistories(variant).random_positions(POSITIONS, seed=3)
    games = batch(variant, nodes)
    movers = games["mover"].astype(np.int64)
    rows = observed(variant, games, movers)
    assert (rows >= variant.observation.low).all()
    assert (rows <= variant.observation.high).all()
    for node, row in zip(nodes, rows, strict=True):
        hand = np.flatnonzero(row[variant.observation.slice("hand")]).tolist()
        assert hand == cards_of(node.game.hand[node.game.mover])


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS.keys())
def test_what_is_said_of_a_slot_is_said_of_the_card_in_it(variant: Variant) -> None:
    n, v = variant.rule_set.colours, variant.rule_set.values
    slots = variant.observation.describing("slot", variant.actions.uses["slot"].shape[2])
    games = batch(variant, GeishasRoadHistories(variant).random_positions(POSITIONS, seed=6))
    rows = observed(variant, games, games["mover"].astype(np.int64))
    for game, row in zip(games, rows, strict=True):
        shown = row[slots][:, : n + v]
        cards = shown[:, :n].argmax(1) * v + shown[:, n:].argmax(1)
        cards[shown.sum(1) == 0] = NONE
        down = game["face_down"] == 1 - game["mover"]
        hand = game["hand"][game["mover"]][: variant.actions.hand]
        assert cards.tolist() == [*hand, *np.where(down, NONE, game["offer"])]


# --- Small versions walked whole, or from some deals; in `make test` a part of each walk

LONGEST_WALK = sample(1_000_000, 0.0025)
FEW_DEALS, FEW_ACTIONS = 4, 2  # of that part

ONE_ROUND = {"rounds_to_win": 1, "light": (3,), "dark": (2,)}
DRAWN = ONE_ROUND | {"start_marker": "random"}
ONE_OF_2022 = {"rounds": 1, "prestige_tokens": (2, 2)}
DECLINING = ONE_OF_2022 | {"decline_collecting": True}
KEPT = ONE_OF_2022 | {"counteroffer_shares": "keep"}

SMALL = {  # values, actions, options, deals, actions at a decision, turns (0: all): see counts
    (EDITION_2021, (1, 2, 3), ("gift",), 0, 0, 0): (ONE_ROUND, 20_682, 3_093, 2_415),
    (EDITION_2021, (1, 2, 3), ("reveal", "intrigue"), 4, 0, 0): (DRAWN, 13_305, 2_070, 1_086),
    (STANDARD, (1, 2, 3), ("reveal", "intrigue"), 3, 2, 0): (DECLINING, 12_058, 2_985, 2_691),
    (ADVANCED, (2, 3, 4), ("gift",), 3, 3, 0): (ONE_OF_2022, 23_796, 6_784, 6_392),
    (ADVANCED, (3, 4, 5, 6), ("reveal", "gift"), 1, 3, 2): (ONE_OF_2022, 23_281, 6_045, 6_045),
    (ADVANCED, (3, 4, 5, 6, 7), ("intrigue", "gift"), 1, 2, 2): (KEPT, 19_361, 2_904, 2_904),
    (ADVANCED, (3, 4, 5, 6), ("competition",), 2, 3, 0): (ONE_OF_2022, 26_405, 10_012, 10_012),
}


def deals(histories: GeishasRoadHistories, some: int) -> list[Node]:
    """All, or some in which either seat has the same hand in many."""
    dealt = histories.deals()
    first = dealt[0].game.received
    alike = [node for node in dealt if (node.game.received == first).all(1).any()]
    return alike[:: max(len(alike) // some, 1)] if some else dealt


@pytest.mark.skipif(UNCOMPILED, reason="walks are long")
@pytest.mark.parametrize("case", SMALL, ids=str)
def test_equal_observations_are_one_information_set(case: tuple[Any, ...]) -> None:
    id, values, actions, some, most, turns = case
    options, *counts = SMALL[case]
    small = variant(id, colours=2, item_values=values, actions=actions, starter=0, **options)
    histories = GeishasRoadHistories(small, (most or None) if WHOLE else FEW_ACTIONS)
    dealt = deals(histories, some) if WHOLE else deals(histories, FEW_DEALS)[:FEW_DEALS]
    nodes = list(islice(histories.walk(dealt, turns), LONGEST_WALK))
    decisions = [node for node in nodes if node.game.mover >= 0]
    games = batch(small, decisions)
    rows = observed(small, games, games["mover"].astype(np.int64))
    shown = defaultdict(set)  # what each information set gets to see
    choices = {}
    for node, row, mask in zip(decisions, rows, masked(small, games), strict=True):
        view = (int(node.game.mover), node.views[node.game.mover])
        shown[view].add(row.tobytes() + mask.tobytes())
        choices[view] = int(mask.sum())
    assert all(len(seen) == 1 for seen in shown.values())  # nothing that the seat does not know
    assert len(set.union(*shown.values())) == len(shown)  # and all that it does
    assert len(shown) < len(decisions)
    if WHOLE:
        assert [len(nodes), len(shown), sum(n > 1 for n in choices.values())] == counts
