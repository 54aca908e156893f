"""A seat's observation and mask hold all that it has seen of the round, and nothing else."""

from collections import defaultdict

import numpy as np
import pytest
from hanamikoji_positions import HanamikojiHistories, spelled
from numpy.typing import NDArray
from positions import View, batch, masked, observed
from samples import UNCOMPILED, WHOLE, sample

from hanamachi.engine.game import Variant
from hanamachi.games.hanamikoji.actions import Move
from hanamachi.games.hanamikoji.rules import (
    COMPETITION,
    GIFT,
    NONE,
    SECRET,
    TAKE_CARD,
    TAKE_PAIR,
    TRADE_OFF,
)
from hanamachi.games.registry import variant
from hanamachi.rendering.parts import render_part
from hanamachi.rendering.pixels import pixels

pytestmark = pytest.mark.uncompiled

VARIANTS = {
    "standard": variant("hanamikoji"),
    "three rounds": variant("hanamikoji:three_rounds", limit_rule="charm"),
    "eight suits": variant("hanamikoji:eight_suits", starter=1),
    "trade-off and gift": variant(
        "hanamikoji", cards=(3, 3, 4, 4), actions=("trade_off", "gift"), max_rounds=3
    ),
    "secret and competition": variant(
        "hanamikoji", cards=(1, 2, 4, 5), actions=("secret", "competition"), max_rounds=2
    ),
}
POSITIONS = sample(200_000) // len(VARIANTS)


# --- Nothing that is hidden


def permuted(game: np.record, seat: int, rng: np.random.Generator) -> np.record:
    """The same table with all that `seat` cannot know shuffled, whether or not it could be so."""
    other, foe = game.copy(), 1 - seat
    hidden = [game.hand[foe], game.trade_off[foe], game.unseen]
    pool = [g for counts in hidden for g in spelled(counts)]
    pool += [g for g in [game.secret[foe]] if g != NONE]
    rng.shuffle(pool)
    for counts in (other.hand[foe], other.trade_off[foe], other.unseen):
        share = [pool.pop() for _ in range(counts.sum())]
        counts[:] = np.bincount(share, minlength=len(counts))
    if game.secret[foe] != NONE:
        other.secret[foe] = pool.pop()
    shown = game.gift[foe] + game.pairs[foe].sum(0)
    received = spelled(other.hand[foe] + other.trade_off[foe] + shown)
    received += [g for g in [other.secret[foe]] if g != NONE]
    rng.shuffle(received)
    for turn in np.flatnonzero(game.drawn[foe] != NONE):
        other.drawn[foe, turn] = received.pop()
    other.dealt[foe] = np.bincount(received, minlength=len(shown))
    other.rng = rng.integers(1, 2**63)
    return other


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS.keys())
def test_permuting_what_a_seat_cannot_know_changes_nothing_it_gets(variant: Variant) -> None:
    rng = np.random.default_rng(1)
    nodes = HanamikojiHistories(variant).random_positions(POSITIONS, seed=2)
    seats = rng.integers(2, size=len(nodes))  # to move or waiting
    others = [
        node._replace(game=permuted(node.game, seat, rng))
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
    assert (games["unseen"] != shuffled["unseen"]).any(1).mean() > 0.2


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS.keys())
def test_a_seat_is_shown_no_more_than_it_knows(variant: Variant) -> None:
    text, drawing = render_part(variant, "text"), render_part(variant, "drawing")
    rng = np.random.default_rng(4)
    for i, node in enumerate(HanamikojiHistories(variant).random_positions(50, seed=5)):
        seat = i % 2
        other = permuted(node.game, seat, rng)
        shown = text(variant, node.game, seat)
        assert shown == text(variant, other, seat)
        assert max(map(len, shown.splitlines())) <= 80
    image = pixels(drawing(variant, node.game, seat))
    assert image.shape[1:] == (600, 3)
    np.testing.assert_array_equal(image, pixels(drawing(variant, other, seat)))
    assert (image != pixels(drawing(variant, node.game))).any()


# --- All that was seen


