"""Run all compiled code of one game: `python tests/support/compiled_code.py GAME SHARE`.

With NUMBA_BOUNDSCHECK=1 an index out of bounds is then an IndexError. Numba reads an index from -n
to -1 from the end, as Python does, and lets it pass; it never checks slices, nor what `words` reads
and writes at once. The last line names the compiled loops of the package that have not run.
"""

import os
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from extremes import extreme_variants
from feature_names import feature_names
from numba.core.dispatcher import Dispatcher
from numpy.typing import NDArray
from root import ROOT
from searching import answers, midgame

import hanamachi
from hanamachi.adapters.gymnasium_vector import VectorSeatEnv
from hanamachi.engine import kernels
from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.engine.game import Variant
from hanamachi.games.small import small_versions
from hanamachi.policies import load_policy
from hanamachi.policies.features.base import Features
from hanamachi.policies.rules.registry import rule_policies_for
from hanamachi.sessions.saved_games import record_of, replay
from hanamachi.sessions.session import Session, chance_outcomes
from hanamachi.sessions.worlds import Worlds
from hanamachi.training import Config, evaluate, train
from hanamachi.training.benchmark import recorded
from hanamachi.training.exact import best_response, solve, tabulate, tree_of
from hanamachi.training.learner.vecenv import FeaturedVecEnv, SelfPlayVecEnv

BATCH = 1024
PACKAGES = {
    "envs": "hanamachi",
    "policies": "hanamachi.policies",
    "training": "hanamachi.training",
}
LOOP = re.compile(r"^@(kernel|compiled)$", re.MULTILINE)  # what decorates one


class Share(NamedTuple):
    """How much is played of each thing."""

    decisions: int  # random ones of each variant
    batches: int  # at every how many decisions hidden cards are dealt again and rounds retraced
    extremes: int  # rule sets of each variant with extreme options
    matches: int  # games of each two rule policies
    searched: int  # decisions of each search


SHARES = {
    "whole": Share(1_000_000, 50, 12, 40, 12),
    "tenth": Share(100_000, 20, 6, 20, 6),
    "small": Share(5_000, 3, 2, 4, 2),
}


def main(game: str, share: str) -> None:
    for id in hanamachi.GAMES[game].variants:
        check_variant(hanamachi.variant(id), SHARES[share])
        print(id, flush=True)
    exact(game)
    training(game)
    print("idle:", *sorted(idle()))


def check_variant(variant: Variant, share: Share) -> None:
    play(variant, share.decisions, share.batches)
    one_game(variant, seed=1)
    learners(variant)
    evaluate(rule_policies_for(variant), variant.id, games=share.matches)
    features(variant)
    searches(variant, share.searched)
    for extreme in map(with_an_end, extreme_variants(variant.id, share.extremes)):
        play(extreme, 5 * BATCH, 3)
        one_game(extreme, seed=2)
        names = rule_policies_for(extreme)
        evaluate(names, extreme.id, games=2, **extreme.options)


def with_an_end(variant: Variant) -> Variant:
    """At most 50 rounds of Hanamikoji: with some options nobody ever wins."""
    if (variant.options.get("max_rounds", 1) or 1000) <= 50:
        return variant
    return hanamachi.variant(variant.id, **{**variant.options, "max_rounds": 50})


# --- Batches


