"""The results of an evaluation, and how they follow from the games that were played.

Notation: D deals, K policies.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import chain
from typing import Any

import numpy as np

from hanamachi.games.registry import VARIANTS
from hanamachi.training.evaluation.deals import DealResults, Pairing, Played
from hanamachi.training.evaluation.judge import LossSum, MoveLoss, move_loss, sum_of
from hanamachi.training.evaluation.models import ModelUse
from hanamachi.training.evaluation.playing import Play
from hanamachi.training.evaluation.statistics import (
    Cycle,
    Float64s,
    Pairs,
    at_once,
    cyclic_share,
    difference_interval,
    elo,
    interval,
    normal_interval,
    points_interval,
    strongest_cycle,
)


@dataclass(frozen=True)
class Row:
    """The result of one policy against one opponent; rates lie between 0 and 1."""

    policy: str
    opponent: str
    play: Play
    games: int
    rate: float
    low: float
    high: float

    @property
    def other(self) -> str:
        """The opponent, as `TeamScore.other` is the partner."""
        return self.opponent

    @property
    def figures(self) -> tuple[float, float, float]:
        """The low end, the rate and the high end, per cent."""
        return 100 * self.low, 100 * self.rate, 100 * self.high

    def __str__(self) -> str:
        low, rate, high = (f"{figure:.1f}" for figure in self.figures)
        return f"{rate}% against {self.opponent} ({low} to {high}), {self.games:,} games"


@dataclass(frozen=True)
class WinRates:
    """All pairings of K policies under one way of play: each rate is the row policy's."""

    play: Play
    rate: Float64s  #: (K, K), one half on the diagonal, NaN where two did not meet
    low: Float64s  #: (K, K)
    high: Float64s  #: (K, K)
    elo: Float64s  #: (K,), mean 0
    elo_low: Float64s  #: (K,)
    elo_high: Float64s  #: (K,)
    cyclic: float  #: share of the squared log odds that no ratings explain, see `cyclic_share`
    noise: float  #: the share that noise alone stays below, 19 times in 20
    cycle: Cycle | None  #: of three policies, the strongest


@dataclass(frozen=True)
class TeamScore:
    """The score of a policy and its partners, which are copies of it or of another policy."""

    policy: str
    partners: str
    play: Play
    games: int
    mean: float
    low: float
    high: float
    perfect: float  #: share of the games with the best score that there is
    lost: float  #: share of the games that ended in a defeat
    histogram: list[int]  #: games by score, from 0

    def __str__(self) -> str:
        span = f"{self.low:.2f} to {self.high:.2f}"
        return f"{self.mean:.2f} points with {self.other} ({span}), {self.games:,} games"

    @property
    def other(self) -> str:
        """The partners in words."""
        return "itself" if self.partners == self.policy else self.partners

    @property
    def figures(self) -> tuple[float, float, float]:
        """The low end, the mean and the high end."""
        return self.low, self.mean, self.high

    @property
    def best_score(self) -> int:
        """The best score that there is."""
        return len(self.histogram) - 1

    @property
    def margin(self) -> float:
        """How far the interval, which may end at the best score, reaches from the mean."""
        return max(self.high - self.mean, self.mean - self.low)


@dataclass(frozen=True)
class Difference:
    """How much better one policy did than another: same deals, same opponent or partner.

    Each deal is one sample. In a cooperative game its luck is in both results, and mostly cancels.
    """

    policy: str
    than: str  #: the first of the policies
    opponent: str  #: or partners; "itself" where each plays with copies of itself
    play: Play
    games: int
    mean: float  #: difference of the win rates, from -1 to 1, or of the mean scores
    low: float
    high: float


@dataclass(frozen=True)
class Forfeits:
    """The games of a pairing that a policy forfeited, because it failed in them.

    In competitive games they count as lost, in cooperative games as 0 points for the team.
    """

    policy: str
    opponent: str  #: or partner
    play: Play
    games: int  #: that it forfeited
    deal: int  #: of the first of them
    decision: int  #: at which it failed there, from 1
    error: str  #: how it failed there, without its name
    place: int = 0  #: 1 if it is the second policy of its pairing


Rows = list[Row] | list[TeamScore]  # of one policy, the latter in a cooperative game


@dataclass(frozen=True)
class Evaluation:
    """The result of an evaluation: what was played, who played it, and how it ended."""

    game: str
    options: dict[str, Any]
    policies: list[str]
    opponents: list[str]  #: of each policy; none if all policies meet each other
    games: int  #: of each pairing
    seed: int
    #: a WinRates for each way of play, or Rows; in cooperative games TeamScores
    results: list[Any]
    forfeits: list[Forfeits] = field(default_factory=list)
    models: list[ModelUse] = field(default_factory=list)  #: of each language model
    judged: list[MoveLoss] = field(default_factory=list)  #: of each policy, if its moves are judged
    #: of each policy to the first one, if there are opponents
    differences: list[Difference] = field(default_factory=list)

    @property
    def cooperative(self) -> bool:
        return VARIANTS[self.game].cooperative

    def as_json(self) -> dict[str, Any]:
        """Plain lists and numbers, to six digits."""
        return {each.name: as_plain(getattr(self, each.name)) for each in fields(self)}


