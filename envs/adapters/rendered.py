"""What the environments of a single game show."""

import gymnasium.logger

from hanamachi.rendering.frames import Frame, frame
from hanamachi.sessions.arguments import checked_render_seat
from hanamachi.sessions.session import Session


def rendered(session: Session, mode: str | None, seat: int | None, *, forfeited: bool) -> Frame:
    """The table as a seat sees it, or open; without a mode nothing, and a warning says why.

    UserError for a seat that is not there, and before the first game.
    """
    if mode is None:
        gymnasium.logger.warn('render() shows nothing; choose render_mode="human" or another')
        return None
    session.check_begun()
    seen_by = checked_render_seat(seat, session.variant.seats)
    return frame(session.variant, session.state(), mode, seen_by, forfeited=forfeited)
