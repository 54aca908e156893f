"""The pages of Geisha's Road: their tables are those in use."""

import pytest
from rules_pages import printed

from hanamachi import geishas_road_v0
from hanamachi.games import geishas_road
from hanamachi.games.registry import variant

pytestmark = pytest.mark.uncompiled

VARIANTS = [variant(id) for id in geishas_road.VARIANTS]
ADVANCED = VARIANTS[-1]
CHOICES = (
    "Reveal",
    "Intrigue",
    "Gift",
    "Competition",
    "Gift with Hidden Offer",
    "Competition with Hidden Offer",
    "Counteroffer",
    "Counteroffer with Hidden Offer",
    "pick from a Gift",
    "pick from a Competition",
    "order of two cards",
    "tokens to collect",
    "first marker",
    "starter",
)


def numbers(kind: int) -> list[str]:
    """The action numbers of a kind in each rule set."""
    firsts = [(v.actions.first[kind], v.actions.first[kind + 1]) for v in VARIANTS]
    return [f"{first}-{end - 1}" if first < end else "" for first, end in firsts]


def test_the_printed_catalogue_is_the_one_in_use() -> None:
    rows = [
        "| choice | 2021 | Introductory | Standard | Advanced | first | last |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind, choice in enumerate(CHOICES):
        actions = [v.actions for v in VARIANTS if kind in v.actions.kind][-1]
        ends = (actions.first[kind], actions.first[kind + 1] - 1)
        words = [f"`{actions.describe(action).replace('|', '/')}`" for action in ends]
        rows.append(f"| {' | '.join([choice, *numbers(kind), *words])} |")
    assert printed("geishas_road", "catalogue") == "\n".join(rows)


def test_the_page_of_the_environment_has_its_tables() -> None:
    page = geishas_road_v0.__doc__
    assert page is not None
    sizes = [str(v.observation.size) for v in VARIANTS]
    assert f"`Box` of {', '.join(sizes[:-1])} or {sizes[-1]} entries" in page
    assert all(f"`{option}=" in page for option in geishas_road.OPTIONS)
    for kind in range(len(CHOICES)):
        assert f"| {' | '.join(spelled(n) for n in numbers(kind))} |".replace("  ", " ") in page


def spelled(numbers: str) -> str:
    """As the page writes them: 5 to 9, or 5, 6."""
    first, _, last = numbers.partition("-")
    together = numbers and int(last) == int(first) + 1
    return f"{first}, {last}" if together else numbers.replace("-", " to ")