def as_plain(value: Any) -> Any:
    """What JSON can hold: dataclasses as dicts, arrays as lists with None in place of NaN."""
    if is_dataclass(value):
        return {each.name: as_plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, list | tuple):
        return [as_plain(each) for each in value]
    if not isinstance(value, np.ndarray):
        return value
    return np.where(np.isnan(value), None, value.round(6)).tolist()  # type: ignore[call-overload]


# --- From games to results


def row_of(pairing: Pairing, part: DealResults) -> Row | TeamScore:
    return (team_score if pairing.variant.game.cooperative else rate_of)(pairing, part)


def rate_of(pairing: Pairing, part: DealResults) -> Row:
    """The result of the first policy against the second."""
    games = len(part.deals) * pairing.games_a_deal
    rates = map(rounded, (part.scores.mean(), *interval(part.scores)))
    return Row(*pairing.names, pairing.play, games, *rates)


def team_score(pairing: Pairing, part: DealResults) -> TeamScore:
    """The score of two policies together; they may be the same."""
    games = len(part.deals)
    best_score = pairing.variant.best_score
    low, high = points_interval(part.scores, best_score)
    counts = np.bincount(part.scores.astype(np.int64), minlength=best_score + 1)
    return TeamScore(
        *pairing.names,
        pairing.play,
        games,
        mean=rounded(part.scores.mean()),
        low=rounded(low),
        high=rounded(high),
        perfect=rounded(counts[-1] / games),
        lost=rounded(part.lost.mean()),
        histogram=counts.tolist(),
    )


def win_rates(names: Sequence[str], played: Sequence[Played]) -> list[WinRates]:
    """The matrix of all pairings that were played, for each way of play."""
    place = {name: i for i, name in enumerate(names)}
    found: dict[Play, list[tuple[tuple[int, int], Float64s]]] = {}
    for pairing, part in played:
        first, second = pairing.names
        met = place[first], place[second]
        found.setdefault(pairing.play, []).append((met, part.scores))
    return [
        win_rates_of(play, names, [pair for pair, _ in its], np.array([row for _, row in its]))
        for play, its in found.items()
    ]


def win_rates_of(play: Play, names: Sequence[str], pairs: Pairs, scores: Float64s) -> WinRates:
    """The matrix of these pairings from the scores of the first of each pair, (pairs, D)."""
    rate, low, high = (np.full((len(names), len(names)), np.nan) for _ in range(3))
    for matrix in (rate, low, high):
        np.fill_diagonal(matrix, 0.5)
    least = np.zeros_like(rate)
    for (i, j), row in zip(pairs, scores, strict=True):
        rate[i, j], (low[i, j], high[i, j]) = row.mean(), interval(row)
        rate[j, i], low[j, i], high[j, i] = 1 - rate[i, j], 1 - high[i, j], 1 - low[i, j]
        least[i, j], most = interval(row, at_once(len(pairs)))
        least[j, i] = 1 - most
    ratings, margins = elo(len(names), pairs, scores)
    met_nobody = [player for player in range(len(names)) if player not in {*chain(*pairs)}]
    ratings[met_nobody] = margins[met_nobody] = np.nan
    cyclic, noise = map(rounded, cyclic_share(len(names), pairs, scores))
    cycle = strongest_cycle(names, np.nan_to_num(rate), least)
    return WinRates(
        play, rate, low, high, ratings, ratings - margins, ratings + margins, cyclic, noise, cycle
    )


def differences_of(played: Sequence[Played]) -> list[Difference]:
    """How much better each policy did than the first one, with each player that both met."""
    first = played[0][0].names[0]
    scores_of_first: dict[tuple[str, Play], Float64s] = {}
    found = []
    for pairing, part in played:
        (policy, other), games = pairing.names, len(part.deals) * pairing.games_a_deal
        other = "itself" if pairing.variant.game.cooperative and other == policy else other
        if policy == first:
            scores_of_first[other, pairing.play] = part.scores
        elif (other, pairing.play) in scores_of_first:
            gains = part.scores - scores_of_first[other, pairing.play]
            span = difference_interval if pairing.games_a_deal > 1 else normal_interval
            figures = map(rounded, (gains.mean(), *span(gains)))
            found.append(Difference(policy, first, other, pairing.play, games, *figures))
    return found


def move_losses(played: Sequence[Played]) -> list[MoveLoss]:
    """What the moves of each policy lost in all pairings, if they were judged."""
    found: dict[str, list[LossSum]] = {}
    for pairing, part in played:
        for name, loss in zip(pairing.names, part.losses, strict=True):
            found.setdefault(name, []).append(loss)
    sums = {name: sum_of(losses) for name, losses in found.items()}
    return [move_loss(name, whole) for name, whole in sums.items() if whole.moves]


def forfeited(pairing: Pairing, part: DealResults) -> list[Forfeits]:
    """What each policy forfeited, if anything."""
    found = []
    for name in dict.fromkeys(pairing.names):
        own = [each for each in part.failures if pairing.names[each.side] == name]
        if own:
            first = min(own, key=lambda each: each.deal)
            other, place = pairing.names[1 - first.side], pairing.names.index(name)
            error = first.error.removeprefix(f"{name} ")
            where = first.deal, first.decision, error, place
            found.append(Forfeits(name, other, pairing.play, len(own), *where))
    return found


def rounded(rate: float) -> float:
    return round(float(rate), 6)
