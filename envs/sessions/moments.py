"""A game as a chain of moments, and what each seat remembers of it.

A moment is a position and the events that led to it. As in a tree, many games can continue from one
moment and share what came before. Chance is explicit: the caller of `after` chooses its outcomes.

Notation: S seats, N entries of an observation.
"""

from collections.abc import Iterator
from operator import add
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.engine.game import Variant
from hanamachi.engine.layout import Layout
from hanamachi.engine.rounds import scored_round
from hanamachi.errors import IllegalAction
from hanamachi.sessions.session import legal_in, possible_outcomes

NONE = -1  # in place of the event that led to a moment: it is the first

Observation = NDArray[np.float32]  # (N,) of one seat


class Memory(NamedTuple):
    """What a seat has seen and done since the game began."""

    text: str  # equal where the seat cannot tell two games apart, and only there
    seen: Observation  # its last observation
    rounds: tuple[Observation, ...] = ()  # those at the end of each round, the last one first


class Moment:
    """A position and how it came about; it never changes, so that a copy is the moment itself.

    A seat looks at the table whenever anybody is to decide, when a round has ended, and at the end.
    """

    def __init__(
        self,
        variant: Variant,
        games: NDArray[Any],
        left: int,
        returns: tuple[float, ...],
        before: "Moment | None" = None,
        event: int = NONE,
    ) -> None:
        self.variant = variant
        self.games = games  # (1,) the position
        self.left = left  # decisions until the game is broken off
        self.mover = int(games["mover"][0]) if left else OVER
        self.returns = returns  # what each seat has earned so far
        self.before, self.event = before, event  # what was, and what then happened
        self._memories: dict[int, Memory] = {}  # by seat, once asked for

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    # --- What can happen

    def legal(self) -> list[int]:
        """What the seat to move may do."""
        return legal_in(self.variant, self.games)

    def after(self, event: int) -> "Moment":
        """What follows an action of the mover or an outcome of chance.

        Raises IllegalAction if it cannot come now.
        """
        possible = self._outcomes() if self.mover == CHANCE else self.legal()
        if event not in possible:
            raise IllegalAction(f"{event} cannot come now; what can is {possible}")
        games = self.games.copy()
        if self.mover == CHANCE:
            kernels.resolve_one(self.variant.rule_set, games[0], event)
            return Moment(self.variant, games, self.left, self.returns, self, event)
        kernels.apply_one(self.variant.rule_set, games[0], event)
        rewards = games["rewards"][0, : self.variant.seats].tolist()
        returns = tuple(map(add, self.returns, rewards))
        return Moment(self.variant, games, self.left - 1, returns, self, event)

    def _outcomes(self) -> list[int]:
        return possible_outcomes(self.variant, self.games)

    def rewards(self) -> list[float]:
        """What the last action brought each seat, whatever chance has added since."""
        decision = self.before
        while decision is not None and decision.mover == CHANCE:
            decision = decision.before
        earlier = decision.returns if decision else self.returns
        return [now - then for now, then in zip(self.returns, earlier, strict=True)]

    def words(self, action: int) -> str:
        """An action of the mover in the rulebook's words."""
        return self.variant.actions.describe(action, self.games[0])

    # --- What is remembered

    def memory(self, seat: int) -> Memory:
        """All that a seat has seen and done, kept for the moments that follow."""
        missing: list[Moment] = []
        moment: Moment | None = self
        while moment is not None and seat not in moment._memories:
            missing.append(moment)
            moment = moment.before
        size = self.variant.observation.size
        memory = (
            moment._memories[seat]
            if moment
            else Memory(f"player_{seat}", np.zeros(size, np.float32))
        )
        for moment in reversed(missing):
            memory = moment._memories[seat] = moment._added_to(memory, seat)
        return memory

    def _added_to(self, memory: Memory, seat: int) -> Memory:
        """What a seat remembers after the last event, by what it did before."""
        text, seen, rounds = memory
        if self.before is not None and self.before.mover == seat:
            text += f" > {self.before.words(self.event)}"
        for game, round_ended in self._observable():
            now = seen_by(self.variant, game, seat)
            text += changes(self.variant.observation, seen, now)
            rounds = (now, *rounds) if round_ended else rounds
            seen = now
        return Memory(text, seen, rounds)

    def _observable(self) -> Iterator[tuple[NDArray[Any], bool]]:
        """The tables that all seats look at, (1,), and whether a round has ended there."""
        if self.before is not None and self.before.mover != CHANCE:
            scored = scored_round(self.variant, self.before.games[0], self.event)
            if scored is not None:
                yield np.array([scored], self.games.dtype), True
        if self.mover != CHANCE:
            yield self.games, False


def seen_by(variant: Variant, games: NDArray[Any], seat: int) -> Observation:
    """What a seat knows of games[0], (N,)."""
    rows = np.empty((1, variant.observation.size), np.float32)
    kernels.observations(variant.rule_set, games, np.array([seat]), rows)
    observation: Observation = rows[0]
    return observation


def changes(layout: Layout, before: Observation, after: Observation) -> str:
    """The entries that have changed, by segment, such as " | hand 0=1 4=2; began 0=1"."""
    changed = np.flatnonzero(before != after)
    segments = np.searchsorted(layout.offsets, changed, "right") - 1
    places, values = changed - layout.offsets[segments], after[changed]
    words: dict[int, str] = {}
    for segment, place, value in zip(
        segments.tolist(), places.tolist(), values.tolist(), strict=True
    ):
        name = words.get(segment, layout.segments[segment].name)
        words[segment] = f"{name} {place}={value:g}"
    return f" | {'; '.join(words.values())}" if words else ""
