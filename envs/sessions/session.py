"""A session: one game in progress, with its checks and the actions taken so far.

The adapters for a single game and saved games (saved_games.py) are built on this. The game's own
generator decides chance unless a deal is given. Each outcome uses one random number either way, so
a game with a given deal continues like the game in which chance brought the same deal.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from secrets import randbelow
from typing import Any

import numpy as np
from numba import typeof
from numba.core.dispatcher import Dispatcher
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.engine.game import Variant
from hanamachi.engine.kernels import BEGIN, LOOK, MOVER, REFUSED
from hanamachi.errors import IllegalAction, UserError, shown, unknown
from hanamachi.games.registry import variant
from hanamachi.rendering.frames import table_svg
from hanamachi.sessions.arguments import (
    SEEDS,
    checked_deal,
    checked_mapping,
    checked_seeds,
    checked_variant,
    seat_number,
    whole_number,
)
from hanamachi.sessions.events import History
from hanamachi.sessions.states import State, checked_state, state_of

NO_GAME = "no game is in progress; call reset() to begin one"
RESET_OPTIONS = ("deal", "state")
# of a session into its own arrays and code
POINTERS = {"_rule_set_array", "_rewards", "_advance_one"}

Observed = tuple[NDArray[np.float32], NDArray[np.int8]]  # observation (N,), action mask (A,)


class Session:
    """One game of a variant; `games` (1,) holds its record, always the same array."""

    def __init__(self, variant: Variant) -> None:
        self.variant = checked_variant(variant)
        self.games = variant.new(np.array([randbelow(SEEDS)], np.uint64))
        self.games["mover"] = OVER
        self.mover = OVER  # the seat to decide; OVER until begun
        self.generator = 0  # the state of the game's generator when it began, which is never 0
        self.from_start = False  # not so where a position was given
        self.deal: tuple[int, ...] = ()  # outcomes given for chance, in order
        self.dealt = 0  # how many of them have happened
        self.actions: list[int] = []
        self._given: NDArray[Any] | None = None  # the position that it began from, unless the start
        self._history: History | None = None  # once asked for
        self._observation, self._mask = new_arrays(variant)  # the mover's; no mask once it is over
        self._mask[:] = 0
        self._point()

    def _point(self) -> None:
        """Keep at hand what every step needs of the arrays and of the variant."""
        self._rule_set_array = self.variant.rule_set_array
        self._size = self.variant.actions.size
        self._rewards = self.games["rewards"][0, : self.variant.seats]
        game = self.variant.game
        self._advance_one = compiled_advance_one(game.rule_set_dtype, game.record)

    # --- Beginning

    def begin(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin a game; without a seed it keeps the generator of the last one.

        `options` may hold "deal", the outcomes that chance must bring first, in order, and
        "state", a position from `get_state` to start from. Raises UserError, and leaves the game as
        it was, if they do not fit.
        """
        options = checked_mapping(options)
        if options:
            self._begin_with_options(seed, options)
            return
        if seed is not None:
            self.games["rng"] = self.variant.new(checked_seeds([seed]))["rng"]
        self._given = None
        self._remember(self.games["rng"].item(), (), True)
        self.mover = self._advance(BEGIN, MOVER, self._observation, self._mask)

    def _begin_with_options(self, seed: int | None, options: Mapping[str, Any]) -> None:
        for name in options:
            if name not in RESET_OPTIONS:
                raise unknown("option of reset", name, RESET_OPTIONS)
        games = self.games.copy()
        if "state" in options:
            games[:] = checked_state(self.variant, options["state"])
        if seed is not None:
            games["rng"] = self.variant.new(checked_seeds([seed]))["rng"]
        self._begin(games, checked_deal(options.get("deal", ())), "state" not in options)

    @property
    def begun(self) -> bool:
        """Whether there has been a game, which may be over."""
        return self.generator != 0

    def check_begun(self) -> None:
        """UserError before the first game."""
        if not self.begun:
            raise UserError(NO_GAME)

    def begin_dealt(self, generator: int, deal: Sequence[int]) -> None:
        """Begin the game that a state of the generator and a deal lead to."""
        games = self.games.copy()
        games["rng"] = generator
        self._begin(games, tuple(deal), True)

    def first_position(self) -> NDArray[Any]:
        """(1,) the position that the game began from, before chance."""
        if self._given is not None:
            return self._given.copy()
        games = self.games.copy()
        games["rng"] = self.generator
        kernels.start_one(self.variant.rule_set, games[0])
        return games

    def _begin(self, games: NDArray[Any], deal: tuple[int, ...], from_start: bool) -> None:
        generator = games["rng"].item()
        given = None if from_start else games.copy()
        if from_start:
            kernels.start_one(self.variant.rule_set, games[0])
        happened = let_chance_happen(self.variant, games, deal)  # it may refuse the deal
        self._given = given
        self._remember(generator, deal, from_start)
        self.dealt = len(happened)
        self._go_on_from(games)

    def _remember(self, generator: int, deal: tuple[int, ...], from_start: bool) -> None:
        """Where the game that begins comes from."""
        self.generator, self.from_start = generator, from_start
        self.deal, self.dealt = deal, 0
        self.actions = []
        self._history = None

    def _go_on_from(self, games: NDArray[Any]) -> None:
        """Take over a position, in which a seat is to move or the game is over."""
        self.games[:] = games
        self.mover = self._advance(LOOK, MOVER, self._observation, self._mask)

    # --- Play

    def rewards(self) -> list[float]:
        """What the last action brought each seat."""
        rewards: list[float] = self._rewards.tolist()
        return rewards

    def observe(self, seat: int) -> Observed:
        """A seat's observation, (N,), and its action mask, (A,): zeros out of its turn.

        UserError for a seat that is not there.
        """
        number = seat if type(seat) is int else whole_number(seat, "a seat")
        if number == self.mover != OVER:
            return self._observation.copy(), self._mask.copy()
        arrays = new_arrays(self.variant)
        self._advance(LOOK, seat_number(number, self.variant.seats), *arrays)
        return arrays

    def _advance(self, *arguments: Any) -> int:
        return self._advance_one(self._rule_set_array, self.games, *arguments)

    def step(self, action: Any) -> None:
        """Carry out an action of the mover, and all that chance adds.

        Raises IllegalAction, or UserError if the deal does not fit; the game is then as it was.
        """
        number = action if type(action) is int else whole_number(action, "an action")
        if not 0 <= number < self._size:
            raise refusal(self, number)
        if self.dealt < len(self.deal):
            self._step_dealt(number)
        else:
            mover = self._advance_one(
                self._rule_set_array, self.games, number, MOVER, self._observation, self._mask
            )
            if mover == REFUSED:
                raise refusal(self, number)
            self.mover = mover
        self.actions.append(number)
        if self.mover == OVER and self._history:
            self.history()  # whoever follows the events learns that the game has ended

    def _step_dealt(self, action: int) -> None:
        if not self._mask[action]:
            raise refusal(self, action)
        games = self.games.copy()
        kernels.apply_one(self.variant.rule_set, games[0], action)
        self.dealt += len(let_chance_happen(self.variant, games, self.deal, self.dealt))
        self._go_on_from(games)

    def history(self) -> History:
        """The events since the game began; the same object, brought up to date by each call."""
        if self._history is None:
            self._history = History(self.variant, self.first_position(), self.deal)
        for action in self.actions[self._history.decisions :]:
            self._history.add_legal(action)
        return self._history

    def state(self) -> np.record:
        """A copy of the whole position, hidden cards and generator included."""
        position: np.record = self.games.copy()[0]
        return position

    def get_state(self) -> State:
        """The same for others to keep; `begin` takes it. UserError before the first game."""
        self.check_begun()
        return state_of(self.variant, self.games)

    def _repr_svg_(self) -> str | None:
        """The table for a notebook: all that `render` shows, and nothing before the first game."""
        return table_svg(self.variant, self.games[0]) if self.begun else None

    # --- Copies

    def __getstate__(self) -> dict[str, Any]:
        """A variant is its id and options: its tables need not travel."""
        variant = self.variant.id, dict(self.variant.options)
        state = {**self.__dict__, "variant": variant, "_history": None}
        return {name: state[name] for name in state.keys() - POINTERS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        id, options = state["variant"]
        self.__dict__.update(state, variant=variant(id, **options))
        self._point()


def new_arrays(variant: Variant) -> Observed:
    """Room for an observation, (N,), and an action mask, (A,)."""
    return np.empty(variant.observation.size, np.float32), np.empty(variant.actions.size, np.int8)


def refusal(session: Session, action: int) -> IllegalAction:
    """Why the session does not take this action."""
    if session.mover == OVER:
        return IllegalAction(NO_GAME)
    seat, actions = session.mover, session.variant.actions
    legal = int(session.observe(seat)[1].sum())
    if not 0 <= action < actions.size:
        return IllegalAction(
            f"there is no action {shown(action)}: they run from 0 to {actions.size - 1}, "
            f"and player_{seat} has {legal} legal ones"
        )
    words = actions.describe(action, session.games[0])
    return IllegalAction(
        f"player_{seat} may not {words} (action {action}) now; {legal} actions are legal"
    )


# --- What can happen


def let_chance_happen(
    variant: Variant, games: NDArray[Any], deal: Sequence[int] = (), dealt: int = 0
) -> list[int]:
    """Let chance happen in games[0] until a seat is to move; returns its outcomes.

    They come from `deal`, of which the first `dealt` have happened, then from the generator.
    """
    happened: list[int] = []
    while games["mover"][0] == CHANCE:
        outcome = int(kernels.draw_one(variant.rule_set, games[0]))
        place = dealt + len(happened)
        if place < len(deal):
            outcome = deal[place]
            possible = possible_outcomes(variant, games)
            if outcome not in possible:
                raise UserError(
                    f"deal[{place}] is {shown(outcome)}, but chance can only bring "
                    f"{', '.join(map(str, possible))} there"
                )
        kernels.resolve_one(variant.rule_set, games[0], outcome)
        happened.append(outcome)
    return happened


def chance_outcomes(variant: Variant, games: NDArray[Any]) -> list[tuple[int, float]]:
    """What chance can bring next in games[0], and how likely."""
    outcomes = np.empty(variant.rule_set.max_outcomes, np.int64)
    probabilities = np.empty(variant.rule_set.max_outcomes, np.float64)
    n = kernels.outcomes_of(variant.rule_set, games[0], outcomes, probabilities)
    return list(zip(outcomes[:n].tolist(), probabilities[:n].tolist(), strict=True))


def possible_outcomes(variant: Variant, games: NDArray[Any]) -> list[int]:
    """What chance can bring next in games[0]."""
    return [outcome for outcome, _ in chance_outcomes(variant, games)]


def legal_in(variant: Variant, games: NDArray[Any]) -> list[int]:
    """The legal actions of the seat to move in games[0]."""
    mask = np.empty((1, variant.actions.size), np.int8)
    kernels.masks(variant.rule_set, games, mask)
    actions: list[int] = np.flatnonzero(mask).tolist()
    return actions


# --- Compiled


@cache
def compiled_advance_one(rule_set: np.dtype[Any], record: np.dtype[Any]) -> Callable[..., int]:
    """The kernel for arguments of a game's types: it saves each call the look at them."""
    kernel: Any = kernels.advance_one
    if not isinstance(kernel, Dispatcher):  # as with NUMBA_DISABLE_JIT=1
        return kernels.advance_one
    observed = np.empty(1, np.float32), np.empty(1, np.int8)
    arguments = np.empty(1, rule_set), np.empty(1, record), 0, 0, *observed
    compiled: Callable[..., int] = kernel.compile(tuple(map(typeof, arguments)))
    return compiled
