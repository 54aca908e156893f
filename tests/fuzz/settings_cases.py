"""Settings of runs, as YAML files and overrides; cheap ones that are accepted are built and run."""

import json
from collections.abc import Iterator
from functools import cache
from math import prod
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import yaml
from bases import FEW, GIFTS, ROAD, checkpoints
from damage import ODD_TEXTS, damaged, near, odd, scrambled
from roles import learn
from root import ROOT

from hanamachi.training.build import cloning_learner, new_learner
from hanamachi.training.config import Config
from hanamachi.training.run import check_policies, train

TINY = {
    "game": "hanamikoji",
    "options": GIFTS,
    "seed": 3,
    "steps": 32,
    "num_games": 4,
    "device": "cpu",
    "network": {"hidden": [8]},
    "ppo": {"n_steps": 4, "batch_size": 8, "n_epochs": 1, "learning_rate": [1e-3, 1e-4]},
    "evaluation": {
        "every": 16, "games": 2, "final_games": 2, "final_opponents": ["greedy"],
    },
    "save_every": 16,
}  # fmt: skip
VARIED: tuple[dict[str, Any], ...] = (
    {},
    {
        "opponents": {"self": 0.5, "past": 0.25, "greedy": 0.25},
        "past": {"every": 16, "keep": 2},
    },
    {"magnet": {"kind": "average", "kl_coef": 0.1}, "export": "average", "critic": "all"},
    {"magnet": {"kind": "refreshed", "kl_coef": [0.1, 0], "every": 8}, "critic": "all"},
    {
        "init_from": "greedy",
        "clone": {"steps": 16},
        "network": {"hidden": [8], "features": ["advice"]},
    },
    {"distillation": {"share": 0.5, "worlds": 1}},
    {"game": "hanabi:2p", "options": FEW, "augmentation": "other_play"},
    {"game": "geishas_road:introductory", "options": ROAD},
    {"game": "hanabi:2p", "options": FEW, "network": {"hidden": [4], "features": ["belief"]}},
    {
        "game": "hanabi:2p",
        "options": FEW,
        "evaluation": {"final_opponents": [], "games": 2, "final_games": 2},
    },
)
NAMES = (
    "seed", "steps", "ppo.learning_rate", "ppo.n_steps", "num_games", "network.hidden",
    "options.cards", "opponents.greedy", "evaluation.games", "init_from", "magnet.kl_coef", "game",
    "ppo.clip_range", "ppo.gamma", "export", "critic", "x", "ppo", "", "ppo..x", ".",
    "distillation.share", "augmentation",
)  # fmt: skip
VALUES = (
    "1", "0", "-1", "1e-3", "lin_0.1", "[1, 2]", "[1e-3, 0]", "greedy", "null", "true", "{}",
    "{a: 1}", "", "[", "1e999", ".nan", "9" * 50, "*a", "&a 1", "!!python/name:os.system", "0x10",
    "1_000", "self", "hanabi:2p", "[8]", "[[8]]", "2020-01-01", "'", "lin_", "lin_nan", "lin_1e400",
)  # fmt: skip
SNIPPETS = (
    "&a ", "*a", "!!python/object:os.system ", "<<: *a\n", "\t", "? ", "- ", ": ", "{", "[" * 50,
    "'", '"', "|\n", "%YAML 9\n", "---\n", "...\n", "!!binary ", "\x85", "\ufeff", "#", "1:30:00",
)  # fmt: skip
CHEAP = 4_000  # weights and decisions of a run that is tried out


class Settings(NamedTuple):
    """A YAML file and overrides, and whether to train with what is accepted."""

    path: Path
    overrides: tuple[str, ...]
    seed: int
    text: bytes


@cache
def files() -> tuple[dict[str, Any], ...]:
    """The settings that come with the package, and tiny ones that can be run."""
    given = [yaml.safe_load(path.read_text()) for path in sorted((ROOT / "configs").glob("*.yaml"))]
    tiny = [TINY | varied for varied in VARIED]
    start = {"init_from": str(checkpoints()[0]), "network": {"hidden": [8, 4]}}
    opponent = {"opponents": {"self": 0.5, str(checkpoints()[0]): 0.5}}
    return (*given, *tiny * 4, *(TINY | start, TINY | opponent) * 4)


def draw(rng: Random, folder: Path) -> Settings:
    data = rng.choice(files())
    if rng.random() < 0.7:
        data = damaged(rng, data)
    text = yaml_of(rng, data)
    if rng.random() < 0.15:
        text = scrambled(rng, text)
    if rng.random() < 0.1:
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(SNIPPETS).encode() + text[at:]
    path = folder / "settings.yaml"
    path.write_bytes(text)
    overrides = tuple(override(rng) for _ in range(rng.choice([0, 0, 0, 1, 2])))
    return Settings(path, overrides, rng.randrange(1 << 30), text)


def yaml_of(rng: Random, data: Any) -> bytes:
    """In the style of blocks or of JSON, which is YAML too."""
    try:
        if rng.random() < 0.5:
            return json.dumps(data).encode()
        return yaml.safe_dump(data, sort_keys=False, allow_unicode=rng.random() < 0.5).encode()
    except (ValueError, RecursionError, yaml.YAMLError):
        return b"game: hanamikoji"


def override(rng: Random) -> str:
    name, value = rng.choice(NAMES), rng.choice(VALUES)
    if rng.random() < 0.2:
        name = str(near(rng, name))
    if rng.random() < 0.1:
        value = str(odd(rng))
    return rng.choice([f"{name}={value}"] * 9 + [rng.choice(ODD_TEXTS)])


def read_and_try(case: Settings) -> None:
    """Read them; what is accepted is written and read again, and cheap settings are run."""
    config = Config.load(case.path, case.overrides)
    if Config.from_dict(yaml.safe_load(config.to_yaml())) != config:
        raise AssertionError("settings that are written and read again are others")
    if is_cheap(config):
        if case.seed % 5 == 0:
            train(config, case.path.parent / "run")
        else:
            build(config)


def build(config: Config) -> None:
    check_policies(config)
    start = None if config.teacher else config.init_from
    learn(new_learner(config, start))
    if config.teacher:
        learn(cloning_learner(config))


def is_cheap(config: Config) -> bool:
    return max(costs(config)) <= CHEAP


def costs(config: Config) -> Iterator[float]:
    """Decisions, weights and games; what has no bound here costs nothing."""
    variant, ppo, evaluation = config.variant(), config.ppo, config.evaluation
    yield config.num_games * ppo.n_steps * ppo.n_epochs * 4
    yield config.num_games * ppo.n_steps * ppo.n_epochs / ppo.batch_size * 50
    yield config.steps * ppo.n_epochs / min(ppo.batch_size, config.num_games * ppo.n_steps) * 50
    yield config.steps * 10
    yield (len(evaluation.opponents) * evaluation.games * config.steps / evaluation.every * 10)
    yield evaluation.final_games * len(evaluation.final_opponents) * 100
    yield config.clone.steps * 10 if config.teacher else 0
    yield prod(config.network.hidden[:2]) if max(config.network.hidden) < 2048 else CHEAP + 1
    yield len(config.network.hidden) * 100
    yield variant.actions.size
    yield config.steps / config.save_every * 400
    yield 0 if config.device in ("cpu", "auto") else CHEAP + 1
