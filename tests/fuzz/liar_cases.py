"""Policies in code that answer what no policy may answer, in every role."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
from bases import FEW, GIFTS, ROAD
from numpy.typing import NDArray
from roles import ROLES

from hanamachi.engine.game import Variant
from hanamachi.games.registry import variant
from hanamachi.policies.policy import Policy
from hanamachi.policies.sampling import uniform

GAMES = (("hanamikoji", GIFTS), ("hanabi:2p", FEW), ("geishas_road:introductory", ROAD))
Array = NDArray[Any]


class Own(Exception):
    """An error of the policy's own, which comes through unchanged."""


# --- Lies about an array


def put(rng: Random, answer: Array, value: float) -> Array:
    """A number in one place."""
    changed = np.array(answer, np.float64)
    if changed.size:
        changed.reshape(-1)[rng.randrange(changed.size)] = value
    return changed


def of_another_shape(rng: Random, answer: Array) -> Any:
    a = np.asarray(answer)
    return rng.choice(
        [a[:-1], a[..., None], a.reshape(-1)[:1], a.T, a[None], a[:0], a.sum(), a[..., :-1]]
    )


def of_another_type(rng: Random, answer: Array) -> Any:
    kinds = ["f8", "f2", "i8", "?", "c16", "O", "U4", "u8", "i1", "M8[s]", "S3"]
    with np.errstate(all="ignore"):
        return np.zeros_like(answer, rng.choice(kinds)) if rng.random() < 0.5 else answer.tolist()


def something_else(rng: Random, answer: Array) -> Any:
    return rng.choice(
        [None, "x", (), [], {}, 3, float("nan"), object(), (answer, answer), [[1], [1, 2]]]
    )


def noise(rng: Random, answer: Array) -> Array:
    return np.frombuffer(rng.randbytes(answer.nbytes), answer.dtype).reshape(answer.shape)


LIES: tuple[Callable[[Random, Array], Any], ...] = (
    lambda rng, a: put(rng, a, rng.choice([np.nan, np.inf, -np.inf, -1.0, 2.0, 1e300, -1e-9, 0.3])),
    lambda rng, a: np.asarray(a) * rng.choice([0, -1, 0.5, 2, 1e38, 1 + 1e-2]),
    of_another_shape, of_another_type, something_else, noise,
    lambda rng, a: np.roll(a, 1, -1) if a.ndim else a,
    lambda rng, a: np.full_like(a, rng.choice([0, 1, -1, 100])),
)  # fmt: skip
PARTS = (
    "distribution", "probabilities", "values", "memory", "act", "actions", "scores", "value_of",
    "initial", "worlds", "inputs", "raise", "name",
)  # fmt: skip


class Liar(Policy):
    """Plays uniformly, but for one part of its answers from some call on."""

    name = "liar"

    def __init__(
        self, game: Variant, part: str, lie: Callable[..., Any], calls: int, seed: int
    ) -> None:
        super().__init__(game)
        self.part, self.lie, self.calls, self.seed = part, lie, calls, seed
        self.lies = Random(seed)
        self.has_values = part in ("values", "value_of") or seed % 2 == 0
        self.is_stochastic = seed % 3 > 0
        if part == "name":
            self.name = self.lies.choice([None, 3, "", "n" * 5_000, "\x1b[31m\n"])

    def told(self, part: str, answer: Any) -> Any:
        """The answer, or a lie if it is this part's turn."""
        if part != self.part:
            return answer
        self.calls -= 1
        return answer if self.calls > 0 else self.lie(self.lies, answer)

    def distribution(self, observation: Array, mask: Array, memory: Array) -> Any:
        if self.part == "raise" and self.told("raise", np.zeros(2)) is not None:
            raise self.lies.choice([Own("mine"), Own()])
        if self.part == "inputs":
            self.spoil(observation, mask, memory)
        values = np.zeros(len(mask), np.float32) if self.has_values else None
        with np.errstate(all="ignore"):  # where it has spoiled the mask
            probabilities = self.told("probabilities", uniform(mask))
        values = values if values is None else self.told("values", values)
        answer = probabilities, values, self.told("memory", memory)
        return self.something(answer) if self.part == "distribution" else answer

    def something(self, answer: tuple[Any, ...]) -> Any:
        return self.lies.choice(
            [answer[:2], answer[0], None, (*answer, 1), list(answer), "abc", answer]
        )

    def spoil(self, *arrays: Array) -> None:
        """Write into what it was given."""
        for array in arrays:
            if array.flags.writeable and array.size:
                array[...] = self.lies.choice([0, 1])

    def act(
        self, observation: Array, mask: Array, memory: Array, rng: Any, deterministic: Any = False
    ) -> Any:
        actions, memory = super().act(observation, mask, memory, rng, deterministic)
        answer = self.told("actions", actions), memory
        return self.something((*answer, 1)) if self.part == "act" else answer

    def scores(self, observation: Array, mask: Array, memory: Array) -> Any:
        scores, memory = super().scores(observation, mask, memory)
        return self.told("scores", scores), memory

    def values(self, observation: Array, mask: Array, memory: Array) -> Any:
        return self.told("value_of", super().values(observation, mask, memory))

    def initial_memory(self, batch: int) -> Any:
        honest = np.zeros((batch, self.seed % 3), np.float32)
        return self.lie(Random(self.seed), honest) if self.part == "initial" else honest

    def with_worlds(self, worlds: Any) -> Any:
        return self.lies.choice([None, 3, self]) if self.part == "worlds" else self


class Lie(NamedTuple):
    """A policy that lies, in a role."""

    game: int
    part: str
    lie: int
    calls: int  # of the part until the lie
    role: int
    seed: int


def draw(rng: Random, folder: Path) -> Lie:
    part, calls = rng.choice(PARTS), rng.choice([1, 1, 2, 5])
    lie, role = rng.randrange(len(LIES)), rng.randrange(len(ROLES))
    return Lie(rng.randrange(len(GAMES)), part, lie, calls, role, rng.randrange(1 << 30))


def use(case: Lie) -> None:
    """What is wrong is refused; an error of the policy's own comes through."""
    id, options = GAMES[case.game]
    policy = Liar(variant(id, **options), case.part, LIES[case.lie], case.calls, case.seed)
    try:
        ROLES[case.role](policy, Random(case.seed))
    except Own:
        assert case.part == "raise"
