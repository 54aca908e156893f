"""The settings of a run, as its YAML file gives them.

A file holds only what differs from the defaults below. An unknown key or a value that does not
fit is refused with its place and, where there is one, the nearest right name.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Self, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError
from hanamachi.games.registry import variant
from hanamachi.policies.features.base import Features
from hanamachi.policies.load import is_checkpoint

Positive = Annotated[int, Field(gt=0)]
Unit = Annotated[float, Field(ge=0, le=1)]
LINEAR = r"^lin_\d{1,9}(\.\d{0,9})?(e-?\d{1,2})?$"
Schedule = (
    Annotated[float, Field(ge=0)]
    | Annotated[str, Field(pattern=LINEAR)]
    | tuple[Annotated[float, Field(ge=0)], Annotated[float, Field(ge=0)]]
)


def schedule(value: Any) -> Callable[[float], float]:
    """The function from the share of the run that is left (1 at the start) to a value."""
    if isinstance(value, str):
        value = (float(value.removeprefix("lin_")), 0.0)
    start, end = value if isinstance(value, tuple) else (value, value)
    return partial(linear, start, end)


def linear(start: float, end: float, left: float) -> float:
    return max(0.0, end + (start - end) * left)  # the last rollout goes beyond the end


class Model(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False
    )

    @field_validator("*", mode="before")
    @classmethod
    def _is_no_truth_value(cls, value: Any) -> Any:
        if isinstance(value, bool):  # pydantic would take it for 0 or 1
            raise ValueError("must be neither true nor false")
        return value

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], source: str = "settings") -> Self:
        """Check settings; UserError names the first that does not fit."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise UserError(f"{source}: {explain(error, cls)}") from error
        except RecursionError as error:
            raise UserError(f"{source}: the settings are nested too deep") from error


class PPO(Model):
    """Settings of the learner, named as stable-baselines3 names them.

    A schedule is a number, `lin_x` (from x to 0 over the run), or `[from, to]`.
    """

    learning_rate: Schedule = (1e-3, 5e-5)
    """Adam's step size."""
    n_steps: Positive = 16
    """Decisions in each game before an update."""
    batch_size: Positive = 1024
    """Decisions of one gradient step."""
    n_epochs: Positive = 4
    """Passes over the decisions of an update."""
    gamma: Unit = 1.0
    """Discount of a decision."""
    gae_lambda: Unit = 0.95
    """Weight of later decisions in an advantage."""
    clip_range: Schedule = 0.2
    """How far a probability may move in one update."""
    ent_coef: Schedule = (0.02, 0.004)
    """Weight of the policy's entropy."""
    vf_coef: Annotated[float, Field(ge=0)] = 0.5
    """Weight of the value's error."""
    max_grad_norm: Annotated[float, Field(gt=0)] = 0.5
    """Longest gradient."""


class Network(Model):
    """What the network is made of, and what it gets beside the observation."""

    hidden: Annotated[tuple[Annotated[int, Field(gt=0, le=1 << 14)], ...], Field(min_length=1)] = (
        256,
        256,
    )
    """Sizes of the hidden layers."""
    features: tuple[str, ...] = ()
    """Feature sets that are worked out for it: advice, and for Hanabi belief and convention."""


class Clone(Model):
    """How a policy that `init_from` names is cloned before self-play begins.

    Other settings are those of `ppo`. A clone that is stopped on the way begins anew.
    """

    steps: Positive = 2_000_000
    """Decisions that the policy labels, in games that it leads at first and the network later."""
    learning_rate: Schedule = (1e-3, 1e-4)
    """Adam's step size, over these decisions."""


class Magnet(Model):
    """A slower policy that self-play stays near, so that it settles instead of going in circles."""

    kind: Literal["start", "average", "refreshed"] = "refreshed"
    """The policy that the run starts from, the average, or the policy at the last refresh."""
    kl_coef: Schedule = 0.0
    """Weight of the policy's divergence from the magnet; with 0 there is none."""
    every: Positive = 500_000
    """Decisions between two refreshes of a refreshed one."""


