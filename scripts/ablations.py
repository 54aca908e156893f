"""What each piece of the learner is worth: how near to equilibrium self-play comes without it.

    python scripts/ablations.py --out docs

Every setting learns on small games whose NashConv is computed exactly: Kuhn poker, played through
OpenSpiel, Leduc poker, as a game of our engine, and small versions of ours, by default two of
Hanamikoji and one of Geisha's Road. Each result is kept in ablations.json, so that a stopped script
resumes; all results together make a page with tables and a plot.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import torch
from credit import unsigned
from leduc import leduc
from pyspiel import load_game

from hanamachi.adapters.openspiel_aec import OpenSpielAEC
from hanamachi.engine.game import Actions
from hanamachi.games.registry import variant
from hanamachi.policies.arrays import Masks, Memory, Observations, Probabilities
from hanamachi.policies.networks.network import Network
from hanamachi.training.build import make_games, new_learner, quiet
from hanamachi.training.config import Config
from hanamachi.training.evaluation.json_results import write_json
from hanamachi.training.exact import SMALL, Tree, nash_conv, tabulate, tree_of, tree_of_openspiel
from hanamachi.training.learner.aec import AECSelfPlayVecEnv
from hanamachi.training.learner.turn_based import TurnBasedVecEnv
from hanamachi.training.learner.vecenv import SelfPlayVecEnv

KUHN, LEDUC = POKER = ("kuhn_poker", "leduc_poker")
GAMES = (*POKER, "hanamikoji-gifts", "hanamikoji-competitions", "introductory-gifts")
WHOLE = {  # the learner with all its pieces; what is not named is as in any run
    "device": "cpu",
    "network": {"hidden": [128, 128]},
    "ppo": {"ent_coef": [0.2, 0.02]},
    "magnet": {"kind": "average", "kl_coef": 0.2},
    "average": {"decay": 0.998},
    "export": "average",
}
PIECES: Mapping[str, Mapping[str, Any]] = {  # what is changed, one thing each
    "all pieces": {},
    "no magnet": {"magnet": {"kl_coef": 0}},
    "magnet: first policy": {"magnet": {"kind": "start", "kl_coef": 0.2}},
    "magnet: refreshed": {"magnet": {"kind": "refreshed", "kl_coef": 0.2, "every": 30_000}},
    "entropy: constant": {"ppo": {"ent_coef": 0.1}},
    "entropy: low": {"ppo": {"ent_coef": [0.02, 0.004]}},
    "critic: all hands": {"critic": "all"},
    "credit: unsigned": {},
    "head: plain": {},
}
# noise and circles are what is left in Leduc: more games, and an average over more
SLOW: Mapping[str, Mapping[str, Any]] = {
    "slow": {
        "num_games": 1024,
        "critic": "all",
        "ppo": {
            "ent_coef": [0.3, 0.03],
            "batch_size": 4096,
            "gae_lambda": 1.0,
            "learning_rate": [2e-3, 1e-5],
        },
        "magnet": {"kind": "average", "kl_coef": 1.0},
        "average": {"decay": 0.9995},
    },
    "all actions": {  # the magnet is the policy before each rollout, so that its steps are small
        "num_games": 1024,
        "critic": "action_values",
        "ppo": {
            "ent_coef": [0.3, 0.03],
            "batch_size": 4096,
            "gae_lambda": 0.8,
            "learning_rate": [2e-3, 1e-5],
        },
        "magnet": {"kind": "refreshed", "kl_coef": [4.0, 16.0], "every": 1},
        "average": {"decay": 0.9995},
    },
}
ROWS = {**PIECES, **SLOW}
EXPORTS = ("policy", "average")
PAGE = """# What each piece of the learner is worth

Each row leaves out or changes one piece of the learner. The figures are NashConv divided by that of
random play, so 0 is an equilibrium: the median of the seeds, and their range where there are
several. A row says which policy is measured: the policy that learns, or the average of its weights.
`slow` and `all actions` are settings for many decisions. All settings are in
[scripts/ablations.py](../scripts/ablations.py), which made this page; [exact solving](exact.md)
lists the small games.
{tables}
The picture has a mark for each seed after {steps:,} decisions: a dot for the policy, and a cross
for the average of its weights.

