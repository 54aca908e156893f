"""A command whose output goes nowhere still does its work, and says what it must."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

COMMAND = [sys.executable, "-m", "hanamachi.training.cli.main"]


@pytest.mark.skipif(os.name != "posix", reason="pipes break in another way")
@pytest.mark.parametrize("streams", [("stdout",), ("stdout", "stderr")], ids=str)
def test_a_command_goes_on_when_its_reader_leaves(streams: tuple[str, ...], tmp_path: Path) -> None:
    words = "evaluate random greedy --game hanamikoji --games 2 --out out --json"
    reads, writes = os.pipe()
    os.close(reads)  # nobody reads a word
    with open(writes, "wb") as pipe:
        unread: dict[str, Any] = dict.fromkeys(streams, pipe)
        done = subprocess.run([*COMMAND, *words.split()], cwd=tmp_path, **unread)
    assert done.returncode == 0
    assert (tmp_path / "out" / "evaluation.json").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@pytest.mark.parametrize("words", ["games", "games hanamikoji --json"])
@pytest.mark.parametrize("buffered", ["", "1"])
def test_a_full_device_is_named_once(words: str, buffered: str) -> None:
    how = {**os.environ, "PYTHONUNBUFFERED": buffered}
    command = [*COMMAND, *words.split()]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=how)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "no room" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_notes_that_cannot_be_written_change_nothing() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*COMMAND, "games", "nope"], stderr=full)
    assert done.returncode == 2