class Average(Model):
    """The moving average of the policy's weights, kept where it is the magnet or exported."""

    decay: Annotated[float, Field(ge=0, lt=1)] = 0.999
    """Share of the average that stays in each gradient step."""


class Past(Model):
    """Earlier selves in the other seats, where `opponents` gives `past` a share."""

    every: Positive = 500_000
    """Decisions between two snapshots."""
    keep: Positive = 4
    """How many of the latest snapshots are played."""


class Evaluation(Model):
    """Evaluations on the way, which choose the checkpoint, and the one at the end.

    In a cooperative game the policy's mean score with itself alone decides.
    """

    every: Positive = 500_000
    """Decisions between two evaluations."""
    games: Annotated[int, Field(gt=1, multiple_of=2)] = 2_000
    """Games of each evaluation on the way, or against each opponent."""
    opponents: Annotated[tuple[str, ...], Field(min_length=1)] = ("greedy",)
    """Policies that the learner must beat where players compete; the best mean rate is kept."""
    final_games: Annotated[int, Field(gt=1, multiple_of=2)] = 10_000
    """Games of each row of the final table, on other deals."""
    final_opponents: tuple[str, ...] = ("random", "greedy", "expert")
    """Policies of the final table: opponents, or partners in a cooperative game."""


class Config(Model):
    """One run: a game, a learner, and how to judge it."""

    game: str
    """Id of the rule set, such as hanamikoji:three_rounds."""
    options: dict[str, Any] = {}
    """Options of the game that differ from its defaults."""
    seed: Annotated[int, Field(ge=0, lt=1 << 32)] = 0
    """Seed of everything random in the run."""
    steps: Positive = 4_000_000
    """Decisions to learn from; moves without a choice are not counted."""
    num_games: Positive = 256
    """Games played side by side."""
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    """Where the network learns."""
    opponents: dict[str, Unit] = {"self": 1.0}
    """Share of the games by who has all other seats: self, past, or what loads a policy."""
    init_from: Annotated[str, Field(min_length=1)] | None = None
    """What to start from: a checkpoint's folder (with a / in it), an agent that ships, by the id of
    its game, or a policy to clone first."""
    network: Network = Network()
    clone: Clone = Clone()
    ppo: PPO = PPO()
    critic: Literal["own", "all"] = "own"
    """By which values training judges decisions: they know what the own seat sees, or all hands."""
    magnet: Magnet = Magnet()
    average: Average = Average()
    export: Literal["policy", "average"] = "policy"
    """What is evaluated and exported: the policy itself, or the average of its weights."""
    past: Past = Past()
    evaluation: Evaluation = Evaluation()
    save_every: Positive = 250_000
    """Decisions between two saves of the whole run."""

    @model_validator(mode="after")
    def _fits_together(self) -> "Config":
        if abs(sum(self.opponents.values()) - 1) > 1e-6:
            raise ValueError(f"opponents must add up to 1, not {sum(self.opponents.values()):g}")
        Features(self.variant(), self.network.features)
        if not (self.evaluation.final_opponents or self.variant().game.cooperative):
            raise ValueError("evaluation.final_opponents must name at least one policy")
        if self.teacher is None and self.clone != Clone():
            raise ValueError(
                "clone says how to clone a policy, and init_from names none: "
                "remove clone, or let init_from be one such as greedy"
            )
        return self

    @property
    def teacher(self) -> str | None:
        """The policy to clone first, if `init_from` names one: any but a checkpoint."""
        named = self.init_from is not None and not is_checkpoint(self.init_from)
        return self.init_from if named else None

    def variant(self) -> Variant:
        """The rule set that is played."""
        return variant(self.game, **self.options)

    # evaluations on the way and at the end never share a deal

    @property
    def choosing_seed(self) -> int:
        return 2 * self.seed + 1

    @property
    def final_seed(self) -> int:
        return 2 * self.seed + 2

    @classmethod
    def load(cls, path: Path | str, overrides: Sequence[str] = ()) -> "Config":
        """Read a YAML file; `overrides` are settings such as `ppo.learning_rate=1e-3`."""
        return cls.from_dict(read_settings(path, overrides), str(path))

    def to_yaml(self) -> str:
        """Every setting, defaults included."""
        text: str = yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False)
        return text


