"""Reviews are made once, and those that are read stay."""

import asyncio
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest
from serving import Client

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


def test_one_address_leaves_room_for_the_reviews_of_others(
    made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reviews, "REVIEWS_OF_AN_ADDRESS", 1)
    worker = Worker("reviews")
    kept = Reviews(worker)

    async def at_once() -> list[Any]:
        wanted: Any = (("one", "a"), ("two", "a"), ("three", "b"))
        asked = (kept.of(game, game, 8, address) for game, address in wanted)
        return await asyncio.gather(*asked, return_exceptions=True)

    one, two, three = asyncio.run(at_once())
    assert isinstance(two, Full)
    assert one == three
    assert made == ["one", "three"]
    worker.close(wait=True)


def test_a_review_that_nobody_waits_for_any_more_is_not_made() -> None:
    begun: list[Any] = []
    game: Any = "one"

    class Idle:
        """Does no work, and never ends."""

        policy = None

        async def run(self, *call: Any) -> Any:
            begun.append(call)
            await asyncio.Event().wait()

    worker: Any = Idle()
    kept = Reviews(worker)

    async def leave() -> None:
        asked = [asyncio.create_task(kept.of(game, game, 8)) for _ in range(2)]
        await asyncio.sleep(0.01)
        making = kept.waiting[game, 8].task
        for request, left in zip(asked, (1, 0), strict=True):
            request.cancel()
            await asyncio.wait([request])
            await asyncio.sleep(0)
            assert making.cancelled() == (left == 0)
        assert not kept.waiting

    asyncio.run(leave())
    assert len(begun) == 1


def test_too_many_reviews_at_a_time_can_be_asked_for_later(
    made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reviews, "REVIEWS", 0)
    worker = Worker("reviews")
    with pytest.raises(Full):
        read(Reviews(worker), "one")
    assert not made
    worker.close(wait=True)


def test_the_review_of_a_browser_that_leaves_ends(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[float] = []

    class Endless:
        def __init__(self, *_: Any) -> None:
            pass

        def judge_next(self) -> bool:
            judged.append(time.monotonic())
            time.sleep(0.001)
            return True

    monkeypatch.setattr(reviews, "Review", Endless)
    id = client.post("/api/replays", {"text": "hanamikoji"}).json["replay"]
    with socket.create_connection(("127.0.0.1", client.port)) as browser:
        host = f"Host: 127.0.0.1:{client.port}"
        browser.sendall(f"GET /api/replays/{id}/review HTTP/1.1\r\n{host}\r\n\r\n".encode())
        wait_for(lambda: bool(judged))
    wait_for(lambda: time.monotonic() - judged[-1] > 0.2)


def wait_for(done: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not done():
        assert time.monotonic() < end
        time.sleep(0.01)
