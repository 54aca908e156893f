"""What moves lose: a search judges them, and better policies lose less."""

import json
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from hanamachi.errors import UserError
from hanamachi.policies.search.regret import regret
from hanamachi.training.evaluation import report
from hanamachi.training.evaluation.matches import evaluate
from hanamachi.training.evaluation.page import evaluation_page

SMALL = {"max_rounds": 1}


def judged(**how: Any) -> Any:
    return evaluate(["random", "expert"], "hanamikoji", 6, judge=8, **SMALL, **how)


def test_random_moves_lose_more_than_those_of_the_expert() -> None:
    result = judged()
    by_chance, expert = result.judged
    assert (by_chance.policy, expert.policy) == ("random", "expert")
    assert by_chance.lost > expert.lost >= 0
    assert by_chance.moves > 6
    console = Console(width=80)
    with console.capture() as printed:
        console.print(report.tables(result))
    for text in (printed.get(), evaluation_page(result)):
        assert f"{by_chance.lost:.3f}" in text


def test_a_judge_changes_no_game_and_no_batch_changes_a_judgement() -> None:
    results = [judged(batch=batch) for batch in (8192, 2)]
    assert len({json.dumps(result.as_json()) for result in results}) == 1
    alone = evaluate(["random", "expert"], "hanamikoji", 6, **SMALL)
    assert (alone.results[0].rate == results[0].results[0].rate).all()
    assert not alone.judged


def test_judgements_are_kept(tmp_path: Any) -> None:
    assert judged(out=tmp_path).as_json() == judged(out=tmp_path).as_json()
    with pytest.raises(UserError, match="judge"):
        evaluate(["random", "expert"], "hanamikoji", 6, out=tmp_path, **SMALL)


def test_teams_are_judged_too() -> None:
    team = {"colours": 2, "ranks": 2, "hand_size": 2}
    result = evaluate(["random"], "hanabi:2p", 2, judge=4, **team)
    assert result.judged[0].moves > 0


@pytest.mark.parametrize("worlds", [-1, 1, 10**9, None])
def test_a_number_of_worlds_that_cannot_be_is_refused(worlds: Any) -> None:
    with pytest.raises(UserError, match="judge"):
        evaluate(["random", "expert"], "hanamikoji", 6, judge=worlds)


class Fixed:
    """A search that has tried two actions, with these results in each world, (K, J)."""

    def __init__(self, results: Any) -> None:
        self.found = np.array(results, float)

    def decision(self, observation: Any, mask: Any, memory: Any) -> Any:
        return None, memory

    def tried(self, decision: Any) -> Any:
        return np.arange(self.found.shape[1])

    def results(self, decision: Any, actions: Any, worlds: int) -> Any:
        return self.found[:worlds, : len(actions)]


def test_a_loss_counts_only_beyond_the_noise_of_its_worlds() -> None:
    nothing = np.zeros((1, 0))
    lost = {
        # a mean of 0.625 whose standard error is 0.375
        "two worlds": regret(Fixed([[0.25, 0], [1.0, 0]]), nothing, nothing, nothing, 1, 2),
        "one action": regret(Fixed([[0.5]]), nothing, nothing, nothing, 0, 2),
        "every world": regret(Fixed([[1.0, 0.5], [0.9, 0.5]]), nothing, nothing, nothing, 1, 2),
    }
    assert {name: loss for name, (loss, _) in lost.items()} == {
        "two worlds": 0.0,
        "one action": 0.0,
        "every world": pytest.approx(0.45),
    }
