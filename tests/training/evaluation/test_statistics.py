"""Intervals hold what they promise, ratings recover strengths, and cycles do not hide.

What an interval holds is counted in simulated evaluations whose truth is known: the games of a deal
hang together by its luck, which favours both (`luck` above 0) or one and then the other (below 0).
"""

import tracemalloc
from itertools import combinations, permutations
from statistics import NormalDist

import numpy as np
import pytest
from samples import sample
from scipy.stats import binom

from hanamachi.training.evaluation import statistics
from hanamachi.training.evaluation.results import win_rates_of
from hanamachi.training.evaluation.statistics import (
    at_once,
    cyclic_share,
    difference_interval,
    elo,
    interval,
    is_better,
    log_odds,
    normal_interval,
    points_interval,
    rating_among,
    strongest_cycle,
)

EVALUATIONS = 2000
PAIRS = list(combinations(range(3), 2))
EVEN = np.full(50, 0.5)
WON, LOST = np.ones(50), np.zeros(50)


def band(trials, truth=0.95):
    """What an event of chance `truth` shows in so many trials, but for 4 times in 100,000.

    Of 95%, in 2,000 trials: 93 to 97%.
    """
    low, high = binom.ppf([2e-5, 1 - 2e-5], trials, truth) / trials
    return low, high


def simulated(rates, draws, luck, deals, rng):
    """The two games of each deal, (..., D, 2), won and drawn with the chances given.

    Every number adds the luck of its deal to that of the moment, as normal variables. `rates` are
    numbers, or one for each of several pairs, (P,), that meet on the same deals.
    """
    rates = np.asarray(rates, float)
    shared = abs(luck) * rng.normal(size=(deals, 1)) * [1, np.sign(luck)]
    own = rng.normal(size=(*rates.shape, deals, 2))
    chances = (shared + own) / np.hypot(1, luck)
    won, drawn = (threshold(rates + side * draws / 2) for side in (-1, 1))
    return np.mean([chances < won, chances < drawn], axis=0)


def threshold(chances):
    """Below which a normal variable falls with these chances, (..., 1, 1)."""
    bounds = np.vectorize(NormalDist().inv_cdf, otypes=[float])(chances)
    return bounds[..., None, None]


def coverage(spans, truth):
    """The share of the spans, (n, 2), that hold the truth."""
    low, high = np.transpose(spans)
    return ((low <= truth) & (truth <= high)).mean()


# --- Intervals


def test_the_tolerated_band_is_93_to_97_per_cent_of_2000():
    assert band(EVALUATIONS) == pytest.approx((0.93, 0.97), abs=0.002)


@pytest.mark.parametrize("deals", [200, 2000])
@pytest.mark.parametrize("luck", [-1, 0, 1, 2])
@pytest.mark.parametrize(
    ("rate", "draws"), [(0.5, 0), (0.5, 0.3), (0.65, 0.1), (0.8, 0), (0.9, 0.1), (0.97, 0)]
)
def test_intervals_hold_the_truth_in_93_to_97_of_100_evaluations(rate, draws, luck, deals):
    rng, trials = np.random.default_rng(6), sample(EVALUATIONS, 0.1)
    games = (simulated(rate, draws, luck, deals, rng) for _ in range(trials))
    held = coverage([interval(g.mean(1)) for g in games], rate)
    low, high = band(trials)
    assert low <= held <= high


@pytest.mark.parametrize("luck", [-1, 0, 1, 2])
@pytest.mark.parametrize("rate", [0.65, 0.7, 0.8, 0.85])
def test_a_lower_end_is_too_high_in_at_most_2_5_of_100_evaluations(rate, luck):
    """At the rates and with the number of deals of the attacks that give bounds."""
    rng, trials = np.random.default_rng(7), sample(EVALUATIONS, 0.1)
    games = (simulated(rate, 0, luck, 1000, rng) for _ in range(trials))
    too_high = np.mean([interval(g.mean(1))[0] > rate for g in games])
    assert too_high <= band(trials, 0.025)[1]


