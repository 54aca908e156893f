"""Games of hanab.live are read and written without loss."""

import json
from typing import Any

import numpy as np
import pytest
from messages import assert_one_sentence

import hanamachi
from hanamachi import UserError
from hanamachi.sessions.hanab_live import VARIANTS, hanab_live, is_hanab_live, read_hanab_live
from hanamachi.sessions.saved_games import record_of, replay
from hanamachi.sessions.session import Session

# The complete game in the site's repository, misc/example_game.json: cards as suit and rank,
# actions as type, target and value. It is older than the key "suitIndex".
DECK = (
    "23 23 31 13 05 44 21 45 04 02 22 14 33 43 41 01 31 11 24 41 32 03 11 42 01 44 03 13 31 11 21 "
    "35 42 21 04 34 14 34 01 12 12 32 43 22 33 15 25 02 24 41"
)
ACTIONS = (
    "2,1,2 0,6,0 2,0,3 2,1,0 2,2,4 0,14,0 2,2,2 0,15,0 0,10,0 2,2,2 0,17,0 3,1,5 1,2,0 3,2,3 "
    "0,16,0 0,20,0 1,5,0 3,1,2 3,1,4 0,9,0 0,12,0 1,0,0 0,23,0 3,0,3 0,1,0 1,19,0 0,18,0 2,2,4 "
    "1,24,0 2,0,0 0,26,0 0,8,0 0,13,0 0,4,0 3,0,4 0,25,0 0,35,0 1,27,0 3,1,5 1,22,0 0,31,0 2,0,1 "
    "1,28,0 3,0,2 1,11,0 0,39,0 2,2,1 1,21,0 0,3,0 0,7,0 0,36,0 3,1,5 0,46,0 3,0,5 0,45,0"
)


def example(suit: str = "suit") -> dict[str, Any]:
    steps = [map(int, step.split(",")) for step in ACTIONS.split()]
    return {
        "id": 2906,
        "players": ["Alice", "Bob", "Cathy"],
        "deck": [{suit: int(card[0]), "rank": int(card[1])} for card in DECK.split()],
        "actions": [dict(zip(("type", "target", "value"), step, strict=True)) for step in steps],
        "options": {"deckPlays": True},
        "notes": [["y3?", "y4", "r2"], [], ["not 1"]],
    }


@pytest.mark.parametrize("suit", ["suit", "suitIndex"])
def test_the_sites_own_example_is_a_game_to_its_end(suit: str) -> None:
    session = replay(read_hanab_live(example(suit)))
    assert session.mover < 0
    assert session.games["score"][0] == 25
    assert session.games["errors"][0] == 0


def test_the_example_is_written_as_it_was_read() -> None:
    written = hanab_live(read_hanab_live(example("suitIndex")))
    assert written["deck"] == example("suitIndex")["deck"]
    plain = [
        {k: v for k, v in step.items() if step["type"] > 1 or k != "value"}
        for step in example()["actions"]
    ]
    assert written["actions"] == plain


def played(id: str, seed: int, **options: Any) -> Session:
    session = Session(hanamachi.variant(id, **options))
    session.begin(seed)
    rng = np.random.default_rng(seed)
    while session.mover >= 0:
        _, mask = session.observe(session.mover)
        session.step(int(rng.choice(np.flatnonzero(mask))))
    return session


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("empty", [True, False])
def test_every_variant_is_read_as_it_was_written(name: str, players: int, empty: bool) -> None:
    options = {**VARIANTS[name], "allow_empty_hints": empty}
    for starter in (0, "random", players - 1):
        session = played(f"hanabi:{players}p", 1, starter=starter, **options)
        content = json.loads(json.dumps(hanab_live(record_of(session))))
        assert is_hanab_live(content)
        again = replay(read_hanab_live(content))
        assert hanab_live(record_of(again)) == {**content, "players": players_of(again)}
        assert again.games["score"][0] == session.games["score"][0]
        assert (again.games["discards"] == session.games["discards"]).all()


def players_of(session: Session) -> list[str]:
    return [f"player {seat}" for seat in range(session.variant.seats)]


def test_a_game_with_one_card_more_or_less_in_hand() -> None:
    for size in (4, 5):
        content = hanab_live(record_of(played("hanabi:4p", 2, hand_size=size, starter=0)))
        assert read_hanab_live(content).variant.options["hand_size"] == size


def test_a_game_that_was_broken_off_is_read_up_to_there() -> None:
    content = example()
    content["actions"][10:] = [{"type": 4, "target": 1, "value": 4}]
    assert len(replay(read_hanab_live(content)).actions) == 10


@pytest.mark.parametrize(
    "change",
    [
        {"options": {"variant": "Rainbow (6 Suits)"}},
        {"options": {"variant": 3}},
        {"options": {"allOrNothing": True}},
        {"options": {"startingPlayer": 1}},
        {"options": []},
        {"players": ["Alice"]},
        {"players": 3},
        {"deck": [{"suitIndex": 0, "rank": 1}]},
        {"deck": [{"suitIndex": 9, "rank": 1}] * 50},
        {"deck": ["red1"] * 50},
        {"deck": example()["deck"][:30]},
        {"deck": example()["deck"][1:] + example()["deck"][:2]},
        {"deck": [0] * 100_000},
        {"actions": [{"type": 0, "target": 40}]},
        {"actions": [{"type": 2, "target": 0, "value": 0}]},
        {"actions": [{"type": 2, "target": 1, "value": 5}]},
        {"actions": [{"type": 3, "target": 1, "value": 0}]},
        {"actions": [{"type": 7, "target": 1}]},
        {"actions": [{"type": 0, "target": True}]},
        {"actions": [{"type": False, "target": 0}]},
        {"actions": [{}]},
        {"actions": [17]},
        {"actions": None},
    ],
)
def test_what_is_no_game_is_refused_in_one_sentence(change: dict[str, Any]) -> None:
    with pytest.raises(UserError) as refused:
        read_hanab_live({**example(), **change})
    assert_one_sentence(refused.value)


def test_the_sites_commented_example_of_each_action_is_no_legal_game() -> None:
    """Its first action plays a card that another player holds."""
    ranks = (1, 1, 1, 2, 2, 3, 3, 4, 4, 5)
    deck = [{"suitIndex": suit, "rank": rank} for suit in range(5) for rank in ranks]
    with pytest.raises(UserError, match="does not hold"):
        read_hanab_live(
            {
                "players": ["A", "B", "C", "D", "E"],
                "deck": deck,
                "actions": [{"type": 0, "target": 4}],
            }
        )


@pytest.mark.parametrize(
    ("id", "options"),
    [
        ("hanamikoji", {}),
        ("hanabi:2p", {"ranks": 3}),
        ("hanabi:2p", {"max_clues": 7}),
        ("hanabi:2p", {"colours": 2}),
    ],
)
def test_a_game_that_the_site_does_not_have_is_refused(id: str, options: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        hanab_live(record_of(played(id, 1, **options)))
