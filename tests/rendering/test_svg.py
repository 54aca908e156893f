"""A table as SVG: whole, self-contained, with every text in its place, and shown by notebooks."""

import sys
from string import printable
from typing import Any
from xml.etree import ElementTree

import geishas_road_positions
import gymnasium
import hanabi_positions
import pytest
from positions import random_positions

import hanamachi
from hanamachi import UserError
from hanamachi.engine.game import Variant
from hanamachi.games.registry import variant
from hanamachi.rendering.canvas import Canvas, Text, outlines
from hanamachi.rendering.frames import table_svg
from hanamachi.rendering.parts import render_part
from hanamachi.rendering.pixels import pixels
from hanamachi.rendering.svg import ADVANCES, advance, svg
from hanamachi.sessions.saved_games import load, replay, save
from hanamachi.sessions.session import Session

VARIANTS = [
    *(variant(id) for id in ("hanamikoji", "hanamikoji:eight_suits")),
    *geishas_road_positions.VARIANTS,
    *hanabi_positions.VARIANTS,
]
IDS = [f"{variant.id}-{variant.observation.size}" for variant in VARIANTS]
SPACE = "{http://www.w3.org/2000/svg}"

every_variant = pytest.mark.parametrize("variant", VARIANTS, ids=IDS)


def drawings(variant: Variant) -> list[Canvas]:
    games = random_positions(variant, 6)
    return [render_part(variant, "drawing")(variant, game, 0) for game in games[::5]]


@every_variant
def test_all_that_is_drawn_is_in_the_svg_and_nothing_else(variant: Variant) -> None:
    for drawing in drawings(variant):
        root = ElementTree.fromstring(svg(drawing, "a table"))
        assert {element.tag for element in root} <= {
            SPACE + name for name in ("rect", "ellipse", "polygon", "text")
        }
        words = [element.text for element in root.iter(SPACE + "text")]
        drawn = [shape for shape in outlines(drawing.shapes) if isinstance(shape, Text)]
        assert words == [text.words for text in drawn if text.words]


@every_variant
def test_no_text_leaves_the_picture(variant: Variant) -> None:
    before = {"lm": 0.0, "mm": 0.5, "rm": 1.0}  # the part of a text that is left of its point
    for drawing in drawings(variant):
        for text in outlines(drawing.shapes):
            if isinstance(text, Text):
                left = text.x - before[text.anchor] * advance(text.words, text.size)
                assert left >= 0
                assert left + advance(text.words, text.size) <= drawing.across


def test_texts_are_as_wide_as_in_pixels() -> None:
    font: Any = pytest.importorskip("PIL.ImageFont").load_default(1000)
    assert font.getname() == ("Aileron", "Regular")
    assert {c: round(font.getlength(c)) for c in ADVANCES} == ADVANCES
    assert {c for c in printable if c.isprintable()} - {"_"} <= ADVANCES.keys()


def test_words_of_any_characters_are_shown_as_they_are() -> None:
    canvas = Canvas(100, 20)
    canvas.write(0, 10, "<b> & \"c\" 'd'", 12)
    root = ElementTree.fromstring(svg(canvas, "<a> & \"b\" 'c'"))
    assert [text.text for text in root.iter(SPACE + "text")] == ["<b> & \"c\" 'd'"]
    assert root.get("aria-label") == "<a> & \"b\" 'c'"


# --- Notebooks


def test_only_pixels_need_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    session = Session(variant("hanamikoji"))
    session.begin(1)
    assert session._repr_svg_()
    with pytest.raises(UserError):
        pixels(Canvas(10, 10))


@pytest.mark.parametrize("id", ["hanamikoji", "geishas_road:advanced", "hanabi:3p"])
def test_notebooks_show_the_table_that_render_shows(id: str, tmp_path: Any) -> None:
    played, shown = variant(id), []
    env = hanamachi.make(id)
    assert env._repr_svg_() is None
    env.reset(seed=2)
    while not env.terminations[env.agent_selection]:
        shown.append(env._repr_svg_())
        assert shown[-1] == table_svg(played, env.unwrapped.get_state().record)
        env.step(int(env.last()[0]["action_mask"].argmax()))
    save(env.unwrapped.record(), tmp_path / "game.json")
    record = load(tmp_path / "game.json")
    assert env._repr_svg_() == record._repr_svg_() == replay(record)._repr_svg_()
    assert env._repr_svg_() not in shown
    assert repr(env) == str(env), "where no pictures are shown"


def test_notebooks_show_the_table_of_a_gymnasium_environment() -> None:
    env = gymnasium.make("hanamachi/Hanabi-v0", render_mode="ansi")
    bare: Any = env.unwrapped
    assert bare._repr_svg_() is None
    env.reset(seed=3)
    assert bare._repr_svg_() == table_svg(bare.variant, bare.get_wrapper_attr("_session").state())


def test_a_game_without_pictures_shows_its_text() -> None:
    from hanamachi.rendering import plain

    shown = variant("hanamikoji")
    game = random_positions(shown, 1)[0]
    root = ElementTree.fromstring(svg(plain.drawing(shown, game), "a table"))
    words = [text.text for text in root.iter(SPACE + "text")]
    assert words == plain.text(shown, game).splitlines()
