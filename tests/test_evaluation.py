"""Evaluations are fair, say how sure they are, and come out the same however they are run."""

import json
from itertools import combinations

import numpy as np
import pytest
from rich.console import Console

from hanamachi.errors import UserError
from hanamachi.games import variant
from hanamachi.policies import load_policy
from hanamachi.policies.network import NetworkPolicy, for_variant
from hanamachi.policies.policy import Policy, RandomPolicy
from hanamachi.training import Config, evaluate, evaluation, report, train
from hanamachi.training.evaluation import (
    Row,
    TeamScore,
    against,
    beside,
    cross_play,
    elo,
    interval,
    match,
    normal_interval,
    play_games,
)

ONE_ROUND = variant("hanamikoji", max_rounds=1)
TOGETHER = variant("hanabi:3p", colours=2, ranks=3, hand_size=2)
POLICIES = ["random", "greedy"]


def last_legal(observation, mask):
    return int(np.flatnonzero(mask)[-1])


class Watching(Policy):
    """Plays at random, and counts its decisions in each game and seat by its memory."""

    name = "watching"

    def initial_memory(self, batch):
        return np.zeros((batch, 1), np.float32)

    def distribution(self, observation, mask, memory):
        assert mask.any(1).all(), "asked about a game that is over"
        assert (memory[:, 0] == self.decisions_seen(observation)).all()
        return (mask / mask.sum(1, keepdims=True)).astype(np.float32), None, memory + 1

    def decisions_seen(self, observation):
        """What the seat has decided in a first round: its tiles used and the offers it answered."""
        at = self.variant.observation.slice
        used, gifts, pairs = (
            observation[:, at(s)] for s in ("used in", "gift taken", "pair taken")
        )
        theirs = gifts.shape[1] // 2
        return used[:, :16].sum(1) + gifts[:, theirs:].sum(1) + pairs[:, 2:].sum(1)


class Cheating(Policy):
    name = "cheating"

    def distribution(self, observation, mask, memory):
        return np.roll(mask, 1, axis=1) / mask.sum(1, keepdims=True), None, memory


# --- Pairing


@pytest.mark.parametrize("play", ["sample", "argmax"])
@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_against_itself_scores_exactly_one_half_on_every_deal(name, play):
    policy = load_policy(name, "hanamikoji")
    assert (match((policy, policy), policy.variant, 400, 3, play=play) == 0.5).all()


def test_the_two_games_of_a_deal_share_their_chance_and_exchange_the_seats():
    policy = RandomPolicy(ONE_ROUND)
    seating = np.array([[0, 1], [1, 0]])
    deals = np.array([7, 7], np.uint64)
    (first, second), _ = play_games((policy, policy), ONE_ROUND, seating, deals, 0, "sample")
    assert (first == second).all()
    other = match((policy, RandomPolicy(ONE_ROUND)), ONE_ROUND, 200, 0)
    assert (other == 0.5).all()


def test_deals_differ_from_each_other_and_from_seed_to_seed():
    pair = load_policy("greedy", "hanamikoji"), load_policy("random", "hanamikoji")
    rules = pair[0].variant
    scores = [match(pair, rules, 400, seed) for seed in (0, 1)]
    assert len(np.unique(scores[0])) == 3
    assert (scores[0] != scores[1]).any()


def test_a_draw_counts_half():
    tied = np.array([[0.0, 0.0]])
    small = {"cards": (2, 2), "actions": ("secret",), "max_rounds": 1}
    rules = variant("hanamikoji", **small)
    pair = RandomPolicy(rules), RandomPolicy(rules)
    seating, deals = np.tile([0, 1], (50, 1)), np.arange(50, dtype=np.uint64)
    returns, _ = play_games(pair, rules, seating, deals, 0, "sample")
    assert (returns == tied).all(1).any(), "this small game is often a draw"
    rows = against("random", [last_legal], "hanamikoji", 200, **small)
    assert all(row.low <= 0.5 <= row.high for row in rows)


def test_memory_belongs_to_a_game_and_a_seat_and_only_going_games_are_asked():
    pair = Watching(ONE_ROUND), Watching(ONE_ROUND)
    assert len(match(pair, ONE_ROUND, 64, 0)) == 32


def test_argmax_breaks_ties_at_random():
    """A uniform policy has no favourite: taking the first legal action would be another policy."""
    rules = variant("hanamikoji")
    pair = RandomPolicy(rules), load_policy("greedy", "hanamikoji")
    sampled, mode = (match(pair, rules, 100, 0, play=p) for p in ("sample", "argmax"))
    assert (sampled == mode).all()


# --- Partners