def read_settings(path: Path | str, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """What a YAML file says, and what overrides it, unchecked."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {reason(error)}") from error
    data = parse_yaml(text, str(path))
    if not isinstance(data, dict):
        raise UserError(f"{path} is no run's settings: it must begin with 'game: ...'")
    for override in overrides:
        override_setting(data, override)
    return data


def reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or type(error).__name__


def parse_yaml(text: str, source: str) -> Any:
    try:
        return yaml.load(text, Loader=Yaml)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise UserError(f"{source}{where} is not YAML: {first_line(error)}") from error
    except (RecursionError, ValueError) as error:
        raise UserError(f"{source} is not YAML: {first_line(error)}") from error


def first_line(error: Exception) -> str:
    problem = getattr(error, "problem", None) or str(error) or type(error).__name__
    return problem.splitlines()[0]


class Yaml(yaml.SafeLoader):
    """YAML 1.2's numbers, so that 1e-3 is one, no key twice, and nothing but plain data."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None):
            raise yaml.composer.ComposerError(
                problem="aliases and tags are not allowed", problem_mark=event.start_mark
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]
        for key in keys:
            if isinstance(key, str) and keys.count(key) > 1:
                raise yaml.constructor.ConstructorError(
                    problem=f"{key} is given twice", problem_mark=node.start_mark
                )
        return super().construct_mapping(node, deep)


Yaml.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?\d+(\.\d*)?[eE][-+]?\d+$"),
    list("-+0123456789"),
)


def override_setting(data: dict[str, Any], override: str) -> None:
    """Put one `a.b=value` into the settings; the value is YAML."""
    name, equals, value = override.partition("=")
    if not equals or not name:
        raise UserError(f"--set {override} must have the form name=value, as in seed=1")
    source = f"--set {override}"
    put_setting(data, name.strip(), parse_yaml(value, source), source)


def put_setting(data: dict[str, Any], name: str, value: Any, source: str) -> None:
    """Put the value of `a.b` into the settings."""
    *path, last = name.split(".")
    for part in path:
        data = data.setdefault(part, {})
        if not isinstance(data, dict):
            raise UserError(f"{source}: {part} has no settings below it")
    data[last] = value


# --- Saying what is wrong


def explain(error: ValidationError, model: type[Model]) -> str:
    """The first mistake as one sentence."""
    first = min(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
    place = ".".join(named(part) for part in first["loc"] if isinstance(part, str) and known(part))
    if first["type"] == "extra_forbidden":
        return (
            f"{'.'.join(map(named, first['loc']))}: no such setting ({hint(model, first['loc'])})"
        )
    if first["type"] == "missing":
        return f"{place} is missing"
    message = first["msg"].removeprefix("Value error, ")
    return f"{place}: {message} (not {shown(first['input'])})" if place else message


def known(part: str) -> bool:
    """Pydantic adds the branch of a union to a place; leave such words out."""
    return part.isidentifier() or ":" in part


def named(part: int | str) -> str:
    """A key as it is, if it fits into a sentence."""
    text = str(part)
    return text if text.isprintable() and 0 < len(text) < 60 else shown(text)


def shown(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) < 60 else text[:57] + "..."


def hint(model: type[Model], place: tuple[int | str, ...]) -> str:
    """The nearest setting, or all there are."""
    names = list(settings(model, place[:-1]))
    near = get_close_matches(str(place[-1]), names, n=1)
    return f"did you mean {near[0]}?" if near else f"choose from {', '.join(names)}"


def settings(model: Any, place: tuple[int | str, ...]) -> Iterator[str]:
    """The names of the settings at a place."""
    for part in place:
        model = model.model_fields[str(part)].annotation
        if isinstance(model, UnionType):
            model = get_args(model)[0]
    yield from model.model_fields


def schema() -> str:
    """The JSON schema by which an editor can check and complete a file."""
    return json.dumps(Config.model_json_schema(), indent=2) + "\n"
