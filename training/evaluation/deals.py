"""Play the deals of a pairing: both games of a deal in competitive games, one in cooperative ones.

Random numbers for chance and for every decision come from a hash of the seed, the deal and the
number of decisions made, never from the order in which games are played. How the deals are divided
into parts does not change a result.

A policy that fails forfeits the game: it raises an error, or its answer is no distribution over the
legal actions. Only the games in which it fails are forfeited: a batch that fails is asked about
again in halves, down to single games. Where a server does not answer, the evaluation stops.

Notation: G games, D deals, S seats, n rows of one call.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.contract import OVER
from hanamachi.engine.game import Variant
from hanamachi.engine.random_numbers import scatter
from hanamachi.engine.threads import parallel_for
from hanamachi.errors import Unavailable, UserError, shortened
from hanamachi.policies.entry_point import type_and_message
from hanamachi.policies.external.process import NotReady, ProcessPolicy
from hanamachi.policies.policy import (
    FunctionPolicy,
    Policy,
    Probabilities,
    best,
    sample,
    uniforms,
)
from hanamachi.policies.search.search import Search
from hanamachi.policies.view_policy import Counts, ViewPolicy, total
from hanamachi.sessions.events import History
from hanamachi.sessions.players import SeatedPlayer, Turns, in_progress, turns_of
from hanamachi.sessions.policy_checks import memory_of
from hanamachi.sessions.saved_games import record_of_events, save
from hanamachi.sessions.worlds import Histories
from hanamachi.training.evaluation.judge import LossJudge
from hanamachi.training.evaluation.statistics import Float64s

Play = Literal["sample", "argmax"]
Deals = NDArray[np.uint64]  # (D,)
Keep = Callable[[Histories], None]  # takes the games that have been played, by their rows

TWICE = 2  # games of one deal in competitive games
MEMORY = 1 << 28  # bytes that the memories of policies may take in the games played at once
# games played at once by policies that decide about one game at a time: more would save no time,
# and a stopped evaluation loses the games that it has not finished
ONE_BY_ONE: tuple[tuple[type[Policy], int], ...] = (
    (FunctionPolicy, 64),
    (ViewPolicy, 64),
    (ProcessPolicy, 1),  # so that a bot plays one game after another
)
FAILED = -1  # in place of an action
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


class Failure(NamedTuple):
    """A policy that failed in a game, and thereby forfeited it."""

    side: int  # the policy: the first or the second of its pairing
    deal: int
    decision: int  # in its game, from 1
    error: str
    started: bool = True  # False for a bot that did not become ready


def in_order(failures: Iterable[Failure]) -> list[Failure]:
    """Failures in the order of their deals."""
    return sorted(failures, key=lambda failure: (failure.deal, *failure))


class Part(NamedTuple):
    """What came out of some deals of a pairing."""

    deals: Deals  # (D,)
    scores: Float64s  # (D,) of the first policy, the mean of both games; or the points of the team
    lost: NDArray[np.bool_]  # (D,) whether a team lost
    failures: list[Failure]  # one for each game that was forfeited
    counts: Sequence[Counts] = ({}, {})  # of each policy, such as tokens


def play_part(pairing: Pairing, seed: int, strict: bool, judge: int, deals: Deals) -> Part:
    """Play these deals; if `strict`, the error of a policy that fails is raised.

    Each move is judged in `judge` worlds, if any.
    """
    play = play_deals_together if pairing.variant.game.cooperative else play_deals
    games = pairing.games_a_deal * len(deals)
    judges = [LossJudge(pairing.variant, games, judge) for _ in pairing.players if judge]
    referee = Referee(strict)
    decider = Jury(referee, judges).decide if judges else referee.decide
    before = counts_of(pairing)
    part = play(pairing, seed, deals, referee, decider)
    used = map(since, counts_of(pairing), before)
    found = [each.counts() for each in judges] or [{}, {}]
    return part._replace(counts=[total(both) for both in zip(used, found, strict=True)])


def counts_of(pairing: Pairing) -> list[Counts]:
    """What each policy has counted so far; one that sits on both sides counts for the first."""
    mine, other = (
        player.counts() if isinstance(player, ViewPolicy) else {} for player in pairing.players
    )
    return [mine, {} if pairing.players[0] is pairing.players[1] else other]


def since(now: Counts, before: Counts) -> Counts:
    return {name: count - before.get(name, 0) for name, count in now.items()}


def play_deals(
    pairing: Pairing, seed: int, deals: Deals, referee: "Referee", decider: "Decider"
) -> Part:
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
    return Part(deals, scores, lost, referee.failures(dealt))


def play_deals_together(
    pairing: Pairing, seed: int, deals: Deals, referee: "Referee", decider: "Decider"
) -> Part:
    """The two policies take alternate seats; which of them sits first changes with each deal."""
    variant = pairing.variant
    seating = (deals.astype(np.int64)[:, None] + np.arange(variant.seats)) % len(pairing.players)
    returns, ended = play_seated(pairing, seating, deals, seed, decider)
    scores, lost = returns[:, 0], variant.lost(ended)
    for row, _ in referee.sides():
        scores[row], lost[row] = 0, True
    return Part(deals, scores, lost, referee.failures(deals))


def play_seated(
    pairing: Pairing, seating: NDArray[np.int64], deals: Deals, seed: int, decider: "Decider"
) -> tuple[Float64s, NDArray[Any]]:
    """Play the game in each row of `seating`, (G, S), as the pairing says; see `play_games`."""
    keep = partial(keep_games, pairing, deals) if pairing.replays else None
    return play_games(
        pairing.players, pairing.variant, seating, deals, seed, pairing.play, decider, keep
    )


def divided(deals: Deals, most: int) -> list[Deals]:
    """The deals in parts of at most `most`."""
    return [deals[i : i + max(1, most)] for i in range(0, len(deals), max(1, most))]


def joined(parts: Sequence[Part]) -> Part:
    """All parts of a pairing as one, in the order of the deals."""
    deals, scores, lost = map(np.concatenate, zip(*(part[:3] for part in parts), strict=True))
    order = np.argsort(deals)
    failures = in_order(failure for part in parts for failure in part.failures)
    counts = [*map(total, zip(*(part.counts for part in parts), strict=True))]
    return Part(deals[order], scores[order], lost[order], failures, counts)


# --- Games


def play_games(
    policies: Sequence[Policy],
    variant: Variant,
    seating: NDArray[np.int64],
    deals: Deals,
    seed: int,
    play: Play,
    decider: "Decider | None" = None,
    keep: Keep | None = None,
) -> tuple[Float64s, NDArray[Any]]:
    """Play one game in each row of `seating`, (G, S).

    Returns what each seat earned, (G, S), and the games as they ended, (G,). `decider` replaces
    `decide`.
    """
    table, deciding = new_games(variant, deals, seed)
    by_views = any(isinstance(policy, ViewPolicy) for policy in policies)
    history = followed(variant, table) if keep or by_views else None
    parallel_for(kernels.reset, variant.rule_set, table)
    players = [SeatedPlayer(policy, variant, len(seating)) for policy in policies]
    returns = np.zeros(seating.shape)
    decider = decider or decide
    decisions = 0
    while (going := in_progress(table)).size:
        turns = turns_of(variant, table, going, history=history)
        uniform = uniforms(deciding + deals[going], decisions)
        decisions += 1
        actions = np.zeros(len(going), np.int64)
        for i, player in enumerate(players):
            own = np.flatnonzero(seating[going, turns.seats] == i)
            if own.size:
                asked = DecisionRequest(i, decisions, player, turns.part(own), uniform[own], play)
                actions[own] = decider(asked)
        if (failed := actions == FAILED).any():
            table["mover"][going[failed]] = OVER
            turns, actions = turns.part(~failed), actions[~failed]
        returns[turns.rows] += turns.step(table, actions)
    if keep and history:
        keep(history)
    return returns, table


def new_games(variant: Variant, deals: Deals, seed: int) -> tuple[NDArray[Any], np.uint64]:
    """Games that chance has not begun yet, (G,), and the generator of the policies' decisions."""
    dealing, deciding = scatter(np.array([2 * seed, 2 * seed + 1], np.uint64))
    return variant.new(dealing + deals), deciding


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