![After {steps:,} decisions, a mark for each seed](ablations.png)
"""

Rows = Sequence[Mapping[str, Any]]


class Run(NamedTuple):
    game: str
    piece: str
    steps: int
    seed: int


# --- One run


class NetworkPolicy:
    """A network as exact solvers ask a policy, in any game."""

    name = "learned"

    def __init__(self, network: Network) -> None:
        self.network = network

    def initial_memory(self, batch: int) -> Memory:
        return np.zeros((batch, 0), np.float32)

    @torch.no_grad()
    def distribution(
        self, observation: Observations, mask: Masks, memory: Memory
    ) -> tuple[Probabilities, None, Memory]:
        legal = torch.from_numpy(mask != 0)
        chances, _ = self.network(torch.from_numpy(observation), legal)
        return chances.table(legal).numpy(), None, memory


def measure(game: str, piece: str, steps: int, seed: int) -> dict[str, Any]:
    """Learn a game with one piece changed; NashConv of the policy and of its average."""
    config = settings(game, piece, steps, seed)
    learner = new_learner(config, games=games_of(game, piece, config))
    learner.set_logger(quiet())
    learner.learn(steps, reset_num_timesteps=False)
    assert learner.average, "settings export it"
    tree = tree_named(game)
    return {
        "game": game,
        "piece": piece,
        "steps": steps,
        "seed": seed,
        "uniform": nash_conv(tree, tree.uniform),
        "policy": nash_conv(tree, tabulate(tree, NetworkPolicy(learner.policy.network))),
        "average": nash_conv(tree, tabulate(tree, NetworkPolicy(learner.average.network))),
    }


def settings(game: str, piece: str, steps: int, seed: int) -> Config:
    """Of the learner; in poker the game that they name is not the one that is played."""
    small = SMALL["hanamikoji-gifts" if game in POKER else game]
    played = {"game": small.id, "options": dict(small.options), "seed": seed, "steps": steps}
    return Config.from_dict({**WHOLE, **ROWS[piece], **played})


def games_of(game: str, piece: str, config: Config) -> TurnBasedVecEnv:
    """The games to learn from, credited and described as the piece says."""
    games: Any
    if game == KUHN:
        games = AECSelfPlayVecEnv(partial(OpenSpielAEC, game), config.num_games, config.seed)
    elif game == LEDUC:
        games = SelfPlayVecEnv(leduc(), config.num_games, config.seed)
    else:
        games = make_games(config)
        if piece == "head: plain":
            games.variant = replace(games.variant, actions=Plain(games.variant.actions))
    return unsigned(games) if piece == "credit: unsigned" else games


class Plain:
    """A catalogue of actions that have nothing in common."""

    def __init__(self, actions: Actions) -> None:
        self.size, self.uses = actions.size, {}
        self.features = np.zeros((actions.size, 1), np.float32)


@cache
def tree_named(game: str) -> Tree:
    if game == KUHN:
        return tree_of_openspiel(load_game(game))
    return tree_of(leduc() if game == LEDUC else variant(game))


# --- All runs


def missing(rows: Rows, given: argparse.Namespace) -> Iterator[Run]:
    """The runs that are asked for and not there yet."""
    known = {Run(*(row[name] for name in Run._fields)) for row in rows}
    for seed in range(given.seeds):
        for game in given.games:
            for piece in given.pieces:
                if piece == "head: plain" and game in POKER:
                    continue  # nothing is known of its actions anyway
                if (wanted := Run(game, piece, given.steps, seed)) not in known:
                    yield wanted


def page(rows: Rows) -> str:
    """A table for each number of decisions, and the plot's name."""
    tables = (
        f"\n## After {steps:,} decisions\n\n{table(after(rows, steps))}" for steps in lengths(rows)
    )
    return PAGE.format(tables="".join(tables), steps=lengths(rows)[0])


def lengths(rows: Rows) -> list[int]:
    return sorted({row["steps"] for row in rows})


def after(rows: Rows, steps: int) -> Rows:
    return [row for row in rows if row["steps"] == steps]


def table(rows: Rows) -> str:
    """NashConv as a share of random play's, the median of the seeds with their range."""
    games = shown(rows)
    lines = ["| | " + " | ".join(games) + " |", "|---|" + "---|" * len(games)]
    for piece, export in product(ROWS, EXPORTS):
        cells = [cell(shares(rows, game, piece, export)) for game in games]
        if any(cells):
            lines.append(f"| {piece}, {export} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def shown(rows: Rows) -> list[str]:
    """The games that were measured, the smaller ones of a kind first."""
    measured = {row["game"] for row in rows}
    return [game for game in (*POKER, *SMALL) if game in measured]


def shares(rows: Rows, game: str, piece: str, export: str) -> list[float]:
    """NashConv over that of random play, of every seed."""
    chosen = (row for row in rows if (row["game"], row["piece"]) == (game, piece))
    return [row[export] / row["uniform"] for row in chosen]


def cell(values: Sequence[float]) -> str:
    if not values:
        return ""
    if len(values) == 1:
        return f"{values[0]:.3f}"
    return f"{median(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def plot(rows: Rows, path: Path) -> None:
    """A panel for each game: every piece's seeds, on a scale of shares of random play."""
    games = shown(rows)
    figure, panels = plt.subplots(1, len(games), sharey=True, figsize=(3 * len(games), 4))
    for panel, game in zip(np.atleast_1d(panels), games, strict=True):
        for y, piece in enumerate(PIECES):
            for export, marker in zip(EXPORTS, "ox", strict=True):
                values = shares(rows, game, piece, export)
                panel.plot(values, [y] * len(values), marker, color="C0" if y else "C1")
        panel.axvline(0.1, color="grey", linewidth=0.5)
        panel.set(xscale="log", title=game, xlabel="NashConv / random play's")
    np.atleast_1d(panels)[0].set_yticks(range(len(PIECES)), list(PIECES))
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", nargs="+", default=GAMES, choices=[*POKER, *SMALL])
    parser.add_argument("--pieces", nargs="+", default=list(PIECES), choices=ROWS)
    parser.add_argument("--steps", type=int, default=300_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, required=True, help="folder of results and page")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    kept = given.out / "ablations.json"
    rows = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else []
    for wanted in missing(rows, given):
        rows.append(measure(*wanted))
        print(rows[-1], flush=True)
        write_json(rows, kept)
    if not rows:
        parser.error("nothing is asked for that can be measured")
    (given.out / "ablations.md").write_text(page(rows), encoding="utf-8")
    plot(after(rows, lengths(rows)[0]), given.out / "ablations.png")


if __name__ == "__main__":
    main()
