"""How sure results are: intervals, ratings, and what no rating can say.

Policies meet in every pair on the same deals, and the two games of a deal are correlated, so the
deal is the unit of everything here: a score is a policy's mean over the two games of one deal.

Notation: D deals, G games, K policies, P pairs of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float64s = NDArray[np.float64]
Pairs = Sequence[tuple[int, int]]

LEVEL = 0.95  # of all intervals
ADDED = np.array([0.0, 0.0, 1.0, 1.0])  # deals added, see `interval`
ENOUGH = 300  # deals of each pair for the intervals of `elo`
ELO = 400 / np.log(10)  # points of one unit of log odds
FEW_SCORES = 200  # games for a `normal_interval`
HALF_A_GAME = 0.25  # deals, each of which is two games
DRAWS = 10_000  # of noise, see `cyclic_share`
FEW_PAIRS = 500  # whose covariance is drawn from
PORTION = 4_000_000  # numbers of noise that are drawn at once
MOST_STEPS, SETTLED = 100, 1e-9  # of a fit of log odds, and the length of its last step
RANK = 1e-9  # of the largest singular value: what is smaller is 0 but for rounding


# --- Intervals


def interval(scores: Float64s, level: float = LEVEL) -> tuple[float, float]:
    """An interval for the mean score of deals, (D,), that holds the truth with chance `level`.

    The two games of a deal are correlated, so each deal is one sample. Two deals lost and two deals
    won are added, as Agresti and Coull do for single games: with them the normal interval also
    holds near 0 and 1 and for few deals, where the variance of the sample says nothing. From 200
    deals on and for means from 0.03 to 0.97, 95% intervals held the truth in 93 to 97% of
    simulated evaluations, whatever the luck of the deals; with fewer in 91 to 100%
    (tests/training/evaluation/test_statistics.py).
    """
    padded = np.concatenate([scores, ADDED])
    margin = quantile(level) * padded.std() / np.sqrt(len(padded))
    return max(0.0, float(padded.mean() - margin)), min(1.0, float(padded.mean() + margin))


def difference_interval(differences: Float64s) -> tuple[float, float]:
    """A 95% interval for the mean difference of two policies' scores on the same deals, (D,)."""
    low, high = interval((1 + differences) / 2)  # which lie between 0 and 1, as scores do
    return 2 * low - 1, 2 * high - 1


def normal_interval(scores: Float64s) -> tuple[float, float]:
    """A 95% interval for the mean score of games, (G,).

    It holds the truth that often from FEW_SCORES games on, or from 1,000 where one in a hundred is
    lost: a sample without a lost game underestimates the variance. In simulations of scores like
    `greedy`'s, it held the truth in 70% of samples of 2 games, 84% of 4, 92% of 10 and 93% of
    20.
    """
    margin = quantile(LEVEL) * scores.std(ddof=1) / np.sqrt(len(scores))
    return float(scores.mean() - margin), float(scores.mean() + margin)


def points_interval(points: Float64s, best_score: int) -> tuple[float, float]:
    """The `normal_interval` of a team's mean score, within what a team can score."""
    low, high = normal_interval(points)
    return max(0.0, low), min(float(best_score), high)


def is_better(scores: Float64s, than: Float64s, among: int = 1) -> bool:
    """Whether one policy is better than another beyond noise, by their scores on each deal, (D,).

    One-sided, at LEVEL: an equally good one passes at most 1 time in 20, also if its scores are the
    best of `among` equally good ones. The deals are the same, so their differences count. Of
    equally good policies, every difference could as well have the other sign, and so the variance
    of their sum is the sum of their squares. With that, no fewer than three deals can convince.
    """
    differences = scores - than
    noise = float(np.sqrt((differences**2).sum()))
    return bool(differences.sum() > NormalDist().inv_cdf(at_once(among)) * noise)


def quantile(level: float) -> float:
    """How many standard deviations to either side hold a normal variable with chance `level`."""
    return NormalDist().inv_cdf((1 + level) / 2)


def at_once(count: int) -> float:
    """The level of each of `count` intervals or tests, for LEVEL at least of all of them together.

    Bonferroni: it holds however they depend on each other.
    """
    return 1 - (1 - LEVEL) / count


# --- Ratings


