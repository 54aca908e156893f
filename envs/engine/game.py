"""What a game declares: its actions, its editions, and their rule sets.

Notation: B games, S seats, A actions, N entries of an observation.
"""

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.contract import Implementation, implement
from hanamachi.engine.layout import Layout, read_only
from hanamachi.engine.random_numbers import scatter
from hanamachi.errors import UserError, shown


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

    @cached_property
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
        assert self.cooperative == bool(self.best_score) == bool(self.lost), self.name
        implement(self.name, self.rule_set_dtype, self.functions)


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
