"""One game in progress, as Python holds it: begun, checked and remembered.

The faces for a single game (aec.py, single.py) and saved games (record.py) are built on this.
Chance is left to the game's own generator unless a deal is given. Each outcome costs one random
number either way, so what follows a given deal is what would have followed the same deal by luck.
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import index
from secrets import randbelow
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi import kernels
from hanamachi.errors import IllegalAction, UserError, unknown
from hanamachi.game import CHANCE, OVER, Variant
from hanamachi.games import variant

SEEDS = 2**64  # seeds run from 0 to one less
RESET_OPTIONS = ("deal", "state")

View = tuple[NDArray[np.float32], NDArray[np.int8]]  # observation (N,), action mask (A,)


class Session:
    """One game of a variant; `games` (1,) holds its record, always the same array."""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.games = variant.new(np.array([randbelow(SEEDS)], np.uint64))
        self.games["mover"] = OVER  # until begun
        self.generator = 0  # the state of the game's generator when it began
        self.from_start = False  # not so where a position was given
        self.deal: tuple[int, ...] = ()  # outcomes given for chance, in order
        self.dealt = 0  # how many of them have happened
        self.actions: list[int] = []
        self._sizes = variant.observation.size, variant.actions.size
        self._ready: View | None = None  # the mover's view, made with the last step

    # --- Beginning

    def begin(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin a game; without a seed it goes on with the generator of the last one.

        `options` may hold "deal", the outcomes that chance must bring first, in order, and
        "state", a position from `state` to start from. Raises UserError, and leaves the game as
        it was, if they do not fit.
        """
        options = options or {}
        for name in options:
            if name not in RESET_OPTIONS:
                raise unknown("option of reset", name, RESET_OPTIONS)
        games = self.games.copy()
        if "state" in options:
            games[:] = self._checked_state(options["state"])
        if seed is not None:
            games["rng"] = self.variant.new(checked_seeds([seed]))["rng"]
        self._begin(games, checked_deal(options.get("deal", ())), "state" not in options)

    def begin_anew(self, generator: int, deal: Sequence[int]) -> None:
        """Begin the game that a state of the generator and a deal lead to."""
        games = self.games.copy()
        games["rng"] = generator
        self._begin(games, tuple(deal), True)

    def _begin(self, games: NDArray[Any], deal: tuple[int, ...], from_start: bool) -> None:
        generator = int(games["rng"][0])
        happened: list[int] = []
        if from_start and not deal:
            kernels.reset(self.variant.rules, games)
        else:
            if from_start:
                kernels.start_one(self.variant.rules, games[0])
            happened = let_chance_happen(self.variant, games, deal)
        self.games[:] = games
        self.generator, self.from_start = generator, from_start
        self.deal, self.dealt = deal, len(happened)
        self.actions = []
        self._ready = None

    def _checked_state(self, state: Any) -> NDArray[Any]:
        games = np.array(state)
        if games.dtype != self.games.dtype or games.size != 1:
            raise UserError(f"a state is one record of {self.variant.game.title} from get_state()")
        if not is_position(self.variant, games.reshape(1)):
            raise UserError(f"the state given is no position of {self.variant.id}")
        return games.reshape(1)

    # --- Play

    @property
    def mover(self) -> int:
        """The seat to decide, or OVER."""
        return int(self.games["mover"][0])

    def rewards(self) -> list[float]:
        """What the last action brought each seat."""
        rewards: list[float] = self.games["rewards"][0, : self.variant.seats].tolist()
        return rewards

    def view(self, seat: int) -> View:
        """What a seat knows, (N,), and its action mask, (A,): zeros out of its turn."""
        view, self._ready = self._ready, None  # handed out once: it becomes the caller's own
        if view is None or seat != self.mover:
            view = self._new_view()
            kernels.view(self.variant.tables, self.games, seat, *view)
        return view

    def _new_view(self) -> View:
        entries, actions = self._sizes
        return np.empty(entries, np.float32), np.empty(actions, np.int8)

    def step(self, action: Any) -> None:
        """Carry out an action of the mover, and all that chance adds.

        Raises IllegalAction, or UserError if the deal does not fit; the game is then as it was.
        """
        number = whole_number(action, "an action")
        if not 0 <= number < self.variant.actions.size:
            raise self._illegal(number)
        if self.dealt < len(self.deal):
            self._step_dealt(number)
        else:
            view = self._new_view()
            if not kernels.step_if_legal(self.variant.tables, self.games, number, *view):
                raise self._illegal(number)
            self._ready = view
        self.actions.append(number)

    def _step_dealt(self, action: int) -> None:
        if not self._legal()[action]:
            raise self._illegal(action)
        games = self.games.copy()
        kernels.apply_one(self.variant.rules, games[0], action)
        self.dealt += len(let_chance_happen(self.variant, games, self.deal, self.dealt))
        self.games[:] = games
        self._ready = None

    def _legal(self) -> NDArray[np.int8]:
        """The mover's mask, (A,)."""
        mask = np.empty((1, self.variant.actions.size), np.int8)
        kernels.masks(self.variant.rules, self.games, mask)
        return mask.reshape(-1)

    def _illegal(self, action: int) -> IllegalAction:
        if self.mover == OVER:
            return IllegalAction("no game is in progress; call reset() to begin one")
        seat, legal, size = self.mover, int(self._legal().sum()), self.variant.actions.size
        if not 0 <= action < size:
            return IllegalAction(
                f"there is no action {action}: they run from 0 to {size - 1}, "
                f"and player_{seat} has {legal} legal ones"
            )
        words = self.variant.actions.describe(action, self.games[0])
        return IllegalAction(
            f"player_{seat} may not {words} (action {action}) now; {legal} actions are legal"
        )

    def state(self) -> np.record:
        """A copy of the whole position, hidden cards and generator included."""
        position: np.record = self.games.copy()[0]
        return position

    # --- Copies

    def __getstate__(self) -> dict[str, Any]:
        """A variant is its id and options: its tables need not travel."""
        return {**self.__dict__, "variant": (self.variant.id, dict(self.variant.options))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        id, options = state["variant"]
        self.__dict__.update(state, variant=variant(id, **options))


# --- Chance


def let_chance_happen(
    variant: Variant, games: NDArray[Any], deal: Sequence[int] = (), dealt: int = 0
) -> list[int]:
    """Let chance happen in games[0] until a seat is to move; returns its outcomes.

    They come from `deal`, of which the first `dealt` have happened, then from the generator.
    """
    happened: list[int] = []
    while games["mover"][0] == CHANCE:
        outcome = int(kernels.draw_one(variant.rules, games[0]))
        place = dealt + len(happened)
        if place < len(deal):
            outcome = deal[place]
            possible = possible_outcomes(variant, games)
            if outcome not in possible:
                raise UserError(
                    f"deal[{place}] is {outcome}, but chance can only bring "
                    f"{', '.join(map(str, possible))} there"
                )
        kernels.resolve_one(variant.rules, games[0], outcome)
        happened.append(outcome)
    return happened


def possible_outcomes(variant: Variant, games: NDArray[Any]) -> list[int]:
    """What chance can bring next in games[0]."""
    outcomes = np.empty(variant.rules.max_outcomes, np.int64)
    chances = np.empty(variant.rules.max_outcomes, np.float64)
    n = kernels.outcomes_of(variant.rules, games[0], outcomes, chances)
    possible: list[int] = outcomes[:n].tolist()
    return possible


# --- Checks of what users give


def whole_number(value: Any, what: str) -> int:
    """An integer of Python or of numpy, as an int."""
    try:
        return index(value)
    except TypeError:
        raise UserError(f"{what} must be a whole number, not {value!r}") from None


def checked_seeds(seeds: Iterable[Any]) -> NDArray[np.uint64]:
    """Seeds as an array, (B,)."""
    numbers = [whole_number(seed, "a seed") for seed in seeds]
    for number in numbers:
        if not 0 <= number < SEEDS:
            raise UserError(f"a seed must be from 0 to 2**64 - 1, not {number}")
    return np.array(numbers, np.uint64)


def checked_deal(deal: Any) -> tuple[int, ...]:
    if not isinstance(deal, Iterable):
        raise UserError(f"a deal must list outcomes of chance in order, not {deal!r}")
    return tuple(whole_number(outcome, "an outcome in a deal") for outcome in deal)


def is_position(variant: Variant, games: NDArray[Any]) -> bool:
    """Whether games[0] is over, or has a choice for the mover or for chance."""
    mover = int(games["mover"][0])
    if mover == CHANCE:
        return len(possible_outcomes(variant, games)) > 0
    mask = np.zeros((1, variant.actions.size), np.int8)
    kernels.masks(variant.rules, games, mask)
    return mover == OVER or (0 <= mover < variant.seats and bool(mask.any()))