class Reader:
    """Reads a seat's view of the round out of its observation alone."""

    def __init__(self, variant: Variant, row: NDArray[np.float32]) -> None:
        self.geisha, self.tiles = variant.rule_set.geisha, variant.rule_set.tiles
        self.segments = {
            s.name: row[variant.observation.slice(s.name)].astype(int)
            for s in variant.observation.segments
        }

    def part(self, name: str, *shape: int) -> NDArray[np.int64]:
        return self.segments[name].reshape(*shape, -1)

    def view(self) -> View:
        dealt = tuple(self.segments["dealt"].tolist()) + (0,) * (7 - self.geisha)
        began = bool(self.segments["began"][0])
        events = []
        for turn in range(2 * self.tiles):
            events += self.turn(side=(turn + (not began)) % 2, turn=turn // 2)
        return began, dealt, *events

    def turn(self, side: int, turn: int) -> list[object]:
        """The events of a side's turn (0 mine, 1 theirs), as far as it got."""
        used = np.flatnonzero(self.part("used in", 2, 4)[side, :, turn])
        drawn = np.flatnonzero(self.part("drawn", 4)[turn]).tolist() if side == 0 else [None]
        if len(used) == 0:
            return drawn if side == 0 else []
        kind = int(used[0])
        return [*drawn, self.move(side, kind), *self.answer(side, kind)]

    def move(self, side: int, kind: int) -> Move:
        if kind == GIFT:
            return Move(GIFT, tuple(spelled(self.part("gifts", 2)[side])))
        if kind == COMPETITION:
            first, second = self.part("pairs", 2, 2)[side]
            return Move(COMPETITION, tuple(spelled(first)), tuple(spelled(second)))
        if side == 1:
            return Move(kind)
        name = {SECRET: "my secret", TRADE_OFF: "my trade-off"}[kind]
        return Move(kind, tuple(spelled(self.segments[name])))

    def answer(self, side: int, kind: int) -> list[Move]:
        if kind == GIFT:
            return [Move(TAKE_CARD, (g,)) for g in spelled(self.part("gift taken", 2)[side])]
        if kind == COMPETITION:
            return [Move(TAKE_PAIR, pair=p) for p in spelled(self.part("pair taken", 2)[side])]
        return []


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS.keys())
def test_an_observation_tells_the_whole_round_as_the_seat_saw_it(variant: Variant) -> None:
    nodes = HanamikojiHistories(variant).random_positions(POSITIONS, seed=3)
    games = batch(variant, nodes)
    movers = games["mover"].astype(np.int64)
    rows = observed(variant, games, movers)
    for node, row in zip(nodes, rows, strict=True):
        assert Reader(variant, row).view() == node.views[node.game.mover]
    assert (rows >= variant.observation.low).all()
    assert (rows <= variant.observation.high).all()
    hands = rows[:, variant.observation.slice("hand")]
    np.testing.assert_array_equal(
        hands, games["hand"][range(len(games)), movers][:, : hands.shape[1]]
    )


# --- Small versions walked whole

SMALL = {  # cards, actions: nodes, information sets, those with a choice
    ((2, 3, 4), ("secret", "gift")): (68_890, 6_490, 1_745),
    ((2, 2, 2, 1), ("secret", "trade_off")): (18_000, 621, 45),
    ((5, 5), ("secret", "competition")): (8_230, 1_330, 476),
    ((6, 6), ("trade_off", "competition")): (22_763, 3_110, 941),
    ((5, 5), ("trade_off", "gift")): (10_974, 1_596, 364),
}
WALKED = list(SMALL) if WHOLE else list(SMALL)[2::2]  # every action is in one of the two


@pytest.mark.skipif(UNCOMPILED, reason="walks are long")
@pytest.mark.parametrize(("cards", "actions"), WALKED, ids=str)
def test_equal_observations_are_one_information_set(
    cards: tuple[int, ...], actions: tuple[str, ...]
) -> None:
    small = variant("hanamikoji", cards=cards, actions=actions, max_rounds=1, starter=0)
    nodes = list(HanamikojiHistories(small).walk())
    decisions = [node for node in nodes if node.game.mover >= 0]
    games = batch(small, decisions)
    rows = observed(small, games, games["mover"].astype(np.int64))
    masks = masked(small, games)
    shown = defaultdict(set)  # what each information set gets to see
    choices = {}
    for node, row, mask in zip(decisions, rows, masks, strict=True):
        view = (int(node.game.mover), node.views[node.game.mover])
        shown[view].add(row.tobytes() + mask.tobytes())
        choices[view] = int(mask.sum())
    assert all(len(seen) == 1 for seen in shown.values())  # nothing that the seat does not know
    assert len(set.union(*shown.values())) == len(shown)  # and all that it does
    free = sum(n > 1 for n in choices.values())
    assert (len(nodes), len(shown), free) == SMALL[cards, actions]
