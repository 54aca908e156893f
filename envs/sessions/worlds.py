"""What a policy may be told beyond an observation: views of the game, and worlds.

A view is all that a seat may know, as data. Worlds are games that the seat cannot tell from the
game that it plays.

A policy that searches gets `Worlds` in place of the true games, so it can continue from the
current position without hidden cards. Between policies in one process this wall is a convention:
Python code can inspect any object, `Worlds` and the true games in it included. It protects against
mistakes, not against cheating; a policy that is not trusted must run in another process.

Notation: B games, K worlds.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hanamachi.engine import kernels
from hanamachi.engine.contract import OVER
from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, shown
from hanamachi.sessions.arguments import checked_seeds, whole_number
from hanamachi.sessions.events import History
from hanamachi.sessions.observations import observe
from hanamachi.sessions.session import NO_GAME, Session
from hanamachi.sessions.views import view_of

Histories = Callable[[int], History]  # of the game with this number


class Worlds:
    """B games, each as one of its seats knows it; len() is B.

    The games are kept, not copied, and asked about as they then stand.
    """

    def __init__(
        self,
        variant: Variant,
        games: NDArray[Any],
        seats: ArrayLike,
        history: Histories | None = None,
    ) -> None:
        """The true games, (B,), and a seat in each, (B,); a row whose game is over has no worlds.

        `history` gives the events of a row's game, where the owner of the games follows them.
        """
        self.variant = variant
        self._games = games
        self._seats = np.asarray(seats, np.int64)
        self._history = history

    def __len__(self) -> int:
        return len(self._games)

    def view(self, row: int) -> dict[str, Any]:
        """What the seat of a row may know, as `views.view_of` gives it.

        UserError for a row that is not there or whose game is over, and where nobody follows the
        events of the games, as in training and in searches.
        """
        return view_of(self.history(row), int(self._seats[row]))

    def history(self, row: int) -> History:
        """The events of a row's game, hidden ones too; UserError as for `view`."""
        if self._history is None:
            raise UserError(
                "bots, language models and other policies that play from views can play matches "
                "and single games; they cannot be searched, cloned or trained, nor play in vector "
                "environments"
            )
        return self._history(self._checked_row(row))

    @property
    def going(self) -> NDArray[np.bool_]:
        """Which games are not over, (B,)."""
        going: NDArray[np.bool_] = self._games["mover"] >= 0
        return going

    @property
    def due(self) -> bool:
        """Whether each game that is not over waits for the seat that knows it."""
        movers = self._games["mover"]
        return bool(((movers < 0) | (movers == self._seats)).all())

    def observe(self) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        """What the seats observe, (B, N), and what those to move may do, (B, A)."""
        # in one piece, as in all calls of the kernel: else it is compiled again
        return observe(self.variant, self._games, np.ascontiguousarray(self._seats))

    def _checked_row(self, row: Any) -> int:
        number = whole_number(row, "the row of a game")
        if not 0 <= number < len(self):
            raise UserError(f"these are worlds of {len(self)} games, from row 0, not {shown(row)}")
        if self._games["mover"][number] < 0:
            raise UserError(
                f"the game in row {number} is over, so that nothing can be imagined of it; ask "
                "about the others, or begin another game"
            )
        return number

    def sample(self, row: int, seeds: Iterable[Any]) -> NDArray[Any]:
        """Games (K,) that the seat of a row cannot tell from its own, one for each seed, (K,).

        Each is dealt by `redeal`, with the generator that its seed gives. UserError for a row that
        is not there or whose game is over, and for a seed that is none.
        """
        row = self._checked_row(row)
        self.variant.needs("redeal", "search")
        if not (isinstance(seeds, np.ndarray) and (seeds.ndim, seeds.dtype) == (1, np.uint64)):
            seeds = checked_seeds(seeds)
        worlds = self.variant.new(seeds)
        true = self._games[row : row + 1]
        kernels.worlds(self.variant.rule_set, true, int(self._seats[row]), worlds)
        return worlds


def checked_worlds(worlds: Worlds | None, rows: int, name: str) -> Worlds:
    """The worlds that a policy of this name was given; UserError unless `rows` of them are due."""
    if worlds is None or len(worlds) != rows or not worlds.due:
        games = "this game as it stands" if rows == 1 else f"these {rows} games as they stand"
        raise UserError(
            f"{name} needs the worlds of {games} now: use policy.with_worlds(env.worlds()) before "
            "each decision"
        )
    return worlds


def worlds_of(session: Session, seat: int) -> Worlds:
    """A single game, as one of its seats knows it; UserError unless it is in progress."""
    if session.mover == OVER:
        raise UserError(NO_GAME)
    return Worlds(session.variant, session.games, [seat], lambda row: session.history())
