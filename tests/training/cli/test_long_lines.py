"""A line that is too long is no reason to end a game, as long as the line ends."""

import io

import pytest

from hanamachi.errors import UserError
from hanamachi.limits import LINE
from hanamachi.training.cli.terminal import ask, line_of


def test_a_line_that_is_too_long_is_passed_over() -> None:
    stream = io.StringIO("x" * 2 * LINE + "\nnext\n")
    with pytest.raises(UserError, match="at most"):
        line_of(stream, "")
    assert line_of(stream, "") == "next"


def test_every_prompt_asks_again_after_a_line_that_is_too_long(monkeypatch, capsys) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("x" * 2 * LINE + "\nnext\n"))
    assert ask("> ") == "next"
    assert capsys.readouterr().out.count("> ") == 2


def test_a_line_of_the_greatest_length_is_taken() -> None:
    assert line_of(io.StringIO("x" * LINE + "\n"), "") == "x" * LINE