def play(variant: Variant, decisions: int, every: int) -> None:
    """Random games, with all views of them; hidden cards are dealt again at some decisions."""
    rng, rule_set = np.random.default_rng(0), variant.rule_set
    games = variant.new(np.arange(BATCH, dtype=np.uint64))
    kernels.reset(rule_set, games)
    masks = np.empty((BATCH, variant.actions.size), np.int8)
    actions, chosen = np.empty(BATCH, np.int64), False
    for step in range(-(-decisions // BATCH)):
        kernels.masks(rule_set, games, masks)
        chosen |= bool((masks.sum(1) > 1).any())
        look(variant, games, rng)
        if step % every == 0:
            hidden(variant, games)
        kernels.pick(rule_set, masks, rng.random(BATCH), actions)
        kernels.step(rule_set, games, actions)
        over = games["mover"] == OVER
        look(variant, games[over], rng)
        again = games[over]
        kernels.reset(rule_set, again)
        games[over] = again
    in_one_call(variant, chosen)


def look(variant: Variant, games: NDArray[Any], rng: np.random.Generator) -> None:
    """The view of any seat, in both types."""
    seats = rng.integers(variant.seats, size=len(games))
    for dtype in (np.float32, np.int8):
        out = np.empty((len(games), variant.observation.size), dtype)
        kernels.observations(variant.rule_set, games, seats, out)


def hidden(variant: Variant, games: NDArray[Any]) -> None:
    """Worlds of each mover and the rounds that led there, every 8th game."""
    for row in range(0, len(games), 8):
        game = games[row : row + 1]
        seat = int(game["mover"][0])
        worlds = Worlds(variant, game, [seat]).sample(0, np.arange(2, dtype=np.uint64))
        count = kernels.count_others_decisions(variant.rule_set, game, seat)
        positions = np.empty((2, count), worlds.dtype)
        kernels.retrace(variant.rule_set, worlds, seat, positions, np.empty((2, count), np.int64))


def in_one_call(variant: Variant, chosen: bool) -> None:
    """The loops that play many decisions in a call; random play only if there was ever a choice."""
    games = variant.new(np.arange(BATCH, dtype=np.uint64))
    kernels.reset(variant.rule_set, games)
    masks = np.empty((BATCH, variant.actions.size), np.int8)
    for dtype in (np.float32, np.int8) if chosen else ():
        out = np.empty((BATCH, variant.observation.size), dtype)
        kernels.random_decisions(variant.rule_set, games, 4, out, masks)
    earned, decisions = np.empty((BATCH, variant.seats)), np.empty(BATCH, np.int64)
    kernels.play_out(variant.rule_set, games, masks, earned, decisions)


# --- One game


def one_game(variant: Variant, seed: int) -> None:
    """A game, event by event, with every view; then its record, replayed."""
    rng, session = np.random.default_rng(seed), Session(variant)
    session.begin(seed)
    while session.mover != OVER and len(session.actions) < 300:
        masks = [session.observe(seat)[1] for seat in range(variant.seats)]
        before = session.games.copy()
        assert kernels.is_valid(variant.rule_set_array, before)
        action = int(rng.choice(np.flatnonzero(masks[session.mover])))
        kernels.apply_one(variant.rule_set, before[0], action)
        if before["mover"][0] == CHANCE:
            chance_outcomes(variant, before)
        session.step(action)
    replayed = replay(record_of(session))
    assert replayed.games.tobytes() == session.games.tobytes()


# --- Learners of other libraries


def learners(variant: Variant) -> None:
    """Vectors of games against random and against rule play, in both types."""
    for opponent in (None, load_policy("greedy", variant.id)):
        for dtype in (np.float32, np.int8):
            games = VectorSeatEnv(variant.id, 64, opponent=opponent, dtype=dtype)
            games.reset(seed=0)
            for _ in range(40):
                games.step(games.sample_actions())


def features(variant: Variant) -> None:
    """All feature sets together, in games against the greedy policy."""
    plain = SelfPlayVecEnv(variant, 64, opponents=[(load_policy("greedy", variant.id), 0.5)])
    games = FeaturedVecEnv(plain, Features(variant, feature_names(variant)))
    rng, actions = np.random.default_rng(0), np.empty(64, np.int64)
    games.restart()
    for _ in range(100):
        kernels.pick(variant.rule_set, games.masks, rng.random(64), actions)
        games.advance(actions)
        games.centralised_observations()
    decisions = recorded.recorded(SelfPlayVecEnv(variant, 64), 60)
    start = SelfPlayVecEnv(variant, 64)
    start.restart()
    for dtype in (np.float32, np.int8):
        out = np.empty((64, variant.observation.size), dtype)
        columns = np.ascontiguousarray(decisions.T)
        recorded.replay(variant.rule_set, start.games.copy(), columns, out, start.masks.copy())


# --- Searches


def searches(variant: Variant, count: int) -> None:
    """Every search that is for this game, at the beginning, in the middle and near the end."""
    for spec in searches_of(variant):
        search = load_policy(spec, variant.id)
        for decisions in (0, 6, 13):
            games = midgame(variant, decisions, games=max(1, count // 3), seed=decisions)
            if len(games):
                answers(search, games)
        if variant.game.cooperative:  # a whole game, through which it carries its belief
            evaluate([search], variant.id, games=2, play="argmax")


def searches_of(variant: Variant) -> list[str]:
    if variant.game.cooperative:
        names = [name for name in rule_policies_for(variant) if name != "random"]
        return [f"search:single_agent:{name}:worlds=2,hands=12" for name in names]
    names = rule_policies_for(variant)
    return [
        *(f"search:improve:{name}:worlds=2" for name in names),
        *(f"search:endgame:{name}:worlds=4" for name in names),
        *(f"search:mcts:{name}:worlds=8" for name in names),
        "search:mcts:worlds=100",
    ]


# --- Exact solving and training


def exact(game: str) -> None:
    """The first small version, solved; its best responses to rule play."""
    variant = hanamachi.variant(small_versions(game)[0])
    tree = tree_of(variant)
    for name in rule_policies_for(variant):
        policy = tabulate(tree, load_policy(name, variant))
        for seat in range(variant.seats):
            best_response(tree, policy, seat)
    solve(tree if not variant.game.cooperative else tree_of(hanamachi.variant("2021-gifts")), 20)


RUN = {
    "num_games": 32,
    "steps": 1024,
    "network": {"hidden": [16]},
    "ppo": {"batch_size": 128, "n_epochs": 1},
    "evaluation": {"every": 512, "games": 4, "final_games": 4},
    "save_every": 512,
    "device": "cpu",
}
KINDS: list[dict[str, Any]] = [
    {"critic": "all", "magnet": {"kind": "start", "kl_coef": 0.1}, "export": "average"},
    {"magnet": {"kind": "average", "kl_coef": 0.1}, "opponents": {"self": 0.5, "past": 0.5}},
    {
        "magnet": {"kind": "refreshed", "kl_coef": 0.1, "every": 256},
        "opponents": {"self": 0.5, "past": 0.5},
        "past": {"every": 256},
    },
    {"init_from": "greedy", "clone": {"steps": 512}, "opponents": {"self": 0.5, "greedy": 0.5}},
    {"init_from": "expert", "clone": {"steps": 512}, "critic": "all"},
    {"network": {"symmetries": "canonical"}},
]


def training(game: str) -> None:
    """Short runs with every kind of critic, magnet, clone and form, in each variant in turn."""
    ids = list(hanamachi.GAMES[game].variants)
    for i, kind in enumerate(KINDS):
        id = ids[i % len(ids)]
        features = feature_names(hanamachi.variant(id)) if i % 2 == 0 else ()
        with TemporaryDirectory() as folder:
            network = RUN["network"] | {"features": features} | kind.get("network", {})
            settings = RUN | kind | {"game": id, "network": network}
            train(Config(**settings), Path(folder) / "run")


# --- What has run


def idle() -> Iterator[str]:
    """The compiled loops of the package that were never called."""
    for module in map(import_module, compiled_modules()):
        loops = [loop for loop in vars(module).values() if isinstance(loop, Dispatcher)]
        for loop in loops:
            if loop.__module__ == module.__name__ and not loop.signatures:
                yield f"{module.__name__}.{loop.__name__}"


def compiled_modules() -> Iterator[str]:
    """The names of all modules of the package with compiled loops."""
    for folder, package in PACKAGES.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            if LOOP.search(path.read_text(encoding="utf-8")):
                parts = path.relative_to(ROOT / folder).with_suffix("").parts
                yield ".".join((package, *parts))


if __name__ == "__main__":
    assert os.environ.get("NUMBA_BOUNDSCHECK") == "1", "set NUMBA_BOUNDSCHECK=1"
    main(*sys.argv[1:])