def followed(variant: Variant, table: NDArray[Any]) -> Histories:
    """The histories of new games, (G,), which chance has not begun yet."""
    first = table.copy()
    for game in first:
        kernels.start_one(variant.rule_set, game)
    histories = [History(variant, first[row : row + 1]) for row in range(len(first))]
    return histories.__getitem__


class DecisionRequest(NamedTuple):
    """What a policy is asked: to decide in these turns."""

    side: int  # the policy, by its place among those that play
    decision: int  # of these games, from 1
    player: SeatedPlayer[Policy]
    turns: Turns
    uniform: Float64s  # (n,) the random number of each turn
    play: Play

    def part(self, rows: NDArray[np.int64]) -> "DecisionRequest":
        """The same about some of the turns."""
        return self._replace(turns=self.turns.part(rows), uniform=self.uniform[rows])


# One action for each turn, (n,), or FAILED where the game ends here. The function may do more, such
# as keeping what it sees.
Decider = Callable[[DecisionRequest], NDArray[np.int64]]


def decide(asked: DecisionRequest) -> NDArray[np.int64]:
    """One action for each turn, (n,); UserError if the policy's distribution is not valid."""
    distribution, _ = asked.player.distribution(asked.turns)
    return drawn(distribution, asked.uniform, asked.play)


