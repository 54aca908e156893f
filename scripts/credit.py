"""What turn-based credit is worth: the same learner, the same decisions, two ways to credit them.

    python scripts/credit.py --steps 1500000 --seeds 3 --out credit.json

"mover-signed" is ours. "unsigned" is what learners get from an environment that returns the next
player's observation with the last player's reward: the next player's prospects count as one's
own, and the loser never hears of the loss.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.networks.network import checkpoint_of
from hanamachi.training.build import make_games, new_learner, quiet
from hanamachi.training.config import Config
from hanamachi.training.evaluation.json_results import write_json
from hanamachi.training.evaluation.matches import results_of
from hanamachi.training.learner.turn_based import TurnBasedVecEnv


def unsigned(games: TurnBasedVecEnv) -> TurnBasedVecEnv:
    """Let games say that the player to move is always on the side of the last."""
    advance = games.advance

    def advance_unsigned(actions: NDArray[np.int64]) -> None:
        advance(actions)
        games.signs[:] = 1

    games.advance = advance_unsigned  # type: ignore[method-assign]
    return games


def measure(credit: str, game: str, steps: int, seed: int, games: int) -> dict[str, Any]:
    """Train with one kind of credit, and play random opponents."""
    config = Config.from_dict({"game": game, "seed": seed, "steps": steps, "device": "cpu"})
    played: TurnBasedVecEnv = make_games(config)
    if credit == "unsigned":
        played = unsigned(played)
    learner = new_learner(config, games=played)
    learner.set_logger(quiet())
    learner.learn(steps, reset_num_timesteps=False)
    policy = CompiledPolicy(checkpoint_of(learner.policy.network, config.variant()))
    (row,) = results_of(policy, ["random"], game, games, seed=seed + 1, plays=("sample",))
    return {"credit": credit, "seed": seed, "rate": row.rate, "low": row.low, "high": row.high}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="hanamikoji")
    parser.add_argument("--steps", type=int, default=1_500_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rows = []
    for seed in range(given.seeds):
        for credit in ("mover-signed", "unsigned"):
            rows.append(measure(credit, given.game, given.steps, seed, given.games))
            print(rows[-1], flush=True)
            if given.out:
                write_json(rows, given.out)


if __name__ == "__main__":
    main()
