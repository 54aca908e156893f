"""What is damaged: checkpoints, ONNX files and saved games, made once before workers are forked."""

import json
import shutil
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import torch
from small_games import GIFTS

from hanamachi.engine.contract import OVER
from hanamachi.engine.game import Variant
from hanamachi.games.registry import variant
from hanamachi.policies.agents import agent_folder, agents
from hanamachi.policies.export import export
from hanamachi.policies.networks.checkpoint import save_checkpoint
from hanamachi.policies.networks.network import checkpoint_of, for_variant
from hanamachi.sessions.saved_games import record_of, save
from hanamachi.sessions.session import Session

ROAD = {"colours": 2, "item_values": [1, 2, 3, 4], "actions": ["reveal", "gift"], "rounds": 1}
FEW = {"colours": 2, "ranks": 3, "hand_size": 2, "max_clues": 3}


class Small(NamedTuple):
    """A game with small or usual options, and what its network computes."""

    id: str
    options: dict[str, Any]
    features: tuple[str, ...] = ()
    hidden: tuple[int, ...] = (8, 4)


SMALL = (
    Small("hanamikoji", GIFTS),
    Small("hanamikoji", GIFTS, ("advice",)),
    Small("hanamikoji:three_rounds", {}, ("advice",), (4,)),
    Small("geishas_road:introductory", ROAD),
    Small("geishas_road:2021", {}, ("advice",), (4,)),
    Small("hanabi:2p", FEW, ("convention", "advice")),
    Small("hanabi:3p", FEW, ("belief",)),
    Small("hanabi:2p", {}, (), (4,)),
)
GAMES = (
    ("hanamikoji", GIFTS), ("hanamikoji", {}), ("hanamikoji:eight_suits", {}),
    ("hanamikoji:three_rounds", {}), ("geishas_road:2021", {}), ("geishas_road:introductory", {}),
    ("geishas_road:standard", {}), ("geishas_road:advanced", ROAD), ("geishas_road:advanced", {}),
    ("hanabi:2p", FEW), ("hanabi:2p", {}), ("hanabi:3p", {}), ("hanabi:4p:multicolour", {}),
    ("hanabi:5p", {}),
)  # fmt: skip


FOLDER = Path("../bases")  # from the folder of a case: names in a case do not change with the run


@cache
def checkpoints() -> tuple[Path, ...]:
    """Tiny ones of every game."""
    return tuple(tiny_checkpoint(number) for number in range(len(SMALL)))


def tiny_checkpoint(number: int) -> Path:
    small, place = SMALL[number], FOLDER / f"tiny-{number}"
    torch.manual_seed(number)
    game = variant(small.id, **small.options)
    network = for_variant(game, small.hidden, small.features)
    for weights in network.parameters():
        torch.nn.init.normal_(weights, std=0.3)
    save_checkpoint(place, checkpoint_of(network, game), "# A card\n")
    return place


@cache
def shipped() -> tuple[Path, ...]:
    return tuple(agent_folder(id) for id in agents())


def some_checkpoint(rng: Random, large: float = 0.1) -> Path:
    """A tiny one, or in a share of the draws an agent that ships."""
    return rng.choice(shipped() if rng.random() < large else checkpoints())


@cache
def onnx_files() -> tuple[Path, ...]:
    return tuple(export(str(place), place.with_suffix(".onnx")) for place in checkpoints())


@cache
def saved_games() -> tuple[dict[str, Any], ...]:
    """Games played at random, to the end and in part."""
    path = FOLDER / "game.json"
    found = []
    for number, (id, options) in enumerate(GAMES):
        for most in (3, 1_000):
            save(record_of(random_game(variant(id, **options), number, most)), path)
            found.append(json.loads(path.read_bytes()))
    return tuple(found)


def random_game(game: Variant, seed: int, most: int) -> Session:
    """A game in progress, after `most` decisions or fewer."""
    session, rng = Session(game), np.random.default_rng(seed)
    session.begin(seed)
    while session.mover != OVER and len(session.actions) < most:
        mask = session.observe(session.mover)[1]
        session.step(int(rng.choice(np.flatnonzero(mask))))
    return session


def copied(place: Path, to: Path) -> Path:
    """A copy that may be damaged: of a checkpoint, only what is read."""
    to.mkdir()
    for name in ("model.safetensors", "config.json"):
        shutil.copyfile(place / name, to / name)
    return to


def all_files() -> None:
    """Make all of them."""
    onnx_files()
    saved_games()