def test_a_cooperative_game_is_scored_by_its_points():
    policy, seating = RandomPolicy(TOGETHER), np.zeros((200, 3), np.int64)
    deals = np.arange(200, dtype=np.uint64)
    returns, ended = play_games([policy], TOGETHER, seating, deals, 4, "sample")
    assert (returns == ended["score"][:, None]).all()
    (row,) = beside(policy, [], TOGETHER.id, 200, 4, plays=["sample"], **TOGETHER.options)
    assert row.histogram == np.bincount(ended["score"], minlength=7).tolist()
    assert row.mean == pytest.approx(ended["score"].mean(), abs=1e-6)
    assert row.lost == (ended["errors"] == 3).mean()
    assert row.perfect == (ended["score"] == 6).mean()
    assert row.low < row.mean < row.high


def test_a_defeat_counts_as_one_whatever_its_score():
    options = dict(TOGETHER.options) | {"strikeout_score": "fireworks", "max_errors": 1}
    (row,) = beside("random", [], "hanabi:3p", 200, plays=["sample"], **options)
    assert row.lost > row.histogram[0] / row.games


def test_partners_sit_in_turn_and_change_seats_from_deal_to_deal(monkeypatch):
    seatings = []

    def spy(policies, variant, seating, deals, seed, play):
        seatings.extend(zip(deals.tolist(), seating.tolist(), strict=True))
        return play_games(policies, variant, seating, deals, seed, play)

    monkeypatch.setattr(evaluation, "play_games", spy)
    evaluate(["random", "random"], "hanabi:3p", 10, batch=4, **TOGETHER.options)
    expected = [(deal, [[0, 1, 0], [1, 0, 1]][deal % 2]) for deal in range(10)]
    assert seatings == 3 * expected


def test_each_plays_with_itself_and_every_two_together():
    names = ["random", last_legal, "random"]
    result = evaluate(names, "hanabi:3p", 60, play="both", **TOGETHER.options)
    pairs = [(row.policy, row.partners) for row in result.results if row.play == "argmax"]
    assert result.policies == ["random", "last_legal", "random (2)"]
    assert pairs == [
        ("random", "random"),
        ("random", "last_legal"),
        ("random", "random (2)"),
        ("last_legal", "last_legal"),
        ("last_legal", "random (2)"),
        ("random (2)", "random (2)"),
    ]
    rows = beside("random", [last_legal], "hanabi:3p", 60, **TOGETHER.options)
    assert [row.play for row in rows] == 2 * ["argmax", "sample"]
    assert [row for row in result.results if row in rows] == rows[::2] + rows[1::2]


def test_partners_play_what_is_most_probable_unless_told_and_rivals_sample():
    network = NetworkPolicy(TOGETHER, for_variant(TOGETHER, [16]))
    usual, mode, sampled = (
        evaluate([network], TOGETHER.id, 200, play=play, **TOGETHER.options).results
        for play in (None, "argmax", "sample")
    )
    assert usual == mode
    assert mode[0].histogram != sampled[0].histogram
    assert evaluate(POLICIES, "hanamikoji", 4).results[0].play == "sample"


def test_a_run_of_partners_keeps_and_reports_the_policy_by_its_score(tmp_path):
    config = Config.from_dict(
        {
            "game": TOGETHER.id,
            "options": {"colours": 2, "ranks": 3, "hand_size": 2},
            "steps": 512,
            "num_games": 16,
            "opponents": {"self": 0.5, "past": 0.25, "random": 0.25},
            "network": {"hidden": [16]},
            "ppo": {"n_steps": 8},
            "evaluation": {
                "every": 128, "games": 20, "final_games": 40, "final_opponents": ["random"],
            },
        }
    )  # fmt: skip
    policy = train(config, tmp_path / "run")
    rows = json.loads((tmp_path / "run" / "evaluation.json").read_text())
    assert [(row["policy"], row["partners"], row["play"]) for row in rows] == [
        ("policy", partners, play)
        for partners in ("policy", "random")
        for play in ("argmax", "sample")
    ]
    card = (policy / "README.md").read_text()
    assert f"| itself | argmax | 40 | {rows[0]['mean']:.3f} |" in card
    assert "in any seat" in card
    again = beside(policy, ["random"], TOGETHER.id, 40, seed=2, **TOGETHER.options)
    assert [row.histogram for row in again] == [row["histogram"] for row in rows]


# --- Intervals


def clustered_scores(rng, chance, deals, trials):
    """Deals whose two games are won together with an even chance, else independently."""
    games = rng.random((trials, deals, 2)) < chance
    games[..., 1] = np.where(rng.random((trials, deals)) < 0.5, games[..., 0], games[..., 1])
    return games.mean(2)