@pytest.mark.parametrize("deals", [20, 50])
@pytest.mark.parametrize("luck", [-1, 1])
@pytest.mark.parametrize("rate", [0.5, 0.8, 0.9, 0.97, 0.995])
def test_intervals_of_few_deals_and_near_the_ends_are_rather_too_wide(rate, luck, deals):
    rng, trials = np.random.default_rng(1), sample(EVALUATIONS, 0.2)
    games = (simulated(rate, 0, luck, deals, rng) for _ in range(trials))
    assert coverage([interval(g.mean(1)) for g in games], rate) >= band(trials, 0.92)[0]


@pytest.mark.parametrize("luck", [-3, 3])
def test_intervals_that_take_games_for_independent_are_wrong(luck):
    """Too narrow where luck is shared, too wide where exchanged seats cancel it."""
    rng, trials, rate = np.random.default_rng(1), sample(EVALUATIONS, 0.2), 0.5
    games = [simulated(rate, 0, luck, 500, rng) for _ in range(trials)]
    clustered = coverage([interval(g.mean(1)) for g in games], rate)
    blind = coverage([interval(g.ravel()) for g in games], rate)
    low, high = band(trials)
    assert low <= clustered <= high
    assert blind < low if luck > 0 else blind > high


@pytest.mark.parametrize("score", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("deals", [1, 50, 5000])
def test_equal_scores_still_leave_doubt_that_shrinks(score, deals):
    low, high = interval(np.full(deals, score))
    assert 0 <= low <= score <= high <= 1
    assert 1 / (deals + 10) < high - low < 6 / deals


@pytest.mark.parametrize(("rates", "luck"), [((0.5, 0.5), 0), ((0.6, 0.55), 1), ((0.9, 0.2), -1)])
def test_intervals_of_differences_hold_the_truth_in_93_to_97_of_100_evaluations(rates, luck):
    """Of two policies on the same 500 deals, each with two games."""
    spans, rng, trials = [], np.random.default_rng(0), sample(EVALUATIONS, 0.1)
    for _ in range(trials):
        one, other = simulated(rates, 0, luck, 500, rng).mean(-1)
        spans.append(difference_interval(one - other))
    low, high = band(trials)
    assert low <= coverage(spans, rates[0] - rates[1]) <= high


def test_two_deals_lost_and_two_won_are_added_to_an_interval():
    low, high = interval(np.ones(12))  # 14 of 16: 0.875 ± 1.96 * sqrt(0.875 * 0.125 / 16)
    assert low == pytest.approx(0.875 - 0.16204, abs=1e-4)
    assert high == 1


def test_intervals_that_hold_at_once_do():
    """Even where the pairs have different deals, and each could fail by itself."""
    rng, trials, rates = np.random.default_rng(1), sample(EVALUATIONS, 0.1), [0.3, 0.5, 0.7, 0.9]
    held = [
        all(
            low <= rate <= high
            for rate in rates
            for low, high in [interval(simulated(rate, 0, 1, 300, rng).mean(1), at_once(4))]
        )
        for _ in range(trials)
    ]
    low, high = band(trials)
    assert low <= np.mean(held) <= high


TEAMS = {  # histogram of the scores from 0, and the games that an interval takes
    "weak": ([0.2, 0, 0.05, 0.1, 0.3, 0.35], 200),
    "good": ([0, 0, 0.02, 0.08, 0.3, 0.6], 200),
    "half of the games lost": ([0.47, 0, 0.03, 0.1, 0.2, 0.2], 200),
    "some of the games lost": ([0.01, 0, 0, 0.09, 0.4, 0.5], 1000),
}


@pytest.mark.parametrize("team", TEAMS)
def test_intervals_of_scores_hold_the_truth_in_93_to_97_of_100_evaluations(team):
    chances, games = TEAMS[team]
    rng, trials = np.random.default_rng(3), sample(EVALUATIONS, 0.2)
    scores = rng.choice(len(chances), size=(trials, games), p=chances).astype(float)
    low, high = band(trials)
    spans = [normal_interval(row) for row in scores]
    assert low <= coverage(spans, np.arange(len(chances)) @ chances) <= high


def test_an_interval_of_points_lies_within_what_a_team_can_score():
    low, high = points_interval(np.array([25.0] * 9 + [24.0]), 25)
    assert (low < 24.9, high) == (True, 25)
    assert points_interval(np.array([0.0] * 9 + [1.0]), 25)[0] == 0


# --- One policy after another


@pytest.mark.parametrize("deals", [3, 20, 200])
@pytest.mark.parametrize("luck", [-1, 0, 2])
def test_of_equally_good_policies_the_later_is_better_1_time_in_20(luck, deals):
    rng, trials = np.random.default_rng(8), sample(EVALUATIONS, 0.5)
    games = (simulated(0.6, 0.1, luck, deals, rng) for _ in range(trials))
    found = sum(is_better(later, than=before) for before, later in (np.transpose(g) for g in games))
    assert found / trials <= band(trials, 0.05)[1] + 0.01 * (deals < 20)  # a few deals are coarse


def test_the_best_of_many_equally_good_policies_is_better_at_most_1_time_in_20():
    rng, trials = np.random.default_rng(11), sample(EVALUATIONS, 0.5)
    found = 0
    for _ in range(trials):
        *before, last = rng.integers(0, 3, size=(20, 400)) / 2
        found += is_better(max(before, key=np.mean), than=last, among=20)
    assert found / trials <= band(trials, 0.05)[1]


def test_what_is_better_by_far_is_found_and_what_is_worse_never():
    rng, trials = np.random.default_rng(9), sample(EVALUATIONS, 0.1)
    luck = rng.normal(size=(trials, 1000))  # which both have
    before, later = (luck + rng.normal(size=luck.shape) + better for better in (0, 0.2))
    pairs = list(zip(before, later, strict=True))
    assert np.mean([is_better(b, than=a) for a, b in pairs]) > 0.99
    assert not any(is_better(a, than=b) for a, b in pairs)


def test_two_deals_convince_nobody_nor_do_equal_results():
    assert not is_better(np.ones(2), than=np.zeros(2))
    assert is_better(np.ones(3), than=np.zeros(3))
    assert not is_better(EVEN, than=EVEN)


# --- Ratings


def expected_rates(strengths):
    """What the first of each pair wins, (P,), with these Elo points."""
    pairs = combinations(strengths, 2)
    return np.array([1 / (1 + 10 ** ((second - first) / 400)) for first, second in pairs])


def test_elo_of_a_known_matrix_is_recovered():
    strengths = np.array([200.0, 50.0, -250.0])
    games = simulated(expected_rates(strengths), 0, 1, 200_000, np.random.default_rng(0))
    ratings, _ = elo(3, PAIRS, games.mean(2))
    assert ratings == pytest.approx(strengths, abs=3)
    assert ratings.sum() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("deals", [300, 1000])
@pytest.mark.parametrize("luck", [-1, 2])
@pytest.mark.parametrize("strengths", [[20, 0, -20], [150, 0, -150], [500, 0, -500]])
def test_elo_intervals_hold_the_truth_in_93_to_97_of_100_evaluations(strengths, luck, deals):
    trials = sample(EVALUATIONS, 0.05)
    held = held_by_elo(strengths, luck, deals, trials)
    low, high = band(trials)
    assert (low <= held).all()
    assert (held <= high).all()


@pytest.mark.parametrize("deals", [300, 1000])
@pytest.mark.parametrize("luck", [-1, 2])
@pytest.mark.parametrize("strengths", [[200, 200, 200, 200, -800], [333, 333, -667], [500, -500]])
def test_elo_intervals_of_lopsided_ladders_hold_it_in_92_to_97(strengths, luck, deals):
    """Where one policy loses or wins hardly a game, what is added to its results tells."""
    trials = sample(EVALUATIONS, 0.1)
    held = held_by_elo(strengths, luck, deals, trials)
    assert (held >= band(trials, 0.94)[0]).all()
    assert (held <= band(trials, 0.96)[1]).all()


@pytest.mark.parametrize("deals", [10, 30])
@pytest.mark.parametrize("luck", [-1, 2])
@pytest.mark.parametrize(
    "strengths",
    [[150, 0, -150], [300, 100, 0, -100, -300], [200, 200, 200, 200, -800], [500, -500]],
)
def test_elo_intervals_of_few_deals_hold_it_in_81_of_100_evaluations(strengths, luck, deals):
    trials = sample(EVALUATIONS, 0.05)
    assert (held_by_elo(strengths, luck, deals, trials) >= band(trials, 0.84)[0]).all()


def held_by_elo(strengths, luck, deals, trials):
    """How often each interval holds the truth, (K,); all pairs meet on the same deals."""
    rng, held = np.random.default_rng(2), []
    pairs, rates = list(combinations(range(len(strengths)), 2)), expected_rates(strengths)
    for _ in range(trials):
        scores = simulated(rates, 0, luck, deals, rng).mean(2)
        ratings, margins = elo(len(strengths), pairs, scores)
        held.append(np.abs(ratings - strengths) <= margins)
    return np.mean(held, 0)


@pytest.mark.parametrize("deals", [1, 5000])
def test_ratings_of_policies_that_always_win_are_found(deals):
    pairs = list(combinations(range(20), 2))
    ratings, margins = elo(20, pairs, np.ones((len(pairs), deals)))
    assert (np.diff(ratings) < 0).all()
    assert np.isfinite(margins).all()


def test_elo_of_two_is_the_log_odds_of_their_rate():
    scores = np.repeat([1.0, 0.0], [750, 250])[None]
    ratings, margins = elo(2, [(0, 1)], scores)
    assert ratings[0] - ratings[1] == pytest.approx(400 * np.log10(750.25 / 250.25), abs=1e-6)
    low, high = interval(scores[0])
    slope = 400 / np.log(10) / (0.75 * 0.25)
    assert 2 * margins[0] == pytest.approx(slope * (high - low) / 2, rel=0.01)


@pytest.mark.parametrize("strength", [-300, 0, 400])
def test_the_rating_of_one_more_policy_lies_within_its_margin(strength):
    ratings, games, rng = np.array([250.0, 100.0, -350.0]), 1_000, np.random.default_rng(1)
    truth = 1 / (1 + 10 ** ((ratings - strength) / 400))
    held, trials = 0, sample(EVALUATIONS, 0.2)
    for rates in rng.binomial(games, truth, (trials, len(truth))) / games:
        margins = 1.96 * np.sqrt(rates * (1 - rates) / games)
        rating, margin = rating_among(ratings, rates, margins, games)
        held += abs(rating - strength) <= margin
    low, high = band(trials)
    assert low <= held / trials <= high


def test_one_more_policy_that_never_loses_has_a_finite_rating():
    rating, margin = rating_among(np.zeros(1), np.ones(1), np.full(1, 0.01), 750)
    assert rating == pytest.approx(400 * np.log10(750.25 / 0.25))
    assert np.isfinite(margin)


def test_one_more_policy_that_never_loses_many_millions_of_games_has_a_finite_rating():
    """Rounding keeps the last digits of such a rating moving."""
    rating, margin = rating_among(np.zeros(2), np.ones(2), np.full(2, 0.1), 10_000_000)
    assert 2000 < rating < 4000
    assert np.isfinite(margin)


def test_one_that_never_loses_has_a_finite_rating():
    ratings, margins = elo(2, [(0, 1)], np.ones((1, 5000)))
    assert 500 < ratings[0] < 1000
    assert np.isfinite(margins).all()


# --- Cycles


def test_elo_hides_a_cycle_that_the_matrix_shows():
    names = ["rock", "scissors", "paper"]
    result = win_rates_of("sample", names, PAIRS, np.array([WON, LOST, WON]))
    assert result.elo == pytest.approx([0, 0, 0], abs=1e-6)
    assert result.rate.tolist() == [[0.5, 1, 0], [0, 0.5, 1], [1, 0, 0.5]]
    assert result.cyclic == pytest.approx(1)
    assert result.noise < 0.5
    assert result.cycle.policies == ("rock", "scissors", "paper")
    assert result.cycle.rates == (1, 1, 1)
    assert result.cycle.sure


def test_a_cycle_is_found_in_either_direction_and_among_others():
    names = ["best", "paper", "scissors", "rock"]
    pairs = list(combinations(range(4), 2))
    scores = [WON, WON, WON, LOST, WON, LOST]  # scissors beat paper, paper rock, rock scissors
    cycle = win_rates_of("sample", names, pairs, np.array(scores)).cycle
    assert cycle.policies == ("paper", "rock", "scissors")


def test_the_strongest_cycle_is_that_whose_least_rate_is_highest():
    pairs = list(combinations(range(4), 2))
    rates = {(0, 1): 0.6, (1, 2): 0.9, (0, 2): 0.1, (1, 3): 0.7, (0, 3): 0.3, (2, 3): 0.5}
    scores = np.array([np.repeat([1.0, 0.0], [round(1000 * r), round(1000 * (1 - r))])
                       for r in map(rates.__getitem__, pairs)])  # fmt: skip
    scores[pairs.index((0, 1))] = np.repeat([1.0, 0.0], [800, 200])
    cycle = win_rates_of("sample", list("abcd"), pairs, scores).cycle
    assert cycle.policies == ("a", "b", "c")
    assert cycle.rates == (0.8, 0.9, 0.9)


def test_even_policies_and_pairs_have_no_cycle():
    even = win_rates_of("sample", list("abc"), PAIRS, np.array([EVEN, EVEN, EVEN]))
    assert (even.cyclic, even.cycle) == (0, None)
    pair = win_rates_of("sample", list("ab"), [(0, 1)], WON[None])
    assert (pair.cyclic, pair.noise, pair.cycle) == (0, 0, None)


def test_a_ladder_is_explained_by_its_ratings():
    ladder = expected_rates([400, 150, -50, -500])
    pairs = list(combinations(range(4), 2))
    games = simulated(ladder, 0, 1, 50_000, np.random.default_rng(0))
    result = win_rates_of("sample", list("abcd"), pairs, games.mean(2))
    assert result.cyclic < 0.001
    assert result.cycle is None


def test_ratings_and_cycles_add_up():
    """A ladder and a cycle of known sizes, with as many deals as leave no noise."""
    ratings, turn = np.array([1.0, 0.0, -1.0]), 0.4
    odds = np.array([ratings[i] - ratings[j] for i, j in PAIRS]) + turn * np.array([1, -1, 1])
    games = simulated(1 / (1 + np.exp(-odds)), 0, 0, 300_000, np.random.default_rng(0))
    share, noise = cyclic_share(3, PAIRS, games.mean(2))
    assert share == pytest.approx(3 * turn**2 / (odds @ odds), abs=0.003)
    assert noise < 0.001


def test_even_pairs_have_no_cycle():
    with np.errstate(all="raise"):
        assert cyclic_share(3, PAIRS, np.full((3, 10), 0.5)) == (0.0, 1.0)


@pytest.mark.parametrize("strengths", [[150, 0, -150], [0, 0, 0], [900, 300, -300, -900]])
@pytest.mark.parametrize("luck", [-1, 2])
def test_noise_passes_for_a_cycle_once_in_20_evaluations(strengths, luck):
    rng, trials = np.random.default_rng(4), sample(EVALUATIONS // 2, 0.1)
    pairs, rates = list(combinations(range(len(strengths)), 2)), expected_rates(strengths)
    alarms = 0
    for _ in range(trials):
        scores = simulated(rates, 0, luck, 500, rng).mean(2)
        share, noise = cyclic_share(len(strengths), pairs, scores)
        alarms += share > noise
    assert alarms / trials <= band(trials, 0.05)[1]


@pytest.mark.parametrize("deals", [5, 100])
def test_the_noise_of_many_pairs_is_that_of_few(deals, monkeypatch):
    rng, size = np.random.default_rng(9), 9
    pairs = list(combinations(range(size), 2))
    rates = expected_rates(np.linspace(600, -600, size))
    scores = simulated(rates, 0, 1, deals, rng).mean(2)
    share, noise = cyclic_share(size, pairs, scores)
    monkeypatch.setattr(statistics, "FEW_PAIRS", 0)
    monkeypatch.setattr(statistics, "PORTION", 10_000)
    monkeypatch.setattr(statistics, "DRAWS", 100_000)
    assert cyclic_share(size, pairs, scores) == (share, pytest.approx(noise, rel=0.04))
    assert noise < 1


def test_many_policies_need_little_memory_and_keep_their_ladder():
    """The covariance of their pairs would have 6 million entries."""
    strengths = np.linspace(500, -500, 70)
    pairs = list(combinations(range(70), 2))
    scores = np.repeat(expected_rates(strengths)[:, None], 10, axis=1)
    tracemalloc.start()
    share, _ = cyclic_share(70, pairs, scores)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert share < 0.05
    assert most < 150e6


def test_the_strongest_cycle_is_found_among_all_triples():
    rng, names = np.random.default_rng(3), list("abcdefg")
    for _ in range(50):
        rate = rng.integers(0, 11, (7, 7)) / 10
        rate = np.triu(rate, 1) + np.tril(1 - rate.T, -1) + np.eye(7) / 2
        legs = [rate[[i, j, k], [j, k, i]] for i, j, k in permutations(range(7), 3)]
        cycle = strongest_cycle(names, rate, rate)
        highest = max(min(leg) for leg in legs)
        assert (cycle.low if cycle else 0.5) == max(highest, 0.5)
        if cycle:
            a, b, c = map(names.index, cycle.policies)
            assert cycle.rates == pytest.approx(rate[[a, b, c], [b, c, a]])
            assert a == min(a, b, c)


def test_a_cycle_of_noise_is_not_called_sure():
    """Even policies show a cycle in one evaluation of four, and in hardly any a sure one."""
    rng, trials = np.random.default_rng(5), sample(EVALUATIONS // 2, 0.2)
    cycles = [
        win_rates_of(
            "sample", list("abc"), PAIRS, simulated([0.5] * 3, 0, 0, 200, rng).mean(2)
        ).cycle
        for _ in range(trials)
    ]
    shown = [cycle for cycle in cycles if cycle]
    low, high = band(trials, 0.25)
    assert low <= len(shown) / trials <= high
    assert not any(cycle.sure for cycle in shown)


def test_a_leg_in_doubt_makes_a_cycle_of_strong_legs_doubtful():
    """The worst case: two legs are sure, and the third is even."""
    rng, trials, names = np.random.default_rng(5), sample(EVALUATIONS // 2, 0.2), list("abc")
    rates = [0.9, 0.5, 0.9]  # the first against the second and third, the second against the third
    sure = 0
    for _ in range(trials):
        cycle = win_rates_of("sample", names, PAIRS, simulated(rates, 0, 0, 300, rng).mean(2)).cycle
        sure += cycle is not None and cycle.sure
    assert sure / trials <= band(trials, 0.05)[1]


def test_log_odds_and_their_covariance_are_true():
    rng, rates = np.random.default_rng(7), np.array([0.5, 0.8, 0.95])
    found = [log_odds(simulated(rates, 0, 2, 400, rng).mean(2)) for _ in range(2000)]
    odds = np.array([each for each, *_ in found])
    covariances = np.array([errors @ errors.T + np.diag(added) for _, errors, added in found])
    assert odds.mean(0) == pytest.approx(np.log(rates / (1 - rates)), abs=0.02)
    assert np.cov(odds.T) == pytest.approx(covariances.mean(0), rel=0.15, abs=0.001)
