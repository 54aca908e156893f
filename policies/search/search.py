"""The base class of all searches: their inputs, their budget and how a name spells them.

A search treats each game separately. It uses what the seat sees and remembers, and worlds that
agree with that. Its random numbers follow from what the seat knows and from the policy's seed. So
with a budget in worlds it plays the same in two games that the seat cannot tell apart.

Notation: B games, N entries of an observation, A actions, M entries of a memory, K worlds.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from hashlib import blake2b
from inspect import Parameter, signature
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, unknown
from hanamachi.policies.arrays import Masks, Memory, Observations, Probabilities
from hanamachi.policies.compiled_inputs import readable
from hanamachi.policies.entry_point import load_entry_point
from hanamachi.policies.policy import Policy
from hanamachi.policies.rules.rule_policy import RandomPolicy
from hanamachi.policies.search.budget import Budget
from hanamachi.policies.view_policy import ViewPolicy
from hanamachi.sessions.arguments import SEEDS, whole_number
from hanamachi.sessions.opponent_protocol import cannot_play
from hanamachi.sessions.policy_checks import distribution_of, memory_of, scores_of
from hanamachi.sessions.worlds import Worlds, checked_worlds

KINDS: Mapping[str, str] = {  # kind -> the entry point of its class
    "improve": "hanamachi.policies.search.improve:Improve",
    "endgame": "hanamachi.policies.search.endgame:Endgame",
    "mcts": "hanamachi.policies.search.mcts:Mcts",
    "single_agent": "hanamachi.policies.search.hanabi_single_agent:SingleAgent",
}

# games that an evaluation plays at once; if it is stopped, it loses those that are not finished, so
# few, and many only where searching them together is faster
FEW_GAMES, MANY_GAMES = 4, 32


@dataclass(frozen=True)
class Decision:
    """One decision of a seat, and all that a search may use for it."""

    observation: NDArray[np.float32]  #: (N,)
    mask: NDArray[np.int8]  #: (A,)
    prior: NDArray[np.float32]  #: (A,) the blueprint's probabilities; uniform without one
    memory: NDArray[Any]  #: (M,) the blueprint's, before this decision
    memory_after: NDArray[Any]  #: (M,) the blueprint's, after it
    rng: np.random.Generator
    worlds: Worlds
    row: int  #: the row of `worlds`

    @property
    def actions(self) -> NDArray[np.int64]:
        """The legal actions, ascending."""
        return np.flatnonzero(self.mask)

    @property
    def goes_on(self) -> bool:
        """Whether the game is not over."""
        return bool(self.worlds.going[self.row])

    def sample(self, count: int) -> NDArray[Any]:
        """New worlds at each call, (count,), in which the seat that decides is to move."""
        return self.worlds.sample(self.row, self.seeds(count))

    def seeds(self, count: int) -> NDArray[np.uint64]:
        """New seeds at each call, (count,)."""
        return self.rng.integers(SEEDS, size=count, dtype=np.uint64)


class Search(Policy):
    """A policy that looks ahead from the worlds of `with_worlds`; it skips forced moves.

    Each kind defines `search`. Its settings are the keywords of its class and of this one: a budget
    for each decision, in `worlds` or in `seconds`, and the `seed` of its random numbers.
    """

    kind: ClassVar[str]
    cooperative: ClassVar[bool] = False  # whether it is for cooperative or competitive games
    needs_blueprint: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ("redeal",)  # what a game may lack
    searches_all: ClassVar[bool] = False  # also forced moves, for the memory

    def __init__(
        self,
        variant: Variant,
        blueprint: Policy | None,
        *,
        worlds: int | None = None,
        seconds: float | None = None,
        seed: int = 0,
    ) -> None:
        """UserError if the game, the blueprint and the kind do not fit together."""
        super().__init__(variant)
        if isinstance(blueprint, ViewPolicy):
            raise UserError(
                f"{blueprint.name} plays from views and cannot be searched, as imagined games have "
                "none: name another policy, or measure this one in a small version of a game, with "
                "exploit --exact or arena --grade"
            )
        self.name = f"search:{self.kind}"
        self.blueprint = blueprint
        self.budget = Budget(worlds, seconds)
        self.seed = whole_number(seed, "seed")
        self.worlds: Worlds | None = None
        self._rollout_policy = RandomPolicy(variant) if blueprint is None else blueprint
        self._check_game()
        self._check_blueprint()

    def _check_game(self) -> None:
        if self.variant.game.cooperative != self.cooperative:
            games = "cooperative" if self.cooperative else "competitive"
            fitting = "improve" if self.cooperative else "single_agent"
            raise UserError(
                f"{self.name} is for {games} games, and {self.variant.id} is not one: use "
                f"search:{fitting}"
            )
        for part in self.needs:
            self.variant.needs(part, self.name)

    def _check_blueprint(self) -> None:
        blueprint = self.blueprint
        if blueprint is None:
            if self.needs_blueprint:
                raise UserError(f"{self.name} needs a blueprint policy: {self.name}:expert:...")
        elif not blueprint.variant.understands(self.variant):
            raise cannot_play(blueprint.name, blueprint.variant, self.variant)
        elif isinstance(blueprint, Search):
            raise UserError(f"the blueprint of {self.name} must not be another search")

    @property
    def games_at_once(self) -> int:
        """How many games an evaluation should let this search play at the same time, at most."""
        return FEW_GAMES

    @abstractmethod
    def search(self, decision: Decision) -> NDArray[np.floating[Any]]:
        """The probability of each action, (A,); called where more than one is legal."""

    def search_all(self, decisions: Sequence[Decision]) -> list[NDArray[np.floating[Any]]]:
        """The probabilities of the actions of each decision."""
        return [self.search(decision) for decision in decisions]

    def with_worlds(self, worlds: Worlds) -> Self:
        """UserError if the games have other rules than those that the search plays on by."""
        if not goes_on_alike(worlds.variant.rule_set, self._rollout_policy.variant.rule_set):
            raise UserError(
                f"{self.name} was loaded for other options of {worlds.variant.id} than are played: "
                "load it with the options of the game"
            )
        twin = copy(self)
        twin.worlds = worlds
        return twin

    def initial_memory(self, batch: int) -> Memory:
        """The blueprint's memory."""
        return memory_of(self._rollout_policy, batch)

    def distribution(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Probabilities, None, Memory]:
        """As in `Policy`; UserError unless `with_worlds` has set the games of these rows."""
        decisions, after = self._decisions(observation, mask, memory)
        probabilities = np.empty(mask.shape, np.float32)
        for decision in decisions:
            probabilities[decision.row] = decision.prior
        choices = (each for each in decisions if self.searches_all or len(each.actions) > 1)
        asked = [decision for decision in choices if decision.goes_on]
        for decision, found in zip(asked, self.search_all(asked), strict=True):
            probabilities[decision.row] = found
        return probabilities, None, after

    def decision(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Decision, Memory]:
        """The decision of a batch of one, and the memory after it; see `regret`."""
        (decision,), after = self._decisions(observation, mask, memory)
        return decision, after

    def _decisions(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[list[Decision], Memory]:
        """The decision of each row, and the memory after all of them."""
        worlds, observation, mask = self._known(observation, mask)
        prior, _, after = distribution_of(self._rollout_policy, observation, mask, memory)
        return self._of_each(worlds, observation, mask, prior, memory, after), after

    def _of_each(self, worlds: Worlds, *rows: NDArray[Any]) -> list[Decision]:
        """The decision of each row; `rows` are the first fields of `Decision`, up to `rng`."""
        decisions = []
        for row, (seen, mask, prior, memory, after) in enumerate(zip(*rows, strict=True)):
            rng = self._generator(seen, mask, memory)
            decisions.append(Decision(seen, mask, prior, memory, after, rng, worlds, row))
        return decisions

    def _blueprint_scores(self, decision: Decision, memory: NDArray[Any]) -> NDArray[np.float32]:
        """The blueprint's scores of the actions, (A,), given its memory, (M,)."""
        seen = decision.observation[None], decision.mask[None], memory[None]
        return scores_of(self._rollout_policy, *seen)[0][0]

    def _known(self, observation: Observations, mask: Masks) -> tuple[Worlds, Observations, Masks]:
        """The worlds, and the observation and mask of each row, as compiled code reads them.

        UserError unless the seats to move in the worlds see just these.
        """
        worlds = checked_worlds(self.worlds, len(observation), self.name)
        observation, mask = readable(self.variant, observation, mask)
        seen, legal = worlds.observe()
        going = worlds.going  # a game that is over is not searched
        alike = self.variant.observation.are_alike(observation[going], seen[going])
        if not (alike and np.array_equal(mask[going], legal[going])):
            raise UserError(
                f"{self.name} was given observations or masks that do not belong to its worlds: "
                "use policy.with_worlds(env.worlds()) before each decision"
            )
        return worlds, observation, mask

    def _generator(self, *known: NDArray[Any]) -> np.random.Generator:
        """A generator seeded by what the seat knows and by the policy's seed."""
        digest = blake2b(str(self.seed).encode(), digest_size=16)
        for part in known:
            digest.update(np.ascontiguousarray(part).tobytes())
        return np.random.default_rng(int.from_bytes(digest.digest(), "little"))


# --- Names of searches


def check_kind(kind: str) -> None:
    """UserError unless there is a kind of search called so."""
    if kind not in KINDS:
        raise unknown("kind of search called", kind, KINDS)


def new_search(
    kind: str, variant: Variant, blueprint: Policy | None, settings: str, *, name: str
) -> Search:
    """A search of this kind; UserError if the blueprint or a setting does not fit."""
    made = load_entry_point(KINDS[kind])
    search: Search = made(variant, blueprint, **parsed(settings, made))
    search.name = name
    return search


def setting_names(kind: str) -> list[str]:
    """The names of all settings of this kind of search."""
    made = load_entry_point(KINDS[kind])
    keywords = [*signature(made).parameters.values(), *signature(Search).parameters.values()]
    return [each.name for each in keywords if each.kind is Parameter.KEYWORD_ONLY]


def parsed(settings: str, made: type[Search]) -> dict[str, Any]:
    """Parse "name=value,..." into keywords of a kind's class; UserError for an unknown one."""
    known = setting_names(made.kind)
    values: dict[str, Any] = {}
    for setting in filter(None, settings.split(",")):
        name, _, value = setting.partition("=")
        if name not in known:
            raise unknown(f"setting of search:{made.kind} called", name, known)
        if name in values:
            raise UserError(f"search:{made.kind} has the setting {name} twice: give it once")
        values[name] = number(value)
    return values


def number(text: str) -> int | float | str:
    """The number that a text spells, or else the text."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def goes_on_alike(one: np.record, other: np.record) -> bool:
    """Whether games go on by the same rules, whoever starts them."""
    names = one.dtype.names or ()
    kept = [name for name in names if name != "starter"]
    return one.dtype == other.dtype and all(np.array_equal(one[name], other[name]) for name in kept)
