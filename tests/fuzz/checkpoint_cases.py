"""Damaged checkpoints; most have correct digests, so that the damage itself must be noticed."""

import json
import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
from bases import copied, some_checkpoint
from damage import as_json, damaged, odd, scrambled
from numpy.typing import NDArray
from roles import use
from safetensors import SafetensorError
from safetensors.numpy import load, save

from hanamachi.policies import load_policy
from hanamachi.policies.networks.description import config_digest

WEIGHTS, CONFIG = "model.safetensors", "config.json"
LARGEST = np.finfo(np.float32).max
UNDAMAGEABLE = (
    OSError, ValueError, RecursionError, AttributeError, TypeError, KeyError, OverflowError,
    SafetensorError,
)  # fmt: skip
Tensors = dict[str, NDArray[np.float32]]


class Damaged(NamedTuple):
    """A checkpoint to load and to play with."""

    original: Path
    path: Path
    done: tuple[str, ...]  # the kinds of damage
    sealed: bool  # whether digests were computed again
    seed: int

    @property
    def rng(self) -> Random:
        return Random(self.seed)


# --- Weights


def a_name(rng: Random, tensors: Tensors) -> str:
    """One of the names, whose order in a file changes from one reading to the next."""
    return rng.choice(sorted(tensors))


def scale(rng: Random, tensors: Tensors) -> None:
    """All weights, or one tensor's, up to the largest numbers that there are."""
    factor = rng.choice([0, -1, 1e-30, 1e-42, 1e3, 1e10, 1e20, 1e30, 1e38])
    names = rng.choice([sorted(tensors), [a_name(rng, tensors)]])
    for name in names:
        with np.errstate(over="ignore"):
            tensors[name] = np.clip(tensors[name] * np.float32(factor), -LARGEST, LARGEST)


def fill(rng: Random, tensors: Tensors) -> None:
    values = [np.nan, np.inf, -np.inf, LARGEST, -LARGEST, 1e-45, -0.0, 1e19, 3e38]
    tensors[a_name(rng, tensors)].fill(rng.choice(values))


def put_one_number(rng: Random, tensors: Tensors) -> None:
    flat = tensors[a_name(rng, tensors)].reshape(-1)
    flat[rng.randrange(flat.size)] = rng.choice([np.nan, np.inf, LARGEST, -LARGEST, 1e-45, 1e30])


def put_noise(rng: Random, tensors: Tensors) -> None:
    """Any bits, a few of which are no numbers."""
    name = a_name(rng, tensors)
    bits = np.frombuffer(rng.randbytes(tensors[name].nbytes), np.float32)
    tensors[name] = bits.reshape(tensors[name].shape).copy()
    if rng.random() < 0.8:
        tensors[name] = np.nan_to_num(tensors[name])


def exchange(rng: Random, tensors: Tensors) -> None:
    one, other = a_name(rng, tensors), a_name(rng, tensors)
    tensors[one], tensors[other] = tensors[other], tensors[one]


def reorder(rng: Random, tensors: Tensors) -> None:
    np.random.default_rng(rng.randrange(1000)).shuffle(tensors[a_name(rng, tensors)])


def reshape(rng: Random, tensors: Tensors) -> None:
    name = a_name(rng, tensors)
    t = tensors[name]
    tensors[name] = rng.choice([t.T, t[None], t.reshape(-1), t[:0], np.concatenate([t, t])])


def retype(rng: Random, tensors: Any) -> None:
    name = a_name(rng, tensors)
    with np.errstate(all="ignore"):
        tensors[name] = tensors[name].astype(rng.choice(["f8", "f2", "i4", "i8", "u1", "?"]))


def rename(rng: Random, tensors: Tensors) -> None:
    name = a_name(rng, tensors)
    other = rng.choice(
        [f"{name}.x", "", "../x", "\n", "trunk.9.weight", "__metadata__", "k" * 5000]
    )
    tensors[other] = tensors[name].copy() if rng.random() < 0.3 else tensors.pop(name)


TENSORS = (
    scale, scale, scale, fill, put_one_number, put_noise, exchange, reorder, reshape, retype,
    rename,
)  # fmt: skip


def change_tensors(rng: Random, folder: Path) -> None:
    tensors = {name: t.copy() for name, t in load((folder / WEIGHTS).read_bytes()).items()}
    for _ in range(rng.choice([1, 1, 2])):
        rng.choice(TENSORS)(rng, tensors)
    content = save({name: np.ascontiguousarray(t) for name, t in tensors.items()})
    (folder / WEIGHTS).write_bytes(content)


def change_the_header(rng: Random, folder: Path) -> None:
    """Names, types, shapes and offsets, and the size of the header itself."""
    content = (folder / WEIGHTS).read_bytes()
    size = int.from_bytes(content[:8], "little")
    header, data = json.loads(content[8 : 8 + size]), content[8 + size :]
    text = as_json(rng, damaged(rng, header))
    text += b" " * rng.choice([0, 1, -len(text) % 8])
    length = (
        len(text) if rng.random() < 0.8 else rng.choice([0, 1, 7, 10**8, 2**31, 2**63, 2**64 - 1])
    )
    (folder / WEIGHTS).write_bytes(length.to_bytes(8, "little") + text + data)


