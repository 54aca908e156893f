"""A review says how much each move lost, and points out those that lost most."""

import pytest

from hanamachi.games.registry import variant
from hanamachi.policies.search.regret import Regret
from hanamachi.sessions.saved_games import record_of
from hanamachi.sessions.session import Session
from hanamachi.training.evaluation import review
from hanamachi.training.evaluation.review import Review, worst


def test_a_loss_that_two_digits_do_not_show_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    losses = iter([0.004, 0.014])
    monkeypatch.setattr(review, "regret", lambda *_: Regret(next(losses), 0.0, best=0))
    session = Session(variant("hanamikoji"))
    session.begin(seed=1)
    for _ in range(2):
        _, mask = session.observe(session.mover)
        session.step(int(mask.argmax()))
    made = Review(record_of(session))
    while made.judge_next():
        pass
    assert [move.lost for move in made.moves] == [0, 0.01]
    assert [move.number for move in worst(made.moves)] == [2]
