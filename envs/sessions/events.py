"""What happens in a game, event by event, and what each seat hears of it.

An event is an action or an outcome of chance. What a seat hears tells it no card that it may not
know: two games that it cannot tell apart sound the same.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.contract import CHANCE
from hanamachi.engine.game import Variant
from hanamachi.engine.records import copied
from hanamachi.errors import IllegalAction
from hanamachi.rendering.parts import render_part
from hanamachi.sessions.arguments import seat_number


class Event(NamedTuple):
    """An action, or an outcome of chance, and the position before it."""

    before: np.record
    by: int  # the seat that acted, or CHANCE
    number: int  # of the action or the outcome
    decision: int  # how many actions came before it


class Heard(NamedTuple):
    """What a seat hears of an event."""

    by: int | None  # the seat that acted; None for chance and for what the rules bring about
    words: str
    decision: int  # how many actions came before it


class History:
    """The events of one game since it began, and the position that they have led to."""

    def __init__(self, variant: Variant, first: NDArray[Any], deal: Sequence[int] = ()) -> None:
        """`first` is the position (1,) before chance; `deal` what was given of chance, in order."""
        self.variant = variant
        self.games = first  # (1,)
        self.events: list[Event] = []
        self.decisions = 0  # actions so far
        self._heard: dict[int | None, list[list[Heard]]] = {}  # by seat, of each event
        self._deal = iter(deal)
        self._add_chance()

    def add(self, action: int) -> None:
        """The seat to move has taken this action, and chance has done its part.

        UserError, and nothing is added, for what is no action, or not legal now.
        """
        self.variant.actions.move(action)
        mask = np.empty((1, self.variant.actions.size), np.int8)
        kernels.masks(self.variant.rule_set, self.games, mask)
        if not mask[0, action]:
            raise IllegalAction(f"action {action} cannot come now; {mask.sum()} are legal")
        self.add_legal(action)

    def add_legal(self, action: int) -> None:
        """The same without a check, for an action that is known to be legal."""
        before = copied(self.games[0])
        self.events.append(Event(before, int(before.mover), action, self.decisions))
        kernels.apply_one(self.variant.rule_set, self.games[0], action)
        self.decisions += 1
        self._add_chance()

    def _add_chance(self) -> None:
        rule_set = self.variant.rule_set
        while self.games["mover"][0] == CHANCE:
            before = copied(self.games[0])
            drawn = int(kernels.draw_one(rule_set, self.games[0]))
            outcome = next(self._deal, drawn)
            self.events.append(Event(before, CHANCE, outcome, self.decisions))
            kernels.resolve_one(rule_set, self.games[0], outcome)

    def heard(self, seat: int | None, since: int = 0) -> list[Heard]:
        """What a seat has heard of the events after the first `since` actions; None hears all.

        UserError for a seat that is not there.
        """
        if seat is not None:
            seat = seat_number(seat, self.variant.seats, "a seat must be None or")
        known = self._heard.setdefault(seat, [])
        for event in self.events[len(known) :]:
            known.append(list(hear(self.variant, event, seat)))
        return [heard for of_event in known for heard in of_event if heard.decision >= since]

    def since_last_turn(self, seat: int | None) -> list[Heard]:
        """What a seat has heard since it acted last; with None, since the last action."""
        return self.heard(seat, self.last_turn(seat))

    def last_turn(self, seat: int | None) -> int:
        """How many actions there were once a seat had acted last; with None, one fewer than now."""
        acted = [e.decision for e in self.events if e.by != CHANCE and seat in (None, e.by)]
        if not acted:
            return 0
        return acted[-1] if seat is None else acted[-1] + 1


def hear(variant: Variant, event: Event, seat: int | None) -> Iterator[Heard]:
    """What a seat hears of an event: words of what was done, then of what came of it."""
    heard = render_part(variant, "heard")(variant, event.before, event.by, event.number, seat)
    for place, words in enumerate(heard):
        by = event.by if event.by != CHANCE and place == 0 else None
        yield Heard(by, words, event.decision)
