"""Damaged saved games; what loads must replay."""

from pathlib import Path
from random import Random
from typing import NamedTuple

from bases import saved_games
from damage import as_json, damaged, odd, scrambled

from hanamachi.games.registry import VARIANTS
from hanamachi.sessions.saved_games import Record, load, positions, record_of, replay, save


class Saved(NamedTuple):
    """A file that may be a saved game."""

    path: Path
    text: bytes


def draw(rng: Random, folder: Path) -> Saved:
    record = rng.choice(saved_games())
    kind = rng.random()
    if kind < 0.3:
        record = record | play_otherwise(rng, record)
    elif kind < 0.45:
        record = record | {"options": damaged(rng, record["options"])}
    elif kind < 0.5:
        record = record | {"variant": rng.choice(list(VARIANTS))}
    elif kind < 0.8:
        record = damaged(rng, record)
    text = as_json(rng, record)
    if kind > 0.8:
        text = scrambled(rng, text)
    path = folder / "game.json"
    path.write_bytes(text)
    return Saved(path, text[:3000])


def play_otherwise(rng: Random, record: dict[str, list[int]]) -> dict[str, object]:
    """Other outcomes of chance or other actions, and another generator."""
    name = rng.choice(["actions", "chance"])
    events = list(record[name])
    at = rng.randrange(len(events))
    change = rng.choice(["cut", "put", "exchange", "generator", "add"])
    if change == "cut":
        del events[at:]
    elif change == "put":
        events[at] = rng.choice([events[at] + 1, events[at] - 1, rng.randrange(200), 10**30, -1])
    elif change == "exchange":
        other = rng.randrange(len(events))
        events[at], events[other] = events[other], events[at]
    elif change == "add":
        events.insert(at, rng.randrange(30))
    else:
        return {"generator": rng.choice([f"{rng.getrandbits(64):#018x}", str(odd(rng))])}
    return {name: events}


def load_and_replay(case: Saved) -> None:
    """Replay what loads, and save it: the file must hold the same game."""
    record = load(case.path)
    shown = [words for _, words in positions(record)]
    assert len(shown) == len(record.actions) + 1
    assert same(record_of(replay(record)), record)
    save(record, case.path)
    assert same(load(case.path), record)


def same(one: Record, other: Record) -> bool:
    """Whether two records are of the same game; variants are compared by what names them."""
    names = [(r.variant.id, dict(r.variant.options)) for r in (one, other)]
    return names[0] == names[1] and [one.generator, one.chance, one.actions] == [
        other.generator,
        other.chance,
        other.actions,
    ]
