"""Tables of pages, in Markdown."""

from collections.abc import Iterator, Mapping


def heading(*names: str) -> Iterator[str]:
    """The two lines above the rows."""
    yield row(*names)
    yield row(*("---" for _ in names))


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def points(found: Mapping[str, float], form: str) -> str:
    """A mean with its interval."""
    return f"{found['mean']:{form}} ({found['low']:{form}} to {found['high']:{form}})"


def wins(found: Mapping[str, float]) -> str:
    """A win rate, per cent, with its interval, which is lopsided after few games."""
    rate, low, high = (100 * found[name] for name in ("rate", "low", "high"))
    return f"{rate:.1f} ({low:.1f} to {high:.1f})"
