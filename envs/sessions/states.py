"""States: positions that leave a game and come back, and what is checked when they do."""

from dataclasses import dataclass, field
from hashlib import blake2b
from secrets import token_bytes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, unknown
from hanamachi.games.registry import VARIANTS

KEY = token_bytes(16)  # of the seals of this process and of those that it forks


@dataclass(frozen=True)
class State:
    """A position, with the hidden cards and the random generator; it never changes.

    Equal states hold the same position of the same variant with the same options.
    """

    variant: str  #: the id of its variant
    digest: str  #: of the variant's id, its options, and the fields of its record
    data: bytes = field(repr=False)  #: the record
    seal: bytes = field(repr=False, compare=False)  #: where it came from, for games without `valid`

    @property
    def record(self) -> np.record:
        """The numpy record of the game, read-only; UserError if the state is of no game."""
        if not isinstance(self.variant, str) or self.variant not in VARIANTS:
            raise unknown("game", self.variant, VARIANTS)
        dtype = VARIANTS[self.variant].record
        check_size(self.data, dtype, self.variant)
        record: np.record = np.frombuffer(self.data, dtype)[0]
        return record


def state_of(variant: Variant, games: NDArray[Any]) -> State:
    """The state of games[0]."""
    data = games[:1].tobytes()
    return State(variant.id, variant.digest, data, seal_of(variant, data))


def seal_of(variant: Variant, data: bytes) -> bytes:
    """What only this process can write; nothing for a game that can judge any record."""
    if "valid" in variant.game.functions:
        return b""
    return blake2b(variant.digest.encode() + data, key=KEY).digest()


def checked_state(variant: Variant, state: Any) -> NDArray[Any]:
    """The game in a state, (1,); UserError if it is no position of this variant."""
    if not isinstance(state, State):
        raise UserError(f"a state is what get_state() returns, not {type(state).__name__}")
    if not isinstance(state.digest, str) or state.digest != variant.digest:
        raise mismatch(variant, state)
    dtype = variant.game.record
    check_size(state.data, dtype, variant.id)
    games = np.frombuffer(bytearray(state.data), dtype)
    if "valid" not in variant.game.functions:
        check_seal(variant, state)
    elif not kernels.is_valid(variant.rule_set_array, games):
        raise UserError(f"the state given is no position that the rules of {variant.id} lead to")
    return games


def check_size(data: Any, dtype: np.dtype[Any], id: str) -> None:
    """UserError unless the data are the bytes of one game."""
    if not isinstance(data, bytes) or len(data) != dtype.itemsize:
        raise UserError(f"a state of {id} holds {dtype.itemsize} bytes")


def mismatch(variant: Variant, state: State) -> UserError:
    if state.variant == variant.id:
        return UserError(
            f"the state is of {state.variant} with other options than this game has; "
            "make both games with the same options"
        )
    return UserError(
        f"the state is of {state.variant!r}, but this game is {variant.id!r}; "
        "make both games of the same variant"
    )


def check_seal(variant: Variant, state: State) -> None:
    """A game that cannot judge a record takes back only what it has handed out."""
    if state.seal != seal_of(variant, state.data):
        raise UserError(
            f"{variant.game.name} lacks valid, which judges positions of unknown origin; "
            "without it, a state can only be used unchanged in the process that made it"
        )
