"""Words that the tables of all games share."""


def counted(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def named(seat: int, viewer: int | None) -> str:
    return f"player {seat} (you)" if viewer == seat else f"player {seat}"
