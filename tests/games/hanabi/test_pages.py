"""The pages of Hanabi: their tables are those in use."""

from collections.abc import Iterable

import numpy as np
import pytest
from numpy.typing import NDArray
from rules_pages import printed, rules_page

from hanamachi import hanabi_v0
from hanamachi.engine.game import Variant
from hanamachi.games.hanabi import OPTIONS, VARIANTS
from hanamachi.games.hanabi.render import LETTERS
from hanamachi.games.hanabi.rules import CLUE, DISCARD, PLAY
from hanamachi.games.hanabi.view import RATINGS
from hanamachi.games.registry import variant

pytestmark = pytest.mark.uncompiled

RULES = rules_page("hanabi")
PAGE = hanabi_v0.__doc__ or ""
BY_ID = {id: variant(id) for id in VARIANTS}
BASIC, MULTICOLOUR = list(BY_ID.values())[:4], list(BY_ID.values())[4:]
TWO_PLAYERS = BASIC[0]


def kinds_of_actions(variant: Variant) -> list[NDArray[np.int64]]:
    """The numbers of discards, of plays, of clues about a colour and about a rank."""
    actions = variant.actions
    of_colour = actions.trait < variant.rule_set.suits
    chosen = [actions.kind == kind for kind in (DISCARD, PLAY)]
    chosen += [(actions.kind == CLUE) & which for which in (of_colour, ~of_colour)]
    return [np.flatnonzero(which) for which in chosen]


def test_the_printed_catalogue_is_the_one_in_use() -> None:
    rows = [
        "| id | discard | play | tell a colour | tell a rank | actions | entries observed |",
        "|---|---|---|---|---|---|---|",
    ]
    for id, v in BY_ID.items():
        numbers = " | ".join(f"{kind[0]}-{kind[-1]}" for kind in kinds_of_actions(v))
        rows.append(f"| `{id}` | {numbers} | {v.actions.size} | {v.observation.size} |")
    assert printed("hanabi", "catalogue") == "\n".join(rows)


@pytest.mark.parametrize("id", BY_ID)
def test_the_printed_formula_gives_the_number_of_every_clue(id: str) -> None:
    actions, rule_set = BY_ID[id].actions, BY_ID[id].rule_set
    players, hand, suits, ranks = (
        int(rule_set[n]) for n in ("seats", "hand_size", "suits", "ranks")
    )
    for d in range(1, players):
        for s in range(suits):
            assert actions.clue[d, s] == 2 * hand + (d - 1) * suits + s
        for r in range(ranks):
            expected = 2 * hand + (players - 1) * suits + (d - 1) * ranks + r
            assert actions.clue[d, suits + r] == expected
    assert actions.size == 2 * hand + (players - 1) * (suits + ranks)
    for words in ("2 H + (d - 1) C + s", "2 H + (P - 1) C + (d - 1) R + r", "(P - 1) (C + R)"):
        assert words in RULES


def test_the_printed_ratings_are_those_of_the_table() -> None:
    rows, low = ["| points | rating |", "|---|---|"], 0
    for most, rating in RATINGS:
        rows.append(f"| {low} to {most} | {rating} |".replace(f"{most} to {most}", f"{most}"))
        low = most + 1
    assert printed("hanabi", "ratings") == "\n".join(rows)


def test_every_suit_is_named_with_its_letter() -> None:
    *suits, multicolour = LETTERS
    assert f"`{' '.join(suits)}`, by letter `{' '.join(LETTERS[suit] for suit in suits)}`" in RULES
    assert f"`{multicolour}` (`{LETTERS[multicolour]}`)" in RULES


def test_the_page_of_the_environment_has_its_tables() -> None:
    assert f"`Discrete` of {listed(v.actions.size for v in BASIC)} for" in PAGE
    assert f"`Box` of {listed(v.observation.size for v in BASIC)} entries" in PAGE
    assert f"`Box` of {listed(v.seats * v.observation.size for v in BASIC)} entries" in PAGE
    actions = listed(v.actions.size for v in MULTICOLOUR)
    assert f"{actions} actions; {listed(v.observation.size for v in MULTICOLOUR)} entries" in PAGE
    assert all(f"`{option}" in PAGE for option in OPTIONS)


def listed(sizes: Iterable[int]) -> str:
    *first, last = map(str, sizes)
    return f"{', '.join(first)} or {last}"


@pytest.mark.parametrize("kind", ["colour", "rank"])
def test_the_page_of_the_environment_numbers_every_clue(kind: str) -> None:
    for d, player in enumerate(("next", "second", "third", "fourth"), 1):
        cells = [span(variant, d, kind) if d < variant.seats else "" for variant in BASIC]
        row = f"| {' | '.join(cells)} | tell the {player} player about this {kind} |"
        assert row.replace("  ", " ") in PAGE


def span(variant: Variant, offset: int, kind: str) -> str:
    """The first and last number of the clues of a kind for one player."""
    suits = variant.rule_set.suits
    traits = slice(suits) if kind == "colour" else slice(suits, None)
    numbers = variant.actions.clue[offset, traits]
    return f"{numbers[0]} to {numbers[-1]}"


def test_the_page_of_the_environment_numbers_discards_and_plays() -> None:
    for kind, words in enumerate(("discard", "play")):
        numbers = [kinds_of_actions(variant)[kind] for variant in BASIC]
        cells = " | ".join(f"{n[0]} to {n[-1]}" for n in numbers)
        assert f"| {cells} | {words} the card in this slot |" in PAGE
