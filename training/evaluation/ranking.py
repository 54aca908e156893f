"""The policies of a tournament in order, and what those that failed have forfeited.

Notation: K policies.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hanamachi.training.evaluation.deals import TWICE
from hanamachi.training.evaluation.playing import Play
from hanamachi.training.evaluation.results import Evaluation, Forfeits, Row, TeamScore, WinRates
from hanamachi.training.evaluation.statistics import ENOUGH, FEW_SCORES, Cycle, Float64s

PLAY_WORDS = {"sample": "sampled play", "argmax": "most probable action"}
TOO_NOISY = 0.5  # share of the squared log odds from which on noise alone hides cycles
CYCLE = 3  # policies that can form a cycle, at least


@dataclass(frozen=True)
class Ranking:
    """The policies of a tournament under one way of play, best first."""

    play: Play
    policies: Sequence[str]  # (K,)
    heads: Sequence[str]  # of the figures
    figures: Sequence[Sequence[str]]  # (K, heads)
    pairings: Float64s  # (K, K) per cent won by the row, or mean scores; NaN where nobody played
    caption: str  # of the pairings
    best: float  # that any pairing could reach
    decimals: int  # of the pairings
    remarks: Sequence[str]
    histograms: Sequence[Sequence[int]]  # (K, scores) of each policy with itself, or none


def rankings(evaluation: Evaluation) -> list[Ranking]:
    """A ranking for each way of play."""
    if evaluation.cooperative:
        return [team_ranking(evaluation, play) for play in plays_in(evaluation.results)]
    return [competitive_ranking(evaluation, result) for result in evaluation.results]


def competitive_ranking(evaluation: Evaluation, result: WinRates) -> Ranking:
    """By Elo."""
    names, order = evaluation.policies, best_first(result)
    rate = np.where(np.eye(len(names), dtype=bool), np.nan, 100 * result.rate)
    means = [f"{row.mean():.1f}" if row.size else "-" for row in (r[~np.isnan(r)] for r in rate)]
    figures = [
        ["-" if np.isnan(elo) else f"{elo:+.0f} ± {margin:.0f}", mean]
        for elo, margin, mean in zip(result.elo, result.elo_high - result.elo, means, strict=True)
    ]
    margin = 100 * np.nanmax([result.high - result.rate, result.rate - result.low])
    return Ranking(
        result.play,
        [names[i] for i in order],
        *with_forfeits(evaluation, result.play, ["Elo", "wins, per cent"], figures, order),
        pairings=rate[np.ix_(order, order)],
        caption=f"per cent won by the row against the column, each ± {margin:.1f} at most",
        best=100,
        decimals=1,
        remarks=[
            *rough_elo_note(evaluation),
            *cyclic_note(result),
            *cycle_note(result),
            *unconnected_note(result),
        ],
        histograms=[],
    )


def best_first(result: WinRates) -> NDArray[np.int64]:
    """The policies by Elo, (K,); those of the same rating as they were named."""
    return np.argsort(-result.elo.round(6), kind="stable")


def team_ranking(evaluation: Evaluation, play: Play) -> Ranking:
    """By the mean score of each policy with itself."""
    names = evaluation.policies
    scores = [score for score in alone(evaluation.results) if score.play == play]
    means = mean_matrix(names, evaluation.results, play)
    order = np.argsort(-means.diagonal(), kind="stable")
    heads = ["mean score", "perfect", "lost"]
    figures = [
        [f"{s.mean:.2f} ± {s.margin:.2f}", f"{s.perfect:.1%}", f"{s.lost:.1%}"] for s in scores
    ]
    if len(names) > 1:
        heads.append("with others")
        for cells, mean, row in zip(figures, means.diagonal(), means, strict=True):
            cells.append(f"{(row.sum() - mean) / (len(names) - 1):.2f}")
    return Ranking(
        play,
        [names[i] for i in order],
        *with_forfeits(evaluation, play, heads, figures, order),
        pairings=means[np.ix_(order, order)],
        caption="mean score of each pair, sitting in turn",
        best=scores[0].best_score,
        decimals=2,
        remarks=[*rough_scores_note(evaluation), *self_play_gap(means)],
        histograms=[scores[i].histogram for i in order],
    )


def with_forfeits(
    evaluation: Evaluation,
    play: Play,
    heads: list[str],
    figures: list[list[str]],
    order: NDArray[np.int64],
) -> tuple[list[str], list[list[str]]]:
    """The heads and the ordered figures, and how many games each forfeited, if any did."""
    games = dict.fromkeys(evaluation.policies, 0)
    for forfeits in evaluation.forfeits:
        games[forfeits.policy] += forfeits.games if forfeits.play == play else 0
    if any(games.values()):
        heads = [*heads, "forfeited with all" if evaluation.cooperative else "forfeited"]
        figures = [[*row, f"{count:,}"] for row, count in zip(figures, games.values(), strict=True)]
    return heads, [figures[i] for i in order]


def alone(scores: Sequence[TeamScore]) -> list[TeamScore]:
    return [score for score in scores if score.policy == score.partners]


def plays_in(rows: Sequence[Row | TeamScore]) -> list[Play]:
    return list(dict.fromkeys(row.play for row in rows))


def mean_matrix(policies: Sequence[str], scores: Sequence[TeamScore], play: Play) -> Float64s:
    """The mean scores of all pairs, (K, K)."""
    means = {frozenset((s.policy, s.partners)): s.mean for s in scores if s.play == play}
    return np.array([[means[frozenset((a, b))] for b in policies] for a in policies])


def self_play_gap(means: Float64s) -> Iterator[str]:
    """The gap between self-play and cross-play, from all mean scores, (K, K)."""
    if len(means) > 1:
        own, mixed = means.diagonal().mean(), means[~np.eye(len(means), dtype=bool)].mean()
        yield f"self-play {own:.2f}, cross-play {mixed:.2f}: a gap of {own - mixed:.2f}"


# --- What ratings cannot show


def rough_elo_note(evaluation: Evaluation) -> Iterator[str]:
    """Whether too few deals were played for the intervals of the ratings, see `elo`."""
    if evaluation.games < TWICE * ENOUGH:
        yield (
            f"Elo's intervals are rough: with fewer than {TWICE * ENOUGH} games a pairing, those "
            "of 95% contain the true rating in as few as 81 of 100 tournaments"
        )


def rough_scores_note(evaluation: Evaluation) -> Iterator[str]:
    """Whether too few games were played for the intervals of mean scores, see `normal_interval`."""
    if evaluation.cooperative and evaluation.games < FEW_SCORES:
        yield (
            f"the intervals are rough: with fewer than {FEW_SCORES} games, those of 95% contain "
            "the true mean less often, with 10 games in about 92 of 100 evaluations, with 2 in "
            "about 70"
        )


def cycle_note(result: WinRates) -> Iterator[str]:
    if result.cycle:
        yield f"strongest cycle: {cycle_text(result.cycle)}"


def cyclic_note(result: WinRates) -> list[str]:
    """How much of the results ratings cannot show."""
    # where the pairings form no ring, there is neither noise nor a cycle
    if len(result.elo) < CYCLE or not 0 < result.noise < TOO_NOISY:
        return []
    noise = f"noise alone: up to {result.noise:.1%}"
    return [f"cyclic: {result.cyclic:.1%} of the squared log odds ({noise})"]


def unconnected_note(result: WinRates) -> Iterator[str]:
    """Whether there are groups of policies that did not meet, not even through others."""
    reached = ~np.isnan(result.rate)
    for _ in result.elo:
        reached = reached @ reached
    if not reached.all():
        yield "groups that never met: ratings compare only policies of the same group"


def cycle_text(cycle: Cycle) -> str:
    """Who beats whom, in per cent of the games, and whether that is beyond noise."""
    following = cycle.policies[1:] + cycle.policies[:1]
    steps = zip(cycle.policies, following, cycle.rates, strict=True)
    words = ", ".join(f"{a} beats {b} in {100 * rate:.1f}" for a, b, rate in steps)
    return f"{words} ({'beyond' if cycle.sure else 'within'} noise)"


# --- Failures


def forfeit_notes(evaluation: Evaluation) -> list[str]:
    """For each policy that failed how many games it forfeited, and how it failed first."""
    found: dict[str, list[Forfeits]] = {}
    for forfeits in evaluation.forfeits:
        found.setdefault(forfeits.policy, []).append(forfeits)
    return [forfeit_note(evaluation, name, its) for name, its in found.items()]


def forfeit_note(evaluation: Evaluation, name: str, found: Sequence[Forfeits]) -> str:
    lost, first = sum(each.games for each in found), found[0]
    versus = "with" if evaluation.cooperative else "against"
    other = "itself" if first.opponent == name else first.opponent
    where = f"decision {first.decision} of deal {first.deal} {versus} {other}"
    games = "1 game" if lost == 1 else f"{lost:,} games, the first"
    return f"{name} failed and forfeited {games} at {where}: {first.error}"
