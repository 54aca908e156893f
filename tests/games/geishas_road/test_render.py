"""The table of Geisha's Road shows a seat what it knows, and whoever may see all of it the rest."""

from collections.abc import Iterator

import numpy as np
import pytest
from geishas_road_positions import VARIANTS
from positions import random_positions, random_session

from hanamachi.engine.game import Variant
from hanamachi.games.geishas_road.render import drawing, round_end, text
from hanamachi.games.geishas_road.rules import ANSWER, INTRIGUE, NONE
from hanamachi.rendering.pixels import pixels

pytestmark = pytest.mark.uncompiled

IDS = [f"{v.id.partition(':')[2]}-{v.actions.size}" for v in VARIANTS]


def offer_with_a_hidden_card() -> np.record:
    """An answer is due to an offer with one card face down."""
    for seed in range(100):
        for game in random_positions(VARIANTS[3], seed):
            if game.phase == ANSWER and (game.face_down != NONE).sum() == 1:
                return game
    raise AssertionError("no game had a Hidden Offer")


def test_a_hidden_card_is_shown_to_its_owner_and_to_whoever_sees_all() -> None:
    game = offer_with_a_hidden_card()
    place = int(np.flatnonzero(game.face_down != NONE)[0])
    owner, name = int(game.face_down[place]), VARIANTS[3].actions.names[game.offer[place]]

    def on_the_table(seat: int | None) -> str:
        lines = text(VARIANTS[3], game, seat).splitlines()
        return next(line for line in lines if "on the table" in line)

    assert f"({name})" in on_the_table(owner)
    assert f"({name})" in on_the_table(None)
    assert f"?{place + 1}" in on_the_table(1 - owner)
    assert name not in text(VARIANTS[3], game, 1 - owner)
    images = [pixels(drawing(VARIANTS[3], game, seat)) for seat in (owner, 1 - owner, None)]
    assert all((a != b).any() for a, b in zip(images, images[1:] + images[:1], strict=True))


# --- All that is to be seen


@pytest.mark.parametrize("variant", VARIANTS, ids=IDS)
def test_every_card_of_a_hand_is_named_to_whoever_sees_all(variant: Variant) -> None:
    for game in random_positions(variant, 2):
        hands = [variant.actions.names[card] for card in game.hand[game.hand != NONE]]
        assert all(name in text(variant, game) for name in hands)


# --- The end


def rounds_shown(variant: Variant, seed: int) -> Iterator[tuple[np.record, str]]:
    """Before the last move of each round but the last: the position, and the table after it."""
    before = None
    for session in random_session(variant, seed):
        game = session.state()
        if before is not None:
            shown = round_end(variant, before, session.actions[-1], 0)
            assert bool(shown) == (game.round_number > before.round_number)
            if shown:
                yield before, shown
        before = game


@pytest.mark.parametrize("variant", VARIANTS[:4], ids=IDS[:4])
def test_a_finished_round_is_shown_with_its_intrigues(variant: Variant) -> None:
    ends = [end for seed in range(10) for end in rounds_shown(variant, seed)]
    assert len(ends) > 5
    for before, shown in ends:
        lines = shown.splitlines()
        assert f"round {before.round_number}" in lines[0]
        assert lines[-1] == "the round is over"
        theirs, mine = (line.split() for line in lines if line[4:12] == "Intrigue")
        assert theirs[-1] == "?"
        kept = {variant.actions.names[card] for card in before.laid[:, INTRIGUE, 0] if card != NONE}
        assert kept <= {theirs[2], mine[2]}


def geisha_rows(shown: str) -> tuple[list[float], list[str], list[float]]:
    """Over each geisha player 1's influence, who has her marker now, player 0's influence."""
    lines = [line.split() for line in shown.splitlines()]
    theirs, mine = ([float(n) for n in line[1:]] for line in lines if line[:1] == ["influence"])
    (markers,) = (line[-len(mine) :] for line in lines if {"▲", "▼"} & set(line))
    return theirs, markers, mine


@pytest.mark.parametrize("variant", VARIANTS[:4], ids=IDS[:4])
def test_a_finished_round_counts_markers_where_they_lay_when_it_was_scored(
    variant: Variant,
) -> None:
    moved = 0
    for before, shown in (end for seed in range(10) for end in rounds_shown(variant, seed)):
        theirs, markers, mine = geisha_rows(shown)
        for c, now in enumerate(markers):
            if theirs[c] != mine[c]:
                assert now == ("▲" if theirs[c] > mine[c] else "▼")
            halves = [mine[c] % 1 > 0, theirs[c] % 1 > 0]
            assert sum(halves) <= 1
            if before.marker[c] != NONE:
                assert halves[before.marker[c]]
                moved += now != "▼▲"[before.marker[c]]
    assert moved > 0


@pytest.mark.parametrize("variant", VARIANTS[:4], ids=IDS[:4])
def test_at_the_end_only_markers_that_decided_count(variant: Variant) -> None:
    for seed in range(10):
        end = random_positions(variant, seed)[-1]
        theirs, markers, mine = geisha_rows(text(variant, end))
        for c, now in enumerate(markers):
            winner = "▲" if theirs[c] > mine[c] else "▼"
            assert theirs[c] == mine[c] or now == winner


@pytest.mark.parametrize("variant", VARIANTS[1:4], ids=IDS[1:4])
def test_the_end_shows_all_points_of_the_game(variant: Variant) -> None:
    ends = [random_positions(variant, seed)[-1] for seed in range(10)]
    assert any(end.wins.sum() == 2 for end in ends)
    for end in ends:
        lines = text(variant, end).splitlines()
        assert lines[-1].startswith(f"player {end.winner} ")
        if end.wins.sum() == 2:  # else four geisha have won at once
            for seat in range(2):
                (line,) = (line for line in lines[:-1] if line.startswith(f"player {seat}"))
                assert f" {end.points[seat]} point" in line