def elo(size: int, pairs: Pairs, scores: Float64s) -> tuple[Float64s, Float64s]:
    """Ratings, (K,), with mean 0, and the margins of their 95% intervals, (K,).

    A `bradley_terry` fit; `scores` are those of the first of each pair, (P, D). All pairs met on
    the same deals, which the margins take into account. From ENOUGH deals on they held the truth
    in 92 to 97% of simulated evaluations, even of policies of which one is 1,000 points from the
    others; with fewer in 81 to 100% (tests/training/evaluation/test_statistics.py).
    """
    sides = sides_of(size, pairs)
    strength, added = bradley_terry(sides, scores.mean(1), scores.shape[1])
    expected = logistic(sides @ strength)
    pull = (scores - expected[:, None]).T @ sides  # (D, K) how each deal moves the ratings
    adding = sides.T * squares(added, expected) @ sides
    inverse = np.linalg.pinv(information(sides, expected, scores.shape[1] + 2 * added))
    variance = inverse @ (pull.T @ pull + adding) @ inverse
    return ELO * strength, ELO * quantile(LEVEL) * np.sqrt(np.diag(variance).clip(0))


def rating_among(
    ratings: Float64s, rates: Float64s, margins: Float64s, deals: int
) -> tuple[float, float]:
    """The rating of one more policy, and the margin of its 95% interval.

    It won `rates`, (K,), of this number of deals against each of the policies that have these
    `ratings`, (K,); `margins` are those of the rates' 95% intervals. The ratings count as known,
    and the rates as independent.
    """
    own, logits = np.ones((len(ratings), 1)), ratings / ELO
    strength, _ = bradley_terry(own, rates, deals, logits)
    slope = information(own, logistic(own @ strength - logits), np.ones(len(logits)))
    return float(ELO * strength[0]), float(ELO * np.sqrt((margins**2).sum()) / slope[0, 0])


def bradley_terry(
    sides: Float64s,  # (P, K)
    means: Float64s,  # (P,)
    deals: int,
    offset: Float64s | float = 0.0,  # (P,) subtracted from the log odds of each pair
) -> tuple[Float64s, Float64s]:
    """The log odds of each policy, (K,), by the mean scores of the pairs; and what is added, (P,).

    Each rating adds half a lost and half a won game, shared among the pairs by their leverage. This
    undoes most of the bias, and keeps ratings finite (Firth 1993, Bias reduction of maximum
    likelihood estimates); half a game for every pair, of which there are more, would draw far
    ratings together.
    """
    strength = np.zeros(sides.shape[1])
    for _ in range(MOST_STEPS):  # of Newton's way; with very many deals rounding keeps it moving
        expected = logistic(sides @ strength - offset)  # (P,)
        inverse = np.linalg.pinv(information(sides, expected, np.ones_like(means)))  # (K, K)
        # (P,), which adds up to the number of ratings that the pairs determine
        leverage = expected * (1 - expected) * ((sides @ inverse) * sides).sum(1)
        added = HALF_A_GAME * leverage
        residual = deals * (means - expected) + added * (1 - 2 * expected)
        step = inverse @ (sides.T @ residual) / deals
        strength += step / max(1.0, np.abs(step).max())  # far steps would overshoot
        if np.abs(step).max() < SETTLED:
            break
    return strength, added


def squares(added: Float64s, means: Float64s) -> Float64s:
    """The squared distances from the means of what is added as lost and as won, (P,)."""
    distances: Float64s = added * (means**2 + (1 - means) ** 2)
    return distances


def sides_of(size: int, pairs: Pairs) -> Float64s:
    """+1 for the first of each pair, -1 for the second, (P, K)."""
    sides = np.zeros((len(pairs), size))
    for row, (i, j) in zip(sides, pairs, strict=True):
        row[i], row[j] = 1, -1
    return sides


def information(sides: Float64s, expected: Float64s, deals: Float64s) -> Float64s:
    """What these deals of each pair, (P,), tell of the strengths: (K, K)."""
    matrix: Float64s = sides.T * (deals * expected * (1 - expected)) @ sides
    return matrix


def logistic(x: Float64s) -> Float64s:
    odds: Float64s = 1 / (1 + np.exp(-x))
    return odds


# --- Cycles


@dataclass(frozen=True)
class Cycle:
    """Three policies of which each beats the next, and the last beats the first."""

    policies: tuple[str, str, str]
    rates: tuple[float, float, float]  # of each against the next
    low: float  # bound of the least of the three, from intervals that hold for all pairs at once

    @property
    def sure(self) -> bool:
        """Whether it is beyond noise: each of the three wins more than half, with 95%."""
        return self.low > 0.5


