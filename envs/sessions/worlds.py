"""What a policy may be told beyond an observation: views of the game, and worlds.

A view is all that a seat may know, as data. Worlds are games that the seat cannot tell from the
game that it plays.

A policy that searches gets `Worlds` in place of the true games, so it can continue from the
current position without hidden cards. Between policies in one process this wall is a convention:
Python code can inspect any object, `Worlds` and the true games in it included. It protects against
mistakes, not against cheating; a policy that is not trusted must run in another process.

Notation: B games, K worlds.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hanamachi.engine import kernels
from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, shown
from hanamachi.sessions.events import History
from hanamachi.sessions.session import Session
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
        """The true games, (B,), none of them over, and a seat in each, (B,).

        `history` gives the events of a row's game, where the owner of the games follows them.
        """
        if (games["mover"] < 0).any():
            raise UserError("no game is in progress; call reset() to begin one")
        self.variant = variant
        self._games = games
        self._seats = np.asarray(seats, np.int64)
        self._history = history

    def __len__(self) -> int:
        return len(self._games)

    def view(self, row: int) -> dict[str, Any]:
        """What the seat of a row may know, as `views.view_of` gives it.

        UserError where nobody follows the events of the games, as in training and in searches.
        """
        return view_of(self.history(row), int(self._seats[row]))

    def history(self, row: int) -> History:
        """The events of a row's game, hidden ones too; UserError as for `view`."""
        if self._history is None:
            raise UserError(
                "a policy that plays from views can play matches and single games; it cannot be "
                "searched, cloned or trained, nor play in vector environments"
            )
        return self._history(row)

    @property
    def due(self) -> bool:
        """Whether no other seat than the one that knows the game is to move in any of them."""
        movers = self._games["mover"]
        return bool(((movers < 0) | (movers == self._seats)).all())

    def sample(self, row: int, seeds: NDArray[np.uint64]) -> NDArray[Any]:
        """Games (K,) that the seat of a row cannot tell from its own, one for each seed.

        Each is dealt by `redeal`, with the generator that its seed gives. UserError for a row that
        is not there.
        """
        if not 0 <= row < len(self):
            raise UserError(f"these are worlds of {len(self)} games, from row 0, not {shown(row)}")
        self.variant.needs("redeal", "search")
        worlds = self.variant.new(seeds)
        true = self._games[row : row + 1]
        kernels.worlds(self.variant.rule_set, true, int(self._seats[row]), worlds)
        return worlds


def worlds_of(session: Session, seat: int) -> Worlds:
    """A single game, as one of its seats knows it."""
    return Worlds(session.variant, session.games, [seat], lambda row: session.history())
