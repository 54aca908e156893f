"""What bots hear: only what their seat may know, in the order that the page promises."""

import json
import re
from typing import Any

import numpy as np
import pytest
from root import ROOT

import hanamachi
from hanamachi.engine.contract import OVER
from hanamachi.policies.external.bot import Limits
from hanamachi.policies.external.protocol import (
    check_ready,
    end,
    goodbye,
    hello,
    move,
    probabilities_in,
)
from hanamachi.sessions.session import Session
from hanamachi.sessions.views import choices

every_variant = pytest.mark.parametrize("id", hanamachi.VARIANTS)


SAMPLES = re.findall(
    r"^    (\{.*\})$", (ROOT / "docs" / "bots.md").read_text(encoding="utf-8"), re.MULTILINE
)


def played(id: str, seed: int) -> Session:
    session = Session(hanamachi.variant(id))
    session.begin(seed)
    return session


@every_variant
def test_a_bot_that_reads_no_json_finds_type_and_choices_first(id: str) -> None:
    session = played(id, 0)
    line = move(session.history(), session.mover, 3, Limits()).decode()
    legal = np.flatnonzero(session.observe(session.mover)[1]).tolist()
    assert line.startswith('{"type":"move","choose_from":[' + ",".join(map(str, legal)) + "],")
    assert line.isascii()
    assert line.count("\n") == 1
    assert [choice["action"] for choice in json.loads(line)["view"]["legal"]] == legal


@every_variant
def test_a_bot_hears_its_reward_and_the_result(id: str) -> None:
    session = played(id, 1)
    earned = np.zeros(session.variant.seats)
    rng = np.random.default_rng(0)
    while session.mover != OVER:
        session.step(int(rng.choice(np.flatnonzero(session.observe(session.mover)[1]))))
        earned += session.rewards()
    for seat in range(session.variant.seats):
        message = json.loads(end(session.history(), seat, 0))
        assert message["reward"] == earned[seat]
        assert message["view"]["over"] is True
        assert message["result"] == message["view"]["status"]


@every_variant
def test_no_seed_and_no_generator_crosses_to_a_bot(id: str) -> None:
    """Games that differ only in what chance will bring give the same bytes."""
    session = played(id, 2)
    history, seat = session.history(), session.mover
    before = move(history, seat, 0, Limits())
    history.games["rng"] += np.uint64(1)
    assert move(history, seat, 0, Limits()) == before
    greeting = hello(session.variant, seat, Limits()).decode()
    assert str(session.generator) not in greeting + before.decode()


def shown_on_the_page() -> Session:
    """The game in which the page's `move` is asked: player 1 has used the first item as Secret."""
    session = played("hanamikoji", 2)
    assert session.mover == 1
    session.step(int(np.flatnonzero(session.observe(1)[1])[0]))
    return session


def test_messages_are_as_the_page_shows_them() -> None:
    session = shown_on_the_page()
    history, seat = session.history(), session.mover
    real = [hello(session.variant, seat, Limits()), move(history, seat, 3, Limits())]
    real += [end(history, seat, 3), goodbye()]
    shown = {sample["type"]: sample for sample in map(json.loads, SAMPLES) if "type" in sample}
    for message in map(json.loads, real):
        assert list(shown[message["type"]]) == list(message)
        assert shown[message["type"]].get("view", {}).keys() <= message.get("view", {}).keys()
    assert is_shortened(shown["move"], json.loads(real[1]))


def is_shortened(shown: Any, whole: Any) -> bool:
    """Whether entries of objects and of lists are left out, and nothing else differs."""
    if isinstance(shown, dict):
        return all(key in whole and is_shortened(shown[key], whole[key]) for key in shown)
    if isinstance(shown, list):
        return all(any(is_shortened(part, each) for each in whole) for part in shown)
    return bool(shown == whole)


def test_answers_of_the_page_are_understood() -> None:
    session = shown_on_the_page()
    history, legal = session.history(), choices(session, session.mover)
    answers = [sample.encode() for sample in SAMPLES if '"type"' not in sample]
    assert len(answers) == 3
    for answer in answers:
        assert probabilities_in(answer, history, legal).sum() == 1
    (ready,) = [sample.encode() for sample in SAMPLES if '"ready"' in sample]
    check_ready(ready)


@every_variant
def test_the_page_names_every_key_of_a_table(id: str) -> None:
    page = (ROOT / "docs" / "bots.md").read_text(encoding="utf-8")
    _, _, section = page.partition("## The table of each game")
    section, _, _ = section.partition("\n## ")
    named = set(re.findall(r"`(\w+)`", section))
    session = played(id, 3)
    rng = np.random.default_rng(0)
    for _ in range(4):
        session.step(int(rng.choice(np.flatnonzero(session.observe(session.mover)[1]))))
    line = move(session.history(), session.mover, 3, Limits())
    assert keys_of(json.loads(line)["view"]["table"]) <= named


def keys_of(found: object) -> set[str]:
    """All keys in JSON data, but those that name places, suits or geisha."""
    if isinstance(found, list):
        return set().union(*map(keys_of, found))
    if not isinstance(found, dict):
        return set()
    by_name = {"on_offer", "fireworks", "discards", "unseen"}
    return set(found).union(*(keys_of(found[key]) for key in found.keys() - by_name))