def scramble_the_weights(rng: Random, folder: Path) -> None:
    content = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(scrambled(rng, content))


# --- The description


def change_the_description(rng: Random, folder: Path) -> None:
    config = damaged(rng, json.loads((folder / CONFIG).read_text()))
    (folder / CONFIG).write_bytes(as_json(rng, config))


def change_the_network(rng: Random, folder: Path) -> None:
    config = json.loads((folder / CONFIG).read_text())
    hidden = rng.choice([[8], [8, 4, 4], [4, 8], [1 << 14] * 64, [1] * 65, [1] * 5_000, odd(rng)])
    features = rng.choice([["advice"], ["belief"], ["advice"] * 2, ["advice"] * 17, [], odd(rng)])
    config["network"][rng.choice(["hidden", "features"])] = rng.choice([hidden, features])
    (folder / CONFIG).write_bytes(as_json(rng, config))


def change_the_game(rng: Random, folder: Path) -> None:
    config = json.loads((folder / CONFIG).read_text())
    if rng.random() < 0.3:
        config["game"] = json.loads((some_checkpoint(rng) / CONFIG).read_text())["game"]
    config["options"] = damaged(rng, config["options"])
    (folder / CONFIG).write_bytes(as_json(rng, config))


def scramble_the_description(rng: Random, folder: Path) -> None:
    content = (folder / CONFIG).read_bytes()
    (folder / CONFIG).write_bytes(scrambled(rng, content))


# --- The folder


def replace_a_file(rng: Random, folder: Path) -> None:
    """By a link, a folder, a pipe, a huge file, nothing, or a file of another checkpoint."""
    name = rng.choice([WEIGHTS, CONFIG])
    path = folder / name
    path.unlink()
    kind = rng.randrange(7)
    if kind == 0:
        path.symlink_to(rng.choice(["/dev/zero", "/dev/stdin", name, "nothing", "..", CONFIG]))
    elif kind == 1:
        path.mkdir()
    elif kind == 2:
        os.mkfifo(path)
    elif kind == 3:
        with path.open("wb") as file:
            file.truncate(rng.choice([1 << 16, 1 << 17, 1 << 31, 1 << 40]))
    elif kind == 4:
        path.write_bytes(
            rng.choice([b"", b"{}", b"[" * 200_000, b"\xff\xfe{}", b"NaN", b"1" * 9_999])
        )
    elif kind == 5:
        path.write_bytes((some_checkpoint(rng) / name).read_bytes())


def touch_nothing(rng: Random, folder: Path) -> None:
    pass


DAMAGES = (
    (change_tensors, 8), (change_the_header, 3), (scramble_the_weights, 3),
    (change_the_description, 5), (change_the_network, 2), (change_the_game, 3),
    (scramble_the_description, 2), (replace_a_file, 2), (touch_nothing, 1),
)  # fmt: skip


def seal(folder: Path) -> bool:
    """Compute the digests again, as somebody would who knows of them; whether that is possible."""
    with suppress(*UNDAMAGEABLE):
        for name in (WEIGHTS, CONFIG):
            if not (folder / name).lstat().st_size < 1 << 24 or not (folder / name).is_file():
                return False
        config = json.loads((folder / CONFIG).read_bytes())
        if "weights" in config:
            config["weights"] = sha256((folder / WEIGHTS).read_bytes()).hexdigest()
        config["digest"] = config_digest(config)
        (folder / CONFIG).write_text(json.dumps(config))
        return True
    return False


# --- A case


def draw(rng: Random, folder: Path) -> Damaged:
    original = some_checkpoint(rng)
    path = copied(original, folder / "policy")
    kinds, shares = zip(*DAMAGES, strict=True)
    done = rng.choices(kinds, shares, k=rng.choice([1, 1, 1, 2]))
    done.sort(key=lambda damage: damage is replace_a_file)  # to read a pipe would take for ever
    for damage in done:
        with suppress(*UNDAMAGEABLE):
            damage(rng, path)
    sealed = rng.random() < 0.75 and seal(path)
    return Damaged(original, path, tuple(d.__name__ for d in done), sealed, rng.randrange(1 << 30))


def load_and_play(case: Damaged) -> None:
    """Load it, and use what loads; what was not sealed again must be the original."""
    policy = load_policy(str(case.path))
    if not case.sealed and contents(case.path) != contents(case.original):
        raise AssertionError("a checkpoint was accepted that does not match its digests")
    use(policy, case.rng, case.seed)


def contents(folder: Path) -> tuple[str, bytes]:
    """What the two files mean."""
    return repr(json.loads((folder / CONFIG).read_bytes())), (folder / WEIGHTS).read_bytes()
