"""Words that the tables of all games share."""


def counted(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def player_name(seat: int, viewer: int | None) -> str:
    return f"player {seat} (you)" if viewer == seat else f"player {seat}"


def near_side(viewer: int | None, near: int | None) -> int:
    """The seat at the bottom of the table: the one asked for, else the viewer, else player 0."""
    return near if near is not None else viewer or 0
