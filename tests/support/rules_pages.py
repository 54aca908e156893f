"""What the RULES.md of each game says between its marks."""

from pathlib import Path

import hanamachi.games


def rules_page(game: str) -> str:
    return (Path(hanamachi.games.__file__).parent / game / "RULES.md").read_text(encoding="utf-8")


def printed(game: str, name: str) -> str:
    """The part of a game's RULES.md between the marks of this name."""
    _, rest = rules_page(game).split(f"<!-- {name} -->")
    part, _ = rest.split(f"<!-- end of {name} -->")
    return part.strip()
