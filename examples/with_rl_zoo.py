"""RL Zoo: MaskablePPO with the settings of rl_zoo.yml.

RL Zoo has no MaskablePPO, so this program registers it as ppo_mask. The rest is RL Zoo's own
command, and takes its options. Its evaluations would ignore the masks, so they are switched off.

    pip install -e ".[train]" rl_zoo3
"""

import sys
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory

import rl_zoo3
from rl_zoo3.train import train
from sb3_contrib import MaskablePPO

from hanamachi import variant
from hanamachi.policies import BatchPolicy
from hanamachi.training import evaluate

GAME = variant("hanamikoji")
SETTINGS = Path(__file__).with_name("rl_zoo.yml")
COMMAND = "--algo ppo_mask --env hanamachi/Hanamikoji-v0 --gym-packages hanamachi --eval-freq -1"

parser = ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--steps", default="-1", help="decisions to learn from; -1: as in the file")
given, more = parser.parse_known_args()
rl_zoo3.ALGOS["ppo_mask"] = MaskablePPO
with TemporaryDirectory() as folder:
    files = ["--conf-file", str(SETTINGS), "--log-folder", folder]
    sys.argv = ["rl_zoo3", *COMMAND.split(), *files, "--n-timesteps", given.steps, *more]
    train()
    (saved,) = Path(folder).rglob("hanamachi-Hanamikoji-v0.zip")
    model = MaskablePPO.load(saved)


def learned(observations, masks):
    return model.predict(observations, action_masks=masks, deterministic=True)[0]


judged = evaluate([BatchPolicy(learned, GAME)], GAME.id, 2_000, opponents=["random"])
print(f"with_rl_zoo: {judged.results[0]}")
