"""A game at a table, without a server: what is kept of it, and who reads it."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hanamachi.training.serve.store as kept
from hanamachi.errors import UserError
from hanamachi.games.registry import variant
from hanamachi.policies.sampling import uniform
from hanamachi.policies.view_policy import ViewPolicy
from hanamachi.sessions import events
from hanamachi.sessions.worlds import Worlds
from hanamachi.training.serve.store import Store
from hanamachi.training.serve.tables import Table

GAME = variant("hanamikoji", max_rounds=1, starter=0)
READER = "reader"


class Reader(ViewPolicy):
    """Reads all that happened before it chooses, and counts its decisions."""

    def initial_memory(self, batch: int) -> Any:
        return np.zeros((batch, 1))

    def distribution(self, observation: Any, mask: Any, memory: Any) -> Any:
        return *super().distribution(observation, mask, memory)[:2], memory + 1

    def probabilities(self, worlds: Worlds, mask: Any) -> Any:
        for seat in (None, 0, 1):
            worlds.history(0).heard(seat)
        return uniform(mask)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path)
    yield opened
    opened.close()


def seated(store: Store) -> Table:
    """A table at which the policy sits in both seats."""
    return Table("table", GAME, (READER, READER), {0: Reader(GAME), 1: Reader(GAME)}, store)


def begun(store: Store) -> Table:
    table = seated(store)
    store.add_table(table.id, {}, {}, table.begin(seed=1))
    return table


def state(table: Table) -> Any:
    """The game and what policies remember, as the table has it, and as the store does."""
    session, store = table.session, table.store
    memory = [player.memory.tolist() for player in table.players.values()]
    in_store = store.events(table.id), store.memories(table.id)
    return session.games.tobytes(), session.actions[:], memory, table.replay, in_store


def test_a_move_that_is_not_legal_is_never_kept(store: Store) -> None:
    table = begun(store)
    chosen, before = table.choose(), state(table)
    _, mask = table.session.observe(0)
    with pytest.raises(UserError):
        table.play(chosen._replace(action=int(mask.argmin())))
    assert state(table) == before


def test_a_choice_for_another_position_is_never_kept(store: Store) -> None:
    table = begun(store)
    chosen = table.choose()
    table.again(given_up=True)
    before = state(table)
    with pytest.raises(UserError):
        table.play(chosen)
    assert state(table) == before


def test_the_last_move_is_kept_with_the_end_of_the_game_or_not_at_all(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    table = begun(store)
    while not table.over:
        before = state(table)
        with monkeypatch.context() as disk:
            disk.setattr(kept, "insert_replay", full)
            try:
                table.play(table.choose())
            except UserError:
                assert state(table) == before
                break
    assert not table.over
    table.play(table.choose())
    assert table.over
    assert [event.kind for event in store.events(table.id)[-2:]] == ["act", "end"]
    assert store.replay(str(table.replay))
    decisions = sum(player.memory.sum() for player in table.players.values())
    assert decisions == len(table.session.actions)


def test_a_policy_that_thinks_in_another_thread_only_reads_the_events(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changes(*_: Any) -> None:
        raise AssertionError("the events are not complete")

    def chosen(table: Table) -> Any:
        with monkeypatch.context() as thinking:
            thinking.setattr(events.History, "add_legal", changes)
            thinking.setattr(events, "hear", changes)
            return table.choose()

    table = begun(store)
    table.play(chosen(table))
    chosen(table)
    continued = seated(store)
    continued.restore()
    continued.play(chosen(continued))
    continued.again(given_up=True)
    chosen(continued)


def test_a_disk_that_cannot_be_read_ends_in_a_sentence(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.close()
    with pytest.raises(UserError, match="cannot read"):
        store.place_of("key")
