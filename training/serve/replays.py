"""Games to look at, move by move, with all hands open or as one seat saw them."""

import json
from typing import Any

from hanamachi.engine.rounds import scored_round
from hanamachi.errors import UserError
from hanamachi.sessions.hanab_live import hanab_live
from hanamachi.sessions.notation import read_game
from hanamachi.sessions.saved_games import Record, content_of, replay
from hanamachi.sessions.session import Session
from hanamachi.sessions.views import seat_picture, situation_of


def text_of(record: Record) -> str:
    """A record as a saved game spells it."""
    return json.dumps(content_of(record))


def record_in(text: str, most: int | None = None) -> Record:
    """The game that a text spells in any form that is known; UserError as for `read_game`."""
    return read_game(text.encode(errors="replace"), most)


def hanab_live_text(record: Record) -> str:
    """The JSON of hanab.live; UserError if the site has no such game."""
    return json.dumps(hanab_live(record))


# --- A game, move by move


def overview(record: Record) -> dict[str, Any]:
    """The game and all its moves."""
    variant = record.variant
    return {
        "variant": variant.id,
        "title": variant.game.title,
        "seats": variant.seats,
        "cooperative": variant.game.cooperative,
        "moves": moves(record),
        "hanab_live": is_on_hanab_live(record),
    }


def is_on_hanab_live(record: Record) -> bool:
    """Whether hanab.live has such a game."""
    try:
        hanab_live(record)
    except UserError:
        return False
    return True


def moves(record: Record) -> list[dict[str, Any]]:
    """Each move with its number, from 1, its seat and words, and whether it ended a round."""
    session, listed = replay(record, 0), []
    for number, action in enumerate(record.actions, 1):
        by, before = session.mover, session.state()
        words = record.variant.actions.describe(action, before)
        session.step(action)
        ended = session.mover < 0 or scored_round(record.variant, before, action) is not None
        listed.append({"number": number, "by": by, "words": words, "round_over": ended})
    return listed


def session_at(record: Record, number: int) -> Session:
    """The game after this many moves; UserError if it has fewer."""
    if not 0 <= number <= len(record.actions):
        raise UserError(f"the game has {len(record.actions)} moves, not {number}")
    return replay(record, number)


def position(record: Record, number: int, seat: int | None) -> dict[str, Any]:
    """The table after this many moves, as a seat saw it, or with all hands open."""
    if seat is not None and not 0 <= seat < record.variant.seats:
        raise UserError(f"seat must be all or from 0 to {record.variant.seats - 1}, not {seat}")
    session = session_at(record, number)
    return {"view": situation_of(session.history(), seat), "picture": seat_picture(session, seat)}