def strongest_cycle(names: Sequence[str], rate: Float64s, low: Float64s) -> Cycle | None:
    """The cycle of three whose least rate is the highest; None if there is no cycle.

    `rate` holds what the row wins against the column, (K, K), `low` the bounds of all at once.
    """
    found, highest = None, 0.5
    for a in range(len(names) - 2):
        others = slice(a + 1, None)  # every cycle is told from its first policy on
        least = np.minimum(rate[a, others, None], rate[others, others])
        least = np.minimum(least, rate[others, a])  # (b, c): the least of a-b, b-c and c-a
        if least.max() > highest:
            b, c = a + 1 + np.argwhere(least == least.max())[0]
            found, highest = ([a, b, c], [b, c, a]), least.max()  # (rows, columns)
    if found is None:
        return None
    first, second, third = rate[found].round(6).tolist()
    a, b, c = found[0]
    return Cycle((names[a], names[b], names[c]), (first, second, third), float(low[found].min()))


def cyclic_share(size: int, pairs: Pairs, scores: Float64s) -> tuple[float, float]:
    """The share of the results that no ratings explain, and the share that noise alone can reach.

    The log odds of all pairs are, at right angles, the sum of differences of ratings and of cycles
    (Jiang et al. 2011, Statistical ranking and combinatorial Hodge theory; Balduzzi et al. 2018,
    Re-evaluating evaluation); shares are of their sum of squares. Log odds, because Elo's
    differences add up in them; in rates, which end at 1, every steep ladder would look like a
    cycle. Were there no cycles, 95% of tournaments of as many deals would stay below the second
    share. `scores` are those of the first of each pair, (P, D), of the pairs that met.
    """
    sides = sides_of(size, pairs)
    fit = np.linalg.pinv(sides, RANK)  # of ratings to log odds, by least squares, (K, P)
    odds, errors, added = log_odds(scores)
    if not odds.any():  # all pairs are even
        return 0.0, 1.0
    whole = float(odds @ odds)
    products = sides.T @ sides
    left = [unexplained(drawn, fit, products) for drawn in noise_of(errors, added)]
    noise = np.quantile(np.concatenate(left), LEVEL)
    share = float(unexplained(odds[None], fit, products)[0]) / whole
    return share, min(1.0, float(noise) / whole)


def unexplained(odds: Float64s, fit: NDArray[Any], products: Float64s) -> Float64s:
    """The squares of log odds, (n, P), that no ratings explain, (n,), by Pythagoras.

    `fit` gives ratings by least squares, (K, P), and `products` is `sides.T @ sides`, (K, K).
    """
    ratings = odds @ fit.T
    left: Float64s = np.square(odds).sum(1) - ((ratings @ products) * ratings).sum(1)
    return left.clip(min=0)  # but for rounding it is never below


def noise_of(errors: Float64s, added: Float64s) -> Iterator[Float64s]:
    """Samples of the noise of log odds, in portions, (n, P).

    `errors` and `added` are those of `log_odds`. Up to FEW_PAIRS pairs, samples are drawn from
    their covariance. That of more pairs is too large; instead, each deal and each added half gets a
    normal variable, which gives the same distribution. Then a tenth of the samples is enough: the
    more squares are added up, the less their sum varies.
    """
    rng, (pairs, deals) = np.random.default_rng(0), errors.shape
    if pairs <= FEW_PAIRS:
        covariance = errors @ errors.T + np.diag(added)
        yield rng.multivariate_normal(np.zeros(pairs), covariance, DRAWS)
        return
    size = max(1, PORTION // (pairs + deals))
    for start in range(0, DRAWS // 10, size):
        count = min(size, DRAWS // 10 - start)
        own = rng.normal(size=(count, pairs)) * np.sqrt(added)
        yield rng.normal(size=(count, deals)) @ errors.T + own


def log_odds(scores: Float64s) -> tuple[Float64s, Float64s, Float64s]:
    """The log odds of the pairs' mean scores, (P,), and how they err.

    Half a game lost and half a game won are added to each pair, which undoes most of the bias of
    the log odds (Haldane 1956, Anscombe 1956). The error has a part of every deal, (P, D), and the
    variance of the added halves, (P,). Over D deals the parts add up to the covariance of the log
    odds: `errors @ errors.T + diag(added)`.
    """
    added = np.full(len(scores), HALF_A_GAME)
    deals = scores.shape[1] + 2 * HALF_A_GAME
    means = (scores.sum(1) + added) / deals
    slope = 1 / (means * (1 - means)) / deals
    errors = slope[:, None] * (scores - means[:, None])
    return np.log(means / (1 - means)), errors, slope**2 * squares(added, means)
