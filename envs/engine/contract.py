"""The contract: the few functions that every game implements.

Each game writes them once, as compiled functions whose first argument is its rule set. The
functions here, `start` to `valid`, look up the game's own function by the dtype of that argument,
in Python and in compiled code, so that one set of kernels serves every game. The last four are
optional.

Chance is lazy: a record holds the set of cards that nobody has seen, never their order. While
`mover` is CHANCE, `chance` lists what can happen next and `resolve` makes it happen.

Notation: A actions, N entries of an observation.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from types import FunctionType, ModuleType
from typing import Any, TypeVar

import numpy as np
from numba import from_dtype
from numba.extending import overload
from numpy.typing import NDArray

from hanamachi.engine.compiled import PART

CHANCE = -1  # `mover` while chance decides
OVER = -2  # `mover` once the game has ended

Implementation = Callable[..., Any]
CONTRACT: list[str] = []
OPTIONAL = ("redeal", "rewind", "next_event", "valid")  # of the contract
IMPLEMENTATIONS: dict[Any, dict[str, Implementation]] = {}
F = TypeVar("F", bound=Callable[..., Any])


def generic(contract: F) -> F:
    """Make `contract` call the function of the same name that belongs to its first argument."""
    name = contract.__name__
    CONTRACT.append(name)

    @functools.wraps(contract)
    def call(rule_set: Any, *rest: Any) -> Any:
        return IMPLEMENTATIONS[rule_set.dtype][name](rule_set, *rest)

    def compiled(rule_set: Any, *rest: Any) -> Any:
        implementation: Any = IMPLEMENTATIONS[rule_set][name]
        return unannotated(implementation)

    # Numba wants the two to agree in their parameters, annotations included
    compiled.__signature__ = inspect.signature(unannotated(contract))  # type: ignore[attr-defined]
    overload(call, jit_options=PART)(compiled)
    result: F = call  # type: ignore[assignment]
    return result


def implemented_in(*modules: ModuleType) -> dict[str, Implementation]:
    """The functions of the contract that these modules of a game define."""
    defined = [(name, module) for name in CONTRACT for module in modules if hasattr(module, name)]
    return {name: getattr(module, name) for name, module in defined}


def implement(name: str, dtype: np.dtype[Any], functions: Mapping[str, Implementation]) -> None:
    """Let the contract call a game's functions, by their names, for rule sets of this dtype."""
    missing = set(CONTRACT) - set(OPTIONAL) - functions.keys()
    assert not missing, f"{name} lacks {missing}"
    for key in (dtype, from_dtype(dtype)):  # in Python, and in compiled code
        IMPLEMENTATIONS[key] = dict(functions)


def unannotated(function: Any) -> FunctionType:
    """A copy of a function without its type hints."""
    return FunctionType(function.__code__, function.__globals__, function.__name__)


@generic
def start(rule_set: Any, game: np.record) -> None:
    """Set up a new game; `rng` is kept, so that each game continues its own random numbers."""


@generic
def chance(rule_set: Any, game: np.record, weights: NDArray[np.int64]) -> int:
    """Write how likely each outcome is, in whole numbers: 0 for what cannot happen.

    Outcomes are numbered from 0; returns how many numbers are in use.
    """
    raise NotImplementedError


@generic
def resolve(rule_set: Any, game: np.record, outcome: int) -> None:
    """Make one of the outcomes of `chance` happen."""


@generic
def legal(rule_set: Any, game: np.record, mask: NDArray[np.int8]) -> int:
    """Write the mover's action mask, (A,) int8; returns how many actions are legal."""
    raise NotImplementedError


@generic
def apply(rule_set: Any, game: np.record, action: int) -> None:
    """Carry out a legal action of the mover and write `rewards`."""


@generic
def observe(rule_set: Any, game: np.record, seat: int | np.int64, out: NDArray[Any]) -> None:
    """Write all that `seat` may know, (N,); any seat may be to move."""


@generic
def redeal(rule_set: Any, world: np.record, seat: int) -> None:
    """Deal all cards that `seat` cannot know again, with the record's own generator (optional).

    Called while a seat is to move. Each history that agrees with what the seat has seen comes up
    in proportion to the probability of its chance outcomes alone: all choices of the other seats
    count the same.
    """


@generic
def rewind(rule_set: Any, game: np.record) -> None:
    """Go back to the beginning of the round in progress (optional).

    Called while a seat is to move. A game whose record does not hold the round stays as it is.
    """


@generic
def next_event(rule_set: Any, world: np.record, earlier: np.record) -> int:
    """What happened next in `world` after an earlier position of the same round (optional).

    An outcome if chance was to decide there, else an action; negative where the two are the same
    position. Applied from `rewind` on, these events give all positions of the round in turn.
    """
    raise NotImplementedError


@generic
def valid(rule_set: Any, game: np.record) -> bool:
    """Whether the rules can lead to this position, as far as can be seen from it (optional).

    The record may hold any bytes: nothing of it is used as an index before it has been checked. A
    position that passes can be observed, redealt, rewound and played to the end.
    """
    raise NotImplementedError
