"""stable-baselines3: MaskablePPO on the Gymnasium environment, or the same algorithm by self-play.

MaskablePPO finds the masks by itself. Against a given opponent a game is an ordinary environment.
With --self-play all seats learn, from games in compiled code, with the mover-signed advantages of
hanamachi.training.learner.selfplay.

    pip install -e ".[train]" stable-baselines3 sb3-contrib
"""

import argparse

from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env

from hanamachi import variant
from hanamachi.policies import BatchPolicy
from hanamachi.training import evaluate
from hanamachi.training.learner.selfplay import SelfPlayPPO
from hanamachi.training.learner.selfplay_policy import SelfPlayPolicy
from hanamachi.training.learner.vecenv import SelfPlayVecEnv

GAME = variant("hanamikoji")
SETTINGS = {"batch_size": 512, "n_epochs": 4, "gamma": 1.0, "ent_coef": 0.01, "device": "cpu"}


def against_random(steps: int) -> MaskablePPO:
    """Learn from games in which the other seat plays at random."""
    games = make_vec_env("hanamachi/Hanamikoji-v0", n_envs=16, seed=0)
    network = {"net_arch": [256, 256]}
    ppo = MaskablePPO("MlpPolicy", games, n_steps=256, policy_kwargs=network, seed=0, **SETTINGS)
    return ppo.learn(steps)


def against_itself(steps: int) -> MaskablePPO:
    """Learn from both seats of 128 simultaneous games."""
    games = SelfPlayVecEnv(GAME, 128, seed=0)
    return SelfPlayPPO(SelfPlayPolicy, games, n_steps=32, seed=0, **SETTINGS).learn(steps)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200_000, help="decisions to learn from")
    parser.add_argument("--self-play", action="store_true", help="let all seats learn")
    given = parser.parse_args()
    model = (against_itself if given.self_play else against_random)(given.steps)

    def learned(observations, masks):
        return model.predict(observations, action_masks=masks, deterministic=True)[0]

    judged = evaluate([BatchPolicy(learned, GAME)], GAME.id, 2_000, opponents=["random"])
    print(f"with_sb3: {judged.results[0]}")


if __name__ == "__main__":
    main()
