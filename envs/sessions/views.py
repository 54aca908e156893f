"""One game as one seat sees it: as plain data, in words, and as a picture.

    session = Session(variant("hanamikoji"))
    session.begin(seed=0)
    seat_view(session, 0)     # a dict, ready for JSON
    seat_text(session, 0)     # the table in at most 80 columns
    seat_picture(session, 0)  # SVG, each piece with its name and a label

Two positions that a seat cannot tell apart give the same view, text and picture. With `seat=None`
all that is hidden is shown, too, from the side of the seat `near`.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, shown
from hanamachi.rendering.parts import render_part
from hanamachi.rendering.svg import picture_of_pieces, svg
from hanamachi.sessions.arguments import checked_render_seat
from hanamachi.sessions.events import History
from hanamachi.sessions.session import Session, legal_in


class Position(Protocol):
    """Where a game stands: a Session and a History both tell."""

    variant: Variant
    games: NDArray[Any]  # (1,)


def seat_view(session: Session, seat: int | None, near: int | None = None) -> dict[str, Any]:
    """What a seat may know, as `view_of` gives it; UserError for a seat that is not there."""
    seats = checked_seats(session, seat, near)
    return view_of(session.history(), *seats)


def view_of(history: History, seat: int | None, near: int | None = None) -> dict[str, Any]:
    """What a seat may know, as data for JSON: all of `situation_of`, and

    - "table": what lies where, different for each game.
    """
    variant, game = history.variant, history.games[0]
    lying = plain(render_part(variant, "table")(variant, game, seat, near))
    return {**situation_of(history, seat), "table": lying}


def situation_of(history: History, seat: int | None, since: int | None = None) -> dict[str, Any]:
    """What a seat may know and a picture of the table does not tell, as data for JSON.

    - "variant", "options", "title", "cooperative", "seats": the game;
    - "seat", "mover", "over": who looks, who is to move (None once the game is over);
    - "headline", "status": where the game stands, and who has to do what, or how it ended;
    - "legal": when it is the seat's turn, each action with its number, its words and its pieces;
    - "pieces": what each piece of a legal action is called;
    - "events": what the seat has heard since it acted last, or after the first `since` actions,
      each with the seat that acted (None for chance) and words.
    """
    variant, game = history.variant, history.games[0]
    mover, over = int(game.mover), game.mover == OVER
    legal, pieces = legal_actions(history, seat)
    events = history.heard(seat, history.last_turn(seat) if since is None else since)
    return {
        "variant": variant.id,
        "options": plain(variant.options),
        "title": variant.game.title,
        "cooperative": variant.game.cooperative,
        "seats": variant.seats,
        "seat": seat,
        "mover": None if over else mover,
        "over": bool(over),
        "headline": render_part(variant, "headline")(variant, game),
        "status": render_part(variant, "status")(variant, game, seat),
        "legal": legal,
        "pieces": pieces,
        "events": [{"by": heard.by, "words": heard.words} for heard in events],
    }


def choices(position: Position, seat: int | None) -> dict[int, str]:
    """The legal actions of a seat in words; none out of its turn."""
    variant, games = position.variant, position.games
    if games["mover"][0] != seat:
        return {}
    describe, game = variant.actions.describe, games[0]
    return {action: describe(action, game) for action in legal_in(variant, games)}


def legal_actions(
    position: Position, seat: int | None
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The actions of a seat in its turn, and what the pieces that make them up are called."""
    legal, labels, pieces_of = [], {}, render_part(position.variant, "pieces")
    for action, words in choices(position, seat).items():
        pieces = pieces_of(position.variant, position.games[0], action)
        labels.update(pieces)
        legal.append({"action": action, "words": words, "pieces": [name for name, _ in pieces]})
    return legal, labels


def seat_text(position: Position, seat: int | None, near: int | None = None) -> str:
    """The table as text, in at most 80 columns; UserError for a seat that is not there."""
    seats = checked_seats(position, seat, near)
    return str(render_part(position.variant, "text")(position.variant, position.games[0], *seats))


def seat_picture(position: Position, seat: int | None, near: int | None = None) -> str:
    """The table as SVG; each piece is a group with its name, `data-piece`, and a label.

    UserError for a seat that is not there.
    """
    seat, near = checked_seats(position, seat, near)
    variant = position.variant
    drawing = render_part(variant, "drawing")(variant, position.games[0], seat, near)
    whose = "" if seat is None else f" as player {seat} sees it"
    return picture_of_pieces(drawing, f"the table of {variant.game.title}{whose}")


def checked_seats(
    position: Position, seat: int | None, near: int | None
) -> tuple[int | None, int | None]:
    """Who sees the table, and from which side."""
    if not hasattr(position, "games"):
        raise UserError(f"what is seen is a Session or a History, not {shown(position)}")
    seats = position.variant.seats
    return checked_render_seat(seat, seats), checked_render_seat(near, seats)


def round_end_picture(history: History, seat: int | None) -> str | None:
    """SVG of the table as a round ended, if one has ended since the seat acted last.

    With None, if the last action has ended one.
    """
    variant = history.variant
    round_end = render_part(variant, "round_end_drawing")
    for event in reversed([event for event in history.events if event.by != CHANCE]):
        if (drawing := round_end(variant, event.before, event.number, seat)) is not None:
            return svg(drawing, f"the table of {variant.game.title} at the end of the round")
        if seat in (None, event.by):
            break
    return None


def plain(value: Any) -> Any:
    """Records, tuples and numbers of numpy as dicts, lists and numbers of Python."""
    if value is None or type(value) in (str, int, float, bool):  # most values are, all others rare
        return value
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(part) for name, part in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    return value.item() if isinstance(value, np.generic) else value
