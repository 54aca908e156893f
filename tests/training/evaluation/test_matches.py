"""Evaluations are fair, say how sure they are, and come out the same however they are run."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from environments import first_legal, last_legal
from messages import assert_one_sentence
from rich.console import Console

from hanamachi.errors import UserError
from hanamachi.games.registry import variant as make_variant
from hanamachi.policies import BatchPolicy, load_policy
from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.networks.network import checkpoint_of, for_variant
from hanamachi.policies.policy import Policy
from hanamachi.policies.rules.registry import rule_policies_for
from hanamachi.policies.rules.rule_policy import RandomPolicy
from hanamachi.sessions.saved_games import load as load_game
from hanamachi.sessions.saved_games import replay
from hanamachi.training import Config, evaluate, train
from hanamachi.training.evaluation import deals as playing
from hanamachi.training.evaluation import files, json_results, pairings, report
from hanamachi.training.evaluation.matches import match, results_of
from hanamachi.training.evaluation.page import evaluation_page
from hanamachi.training.evaluation.playing import play_games
from hanamachi.training.evaluation.ranking import TOO_NOISY
from hanamachi.training.evaluation.results import Evaluation, Row, TeamScore, win_rates_of

ONE_ROUND = make_variant("hanamikoji", max_rounds=1)
TOGETHER = make_variant("hanabi:3p", colours=2, ranks=3, hand_size=2)
POLICIES = ["random", "greedy"]


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
    variant = pair[0].variant
    scores = [match(pair, variant, 400, seed) for seed in (0, 1)]
    assert len(np.unique(scores[0])) == 3
    assert (scores[0] != scores[1]).any()


def test_a_draw_counts_half():
    tied = np.array([[0.0, 0.0]])
    small = {"cards": (2, 2), "actions": ("secret",), "max_rounds": 1}
    variant = make_variant("hanamikoji", **small)
    pair = RandomPolicy(variant), RandomPolicy(variant)
    seating, deals = np.tile([0, 1], (50, 1)), np.arange(50, dtype=np.uint64)
    returns, _ = play_games(pair, variant, seating, deals, 0, "sample")
    assert (returns == tied).all(1).any(), "this small game is often a draw"
    rows = results_of("random", [last_legal], "hanamikoji", 200, **small)
    assert all(row.low <= 0.5 <= row.high for row in rows)


def test_a_function_of_many_games_at_once_is_judged_as_one_of_each():
    def last_of_each(observations, masks):
        return masks.shape[1] - 1 - masks[:, ::-1].argmax(1)

    at_once = BatchPolicy(last_of_each, ONE_ROUND)
    rows = [
        results_of(policy, ["random"], "hanamikoji", 40, plays=["sample"], max_rounds=1)[0]
        for policy in (at_once, last_legal)
    ]
    assert rows[0].policy == "last_of_each"
    assert rows[0].rate == rows[1].rate
    assert str(rows[0]) == str(rows[1])


def test_a_row_is_a_sentence():
    row = Row("mine", "random", "sample", 2_000, 0.7124, 0.69, 0.7341)
    assert str(row) == "71.2% against random (69.0 to 73.4), 2,000 games"


def test_memory_belongs_to_a_game_and_a_seat_and_only_going_games_are_asked():
    pair = Watching(ONE_ROUND), Watching(ONE_ROUND)
    assert len(match(pair, ONE_ROUND, 64, 0)) == 32


def test_argmax_breaks_ties_at_random():
    """A uniform policy has no favourite: taking the first legal action would be another policy."""
    variant = make_variant("hanamikoji")
    pair = RandomPolicy(variant), load_policy("greedy", "hanamikoji")
    sampled, mode = (match(pair, variant, 100, 0, play=p) for p in ("sample", "argmax"))
    assert (sampled == mode).all()


# --- Partners


def test_a_cooperative_game_is_scored_by_its_points():
    policy, seating = RandomPolicy(TOGETHER), np.zeros((200, 3), np.int64)
    deals = np.arange(200, dtype=np.uint64)
    returns, ended = play_games([policy], TOGETHER, seating, deals, 4, "sample")
    assert (returns == ended["score"][:, None]).all()
    (row,) = results_of(policy, [], TOGETHER.id, 200, 4, plays=["sample"], **TOGETHER.options)
    assert row.histogram == np.bincount(ended["score"], minlength=7).tolist()
    assert row.mean == pytest.approx(ended["score"].mean(), abs=1e-6)
    assert row.lost == (ended["errors"] == 3).mean()
    assert row.perfect == (ended["score"] == 6).mean()
    assert row.low < row.mean < row.high


def test_an_interval_never_passes_the_best_score():
    one_card = {"colours": 1, "ranks": 1, "hand_size": 1}
    (row,) = results_of("random", [], "hanabi:2p", 40, plays=["sample"], **one_card)
    assert 0 < row.mean < row.high == 1
    assert row.low >= 0


def test_a_defeat_counts_as_one_whatever_its_score():
    options = dict(TOGETHER.options) | {"strikeout_score": "fireworks", "max_errors": 1}
    (row,) = results_of("random", [], "hanabi:3p", 200, plays=["sample"], **options)
    assert row.lost > row.histogram[0] / row.games


def test_partners_sit_in_turn_and_change_seats_from_deal_to_deal(monkeypatch):
    seatings = []

    def spy(policies, variant, seating, deals, *how):
        seatings.extend(zip(deals.tolist(), seating.tolist(), strict=True))
        return play_games(policies, variant, seating, deals, *how)

    monkeypatch.setattr(playing, "play_games", spy)
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
    rows = results_of("random", [last_legal], "hanabi:3p", 60, **TOGETHER.options)
    assert [row.play for row in rows] == 2 * ["argmax", "sample"]
    assert [row for row in result.results if row in rows] == rows[::2] + rows[1::2]


@dataclass
class SameAsAll:
    """A policy that is equal to others like it, and has no hash."""

    depth: int = 1

    def __call__(self, observation, mask):
        return first_legal(observation, mask)


def test_policies_that_cannot_be_hashed_play():
    one, other = SameAsAll(), SameAsAll()
    result = evaluate([one, other, one], "hanamikoji", 4, opponents=[one, "random", "random"])
    assert [(row.policy, row.opponent) for row in result.results] == [
        ("SameAsAll", "SameAsAll"),
        ("SameAsAll", "random"),
        ("SameAsAll (2)", "SameAsAll"),
        ("SameAsAll (2)", "random"),
    ]


def test_each_policy_is_loaded_once(monkeypatch):
    seen = []
    load = pairings.load_policy
    monkeypatch.setattr(
        pairings, "load_policy", lambda *given: seen.append(given[0]) or load(*given)
    )
    everybody = ["random", "greedy", "expert"]
    evaluate(everybody[:2], "hanamikoji", 2, opponents=everybody)
    assert sorted(seen) == sorted(everybody)


def test_partners_play_what_is_most_probable_unless_told_and_rivals_sample():
    network = CompiledPolicy(checkpoint_of(for_variant(TOGETHER, [16]), TOGETHER))
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
        *(
            ("policy", mates, play)
            for mates in ("policy", "random")
            for play in ("argmax", "sample")
        ),
        ("random", "random", "argmax"),
    ]
    card = (policy / "README.md").read_text()
    assert f"| itself | argmax | 40 | {rows[0]['mean']:.3f} |" in card
    assert f"| random alone | argmax | 40 | {rows[-1]['mean']:.3f} |" in card
    assert "in any seat" in card
    again = results_of(policy, ["random"], TOGETHER.id, 40, seed=2, **TOGETHER.options)
    assert [row.histogram for row in again] == [row["histogram"] for row in rows[:-1]]


# --- The same numbers, however they are run


@pytest.mark.parametrize("play", ["sample", "argmax"])
def test_batch_size_changes_no_bit(play):
    network = CompiledPolicy(checkpoint_of(for_variant(ONE_ROUND, [16]), ONE_ROUND))

    def text(batch):
        policies = [network, "random", "greedy"]
        result = evaluate(
            policies, "hanamikoji", 24, 5, play=play, batch=batch, **ONE_ROUND.options
        )
        return json.dumps(result.as_json())

    assert text(8192) == text(10) == text(2) == text(1)


@pytest.mark.parametrize("play", ["sample", "argmax"])
def test_batch_size_changes_no_bit_among_partners(play):
    network = CompiledPolicy(checkpoint_of(for_variant(TOGETHER, [16]), TOGETHER))

    def text(batch):
        how = {"play": play, "batch": batch, **TOGETHER.options}
        return json.dumps(evaluate([network, "random"], TOGETHER.id, 25, 5, **how).as_json())

    assert text(8192) == text(10) == text(1)


def test_the_matrix_and_the_rows_agree():
    whole = evaluate(["greedy", "random"], "hanamikoji", 200, 1, play="both")
    rows = results_of("greedy", ["random"], "hanamikoji", 200, 1)
    for row, result in zip(rows, whole.results, strict=True):
        assert row == Row(
            "greedy",
            "random",
            result.play,
            200,
            *(round(float(m[0, 1]), 6) for m in (result.rate, result.low, result.high)),
        )
        assert result.rate[1, 0] == 1 - result.rate[0, 1]
        assert (result.low[1, 0], result.high[1, 0]) == (
            1 - result.high[0, 1],
            1 - result.low[0, 1],
        )


# --- Against particular opponents


def test_against_opponents_only_the_policys_own_games_are_played():
    result = evaluate(["greedy"], "hanamikoji", 40, 1, opponents=["random", "expert"], play="both")
    assert (result.policies, result.opponents) == (["greedy"], ["random", "expert"])
    assert result.results == results_of("greedy", ["random", "expert"], "hanamikoji", 40, 1)


def test_all_are_the_other_rule_policies_that_play_the_variant_each_once():
    result = evaluate(["greedy", "random"], "hanamikoji", 2, opponents=["random", "all"])
    pairs = [(row.policy, row.opponent) for row in result.results]
    assert pairs == [
        ("greedy", "random"), ("greedy", "expert"),
        ("random", "random"), ("random", "greedy"), ("random", "expert"),
    ]  # fmt: skip
    for seats, names in ((2, []), (3, ["hat"])):
        variant = make_variant(f"hanabi:{seats}p")
        assert rule_policies_for(variant) == ["random", "greedy", "expert", *names]


def test_in_a_cooperative_game_a_policy_plays_with_itself_and_beside_each():
    options = TOGETHER.options
    result = evaluate([last_legal], TOGETHER.id, 20, opponents=["random"], **options)
    assert [row.partners for row in result.results] == ["last_legal", "random"]
    assert result.opponents == ["random"]
    expected = results_of(last_legal, ["random"], TOGETHER.id, 20, plays=["argmax"], **options)
    assert result.results == expected


@pytest.mark.parametrize("variant", [ONE_ROUND, TOGETHER], ids=["rivals", "partners"])
def test_differences_are_those_of_the_results_on_the_same_deals(variant):
    given = {"opponents": ["random", "greedy", "all"], "play": "both", **variant.options}
    result = evaluate(["greedy", "random", "expert"], variant.id, 40, **given)
    team = variant.game.cooperative
    means = {
        (row.policy, row.other if team else row.opponent, row.play): (
            row.mean if team else row.rate
        )
        for row in result.results
    }
    told = {(each.policy, each.opponent, each.play): each for each in result.differences}
    for (policy, other, play), each in told.items():
        assert (each.than, each.games) == ("greedy", 40)
        gain = means[policy, other, play] - means["greedy", other, play]
        assert each.mean == pytest.approx(gain, abs=2e-6)
        assert each.low < each.mean < each.high
    met = {key for key in means if key[0] != "greedy" and ("greedy", *key[1:]) in means}
    assert told.keys() == met
    assert "difference to greedy" in displayed(result)
    assert "Difference to greedy" in evaluation_page(result)
    assert result.as_json()["differences"][0]["than"] == "greedy"


def test_one_policy_and_policies_that_meet_each_other_have_no_differences():
    assert evaluate(["greedy"], "hanamikoji", 4, opponents=["random"]).differences == []
    assert evaluate(["greedy", "random"], "hanamikoji", 4).differences == []


def displayed(result):
    console = Console(width=140)
    with console.capture() as shown:
        console.print(report.tables(result))
    return shown.get()


@pytest.mark.parametrize("variant", [ONE_ROUND, TOGETHER], ids=["rivals", "partners"])
@pytest.mark.parametrize("policies", [["random"], ["random", last_legal]], ids=len)
def test_results_against_opponents_are_shown_and_written(variant, policies, tmp_path):
    given = {"opponents": [last_legal, "random"], "play": "both", **variant.options}
    result = evaluate(policies, variant.id, 20, **given)
    data, _, _, picture = files.write(result, tmp_path)
    rows = json.loads(data.read_text())["results"]
    assert len(rows) == len(result.results)
    assert len(rows) + len(result.differences) == displayed(result).count("20 │")
    assert picture.read_bytes().startswith(b"\x89PNG")


# --- What is written


def test_cycles_are_shown_and_written(tmp_path):
    """Tuples of policies, shares and doubts; of two policies, which have none, nothing."""
    won, lost = np.ones(20), np.zeros(20)
    names, pairs = ["rock", "scissors", "paper"], [(0, 1), (0, 2), (1, 2)]
    scores = np.array([won, lost, won])
    whole = win_rates_of("sample", names, pairs, scores)
    result = Evaluation("hanamikoji", {}, names, [], 40, 0, [whole])
    words = displayed(result)
    assert "rock beats scissors in 100.0, scissors beats paper in 100.0" in words
    assert "beyond noise" in words
    assert "cyclic: 100.0%" in words
    content = json.loads(files.write(result, tmp_path)[0].read_text())["results"][0]
    assert content["cycle"]["policies"] == names
    assert content["cyclic"] == 1
    two = win_rates_of("sample", names[:2], pairs[:1], scores[:1])
    assert "cyclic" not in displayed(Evaluation("hanamikoji", {}, names[:2], [], 40, 0, [two]))


def test_cycles_that_noise_could_hide_are_not_shown():
    names, pairs = ["rock", "scissors", "paper"], [(0, 1), (0, 2), (1, 2)]
    few = win_rates_of("sample", names, pairs, np.tile([0.0, 1.0], (3, 2)))
    assert few.noise >= TOO_NOISY
    assert "cyclic" not in displayed(Evaluation("hanamikoji", {}, names, [], 8, 0, [few]))


def test_json_and_picture_are_written(tmp_path):
    result = evaluate([*POLICIES, last_legal], "hanamikoji", 40, play="both", max_rounds=1)
    data, _, _, picture = files.write(result, tmp_path / "new")
    content = json.loads(data.read_text())
    assert content["policies"] == ["random", "greedy", "last_legal"]
    assert content["options"]["max_rounds"] == 1
    assert [r["play"] for r in content["results"]] == ["sample", "argmax"]
    assert np.shape(content["results"][0]["rate"]) == (3, 3)
    assert picture.read_bytes().startswith(b"\x89PNG")
    kinds = "csv", "html", "json", "png"
    assert sorted(p.name for p in data.parent.iterdir()) == [f"evaluation.{k}" for k in kinds]


@pytest.mark.parametrize("opponents", [[], ["random"]], ids=len)
@pytest.mark.parametrize("variant", [ONE_ROUND, TOGETHER], ids=lambda variant: variant.id)
def test_a_name_that_is_not_in_utf_8_is_written_with_an_escape(variant, opponents, tmp_path):
    policy = RandomPolicy(variant)
    policy.name = "runs/\udce9/policy"  # as Python reads b"runs/\xe9/policy"
    how = {"opponents": opponents, **variant.options}
    result = evaluate([policy, last_legal], variant.id, 4, **how)
    data, *texts, _ = files.write(result, tmp_path)
    assert json.loads(data.read_text())["policies"] == [policy.name, "last_legal"]
    for text in texts:
        assert r"\udce9" in text.read_text(encoding="utf-8")


@pytest.mark.parametrize("policies", [["random"], ["random", last_legal]], ids=len)
def test_scores_are_shown_and_written(policies, tmp_path):
    result = evaluate(policies, TOGETHER.id, 40, play="both", **TOGETHER.options)
    data, _, _, picture = files.write(result, tmp_path)
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


def test_a_histogram_shows_the_least_that_occurs():
    counts = [800, 0, 1, 400]
    score = TeamScore("p", "p", "argmax", 1201, 1.0, 0.9, 1.1, 0.3, 0.6, counts)
    assert report.bars(score.histogram) == "█ ▁▄"


def test_rows_are_written_as_a_list(tmp_path):
    rows = results_of("random", POLICIES, "hanamikoji", 40)
    json_results.write_rows(rows, tmp_path / "evaluation.json")
    content = json.loads((tmp_path / "evaluation.json").read_text())
    assert [(r["opponent"], r["play"]) for r in content] == [
        (name, play) for name in POLICIES for play in ("sample", "argmax")
    ]
    assert all(0 <= r["low"] <= r["rate"] <= r["high"] <= 1 for r in content)


def test_written_rows_are_read_as_the_same(tmp_path):
    rows = results_of("random", POLICIES, "hanamikoji", 40)
    json_results.write_rows(rows, tmp_path / "evaluation.json")
    assert json_results.read_rows(tmp_path / "evaluation.json") == rows


@pytest.mark.parametrize(
    "text", [b"", b"[]", b"{}", b"[1]", b'[{"policy": "p"}]', b"[" * 5_000, b"\xff", b"null"]
)
def test_damaged_rows_are_refused(text, tmp_path):
    (tmp_path / "evaluation.json").write_bytes(text)
    with pytest.raises(UserError, match=re.escape("evaluation.json")):
        json_results.read_rows(tmp_path / "evaluation.json")


def test_results_of_a_run_that_hold_far_too_much_are_refused_unread(tmp_path):
    (tmp_path / "evaluation.json").write_bytes(b"[" + b"[]," * 1_000_000 + b"[]]")
    with pytest.raises(UserError, match="bytes"):
        json_results.read_rows(tmp_path / "evaluation.json")


def test_policies_of_the_same_name_are_told_apart():
    result = evaluate(["random", "random"], "hanamikoji", 4)
    assert result.policies == ["random", "random (2)"]
    two = [load_policy("random", "hanamikoji") for _ in range(2)]
    other = load_policy("random", "hanamikoji")
    result = evaluate(two, "hanamikoji", 4, opponents=[other, "random", two[0]], play="sample")
    assert [(row.policy, row.opponent) for row in result.results] == [
        ("random", "random (3)"),
        ("random", "random (4)"),
        ("random", "random"),
        ("random (2)", "random (3)"),
        ("random (2)", "random (4)"),
        ("random (2)", "random"),
    ]


def test_one_policy_or_opponent_needs_no_list():
    policy = RandomPolicy(make_variant("hanamikoji"))
    for alone in ("random", Path("random"), policy):
        found = evaluate(alone, "hanamikoji", 4, opponents="greedy")
        assert (found.policies, found.opponents) == (["random"], ["greedy"])
    assert results_of("random", policy, "hanamikoji", 4)[0].opponent == "random (2)"


# --- Mistakes


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"policies": ["random"]}, "at least two"),
        ({"policies": ["random", "randm"]}, "randm"),
        ({"policies": ["random", 3]}, "3"),
        ({"policies": 3}, "not 3"),
        ({"game": "hanamikji"}, "did you mean hanamikoji"),
        ({"games": 7}, "even"),
        ({"games": 0}, "even"),
        ({"game": "hanabi:2p", "policies": ["random"], "games": 1}, "from 2 to"),
        ({"games": 10**15}, "games"),
        ({"games": 10**5_000}, "games"),
        ({"games": "10"}, "games"),
        ({"games": 1.5}, "games"),
        ({"seed": -1}, "from 0"),
        ({"seed": 2**64}, "seed"),
        ({"seed": 10**5_000}, "seed"),
        ({"seed": None}, "seed"),
        ({"play": "argmx"}, "argmax"),
        ({"play": np.array(["argmax", "sample"])}, "argmax"),
        ({"batch": 0}, "batch"),
        ({"batch": "x"}, "batch"),
        ({"out": "a\0b"}, "characters"),
        ({"out": 5}, "path"),
        ({"policies": [["random"]]}, "random"),
        ({"max_rouns": 3}, "max_rounds"),
        ({"policies": [], "opponents": ["greedy"]}, "at least one policy"),
        ({"policies": [], "game": "hanabi:2p"}, "at least one policy"),
        ({"policies": ["random", RandomPolicy(ONE_ROUND)]}, "with other options"),
        ({"policies": ["random", RandomPolicy(make_variant("hanabi:2p"))]}, "cannot play"),
        ({"policies": ["random", Cheating(make_variant("hanamikoji"))]}, "cheating"),
    ],
)
def test_mistakes_are_told_in_one_sentence(change, words):
    given = {"policies": POLICIES, "game": "hanamikoji", "games": 4} | change
    with pytest.raises(UserError, match=words) as mistake:
        evaluate(given.pop("policies"), given.pop("game"), **given)
    assert_one_sentence(mistake.value)


def test_all_opponents_of_the_only_rule_policy_are_nobody(monkeypatch):
    monkeypatch.setattr(pairings, "rule_policies_for", lambda variant: ["random"])
    with pytest.raises(UserError, match="other than itself"):
        evaluate(["random"], "hanamikoji", 2, opponents=["all"])


# --- Games to look at


def test_each_game_of_a_match_can_be_replayed(tmp_path):
    how = {"play": "sample", "out": tmp_path, "replays": True, "max_rounds": 1}
    (row,) = evaluate(["greedy"], "hanamikoji", 6, opponents=["random"], **how).results
    games = sorted((tmp_path / "replays" / "0").iterdir())
    assert [file.stem for file in games] == ["0a", "0b", "1a", "1b", "2a", "2b"]
    leads = [np.dot(replay(load_game(file)).rewards(), (1, -1)) for file in games]
    assert 2 * row.rate - 1 == np.mean(np.sign(leads) * (1, -1, 1, -1, 1, -1))


def test_replays_need_a_folder():
    with pytest.raises(UserError):
        evaluate(["greedy", "random"], "hanamikoji", 2, replays=True)
