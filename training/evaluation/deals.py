"""Play the deals of a pairing: both games of a deal in competitive games, one in cooperative ones.

Random numbers follow from the deal (playing.py), so how the deals are divided into parts does not
change a result. A policy that fails forfeits its game (referee.py).

Notation: G games, D deals, S seats.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.policies.external.process import ProcessPolicy
from hanamachi.policies.policy import Policy
from hanamachi.policies.search.search import Search
from hanamachi.policies.user_functions import FunctionPolicy
from hanamachi.policies.view_policy import Counts, ViewPolicy, total
from hanamachi.sessions.policy_checks import memory_of
from hanamachi.sessions.saved_games import record_of_events, save
from hanamachi.sessions.worlds import Histories
from hanamachi.training.evaluation.judge import LossJudge, LossSum, sum_of
from hanamachi.training.evaluation.playing import Deals, Decider, Play, play_games
from hanamachi.training.evaluation.referee import Failure, MoveJudges, Referee, in_order
from hanamachi.training.evaluation.statistics import Float64s

TWICE = 2  # games of one deal in competitive games
MEMORY = 1 << 28  # bytes that the memories of policies may take in the games played at once
# games played at once by policies that decide about one game at a time: more would save no time,
# and a stopped evaluation loses the games that it has not finished
ONE_BY_ONE: tuple[tuple[type[Policy], int], ...] = (
    (FunctionPolicy, 64),
    (ViewPolicy, 64),
    (ProcessPolicy, 1),  # so that a bot plays one game after another
)
REPLAYS = "replays"  # the folder in which an evaluation or an arena keeps games to look at


@dataclass(frozen=True)
class Pairing:
    """Two policies that meet, as opponents or as partners, and how both choose."""

    players: tuple[Policy, Policy]
    names: tuple[str, str]
    variant: Variant
    play: Play
    replays: Path | None = None  # a folder that keeps each game

    @property
    def games_a_deal(self) -> int:
        return 1 if self.variant.game.cooperative else TWICE

    def games_at_once(self, batch: int) -> int:
        """At most `batch`, and fewer for large memories and for policies that think long."""
        most = min(batch, games_in_memory(self.players, self.variant))
        for policy in self.players:
            few = [count for kind, count in ONE_BY_ONE if isinstance(policy, kind)]
            few += [policy.games_at_once] if isinstance(policy, Search) else []
            most = min([most, *few])
        return max(1, most)


def games_in_memory(policies: Sequence[Policy], variant: Variant) -> int:
    """How many games can be played at once so that the policies' memories stay within bounds."""
    memories = sum(memory_of(policy, 1).nbytes for policy in policies)
    return max(1, MEMORY // max(1, variant.seats * memories))


class DealResults(NamedTuple):
    """What came out of some deals of a pairing."""

    deals: Deals  # (D,)
    scores: Float64s  # (D,) of the first policy, the mean of both games; or the points of the team
    lost: NDArray[np.bool_]  # (D,) whether a team lost
    failures: list[Failure]  # one for each game that was forfeited
    counts: Sequence[Counts] = ({}, {})  # of each policy, such as tokens
    losses: Sequence[LossSum] = (LossSum(), LossSum())  # of each policy, if its moves are judged


Played = tuple[Pairing, DealResults]  # a pairing and what came out of it


def play_part(pairing: Pairing, seed: int, strict: bool, judge: int, deals: Deals) -> DealResults:
    """Play these deals; if `strict`, the error of a policy that fails is raised.

    Each move is judged in `judge` worlds, if any.
    """
    play = play_deals_together if pairing.variant.game.cooperative else play_deals
    games = pairing.games_a_deal * len(deals)
    judges = [LossJudge(pairing.variant, games, judge) for _ in pairing.players if judge]
    referee = Referee(strict)
    decider = MoveJudges(referee, judges).decide if judges else referee.decide
    before = counts_of(pairing)
    part = play(pairing, seed, deals, referee, decider)
    counts = [*map(since, counts_of(pairing), before)]
    losses = [each.sum() for each in judges] or part.losses
    return part._replace(counts=counts, losses=losses)


def counts_of(pairing: Pairing) -> list[Counts]:
    """What each policy has counted so far.

    If one policy plays on both sides, the first gets all counts, so that none is counted twice.
    """
    mine, other = (
        player.counts() if isinstance(player, ViewPolicy) else {} for player in pairing.players
    )
    return [mine, {} if pairing.players[0] is pairing.players[1] else other]


def since(now: Counts, before: Counts) -> Counts:
    return {name: count - before.get(name, 0) for name, count in now.items()}


def play_deals(
    pairing: Pairing, seed: int, deals: Deals, referee: Referee, decider: Decider
) -> DealResults:
    """Play each deal twice; the seats of the second game are those of the first, exchanged."""
    first = np.arange(pairing.variant.seats) % TWICE
    seating = np.repeat([first, 1 - first], len(deals), axis=0)  # (G, S) which policy sits where
    dealt = np.tile(deals, TWICE)
    returns, _ = play_seated(pairing, seating, dealt, seed, decider)
    lead = (returns * (1 - 2 * seating)).sum(1)
    for row, side in referee.sides():
        lead[row] = 2 * side - 1
    scores = ((np.sign(lead) + 1) / 2).reshape(TWICE, -1).mean(0)
    lost = np.zeros(len(deals), np.bool_)
    return DealResults(deals, scores, lost, referee.failures(dealt))


def play_deals_together(
    pairing: Pairing, seed: int, deals: Deals, referee: Referee, decider: Decider
) -> DealResults:
    """The two policies take alternate seats; which of them sits first changes with each deal."""
    variant = pairing.variant
    seating = (deals.astype(np.int64)[:, None] + np.arange(variant.seats)) % len(pairing.players)
    returns, ended = play_seated(pairing, seating, deals, seed, decider)
    scores, lost = returns[:, 0], variant.lost(ended)
    for row, _ in referee.sides():
        scores[row], lost[row] = 0, True
    return DealResults(deals, scores, lost, referee.failures(deals))


def play_seated(
    pairing: Pairing, seating: NDArray[np.int64], deals: Deals, seed: int, decider: Decider
) -> tuple[Float64s, NDArray[Any]]:
    """Play the game in each row of `seating`, (G, S), as the pairing says; see `play_games`."""
    keep = partial(keep_games, pairing, deals) if pairing.replays else None
    return play_games(
        pairing.players, pairing.variant, seating, deals, seed, pairing.play, decider, keep
    )


def divided(deals: Deals, most: int) -> list[Deals]:
    """The deals in parts of at most `most`."""
    return [deals[i : i + max(1, most)] for i in range(0, len(deals), max(1, most))]


def joined(parts: Sequence[DealResults]) -> DealResults:
    """All parts of a pairing as one, in the order of the deals."""
    deals, scores, lost = map(np.concatenate, zip(*(part[:3] for part in parts), strict=True))
    order = np.argsort(deals)
    failures = in_order(failure for part in parts for failure in part.failures)
    counts = [*map(total, zip(*(part.counts for part in parts), strict=True))]
    losses = [*map(sum_of, zip(*(part.losses for part in parts), strict=True))]
    return DealResults(deals[order], scores[order], lost[order], failures, counts, losses)


def keeping_games(pairings: Sequence[Pairing], folder: Path) -> list[Pairing]:
    """The same pairings; the games of each are kept in a folder of its number, from 0."""
    return [replace(each, replays=folder / str(number)) for number, each in enumerate(pairings)]


def keep_games(pairing: Pairing, deals: Deals, history: Histories) -> None:
    """Save each game of a batch as a file of the pairing's folder."""
    assert pairing.replays
    for row, deal in enumerate(deals.tolist()):
        again = row >= len(deals) // pairing.games_a_deal  # with the seats exchanged
        save(record_of_events(history(row)), pairing.replays / replay_name(deal, again))


def replay_name(deal: int, again: bool) -> str:
    """The file of a game; `again` is the second game of a deal."""
    return f"{deal}{'b' if again else 'a'}.json"
