"""Hugging Face datasets and Minari: learn from games that `expert` has played, without playing.

The games are Parquet files, which `datasets` loads as they are. A network of plain PyTorch copies
the expert's actions. Other games are read as Minari episodes.

    pip install -e ".[train]" datasets "minari[hdf5]"
"""

import argparse
import os
import tempfile

import minari
import numpy as np
import torch
from datasets import load_dataset
from torch import nn
from torch.nn import functional as F

from hanamachi import variant
from hanamachi.policies import BatchPolicy
from hanamachi.training import evaluate
from hanamachi.training.dataset import make, to_minari

GAME = variant("hanamikoji")
UNITS = torch.tensor(GAME.observation.units)  # an int8 entry is the entry times its scale
PASSES, BATCH = 8, 512

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--steps", type=int, default=50_000, help="decisions to learn from")
steps = parser.parse_args().steps
folder = tempfile.mkdtemp()
make(GAME.id, ["expert"], 1 + steps // 24, folder)  # a game has some 24 decisions
games = load_dataset("parquet", data_files=f"{folder}/data/*.parquet", split="train")
games = games.filter(lambda legal: np.array(legal) > 1, input_columns="legal", batched=True)
decisions = games.select_columns(["observation", "mask", "action"]).with_format("torch")[:]
observations, masks, actions = decisions.values()

network = nn.Sequential(
    nn.Linear(GAME.observation.size, 256), nn.ReLU(), nn.Linear(256, GAME.actions.size)
)
optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
for rows in torch.cat([torch.randperm(len(actions)) for _ in range(PASSES)]).split(BATCH):
    logits = network(observations[rows] / UNITS).where(masks[rows] == 1, -torch.inf)
    loss = F.cross_entropy(logits, actions[rows])
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()


@torch.no_grad()
def learned(observations, masks):
    return np.where(masks, network(torch.from_numpy(observations)), -np.inf).argmax(1)


os.environ["MINARI_DATASETS_PATH"] = folder
to_minari(GAME.id, "hanamikoji/expert-v0")  # a small dataset that comes with the package
episodes = minari.load_dataset("hanamikoji/expert-v0")
lengths = [len(episode) for episode in episodes.iterate_episodes()]
print(f"{len(lengths)} episodes of Minari, with {np.mean(lengths):.1f} decisions each")

judged = evaluate([BatchPolicy(learned, GAME)], GAME.id, 2_000, opponents=["random"])
print(f"with_datasets: {judged.results[0]}")
