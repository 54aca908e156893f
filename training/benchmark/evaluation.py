"""Evaluation speed: seconds for many games of a network against a rule policy."""

import time
from collections.abc import Iterator, Sequence

from hanamachi.engine.game import Variant
from hanamachi.policies import load_policy
from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.networks.network import checkpoint_of, for_variant
from hanamachi.training.benchmark.measure import Figure
from hanamachi.training.config import Config
from hanamachi.training.evaluation.deals import TWICE
from hanamachi.training.evaluation.matches import match

GAMES = 10_000


def figures(variants: Sequence[Variant], rounds: int, most: int) -> Iterator[Figure]:
    """An untrained network of the default size: learning does not change its speed."""
    count = min(GAMES, most) // TWICE * TWICE
    for variant in variants:
        hidden = Config.from_dict({"game": variant.id}).network.hidden
        pair = (
            CompiledPolicy(checkpoint_of(for_variant(variant, hidden), variant)),
            load_policy("greedy", variant.id),
        )
        seconds = []
        for seed in range(1 + rounds):
            begun = time.perf_counter()
            match(pair, variant, count, seed)
            seconds.append(time.perf_counter() - begun)
        how = f"{count:,} games, network against greedy"
        yield Figure(variant.id, how, "seconds", seconds[1:])  # the first compiled kernels
