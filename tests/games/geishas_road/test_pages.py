"""The pages of Geisha's Road: their tables are those in use."""

from pathlib import Path

import pytest

import hanamachi
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


def printed(name: str) -> str:
    """The part of RULES.md between the marks of this name."""
    text = (Path(hanamachi.games.geishas_road.__file__).parent / "RULES.md").read_text(
        encoding="utf-8"
    )
    return text.split(f"<!-- {name} -->")[1].split(f"<!-- end of {name} -->")[0].strip()


def numbers(kind: int) -> list[str]:
    """The action numbers of a kind in each rule set."""
    firsts = [(v.actions.first[kind], v.actions.first[kind + 1]) for v in VARIANTS]
    return [f"{first}-{end - 1}" if first < end else "" for first, end in firsts]


def test_the_printed_observation_is_the_one_in_use() -> None:
    assert printed("observation") == ADVANCED.observation.markdown()


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
    assert printed("catalogue") == "\n".join(rows)


def test_every_option_is_explained_with_its_default() -> None:
    cells = [[cell.strip() for cell in row.split("|")] for row in printed("options").splitlines()]
    defaults = {row[1].strip("`"): row[2].strip("`") for row in cells[2:]}
    assert defaults.keys() == geishas_road.OPTIONS.keys()
    known = {name: value for v in geishas_road.VARIANTS.values() for name, value in v.items()}
    for name, value in known.items():
        written = "all four" if name == "actions" else str(value).replace("'", '"')
        assert defaults[name] == (f'"{value}"' if isinstance(value, str) else written)


def test_the_page_of_the_environment_has_its_tables() -> None:
    page = geishas_road_v0.__doc__
    assert page is not None
    assert ADVANCED.observation.markdown() in page
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
