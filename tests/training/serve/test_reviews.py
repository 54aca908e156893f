"""Reviews are made once, and those that are read stay."""

import asyncio
from typing import Any

import pytest

from hanamachi.training.serve import reviews
from hanamachi.training.serve.reviews import Reviews
from hanamachi.training.serve.store import Full
from hanamachi.training.serve.worker import Worker


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The games whose review is made, in order; no move is judged."""
    games: list[str] = []

    class Blank:
        agent, moves = "expert", ()

        def __init__(self, game: Any, worlds: int, policy: Any) -> None:
            games.append(game)

        def judge_next(self) -> bool:
            return False

    monkeypatch.setattr(reviews, "Review", Blank)
    return games


def read(kept: Reviews, *games: Any) -> None:
    async def one_by_one() -> None:
        for game in games:
            await kept.of(game, game, 8)

    asyncio.run(one_by_one())


def test_the_review_that_was_not_read_for_longest_makes_room(
    made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reviews, "KEPT", 2)
    worker = Worker("reviews")
    read(Reviews(worker), "often", "once", "often", "new", "often", "once")
    assert made == ["often", "once", "new", "once"]
    worker.close(wait=True)


def test_too_many_reviews_at_a_time_can_be_asked_for_later(
    made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reviews, "REVIEWS", 0)
    worker = Worker("reviews")
    with pytest.raises(Full):
        read(Reviews(worker), "one")
    assert not made
    worker.close(wait=True)
