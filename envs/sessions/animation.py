"""A saved game as an animation."""

import os
from collections.abc import Iterator

from hanamachi.errors import UserError, shown
from hanamachi.limits import MOVE_SECONDS
from hanamachi.rendering.animation import Scene, animated_gif, animated_svg, captioned
from hanamachi.rendering.parts import render_part
from hanamachi.sessions.arguments import is_number
from hanamachi.sessions.saved_games import Record, check_record, positions
from hanamachi.storage.files import write_whole
from hanamachi.storage.reading import checked_path

KINDS = (".svg", ".gif")
PAUSE = 4  # a scored table is shown so much longer
GIF_WIDTH = 800  # pixels


def animate(record: Record, path: str | os.PathLike[str], seconds: float = 1.0) -> None:
    """Write a game as an animation, one move every `seconds`: SVG or GIF, by the name of the file.

    All cards are open. Raises UserError for another kind of file, for more than MOVE_SECONDS,
    or if Pillow is missing for GIF.
    """
    check_record(record)
    path = checked_path(path)
    kind = path.suffix.lower()
    if not is_number(seconds) or not 0 < seconds <= MOVE_SECONDS:
        raise UserError(f"a move takes up to {MOVE_SECONDS} seconds, not {shown(seconds)}")
    if kind not in KINDS:
        raise UserError(f"an animation is written as .svg or .gif, not as {path.name}")
    frames = list(scenes(record, seconds))
    if kind == ".gif":
        content = animated_gif(frames, GIF_WIDTH)
    else:
        content = animated_svg(frames, f"a game of {record.variant.game.title}").encode()
    write_whole(path, content)


def scenes(record: Record, seconds: float) -> Iterator[Scene]:
    """The table after the deal and after each move, and each round's end before the next round."""
    variant, before = record.variant, None
    drawing, round_end = (render_part(variant, f"{part}drawing") for part in ("", "round_end_"))
    for number, (position, happened) in enumerate(positions(record)):
        words = happened.replace("player_", "player ")
        if before is not None:
            scored = round_end(variant, before, record.actions[number - 1])
            if scored is not None:
                yield Scene(captioned(scored, words), PAUSE * seconds)
                words = "the next round begins"
        last = number == len(record.actions)
        table = captioned(drawing(variant, position), words)
        yield Scene(table, PAUSE * seconds if last else seconds)
        before = position
