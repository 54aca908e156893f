"""Names of policies, and command lines of every command."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import yaml
from bases import FEW, GIFTS, checkpoints, onnx_files, saved_games
from damage import ODD_TEXTS, near, odd
from harness import PROGRESS
from roles import play_a_game
from settings_cases import TINY

from hanamachi.errors import UserError
from hanamachi.games.registry import VARIANTS
from hanamachi.limits import MESSAGE
from hanamachi.policies import load_policy
from hanamachi.policies.rules.registry import NAMES
from hanamachi.policies.search.search import KINDS
from hanamachi.training.cli.main import MISTAKE, main

BUDGETS = (
    "worlds=1", "worlds=2", "seconds=0.001", "worlds=0", "worlds=-1", "seconds=nan", "worlds=x",
    "seconds=1e999", "worlds=2,worlds=2", "worlds=2,seconds=1", "seed=1", "worlds=1.5", "=", "x=1",
    "worlds=1,seed=-1", "worlds=1,seed=" + "9" * 50, "worlds=" + "9" * 5000,
)  # fmt: skip
ENTRIES = (
    "os:getcwd", "os:system", "nothing:x", "json:loads", ":", "a:", ":b", "a.b:c", "os.path:join",
    "builtins:int", "builtins:print", "hanamachi.policies:Policy", "..:x", "a:b:c", "é:x",
    "hanamachi.policies.rules.rule_policy:RandomPolicy",
)  # fmt: skip
EXPECTED = re.compile(rf"written: |\d+ decisions: |.* {PROGRESS},")  # lines on stderr


class Name(NamedTuple):
    """A policy to load for a game."""

    spec: str
    game: str | None
    options: dict[str, Any]
    seed: int


def some_policy(rng: Random) -> str:
    """A name that may be one of a policy."""
    files = [str(path) for path in (*checkpoints(), *onnx_files())]
    plain = rng.choice([rng.choice(sorted(NAMES)), rng.choice(list(VARIANTS)), rng.choice(files)])
    kind = rng.random()
    if kind < 0.4:
        spec = plain
    elif kind < 0.7:
        budget = rng.choice(BUDGETS) if rng.random() < 0.6 else "worlds=1"
        spec = f"search:{rng.choice([*KINDS, 'x', ''])}:{rng.choice([plain, ''])}:{budget}"
    elif kind < 0.85:
        spec = rng.choice(ENTRIES)
    else:
        spec = rng.choice(
            [*ODD_TEXTS, str(odd(rng)), "nowhere.onnx", "./nowhere", "/", "/dev/null", "."]
        )
    for _ in range(rng.choice([0, 0, 0, 1, 3])):
        spec = str(near(rng, spec))
    return spec


def some_game(rng: Random) -> tuple[str, dict[str, Any]]:
    id, options = rng.choice(
        [("hanamikoji", GIFTS), ("hanabi:2p", FEW), (rng.choice(list(VARIANTS)), {})]
    )
    if rng.random() < 0.15:
        options = options | {rng.choice(["cards", "starter", "x", ""]): odd(rng)}
    return (id if rng.random() < 0.9 else str(near(rng, id))), options


def draw_name(rng: Random, folder: Path) -> Name:
    game, options = some_game(rng)
    return Name(
        some_policy(rng), game if rng.random() < 0.9 else None, options, rng.randrange(1 << 30)
    )


def load_and_play(case: Name) -> None:
    policy = load_policy(case.spec, case.game, **case.options)
    play_a_game(policy, Random(case.seed))


# --- Command lines


class Command(NamedTuple):
    """The words after `hanamachi`."""

    words: list[str]


def policy(rng: Random) -> str:
    """Mostly one that plays at once."""
    plain = rng.choice(["random", "greedy", "expert", str(checkpoints()[0]), str(onnx_files()[0])])
    return plain if rng.random() < 0.8 else some_policy(rng)


def game(rng: Random) -> list[str]:
    """Mostly the small game of the tiny checkpoint, with its options."""
    if rng.random() < 0.2:
        return ["--game", some_game(rng)[0]]
    return ["--game", "hanamikoji", *options(rng)]


def options(rng: Random) -> list[str]:
    words = [f"{name}={json.dumps(value)}" for name, value in GIFTS.items()]
    if rng.random() < 0.2:
        words[rng.randrange(len(words))] = rng.choice([str(near(rng, words[0])), *ODD_TEXTS, "x=1"])
    return [word for each in words for word in ("--set", each)]


def number(rng: Random, *usual: int) -> str:
    """A small number, or one that cannot be meant."""
    wrong = ["-1", "1.5", "x", "", "1e3", "9" * 40, "9" * 5_000, "0x2", "٣", "nan", str(2**64), "0"]
    return str(rng.choice(usual)) if rng.random() < 0.85 else rng.choice(wrong)


def train(rng: Random, folder: Path) -> list[str]:
    settings = {"steps": "32", "seed": number(rng, 1, 2), "num_games": "4"}
    name, value = rng.choice(list(settings.items()))
    words = [f"{name}={value}"] if rng.random() < 0.7 else [str(near(rng, f"{name}={value}"))]
    (folder / "run.yaml").write_text(yaml.safe_dump(TINY))
    out = rng.choice(
        ["run", "run", "a/b", "run.yaml", "", "/dev/null", "/proc/x", "k" * 300, "\x01"]
    )
    file = rng.choice(["run.yaml"] * 6 + ["nothing.yaml", ".", "/dev/null", ""])
    return [
        "train",
        file,
        "--out",
        out,
        *(w for s in words for w in ("--set", s)),
        *maybe(rng, "--resume"),
    ]


def evaluate(rng: Random, folder: Path) -> list[str]:
    policies = [policy(rng) for _ in range(rng.choice([1, 2, 2, 2, 3]))]
    against = [w for p in policies[1:] for w in ("--against", p)] if rng.random() < 0.3 else []
    play = rng.choice(["sample", "argmax", "both", "x", ""])
    words = [
        "evaluate",
        *policies,
        *game(rng),
        *against,
        "--games",
        number(rng, 2, 4, 3),
        "--play",
        play,
    ]
    return [*words, "--seed", number(rng, 0, 7), *maybe(rng, "--out", "found")]


def export(rng: Random, folder: Path) -> list[str]:
    out = rng.choice(
        ["a.onnx", "a/b.onnx", "a.txt", "", ".onnx", "/proc/a.onnx", "k" * 300 + ".onnx"]
    )
    return ["export", policy(rng), *maybe(rng, "--out", out)]


def exploit(rng: Random, folder: Path) -> list[str]:
    small = yaml.safe_dump(
        {k: v for k, v in TINY.items() if k not in ("game", "options", "steps", "seed")}
    )
    (folder / "small.yaml").write_text(small)
    trained = ["--steps", number(rng, 16, 32), "--seeds", number(rng, 1), "--config", "small.yaml"]
    how = rng.choice(
        [["--exact"], [*trained, "--out", "found"], trained, [], ["--exact", *trained]]
    )
    return ["exploit", policy(rng), *game(rng), *how]


def play(rng: Random, folder: Path) -> list[str]:
    words = ["play", *game(rng)[1:], "--opponent", policy(rng), "--seat", number(rng, 0, 1, 2)]
    return [
        *words,
        *maybe(rng, "--thoughts"),
        *maybe(rng, "--record", "game.json"),
        "--seed",
        number(rng, 1),
    ]


def replay(rng: Random, folder: Path) -> list[str]:
    (folder / "game.json").write_text(json.dumps(rng.choice(saved_games())))
    return [
        "replay",
        rng.choice(["game.json"] * 5 + ["nothing", ".", "", "/dev/null"]),
        *maybe(rng, "--all"),
    ]


def sweep(rng: Random, folder: Path) -> list[str]:
    """Only those that cannot start: a sweep starts a cluster."""
    section = rng.choice(
        [None, {}, {"over": {}}, {"over": {"x": odd(rng)}}, {"trials": 0}, odd(rng)]
    )
    try:
        (folder / "sweep.yaml").write_text(yaml.safe_dump(TINY | {"sweep": section}))
    except (ValueError, RecursionError, yaml.YAMLError):
        (folder / "sweep.yaml").write_text("sweep: [")
    return ["sweep", "sweep.yaml", "--out", "found"]


def benchmark(rng: Random, folder: Path) -> list[str]:
    """Only those that cannot start: measurements take long."""
    return [
        "benchmark",
        rng.choice(["x", "", "Engine"]),
        "--rounds",
        "1",
        "--seconds",
        "0",
        "--most",
        "2",
    ]


def games(rng: Random, folder: Path) -> list[str]:
    return ["games", *maybe(rng, "--help")]


def maybe(rng: Random, *words: str) -> tuple[str, ...]:
    return words if rng.random() < 0.3 else ()


COMMANDS: tuple[Callable[[Random, Path], list[str]], ...] = (
    train, evaluate, evaluate, export, exploit, play, replay, sweep, benchmark, games,
)  # fmt: skip


def draw_command(rng: Random, folder: Path) -> Command:
    """A command, in part with a word too many, too few, exchanged or changed."""
    words = rng.choice(COMMANDS)(rng, folder)
    kind = rng.random() if words[0] not in ("benchmark", "sweep") else 1.0
    at = rng.randrange(len(words))
    if kind < 0.05:
        del words[at]
    elif kind < 0.1:
        words.insert(at, rng.choice([*ODD_TEXTS, "--", "--help", "-x", "--seed", words[0]]))
    elif kind < 0.15:
        words[at] = str(near(rng, words[at]))
    return Command([w for w in words if w not in ("--ray", "--workers")])


def exit_code(words: list[str]) -> Any:
    try:
        main(words)
    except SystemExit as ended:
        return ended.code


@contextmanager
def as_it_was(path: list[str]) -> Iterator[None]:
    """A command adds the current folder to the places of modules."""
    before = path.copy()
    try:
        yield
    finally:
        path[:] = before


def run_command(case: Command) -> None:
    """Exit code 0, and on stderr only what was written; or exit code 2, and one line there."""
    said, complaint = StringIO(), StringIO()
    with redirect_stdout(said), redirect_stderr(complaint), as_it_was(sys.path):
        code = exit_code(case.words)
    line = complaint.getvalue()
    if code == 0:
        noise = [each for each in line.splitlines() if not EXPECTED.match(each)]
        assert not noise, f"noise: {noise!r}"
        return
    assert code == MISTAKE, f"exit code {code}: {line!r}"
    assert line.startswith("hanamachi: "), repr(line)
    assert line.find("\n") == len(line) - 1, repr(line)
    message = line.removeprefix("hanamachi: ").removesuffix("\n")
    assert 0 < len(message) <= MESSAGE, f"{len(message)} characters: {message!r}"
    assert message.isprintable(), repr(message)
    raise UserError(message)
