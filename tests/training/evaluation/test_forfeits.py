"""A policy that fails forfeits the games in which it fails, and stops nobody else."""

import json
import re
from functools import partial

import numpy as np
import pytest
from environments import last_legal
from rich.console import Console

from hanamachi.errors import IllegalAction, UserError
from hanamachi.games.registry import variant
from hanamachi.policies.policy import Policy
from hanamachi.policies.rules.rule_policy import RandomPolicy
from hanamachi.policies.user_functions import BatchPolicy, as_policy
from hanamachi.training.evaluation import matches, report
from hanamachi.training.evaluation.deals import Pairing, joined, play_part
from hanamachi.training.evaluation.files import as_csv
from hanamachi.training.evaluation.matches import match, results_of
from hanamachi.training.evaluation.page import evaluation_page

evaluate = partial(matches.evaluate, strict=False)
SMALL = {"max_rounds": 1}
GAME = variant("hanamikoji", **SMALL)
TEAM = {"colours": 2, "ranks": 3, "hand_size": 2}
RANDOM = RandomPolicy(GAME)
DEALS = np.arange(20, dtype=np.uint64)


def sometimes(observation):
    """In some positions, by what is seen there."""
    return int(np.abs(observation).sum() * 64) % 7 == 0


def raising(observation, mask):
    raise ValueError("no idea")


def failing_at_times(observation, mask):
    if sometimes(observation):
        raise ValueError("no idea")
    return last_legal(observation, mask)


def illegal(observation, mask):
    return int(np.flatnonzero(mask == 0)[0])


def no_action(observation, mask):
    return None


class Answering(Policy):
    """Answers with what a function of the masks returns."""

    def __init__(self, answer):
        super().__init__(GAME)
        self.answer, self.name = answer, "answering"

    def distribution(self, observation, mask, memory):
        return self.answer(mask), None, memory


FAULTS = {
    "raises": raising,
    "illegal": illegal,
    "nothing": no_action,
    "not finite": Answering(lambda mask: np.full(mask.shape, np.nan)),
    "wrong shape": Answering(lambda mask: np.ones((len(mask), 3))),
    "no memory": Answering(lambda mask: mask[:0]),
    "batch": BatchPolicy(lambda observations, masks: masks.argmin(1), GAME),
}


@pytest.mark.parametrize("policy", FAULTS.values(), ids=FAULTS)
def test_a_policy_that_always_fails_loses_every_game_and_stops_nobody(policy):
    result = evaluate([policy, "greedy", "random"], "hanamikoji", 20, **SMALL)
    (whole,) = result.results
    assert whole.rate[0].tolist() == [0.5, 0, 0]
    others = evaluate(["greedy", "random"], "hanamikoji", 20, **SMALL).results[0]
    assert whole.rate[1, 2] == others.rate[0, 1]
    assert [each.games for each in result.forfeits] == [20, 20]
    first = result.forfeits[0]
    assert (first.policy, first.opponent) == (result.policies[0], "greedy")
    assert first.deal == 0
    assert first.decision in (1, 2)
    assert first.error


def all_at_once(observations, masks):
    return np.array([failing_at_times(*row) for row in zip(observations, masks, strict=True)])


@pytest.mark.parametrize("policy", [failing_at_times, BatchPolicy(all_at_once, GAME)])
def test_only_the_games_in_which_it_fails_are_forfeited(policy):
    """The others are those of a policy that plays the same and never fails."""
    part, whole = (
        play_part(
            Pairing((as_policy(mine, GAME), RANDOM), ("", ""), GAME, "sample"), 0, False, 0, DEALS
        )
        for mine in (policy, last_legal)
    )
    deals = {failure.deal for failure in part.failures}
    assert 0 < len(deals) < len(DEALS)
    untouched = [deal for deal in range(len(DEALS)) if deal not in deals]
    assert (part.scores[untouched] == whole.scores[untouched]).all()
    assert (part.scores[sorted(deals)] <= 0.5).all()
    assert not whole.failures


def test_failures_are_in_the_order_of_the_deals():
    both = tuple(as_policy(failing_at_times, GAME) for _ in range(2))
    pairing = Pairing(both, ("one", "other"), GAME, "sample")
    parts = [play_part(pairing, 0, False, 0, deals) for deals in (DEALS[10:], DEALS[:10])]
    for part in (*parts, joined(parts)):
        deals = [failure.deal for failure in part.failures]
        assert deals == sorted(deals)
        assert {failure.side for failure in part.failures} == {0, 1}


