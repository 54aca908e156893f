"""What a game is: a record of its state, and the few functions that every game implements.

A game in progress is a numpy record (`record`); a batch of games is an array of records. The
functions below, `start` to `valid`, are the whole contract; the last four are optional.
Each game writes them once, as compiled functions whose first argument is its rule set, a record of
options and tables (`rule_set_dtype`). The functions here look up the game's own function by the
dtype of that argument, in Python and in compiled code, so that one set of kernels serves every
game.

Chance is lazy: a record holds the set of cards that nobody has seen, never their order. While
`mover` is CHANCE, `chance` lists what can happen next and `resolve` makes it happen.

Notation: B games, S seats, A actions, N entries of an observation.
"""

import functools
import inspect
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numba import from_dtype, types
from numba.extending import overload
from numpy.typing import NDArray

from hanamachi.engine.compiled import PART, inline
from hanamachi.engine.layout import INT8_MAX, Layout, read_only
from hanamachi.errors import UserError, shown

CHANCE = -1  # `mover` while chance decides
OVER = -2  # `mover` once the game has ended
SEGMENTS = 64  # at most, of an observation


def record(seats: int, *fields: tuple[Any, ...]) -> np.dtype[Any]:
    """The dtype of one game: the fields every game has, then its own, without any gap.

    `seats` is the most that any rule set has; with fewer, the other rewards stay 0.
    """
    common = [
        ("rng", np.uint64),  # this game's own random generator
        ("rewards", np.float32, (seats,)),  # what the last action brought each seat
        ("mover", np.int8),  # the seat to decide; CHANCE; OVER
    ]
    filled = sorted([*common, *fields], key=lambda field: -np.dtype(field[1]).itemsize)
    filled.append(("rest", np.uint8, (-np.dtype(filled).itemsize % 8,)))
    return with_attributes(filled)


class Record(np.record):  # type: ignore[misc]
    """A record whose fields are read and written as attributes, several times as fast as numpy's.

    Each field of any game is a property of this class.
    """

    __getattribute__ = np.void.__getattribute__
    __setattr__ = np.void.__setattr__
    __getitem__ = np.void.__getitem__  # type: ignore[assignment]


def with_attributes(fields: list[tuple[Any, ...]]) -> np.dtype[Any]:
    """A dtype whose records let `game.mover` be written in Python as in compiled code."""
    names = {name for name, *_ in fields}
    assert not names & set(dir(np.record)), names & set(dir(np.record))
    for name in names:
        setattr(Record, name, field_property(name))
    return np.dtype((Record, np.dtype(fields, align=True)))


def field_property(name: str) -> property:
    def write(record: Record, value: Any) -> None:
        record[name] = value

    return property(operator.itemgetter(name), write)


def rule_set_dtype(*fields: tuple[Any, ...]) -> np.dtype[Any]:
    """The dtype of a rule set: what every game has, then the game's own options and tables.

    It is one record because compiled functions would count the references of every array of a tuple
    each time they pass it on.
    """
    common = [
        ("seats", np.int64),  # S
        ("max_outcomes", np.int64),  # of one chance event
        ("units", np.float32, (SEGMENTS,)),  # of each segment, what an int8 observation counts in
        # first entry of each segment of the observation, and N; an index that cannot be negative
        # spares Numba a test at every use
        ("at", np.uint16, (SEGMENTS,)),
    ]
    return with_attributes([*common, *fields])


def filled(dtype: np.dtype[Any], layout: Layout, **values: Any) -> np.record:
    """A rule set with these values, one for each other field; zeros fill up shorter tables."""
    values |= {"at": layout.offsets, "units": layout.segment_units}
    assert values.keys() == set(dtype.names or ()), values.keys() ^ set(dtype.names or ())
    rule_set = np.zeros(1, dtype)
    for name, value in values.items():
        corner: Any = (0, *(slice(n) for n in np.shape(value)))
        rule_set[name][corner] = value
    row: np.record = rule_set[0]
    return row


# --- The contract

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


# --- Random numbers

_HALF = np.uint64(32)
_A, _B, _C = np.uint64(13), np.uint64(7), np.uint64(17)


@inline
def next_random(game: np.record) -> Any:
    """The next 32 random bits of this game (Marsaglia's xorshift64, upper half)."""
    state = game.rng
    state ^= state << _A
    state ^= state >> _B
    state ^= state << _C
    game.rng = state
    return state >> _HALF


@inline
def below(game: np.record, n: int) -> Any:
    """A uniform random integer from 0 to n - 1 (n far below 2**32)."""
    return np.int64((next_random(game) * np.uint64(n)) >> _HALF)


@inline
def uniform(game: np.record) -> Any:
    """A uniform random number from [0, 1)."""
    return np.float64(next_random(game)) / 4294967296.0


