"""Where stderr is closed, what is said there is lost and spoils no results."""

import sys

import pytest

from hanamachi.errors import UserError
from hanamachi.training.cli import main as cli
from hanamachi.training.cli.notes import note


def test_notes_and_mistakes_stay_out_of_stdout(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def mistaken() -> None:
        raise UserError("no")

    monkeypatch.setattr(sys, "stderr", None)
    note("written: out")
    assert cli.run(mistaken) == 2
    monkeypatch.undo()
    assert capsys.readouterr().out == ""