@pytest.mark.parametrize("deals", [20, 300])
@pytest.mark.parametrize("chance", [0.5, 0.8, 0.97, 0.995])
def test_intervals_hold_the_truth_19_times_in_20_also_near_the_ends(chance, deals):
    scores = clustered_scores(np.random.default_rng(1), chance, deals, 2000)
    spans = np.array([interval(row) for row in scores])
    held = ((spans[:, 0] <= chance) & (chance <= spans[:, 1])).mean()
    assert held >= 0.935
    if deals == 300 and chance <= 0.8:
        assert held <= 0.97, "wider than need be"


@pytest.mark.parametrize("score", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("deals", [1, 50, 5000])
def test_equal_scores_still_leave_doubt_that_shrinks(score, deals):
    low, high = interval(np.full(deals, score))
    assert 0 <= low <= score <= high <= 1
    assert 1 / (deals + 10) < high - low < 6 / deals


def test_intervals_are_taken_over_deals_not_over_games():
    together = np.repeat([0.0, 1.0], 500)
    apart = np.full(1000, 0.5)
    assert np.ptp(interval(together)) == pytest.approx(2 * 1.96 * 0.5 / np.sqrt(1000), rel=0.01)
    assert np.ptp(interval(apart)) < np.ptp(interval(together)) / 10


def test_intervals_of_scores_hold_the_truth_19_times_in_20():
    rng, chances = np.random.default_rng(3), np.array([0.2, 0, 0.05, 0.1, 0.3, 0.35])  # of 0 to 5
    scores = rng.choice(6, size=(2000, 200), p=chances).astype(float)
    spans = np.array([normal_interval(row) for row in scores])
    truth = chances @ np.arange(6)
    held = (spans[:, 0] <= truth) & (truth <= spans[:, 1])
    assert 0.935 <= held.mean() <= 0.965


# --- Elo


PAIRS = list(combinations(range(3), 2))


def scores_of(strengths, rng, deals):
    """Deals won with the chances that these Elo points give."""
    chances = [1 / (1 + 10 ** ((strengths[j] - strengths[i]) / 400)) for i, j in PAIRS]
    return (rng.random((len(PAIRS), deals)) < np.array(chances)[:, None]).astype(float)


def test_elo_of_a_known_matrix_is_recovered():
    strengths = np.array([200.0, 50.0, -250.0])
    ratings, _ = elo(3, PAIRS, scores_of(strengths, np.random.default_rng(0), 400_000))
    assert ratings == pytest.approx(strengths, abs=3)
    assert ratings.sum() == pytest.approx(0, abs=1e-6)


def test_elo_intervals_hold_the_truth_19_times_in_20():
    rng, strengths = np.random.default_rng(2), np.array([150.0, 0.0, -150.0])
    held = []
    for _ in range(300):
        ratings, margins = elo(3, PAIRS, scores_of(strengths, rng, 200))
        held.append(np.abs(ratings - strengths) <= margins)
    assert 0.92 <= np.mean(held) <= 0.98


def test_elo_of_two_is_the_log_odds_of_their_rate():
    scores = np.repeat([1.0, 0.0], [750, 250])[None]
    ratings, margins = elo(2, [(0, 1)], scores)
    assert ratings[0] - ratings[1] == pytest.approx(400 * np.log10(752 / 252), abs=1e-6)
    low, high = interval(scores[0])
    slope = 400 / np.log(10) / (752 * 252 / 1004**2)
    assert 2 * margins[0] == pytest.approx(slope * (high - low) / 2, rel=1e-6)


def test_one_that_never_loses_has_a_finite_rating():
    ratings, margins = elo(2, [(0, 1)], np.ones((1, 5000)))
    assert 500 < ratings[0] < 1000
    assert np.isfinite(margins).all()


def test_elo_hides_a_cycle_that_the_matrix_shows():
    rock, scissors = np.ones(100), np.zeros(100)
    result = cross_play("sample", 3, PAIRS, np.array([rock, scissors, rock]))
    assert result.elo == pytest.approx([0, 0, 0], abs=1e-6)
    assert result.rate.tolist() == [[0.5, 1, 0], [0, 0.5, 1], [1, 0, 0.5]]


# --- The same numbers, however they are run


@pytest.mark.parametrize("play", ["sample", "argmax"])
def test_batch_size_changes_no_bit(play):
    network = NetworkPolicy(ONE_ROUND, for_variant(ONE_ROUND, [16]))

    def text(batch):
        policies = [network, "random", "greedy"]
        result = evaluate(
            policies, "hanamikoji", 24, 5, play=play, batch=batch, **ONE_ROUND.options
        )
        return json.dumps(result.as_json())

    assert text(8192) == text(10) == text(2) == text(1)


@pytest.mark.parametrize("play", ["sample", "argmax"])
def test_batch_size_changes_no_bit_among_partners(play):
    network = NetworkPolicy(TOGETHER, for_variant(TOGETHER, [16]))

    def text(batch):
        how = {"play": play, "batch": batch, **TOGETHER.options}
        return json.dumps(evaluate([network, "random"], TOGETHER.id, 25, 5, **how).as_json())

    assert text(8192) == text(10) == text(1)


def test_the_matrix_and_the_rows_agree():
    whole = evaluate(["greedy", "random"], "hanamikoji", 200, 1, play="both")
    rows = against("greedy", ["random"], "hanamikoji", 200, 1)
    for row, result in zip(rows, whole.results, strict=True):
        assert row == Row(
            "random",
            result.play,
            200,
            *(round(float(m[0, 1]), 6) for m in (result.rate, result.low, result.high)),
        )


# --- What is written


def test_json_and_picture_are_written(tmp_path):
    result = evaluate([*POLICIES, last_legal], "hanamikoji", 40, play="both", max_rounds=1)
    data, picture = report.write(result, tmp_path / "new")
    content = json.loads(data.read_text())
    assert content["policies"] == ["random", "greedy", "last_legal"]
    assert content["options"]["max_rounds"] == 1
    assert [r["play"] for r in content["results"]] == ["sample", "argmax"]
    assert np.shape(content["results"][0]["rate"]) == (3, 3)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert sorted(p.name for p in data.parent.iterdir()) == ["evaluation.json", "evaluation.png"]


@pytest.mark.parametrize("policies", [["random"], ["random", last_legal]], ids=len)
def test_scores_are_shown_and_written(policies, tmp_path):
    result = evaluate(policies, TOGETHER.id, 40, play="both", **TOGETHER.options)
    data, picture = report.write(result, tmp_path)
    rows = json.loads(data.read_text())["results"]
    assert list(rows[0]) == [
        "policy", "partners", "play", "games",
        "mean", "low", "high", "perfect", "lost", "histogram",
    ]  # fmt: skip
    assert all(sum(row["histogram"]) == row["games"] == 40 for row in rows)
    assert picture.read_bytes().startswith(b"\x89PNG")
    console = Console(width=100)
    with console.capture() as shown:
        console.print(report.tables(result))
    for row in rows:
        assert f"{row['mean']:.2f}" in shown.get()
    assert ("every two" in shown.get()) == (len(policies) > 1)


def test_a_histogram_shows_the_least_that_occurs():
    counts = [800, 0, 1, 400]
    score = TeamScore("p", "p", "argmax", 1201, 1.0, 0.9, 1.1, 0.3, 0.6, counts)
    assert report.bars(score) == "█ ▁▄"


def test_rows_are_written_as_a_list(tmp_path):
    rows = against("random", POLICIES, "hanamikoji", 40)
    report.write_rows(rows, tmp_path / "evaluation.json")
    content = json.loads((tmp_path / "evaluation.json").read_text())
    assert [(r["opponent"], r["play"]) for r in content] == [
        (name, play) for name in POLICIES for play in ("sample", "argmax")
    ]
    assert all(0 <= r["low"] <= r["rate"] <= r["high"] <= 1 for r in content)


def test_policies_of_the_same_name_are_told_apart():
    result = evaluate(["random", "random"], "hanamikoji", 4)
    assert result.policies == ["random", "random (2)"]


# --- Mistakes


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"policies": ["random"]}, "at least two"),
        ({"policies": ["random", "randm"]}, "randm"),
        ({"policies": ["random", 3]}, "3"),
        ({"game": "hanamikji"}, "did you mean hanamikoji"),
        ({"games": 7}, "even"),
        ({"games": 0}, "even"),
        ({"game": "hanabi:2p", "policies": ["random"], "games": 1}, "at least 2, not 1"),
        ({"seed": -1}, "from 0"),
        ({"play": "argmx"}, "argmax"),
        ({"max_rouns": 3}, "max_rounds"),
        ({"policies": ["random", RandomPolicy(ONE_ROUND)]}, "cannot play"),
        ({"policies": ["random", Cheating(variant("hanamikoji"))]}, "not legal"),
    ],
)
def test_mistakes_are_told_in_one_sentence(change, words):
    given = {"policies": POLICIES, "game": "hanamikoji", "games": 4} | change
    with pytest.raises(UserError, match=words) as mistake:
        evaluate(given.pop("policies"), given.pop("game"), **given)
    assert "\n" not in str(mistake.value)
