"""What moves lose: a search judges them, and better policies lose less."""

import json
from typing import Any

import pytest
from rich.console import Console

from hanamachi.errors import UserError
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


def test_a_number_of_worlds_that_cannot_be_is_refused() -> None:
    with pytest.raises(UserError, match="judge"):
        evaluate(["random", "expert"], "hanamikoji", 6, judge=-1)
