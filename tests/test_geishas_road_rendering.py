"""The table of Geisha's Road shows a seat what it knows, and whoever may see all of it the rest."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from samples import sample

from hanamachi import kernels
from hanamachi.game import CHANCE, OVER, Variant
from hanamachi.games import variant
from hanamachi.geishas_road.render import HEIGHT, WIDTH, image, round_end, text
from hanamachi.geishas_road.rules import ANSWER, INTRIGUE, NONE
from hanamachi.session import Session

VARIANTS = [
    *(variant(f"geishas_road:{id}") for id in ("2021", "introductory", "standard", "advanced")),
    variant("geishas_road:advanced", counteroffer_shares="keep", decline_collecting=True),
    variant(
        "geishas_road:advanced",
        colours=2,
        item_values=(1, 2, 3, 4, 5, 6, 7, 8, 9),
        actions=("reveal", "intrigue", "gift"),
    ),
    variant("geishas_road:2021", item_values=(1, 2, 3, 4, 5, 6), start_marker="random"),
    variant("geishas_road:standard", colours=3, actions=("intrigue", "gift"), rounds=3),
]
IDS = [f"{v.id.partition(':')[2]}-{v.actions.size}" for v in VARIANTS]
GAMES = max(1, sample(4_000) // len(VARIANTS))
WORLDS = 4


def random_session(variant: Variant, seed: int) -> Iterator[Session]:
    """A random game before each decision and at its end; every kind of action equally likely."""
    session, rng = Session(variant), np.random.default_rng(seed)
    session.begin(seed)
    yield session
    while session.mover != OVER:
        legal = np.flatnonzero(session.view(session.mover)[1])
        kinds = variant.actions.kind[legal]
        session.step(rng.choice(legal[kinds == rng.choice(np.unique(kinds))]))
        yield session


def positions(variant: Variant, seed: int) -> list[np.record]:
    return [session.state() for session in random_session(variant, seed)]


def worlds(variant: Variant, game: np.record, seat: int) -> NDArray[np.void]:
    """What the game may be for all that a seat knows."""
    games = variant.new(np.arange(WORLDS, dtype=np.uint64))
    kernels.worlds(variant.rules, np.array([game]), seat, games)
    return games


# --- Nothing that is hidden


@pytest.mark.parametrize("variant", VARIANTS, ids=IDS)
def test_what_a_seat_cannot_know_changes_nothing_in_its_table(variant: Variant) -> None:
    for seed in range(GAMES):
        unlike = 0
        for i, game in enumerate(positions(variant, seed)[:-1]):
            seat = (seed + i) % 2
            shown = text(variant, game, seat)
            others = worlds(variant, game, seat)
            assert {text(variant, world, seat) for world in others} == {shown}
            unlike += (others["hand"] != game["hand"]).any()
        assert unlike > 0


@pytest.mark.parametrize("variant", VARIANTS, ids=IDS)
def test_what_a_seat_cannot_know_changes_nothing_in_its_image(variant: Variant) -> None:
    games = positions(variant, 1)[:-1]
    hidden = [g for g in games if (g["face_down"] != NONE).any()]
    for game in [games[len(games) // 2], games[-1], *hidden[:2]]:
        for seat in range(2):
            shown = image(variant, game, seat)
            other = worlds(variant, game, seat)[0]
            np.testing.assert_array_equal(image(variant, other, seat), shown)


def offer_with_a_hidden_card() -> np.record:
    """An answer is due to an offer with one card face down."""
    for seed in range(100):
        for game in positions(VARIANTS[3], seed):
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
    images = [image(VARIANTS[3], game, seat) for seat in (owner, 1 - owner, None)]
    assert all((a != b).any() for a, b in zip(images, images[1:] + images[:1], strict=True))


# --- All that is to be seen


@pytest.mark.parametrize("variant", VARIANTS, ids=IDS)
def test_the_text_fits_a_terminal_and_names_every_card_that_is_shown(variant: Variant) -> None:
    for game in positions(variant, 2):
        for seat in (None, 0, 1):
            shown = text(variant, game, seat)
            assert max(map(len, shown.splitlines())) <= 80
        hands = [variant.actions.names[card] for card in game.hand[game.hand != NONE]]
        assert all(name in text(variant, game) for name in hands)


@pytest.mark.parametrize("variant", VARIANTS, ids=IDS)
def test_a_table_can_be_shown_while_chance_is_due(variant: Variant) -> None:
    games = variant.new(np.arange(1, dtype=np.uint64))
    kernels.start_one(variant.rules, games[0])
    shown = set()
    for _ in range(2_000):
        game = games[0]
        if game.mover == OVER:
            break
        if game.mover == CHANCE:
            shown.add(text(variant, game).splitlines()[-1])
            kernels.resolve_one(variant.rules, game, kernels.draw_one(variant.rules, game))
        else:
            mask = np.empty((1, variant.actions.size), np.int8)
            kernels.masks(variant.rules, games, mask)
            kernels.apply_one(variant.rules, game, int(mask[0].nonzero()[0][-1]))
    assert {"the starter is drawn", "cards are dealt", "a card is drawn"} <= shown


def test_the_image_has_the_width_asked_for() -> None:
    game = positions(VARIANTS[0], 3)[0]
    assert image(VARIANTS[0], game).shape == (HEIGHT, WIDTH, 3)
    assert image(VARIANTS[0], game, 0, width=WIDTH // 2).shape == (HEIGHT // 2, WIDTH // 2, 3)
    assert image(VARIANTS[0], game).dtype == np.uint8


@pytest.mark.parametrize("variant", VARIANTS, ids=IDS)
def test_every_move_changes_what_is_seen(variant: Variant) -> None:
    games = positions(variant, 4)
    tables = [text(variant, game) for game in games]
    assert all(a != b for a, b in pairwise(tables))
    images = [image(variant, game) for game in (games[0], games[len(games) // 2], games[-1])]
    assert all((a != b).any() for a, b in pairwise(images))


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
        assert theirs[3] == "?"
        kept = {variant.actions.names[card] for card in before.laid[:, INTRIGUE, 0] if card != NONE}
        assert kept <= {theirs[2], mine[2]}


@pytest.mark.parametrize("variant", VARIANTS[1:4], ids=IDS[1:4])
def test_the_end_shows_all_points_of_the_game(variant: Variant) -> None:
    ends = [positions(variant, seed)[-1] for seed in range(10)]
    assert any(end.wins.sum() == 2 for end in ends)
    for end in ends:
        lines = text(variant, end).splitlines()
        assert lines[-1] == f"player {end.winner} has won"
        if end.wins.sum() == 2:  # else four geisha have won at once
            for seat in range(2):
                (line,) = (line for line in lines[:-1] if line.startswith(f"player {seat}"))
                assert f" {end.points[seat]} point" in line
