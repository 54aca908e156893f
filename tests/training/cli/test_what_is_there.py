"""No command replaces a file of the user's, or asks for a folder of the user's to be deleted."""

import json
import os
from pathlib import Path

import pytest

from hanamachi.errors import UserError
from hanamachi.games.registry import variant
from hanamachi.policies import export as exporting
from hanamachi.sessions.saved_games import record_of, save
from hanamachi.sessions.session import Session
from hanamachi.training.arena.bots import digest
from hanamachi.training.cli import main as cli
from hanamachi.training.evaluation.saved_parts import claim


def code_of(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.main([str(word) for word in words])
    return int(ended.value.code or 0)


@pytest.mark.parametrize("name", ["notes.txt", "notes.json", "notes.svg"])
def test_replay_replaces_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    session = Session(variant("hanamikoji"))
    session.begin(5)
    save(record_of(session), tmp_path / "game.json")
    (tmp_path / name).write_text("mine")
    assert code_of("replay", tmp_path / "game.json", "--out", tmp_path / name) == 2
    assert name in capsys.readouterr().err
    assert (tmp_path / name).read_text() == "mine"


@pytest.mark.skipif(os.name != "posix", reason="bots run on Linux and macOS alone")
def test_a_bot_that_cannot_start_is_refused_before_a_game_begins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "game.json"
    bot = ("--opponent", "process:./no-such-bot", "--record", record)
    assert code_of("play", "hanamikoji", "--seat", 0, *bot) == 2
    heard = capsys.readouterr()
    assert "process:./no-such-bot is not ready" in heard.err
    assert heard.out == ""
    assert not record.exists()


@pytest.mark.parametrize(("columns", "notes"), [("79", 1), ("80", 0)])
def test_a_narrow_terminal_is_told_of_once(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    columns: str,
    notes: int,
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    session = Session(variant("hanamikoji"))
    session.begin(5)
    save(record_of(session), tmp_path / "game.json")
    assert code_of("replay", tmp_path / "game.json", "--all") == 0
    assert capsys.readouterr().err.count("make it wider") == notes


def test_export_replaces_no_file(tmp_path: Path) -> None:
    file = tmp_path / "agent.onnx"
    file.write_text("mine")
    with pytest.raises(UserError, match="already"):
        exporting.export("hanamikoji", file)
    assert file.read_text() == "mine"


@pytest.mark.parametrize("content", ['{"mine": 1}', "[]", "mine"])
def test_a_file_that_something_else_wrote_is_not_to_be_deleted(
    tmp_path: Path, content: str
) -> None:
    file = tmp_path / "dataset.json"
    file.write_text(content)
    with pytest.raises(UserError, match="move it") as refused:
        claim(file, {"seed": 1}, "a dataset")
    assert "delete" not in str(refused.value)


def test_only_files_of_the_other_results_are_to_be_deleted(tmp_path: Path) -> None:
    file = tmp_path / "dataset.json"
    parts = [tmp_path / "data", tmp_path / "card.md"]
    claim(file, {"seed": 1}, "a dataset", parts)
    (tmp_path / "data").mkdir()
    with pytest.raises(UserError, match=r"delete these: dataset\.json, data\)"):
        claim(file, {"seed": 2}, "a dataset", parts)
    assert json.loads(file.read_text())["seed"] == 1


def test_the_digest_of_a_bot_tells_its_name_from_its_content(tmp_path: Path) -> None:
    (tmp_path / "ab").write_text("c")
    (tmp_path / "a").write_text("bc")
    assert digest(tmp_path / "ab") != digest(tmp_path / "a")
