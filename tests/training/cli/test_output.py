"""A command whose output goes nowhere still does its work, and says what it must."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(os.name != "posix", reason="pipes break in another way")
def test_a_command_goes_on_when_its_reader_leaves(tmp_path: Path) -> None:
    words = "evaluate random greedy --game hanamikoji --games 2 --out out --json"
    command = [sys.executable, "-m", "hanamachi.training.cli.main", *words.split()]
    reads, writes = os.pipe()
    os.close(reads)  # nobody reads a word
    with open(writes, "wb") as pipe:
        ended = subprocess.run(command, cwd=tmp_path, stdout=pipe, stderr=subprocess.PIPE)
    assert (ended.returncode, b"Traceback" in ended.stderr) == (0, False)
    assert (tmp_path / "out" / "evaluation.json").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_a_full_device_is_named_once() -> None:
    command = [sys.executable, "-m", "hanamachi.training.cli.main", "games"]
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert "no room" in ended.stderr
