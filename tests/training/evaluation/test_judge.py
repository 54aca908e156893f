"""What moves lose: a search judges them, and better policies lose less."""

import json
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from small_games import GIFTS

from hanamachi.engine import kernels
from hanamachi.errors import UserError
from hanamachi.games.registry import variant
from hanamachi.policies.load import load_policy
from hanamachi.policies.sampling import uniform
from hanamachi.policies.search.regret import Regret, asked, regret, regret_in
from hanamachi.policies.view_policy import ViewPolicy
from hanamachi.sessions.players import SeatedPlayer, in_progress, turn_of, turns_of
from hanamachi.sessions.session import Session
from hanamachi.training.evaluation import report
from hanamachi.training.evaluation.judge import LossJudge
from hanamachi.training.evaluation.matches import evaluate
from hanamachi.training.evaluation.page import evaluation_page

SMALL = {"max_rounds": 1}


def judged(**how: Any) -> Any:
    return evaluate(["random", "expert"], "hanamikoji", 6, judge=8, **SMALL, **how)


def test_random_moves_lose_more_than_those_of_the_expert() -> None:
    result = judged()
    by_chance, expert = result.judged
    assert (by_chance.policy, expert.policy) == ("random", "expert")
    assert by_chance.lost > expert.lost
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


class Counting(ViewPolicy):
    """Counts what evaluations count, too."""

    name = "counting"
    asked = 0

    def probabilities(self, worlds: Any, mask: Any) -> Any:
        type(self).asked += 1
        return uniform(mask)

    def counts(self) -> Any:
        return {"decisions": self.asked, "judged": self.asked, "lost": 1000 * self.asked}


def test_what_a_policy_counts_is_no_loss_of_its_moves_and_no_use_of_a_model() -> None:
    counting = Counting(variant("hanamikoji", **SMALL))
    result = evaluate([counting, "random"], "hanamikoji", 4, judge=4, **SMALL)
    assert result.judged[0].lost < 2
    assert not result.models


def test_teams_are_judged_too() -> None:
    team = {"colours": 2, "ranks": 2, "hand_size": 2}
    result = evaluate(["random"], "hanabi:2p", 2, judge=4, **team)
    assert result.judged[0].moves > 0


@pytest.mark.parametrize("worlds", [-1, 1, 10**9, None])
def test_a_number_of_worlds_that_cannot_be_is_refused(worlds: Any) -> None:
    with pytest.raises(UserError, match="judge"):
        evaluate(["random", "expert"], "hanamikoji", 6, judge=worlds)


def regret_of(action: int, results: Any) -> Regret:
    """The regret of an action, by results in each world, (K, J)."""
    found = np.array(results, float)
    return regret_in(found, np.arange(found.shape[1]), action)


def test_a_loss_is_clear_only_beyond_the_noise_of_its_worlds() -> None:
    lost = {
        # a mean of 0.625 whose standard error is 0.375
        "two worlds": regret_of(1, [[0.25, 0], [1.0, 0]]),
        "every world": regret_of(1, [[1.0, 0.5], [0.9, 0.5]]),
    }
    assert {name: (loss.mean, loss.clear) for name, loss in lost.items()} == {
        "two worlds": (0.625, 0.0),
        "every world": (pytest.approx(0.45), pytest.approx(0.45)),
    }
    assert regret_of(1, [[0, 0.25, 0.5], [0, 1.0, 0.5]]).best == 1


def test_a_forced_move_loses_nothing() -> None:
    session = Session(variant("hanamikoji"))
    session.begin(seed=0)
    while (mask := session.observe(session.mover)[1]).sum() > 1:
        session.step(int(mask.argmax()))
    search = load_policy("search:improve:random:worlds=2", session.variant)
    player, forced = SeatedPlayer(search, session.variant, 1), int(mask.argmax())
    assert regret(player, turn_of(session), forced, 4) == Regret(0.0, 0.0, forced)


def test_a_search_that_fails_leaves_the_memory_as_it_was() -> None:
    session = Session(variant("hanabi:2p"))
    session.begin(seed=0)
    search = load_policy("search:single_agent:greedy:worlds=2,hands=20", session.variant)
    player = SeatedPlayer(search, session.variant, 1)
    before = player.memory.copy()
    with pytest.raises(ZeroDivisionError), asked(player, turn_of(session)):
        raise ZeroDivisionError
    assert (player.memory == before).all()


def test_moves_that_are_equally_good_lose_nothing_on_average() -> None:
    rng = np.random.default_rng(0)
    lost = [regret_of(0, rng.normal(size=(8, 6))).mean for _ in range(2_000)]
    assert abs(np.mean(lost)) < 4 * np.std(lost) / np.sqrt(len(lost))


def test_moves_without_a_choice_are_not_counted() -> None:
    small = variant("hanamikoji", **GIFTS)
    table, judge = small.new(np.arange(8, dtype=np.uint64)), LossJudge(small, 8, worlds=2)
    kernels.reset(small.rule_set, table)
    legal: list[int] = []
    while (rows := in_progress(table)).size:
        turns = turns_of(small, table, rows)
        legal += turns.masks.sum(1).tolist()
        actions = turns.masks.argmax(1)
        judge.add(turns, actions)
        turns.step(table, actions)
    assert 1 in legal
    assert judge.sum().moves == sum(number > 1 for number in legal)