def own_play(variant: Variant) -> Play:
    """How policies play unless told otherwise: teammates expect each other's likeliest action."""
    return "argmax" if variant.game.cooperative else "sample"


def drawn(distribution: Probabilities, uniform: Float64s, play: Play) -> NDArray[np.int64]:
    """One action for each row of a distribution, (n,)."""
    return sample(best(distribution) if play == "argmax" else distribution, uniform)


class Referee:
    """Lets policies that fail forfeit their games in a batch; if strict, raises their errors."""

    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self.found: list[tuple[int, int, int, str, bool]] = []  # as in a Failure, its row first

    def decide(self, asked: DecisionRequest) -> NDArray[np.int64]:
        """One action for each turn, (n,), FAILED where the policy fails."""
        try:
            return decide(asked)
        except (MemoryError, Unavailable):
            raise
        except Exception as error:
            if self.strict:
                raise
            if (turns := len(asked.uniform)) > 1:
                halves = np.array_split(np.arange(turns), 2)
                return np.concatenate([self.decide(asked.part(half)) for half in halves])
            words = str(error) if isinstance(error, UserError) else type_and_message(error)
            row, started = int(asked.turns.rows[0]), not isinstance(error, NotReady)
            self.found.append((row, asked.side, asked.decision, shortened(words), started))
            return np.array([FAILED])

    def sides(self) -> list[tuple[int, int]]:
        """The row of each game that was forfeited, and the side that did."""
        return [(row, side) for row, side, *_ in self.found]

    def failures(self, deals: Deals) -> list[Failure]:
        """All of them, in the order of the deals, given the deal of each row."""
        return in_order(
            Failure(side, int(deals[row]), decision, error, started)
            for row, side, decision, error, started in self.found
        )


class Jury:
    """Lets judges look at what the policies decide."""

    def __init__(self, referee: Referee, judges: Sequence[LossJudge]) -> None:
        """`judges` has one for each policy."""
        self.referee, self.judges = referee, judges

    def decide(self, asked: DecisionRequest) -> NDArray[np.int64]:
        """One action for each turn, (n,), FAILED where the policy fails."""
        actions = self.referee.decide(asked)
        done = actions != FAILED
        self.judges[asked.side].add(asked.turns.part(done), actions[done])
        return actions
