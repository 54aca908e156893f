"""A saved game as an animation: every move in its order and at its time, then the scored table."""

import io
import math
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from root import ROOT

from hanamachi import UserError, variant
from hanamachi.sessions.animation import PAUSE, animate, scenes
from hanamachi.sessions.saved_games import Record, positions, record_of
from hanamachi.sessions.session import Session

GROUP = "{http://www.w3.org/2000/svg}g"


def played(id: str, actions: int = 100, **options: object) -> Record:
    """A game in which each seat does what comes first, up to so many actions."""
    session = Session(variant(id, **options))
    session.begin(4)
    while session.mover >= 0 and len(session.actions) < actions:
        session.step(int(session.observe(session.mover)[1].argmax()))
    return record_of(session)


@pytest.mark.parametrize("id", ["hanamikoji", "geishas_road:2021", "hanabi:2p"])
def test_every_move_has_a_scene_with_its_words(id: str, tmp_path: Path) -> None:
    record = played(id, 10)
    animate(record, tmp_path / "game.svg", 0.5)
    root = ElementTree.parse(tmp_path / "game.svg").getroot()
    captions = [list(group)[-1].text for group in root.iter(GROUP)]
    assert captions == [words.replace("player_", "player ") for _, words in positions(record)]


def test_scenes_appear_one_after_the_other_and_the_last_stays() -> None:
    shown = list(scenes(played("hanamikoji", 5), 0.5))
    assert [scene.seconds for scene in shown] == [0.5] * 5 + [PAUSE * 0.5]
    assert len({(scene.canvas.across, scene.canvas.down) for scene in shown}) == 1


def test_each_round_ends_with_its_scored_table() -> None:
    record = played("hanamikoji:three_rounds", max_rounds=2)
    shown = list(scenes(record, 1))
    assert len(shown) == len(record.actions) + 2
    assert [i for i, scene in enumerate(shown) if scene.seconds > 1] == [12, len(shown) - 1]


def test_a_gif_holds_every_scene(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    animate(played("hanamikoji", 3), tmp_path / "game.gif", 0.5)
    gif = image.open(io.BytesIO((tmp_path / "game.gif").read_bytes()))
    assert (gif.n_frames, gif.width, gif.info["loop"]) == (4, 800, 0)


def test_a_path_may_be_text(tmp_path: Path) -> None:
    animate(played("hanamikoji", 1), f"{tmp_path}/game.svg")
    assert (tmp_path / "game.svg").is_file()


@pytest.mark.parametrize("name", ["game.mp4", "game", "game.svg/game.svg"])
def test_what_cannot_be_written_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "game.svg").touch()
    with pytest.raises(UserError):
        animate(played("hanamikoji", 1), tmp_path / name)


@pytest.mark.parametrize("seconds", [0, -1, 200, math.inf, math.nan, "1", None, [1]])
def test_a_time_that_no_move_takes_is_refused(seconds: Any, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=re.escape(str(seconds))):
        animate(played("hanamikoji", 1), tmp_path / "game.svg", seconds)
    assert list(tmp_path.iterdir()) == []


def test_the_animation_that_ships_runs_without_scripts_and_files_from_elsewhere() -> None:
    text = (ROOT / "assets" / "game.svg").read_text(encoding="utf-8")
    assert not re.search(r"<script|href|url\(|@import", text)
    assert len(list(ElementTree.fromstring(text).iter(GROUP))) == 13
    assert len(text) < 600_000