def test_a_failure_of_the_second_policy_is_a_win_of_the_first():
    for pair, score in (((raising, "random"), 0.0), (("random", raising), 1.0)):
        result = evaluate(pair, "hanamikoji", 4, **SMALL)
        assert result.results[0].rate[0, 1] == score
        assert {each.policy for each in result.forfeits} == {"raising"}


def test_the_batch_size_changes_no_bit_of_forfeits():
    texts = {
        json.dumps(
            evaluate(
                [failing_at_times, "random"], "hanamikoji", 24, 5, batch=batch, **SMALL
            ).as_json()
        )
        for batch in (8192, 10, 2)
    }
    assert len(texts) == 1
    assert json.loads(texts.pop())["forfeits"]


def test_against_opponents_it_is_the_same():
    (row,) = (result := evaluate([raising], "hanamikoji", 4, opponents=["greedy"], **SMALL)).results
    assert row.rate == 0
    assert [each.games for each in result.forfeits] == [4]
    (row,) = (result := evaluate(["greedy"], "hanamikoji", 4, opponents=[raising], **SMALL)).results
    assert row.rate == 1
    assert result.forfeits[0].policy == "raising"


def test_a_team_with_a_policy_that_fails_scores_nothing():
    result = evaluate([raising, "random"], "hanabi:2p", 6, **TEAM)
    mine, mixed, sane = result.results
    assert (mine.mean, mine.lost, mixed.mean, mixed.lost) == (0, 1, 0, 1)
    assert sane == results_of("random", [], "hanabi:2p", 6, plays=["argmax"], **TEAM)[0]
    assert [(each.policy, each.games) for each in result.forfeits] == [("raising", 6)] * 2


def test_a_table_tells_forfeits_apart_by_who_sits_where():
    how = {"opponents": [failing_at_times, "random"], "play": "argmax", **TEAM}
    result = evaluate([failing_at_times, "random"], "hanabi:2p", 20, **how)
    cells = [line.split(",") for line in as_csv(result).splitlines()]
    told = {(row[0], row[1]): (int(row[-2]), int(row[-1])) for row in cells[1:]}
    ours = "failing_at_times"
    assert sum(told[ours, "random"]) + sum(told["random", ours]) == sum(
        each.games for each in result.forfeits if {each.policy, each.opponent} == {ours, "random"}
    )
    assert told[ours, "random"][1] == told["random", ours][0] == 0
    assert told[ours, "random"][0] != told["random", ours][1]


def test_everything_says_who_failed_how_often_and_how():
    result = evaluate([raising, "random"], "hanamikoji", 4, play="both", **SMALL)
    console = Console(width=80)
    with console.capture() as printed:
        console.print(report.tables(result))
    words = " ".join(printed.get().split())
    page = evaluation_page(result)
    for text in (words, page):
        assert "raising failed and forfeited 8 games" in text
        assert "ValueError: no idea" in text
    (first, *_) = result.as_json()["forfeits"]
    assert re.fullmatch(r"ValueError: no idea \(test_forfeits\.py, line \d+\)", first["error"])
    assert first == {
        "policy": "raising", "opponent": "random", "play": "sample", "games": 4,
        "deal": 0, "decision": first["decision"], "error": first["error"], "place": 0,
    }  # fmt: skip
    assert as_csv(result).splitlines()[1].endswith(",4,0")


def test_strict_evaluations_and_those_of_training_raise_the_error():
    with pytest.raises(ValueError, match="no idea"):
        evaluate([raising, "random"], "hanamikoji", 4, strict=True, **SMALL)
    with pytest.raises(ValueError, match="no idea"):
        results_of("random", [raising], "hanamikoji", 4, **SMALL)
    with pytest.raises(ValueError, match="no idea"):
        results_of(raising, [], "hanabi:2p", 2, **TEAM)
    with pytest.raises(IllegalAction):
        match((RANDOM, FAULTS["batch"]), GAME, 4, 0)


def test_a_policy_without_a_memory_is_refused_before_any_game():
    class Forgetful(RandomPolicy):
        name = "forgetful"

        def initial_memory(self, batch):
            return np.zeros(3)

    with pytest.raises(UserError, match="forgetful"):
        evaluate([Forgetful(GAME), "random"], "hanamikoji", 4, **SMALL)


def test_too_little_memory_is_no_failure_of_a_policy():
    def greedy_for_memory(observation, mask):
        raise MemoryError

    with pytest.raises(MemoryError):
        evaluate([greedy_for_memory, "random"], "hanamikoji", 4, **SMALL)
