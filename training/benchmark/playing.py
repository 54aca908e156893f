"""Evaluation: seconds for many games of a network against a rule policy."""

import time
from collections.abc import Iterator, Sequence

from hanamachi.engine.game import Variant
from hanamachi.policies import load_policy
from hanamachi.policies.networks.network import NetworkPolicy, for_variant
from hanamachi.training.benchmark.measure import Figure
from hanamachi.training.config import Config
from hanamachi.training.evaluation.matches import match

GAMES = 10_000


def figures(games: Sequence[Variant], rounds: int, most: int) -> Iterator[Figure]:
    """A network of the usual size as it was born: what it has learned does not change its speed."""
    count = min(GAMES, most)
    for rules in games:
        hidden = Config.from_dict({"game": rules.id}).network.hidden
        pair = NetworkPolicy(rules, for_variant(rules, hidden)), load_policy("greedy", rules.id)
        seconds = []
        for seed in range(rounds):
            begun = time.perf_counter()
            match(pair, rules, count, seed)
            seconds.append(time.perf_counter() - begun)
        yield Figure(rules.id, f"{count:,} games, network against greedy", "seconds", seconds)
