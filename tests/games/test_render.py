"""The table of every game: nothing that is hidden, all that happens, at a size that fits."""

from importlib import import_module
from itertools import pairwise

import geishas_road_positions
import hanabi_positions
import numpy as np
import pytest
from numpy.typing import NDArray
from positions import legal, random_positions
from samples import WHOLE, sample

from hanamachi.engine import kernels
from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.engine.game import Variant
from hanamachi.games.registry import variant
from hanamachi.rendering.parts import render_part
from hanamachi.rendering.pixels import pixels
from hanamachi.rendering.svg import svg

pytestmark = pytest.mark.uncompiled

VARIANTS = [
    *(variant(id) for id in ("hanamikoji", "hanamikoji:three_rounds", "hanamikoji:eight_suits")),
    variant("hanamikoji", cards=(2, 3, 4), actions=("secret", "gift"), max_rounds=2),
    *geishas_road_positions.VARIANTS,
    *hanabi_positions.VARIANTS,
]
IDS = [f"{variant.id}-{variant.observation.size}" for variant in VARIANTS]
SEEDS = max(1, sample(2_000, 0.02) // len(VARIANTS))
WORLDS = 4
PAINTED = sample(4, 0.25)  # positions of a game

every_variant = pytest.mark.parametrize("variant", VARIANTS, ids=IDS)
SHARE = slice(None, None, 1 if WHOLE else 2)
some_variants = pytest.mark.parametrize("variant", VARIANTS[SHARE], ids=IDS[SHARE])


def worlds(variant: Variant, game: np.record, seat: int) -> NDArray[np.void]:
    """What the game may be for all that a seat knows."""
    games = variant.new(np.arange(WORLDS, dtype=np.uint64))
    kernels.worlds(variant.rule_set, np.array([game]), seat, games)
    return games


@every_variant
def test_what_a_seat_cannot_know_changes_nothing_in_its_table(variant: Variant) -> None:
    text = render_part(variant, "text")
    for seed in range(SEEDS):
        unlike = 0
        for i, game in enumerate(random_positions(variant, seed)[:-1]):
            seat = (seed + i) % variant.seats
            others = worlds(variant, game, seat)
            assert {text(variant, world, seat) for world in others} == {text(variant, game, seat)}
            unlike += (others["hand"] != game["hand"]).any()
        assert unlike > 0


@some_variants
def test_what_a_seat_cannot_know_changes_nothing_in_its_image(variant: Variant) -> None:
    drawing = render_part(variant, "drawing")
    games = random_positions(variant, 1)[:-1]
    for game in games[:: -1 - len(games) // PAINTED]:
        for seat in range(variant.seats):
            other = worlds(variant, game, seat)[0]
            one, two = drawing(variant, other, seat), drawing(variant, game, seat)
            assert svg(one, "") == svg(two, "")
            np.testing.assert_array_equal(pixels(one), pixels(two))


@every_variant
def test_the_text_fits_a_terminal(variant: Variant) -> None:
    text = render_part(variant, "text")
    for game in random_positions(variant, 2):
        for seat in (None, *range(variant.seats)):
            assert max(map(len, text(variant, game, seat).splitlines())) <= 80


@some_variants
def test_the_image_has_the_width_asked_for(variant: Variant) -> None:
    drawing, game = render_part(variant, "drawing"), random_positions(variant, 3)[0]
    high, wide, _ = pixels(drawing(variant, game)).shape
    assert wide == import_module(variant.game.render).WIDTH
    smaller = pixels(drawing(variant, game, 0), width=wide // 2)
    assert smaller.shape == (round(high * (wide // 2) / wide), wide // 2, 3)
    assert smaller.dtype == np.uint8


@some_variants
def test_every_move_changes_what_is_seen(variant: Variant) -> None:
    text, drawing = render_part(variant, "text"), render_part(variant, "drawing")
    games = random_positions(variant, 4)
    assert all(a != b for a, b in pairwise(text(variant, game) for game in games))
    shown = [drawing(variant, game) for game in (games[0], games[len(games) // 2], games[-1])]
    images = [pixels(drawing) for drawing in shown]
    assert all((a != b).any() for a, b in pairwise(images))


@every_variant
def test_a_table_can_be_shown_while_chance_is_due(variant: Variant) -> None:
    game = variant.new(np.arange(1, dtype=np.uint64))[0]
    kernels.start_one(variant.rule_set, game)
    shown = set()
    for _ in range(2_000):
        if game.mover == OVER:
            break
        if game.mover == CHANCE:
            shown.add(render_part(variant, "text")(variant, game).splitlines()[-1])
            kernels.resolve_one(variant.rule_set, game, kernels.draw_one(variant.rule_set, game))
        else:
            last = int(legal(variant, game).nonzero()[0][-1])
            kernels.apply_one(variant.rule_set, game, last)
    assert {"cards are dealt", "a card is drawn"} <= shown