def scatter(seeds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread seeds over the 64-bit generators: splitmix64's finaliser, and never the state 0."""
    state = seeds.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    state ^= state >> np.uint64(31)
    return np.where(state == 0, np.uint64(1), state)


# --- Observations


def encoded(out: Any, value: Any, units: Any) -> Any:
    """A value as an observation holds it: as a float, or in int8 as a number of units up to 127."""
    return value if out.dtype.kind == "f" else in_units(out, value, units)


def in_units(out: Any, value: Any, units: Any) -> Any:
    return min(np.rint(value * units), np.float32(INT8_MAX))


def as_it_is(out: Any, value: Any, units: Any) -> Any:
    return value


@overload(encoded, jit_options=PART)
def compiled_encoded(out: Any, value: Any, units: Any) -> Any:
    return as_it_is if isinstance(out.dtype, types.Float) else in_units


@inline
def put(rule_set: Any, out: NDArray[Any], segment: int, i: int, value: float) -> None:
    """Write an entry that may be a fraction or large; all others can be assigned as they are."""
    out[rule_set.at[segment] + i] = encoded(out, value, rule_set.units[segment])


# --- What a game declares


class Actions(ABC):
    """The catalogue of one rule set: what each action number means, in order of its kinds."""

    kinds: int  # of moves in this game

    def __init__(self, moves: Iterable[Any]) -> None:
        self.moves = tuple(moves)
        self.size = len(self.moves)

    @cached_property
    def kind(self) -> NDArray[np.int8]:
        """(A,) the kind of each move."""
        return np.array([move.kind for move in self.moves], np.int8)

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """(kinds + 1,) the first action of each kind, and A."""
        return np.searchsorted(self.kind, np.arange(self.kinds + 1)).astype(np.int64)

    @property
    def features(self) -> NDArray[np.float32]:
        """(A, F) what each action is made of, for networks; by default its kind, one-hot."""
        return np.eye(self.kinds, dtype=np.float32)[self.kind]

    @property
    def uses(self) -> Mapping[str, NDArray[np.float32]]:
        """By kind of thing, such as slots: (A, R, H) 1 where an action uses one in a role."""
        return {}

    @property
    def digest(self) -> str:
        """It changes whenever an action number changes its meaning."""
        return sha256(repr(self.moves).encode()).hexdigest()

    def move(self, action: int, game: np.record | None = None) -> Any:
        """The move of this number; UserError if there is none, or if `game` is no record."""
        if not (game is None or isinstance(game, np.record)):
            raise UserError(f"a game must be None or the record of one, not {shown(game)}")
        with suppress(TypeError):
            if not isinstance(action, bool | np.bool_) and 0 <= operator.index(action) < self.size:
                return self.moves[action]
        raise UserError(f"there is no action {shown(action)}: they run from 0 to {self.size - 1}")

    @abstractmethod
    def describe(self, action: int, game: np.record | None = None) -> str:
        """The action in the rulebook's words; UserError as for `move`, which finds it."""

    def parse(self, text: str, game: np.record | None = None) -> int:
        """The action that `describe` gives these words; UserError if none."""
        if isinstance(text, str):
            wanted = self.words(text)
            for action in range(self.size):
                if self.words(self.describe(action, game)) == wanted:
                    return action
        raise UserError(
            f"{shown(text)} is no move of this game; write it as the list of choices does"
        )

    def words(self, text: str) -> Any:
        """What makes two descriptions equal."""
        return text.lower().split()


@dataclass(frozen=True)
class Named:
    """A move that its name describes completely; it is a kind of its own."""

    kind: int
    name: str


class NamedActions(Actions):
    """A short catalogue in which every action has a name, such as "keep" and "swap"."""

    def __init__(self, *names: str) -> None:
        super().__init__(Named(kind, name) for kind, name in enumerate(names))
        self.kinds = len(names)

    def describe(self, action: int, game: np.record | None = None) -> str:
        return str(self.move(action, game).name)


class Length(NamedTuple):
    """How long the games of a rule set can last at most."""

    rounds: int  #: 1 in games without rounds; 0 if there is no limit
    decisions: int  #: of all seats together, in a round
    chances: int  #: events of chance in a round


class Symmetries(NamedTuple):
    """P relabellings under which the rules of a rule set stay the same; the first changes nothing.

    Under relabelling p, a seat sees `observation[entries[p]]` and `mask[actions[p]]`; its action a
    is the action `actions[p][a]` of the game.
    """

    entries: NDArray[np.int64]  #: (P, N) those of other seats' hidden cards stay among themselves
    actions: NDArray[np.int64]  #: (P, A)

    @classmethod
    def of(cls, relabelled: Iterable[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> Self:
        """From the entries, (N,), and the actions, (A,), under each relabelling."""
        entries, actions = zip(*relabelled, strict=True)
        return cls(read_only(np.array(entries)), read_only(np.array(actions)))


@dataclass(frozen=True)
class Game:
    """A game and its editions, declared by the `__init__` of its folder."""

    name: str
    title: str
    cooperative: bool
    record: np.dtype[Any]
    rule_set_dtype: np.dtype[Any]  #: of its options and tables
    functions: Mapping[str, Implementation]  #: the contract, by name
    variants: Mapping[str, Mapping[str, Any]]  #: id -> every option and its default
    build: Callable[..., tuple[dict[str, Any], Any, Any, Layout]]  #: UserError if options clash
    options: Mapping[str, str] = field(default_factory=dict)  #: option -> what it accepts and means
    length: Callable[[np.record], Length] | None = None  #: of a rule set; OpenSpiel needs it
    later: Mapping[str, Any] = field(default_factory=dict)  #: newer options -> rules before them
    fixed: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  #: id -> more for `build`
    last_round: str | None = None  #: the entry of a rule set that numbers it, if there are rounds
    best_score: Callable[[np.record], int] | None = None  #: of a rule set, if cooperative
    lost: Callable[..., NDArray[np.bool_]] | None = None  #: (rule set, games ended), if cooperative
    symmetries: "Callable[[Variant], Symmetries] | None" = None  #: such as exchanged colours
    render: str | None = None  #: the module with its words and pictures, imported when needed

    def __post_init__(self) -> None:
        missing = set(CONTRACT) - set(OPTIONAL) - self.functions.keys()
        assert not missing, f"{self.name} lacks {missing}"
        assert self.cooperative == bool(self.best_score) == bool(self.lost), self.name
        IMPLEMENTATIONS[self.rule_set_dtype] = IMPLEMENTATIONS[from_dtype(self.rule_set_dtype)] = (
            dict(self.functions)
        )


@dataclass(frozen=True, eq=False)
class Variant:
    """One rule set, ready to play: a game, its options, and the tables derived from them.

    All who ask for a variant share it, so its options and tables are read-only. Variants of the
    same id with the same options are equal.
    """

    id: str
    game: Game = field(repr=False)
    options: Mapping[str, Any]
    rule_set: np.record = field(repr=False)
    actions: Actions = field(repr=False)
    observation: Layout = field(repr=False)

    def __post_init__(self) -> None:
        rule_set = np.frombuffer(self.rule_set.tobytes(), self.game.rule_set_dtype)[0]
        object.__setattr__(self, "rule_set", rule_set)
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Variant) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy is made from the fields again, as a read-only mapping cannot be pickled."""
        fields = self.id, self.game, dict(self.options), self.rule_set
        return Variant, (*fields, self.actions, self.observation)

    @cached_property
    def rule_set_array(self) -> NDArray[Any]:
        """(1,) the rule set as an array, which a call from Python hands over ten times as fast."""
        return np.array([self.rule_set], self.game.rule_set_dtype)

    @cached_property
    def seats(self) -> int:
        return int(self.rule_set.seats)

    @cached_property
    def digest(self) -> str:
        """Of the id, the options and the record's fields: equal where positions mean the same.

        An option that came later counts only where it changes the rules.
        """
        later = self.game.later.items()
        options = [option for option in sorted(self.options.items()) if option not in later]
        told = self.id, options, self.game.record.descr
        return sha256(repr(told).encode()).hexdigest()

    def understands(self, other: "Variant") -> bool:
        """Whether observations and action numbers mean the same in both."""
        return (
            isinstance(other, Variant)
            and self.game.name == other.game.name
            and self.actions.digest == other.actions.digest
            and self.observation.digest == other.observation.digest
        )

    def needs(self, part: str, what: str) -> None:
        """Raise UserError if the game lacks an optional function or field, which `what` needs."""
        if not self.has(part):
            raise UserError(f"{what} needs {part}, which {self.game.name} lacks")

    def has(self, part: str) -> bool:
        """Whether the game has an optional function or field."""
        fields = self.game.record.names or ()
        return bool(part in self.game.functions or part in fields or getattr(self.game, part, None))

    @property
    def length(self) -> Length:
        """How long a game can last at most."""
        self.needs("length", "a bound on the length of games")
        assert self.game.length
        return self.game.length(self.rule_set)

    @cached_property
    def symmetries(self) -> Symmetries:
        """The relabellings under which the rules stay the same; UserError if none are declared."""
        self.needs("symmetries", "a relabelling of observations")
        assert self.game.symmetries
        return self.game.symmetries(self)

    @property
    def best_score(self) -> int:
        """The most points that the players of a cooperative game can make; UserError in others."""
        self.needs("best_score", "a score of all players together")
        assert self.game.best_score
        return self.game.best_score(self.rule_set)

    def lost(self, games: NDArray[Any]) -> NDArray[np.bool_]:
        """Which of these cooperative games, all ended, were lost, (B,); UserError for others."""
        self.needs("lost", "a loss of all players together")
        assert self.game.lost
        return self.game.lost(self.rule_set, games)

    def new(self, seeds: NDArray[np.uint64]) -> NDArray[Any]:
        """Games not yet started, (B,), each with the generator that its seed gives."""
        games = np.zeros(len(seeds), self.game.record)
        games["rng"] = scatter(seeds)
        return games
