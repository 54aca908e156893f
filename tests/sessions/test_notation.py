"""A game written down as text is read back without loss, and games of any form are read."""

import json
from codecs import BOM_UTF8

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages import assert_one_sentence

import hanamachi
from hanamachi import UserError
from hanamachi.sessions.hanab_live import hanab_live
from hanamachi.sessions.notation import load_game, notation, read_game, read_notation, write_game
from hanamachi.sessions.saved_games import record_of, replay, save
from hanamachi.sessions.session import Session

OPTIONS = {
    "hanamikoji": {"cards": [2, 3, 4], "actions": ["gift"], "max_rounds": 2},
    "geishas_road:advanced": {"counter_own": True},
    "hanabi:3p": {"colours": 3, "ranks": 3, "starter": 1},
}


def played(id, seed=0, moves=1000, **options):
    session = Session(hanamachi.variant(id, **options))
    session.begin(seed)
    rng = np.random.default_rng(seed)
    while session.mover >= 0 and len(session.actions) < moves:
        _, mask = session.observe(session.mover)
        session.step(int(rng.choice(np.flatnonzero(mask))))
    return session


@pytest.mark.parametrize("id", hanamachi.VARIANTS)
def test_a_game_is_read_as_it_was_written(id):
    for seed in range(3):
        for moves in (0, 7, 1000):
            record = record_of(played(id, seed, moves))
            assert read_notation(notation(record)) == record


@pytest.mark.parametrize(("id", "options"), OPTIONS.items())
def test_options_are_kept(id, options):
    record = record_of(played(id, **options))
    assert read_notation(notation(record)) == record


def test_a_game_can_be_typed_by_hand():
    typed = """
    # a short one
    hanamikoji starter=0 max_rounds=1
    (2a, 2a, 2b, 3a, 4, 5)   # my hand
    gift 2a 2a 5
    """
    session = replay(read_notation(typed))
    assert session.mover == 1
    assert session.games["gift"][0, 0].tolist() == [2, 0, 0, 0, 0, 0, 1]


def test_chance_decides_what_no_brackets_say():
    record = record_of(played("hanamikoji", 3))
    without = "\n".join(line for line in notation(record).splitlines() if line[0] != "(")
    assert read_notation(without) == record


def test_games_of_every_form_are_read(tmp_path):
    record = record_of(played("hanabi:2p", 1, starter=0))
    save(record, tmp_path / "game.json")
    assert read_game((tmp_path / "game.json").read_bytes()) == record
    assert read_game(notation(record).encode()) == record
    for text in ((tmp_path / "game.json").read_bytes(), notation(record).encode()):
        assert read_game(BOM_UTF8 + text) == record
    live = read_game(json.dumps(hanab_live(record)).encode())
    assert live.actions == record.actions
    assert replay(live).games["score"][0] == replay(record).games["score"][0]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("hanamikoji starter=0\n(9)", "line 2"),
        ("hanamikoji starter=0\n\ndance", "line 3"),
        ("hanamikoji starter=0\nplayer 1: secret 5", "line 2"),
        ("hanamikoji starter=0\ntake 5", "line 2"),
        ("hanamikoji starter=0\n(2a, 2a, 2a)", "line 2"),
        ("hanamikoji\ngenerator 5", "generator"),
        ("hanamikoji starter", "starter"),
        ("hanamikoji starter=0 starter=1", "starter"),
        ("hanamikoji " + "a=1 " * 200_000, "a"),
        ("go", "game"),
        ("", "no game"),
    ],
)
def test_what_cannot_be_played_names_its_line(text, line):
    with pytest.raises(UserError, match=line) as refused:
        read_game(text.encode())
    assert_one_sentence(refused.value)


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b'"""A bot."""\nimport json\n', "notation"),
        (b"\x89PNG\r\n", "notation"),
        (b"hanamikojo\n", "hanamikoji"),
        (b"hanabi\n", "hanabi:2p"),
        ("hanamikoji\n".encode("utf-16"), "UTF-8"),
    ],
)
def test_a_file_that_holds_no_game_is_told_what_it_should_hold(content, word, tmp_path):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(UserError, match=word) as refused:
        load_game(tmp_path / "file")
    assert_one_sentence(refused.value)


@given(st.text(max_size=200) | st.binary(max_size=200))
def test_any_other_text_is_refused_in_one_sentence(text):
    with pytest.raises(UserError) as refused:
        read_game(text if isinstance(text, bytes) else text.encode())
    assert_one_sentence(refused.value)


def test_an_action_after_the_end_is_refused():
    text = notation(record_of(played("hanamikoji", max_rounds=1)))
    with pytest.raises(UserError, match="end of the game"):
        read_notation(text + "secret 5")


@pytest.mark.parametrize("name", ["game.TXT", "game.Json", "game.hanab.JSON"])
def test_the_form_of_a_file_does_not_depend_on_the_case_of_its_name(name, tmp_path):
    record = record_of(played("hanabi:2p", moves=10))
    write_game(record, tmp_path / name)
    write_game(record, tmp_path / name.lower())
    assert load_game(tmp_path / name) == load_game(str(tmp_path / name.lower()))
    assert (tmp_path / name).read_bytes() == (tmp_path / name.lower()).read_bytes()


def test_a_game_is_read_from_text_or_bytes():
    assert read_game("hanamikoji") == read_game(b"hanamikoji")
    with pytest.raises(UserError, match="text"):
        read_game(None)
