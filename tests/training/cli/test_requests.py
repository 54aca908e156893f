"""No command line, however odd, ends in a traceback: one sentence and exit code 2."""

import errno
import os
import subprocess
import sys
from io import BytesIO, TextIOWrapper

import pytest
import torch
from rich.console import Console

from hanamachi.limits import MESSAGE
from hanamachi.training.cli import main as cli
from hanamachi.training.cli.notes import note
from hanamachi.training.tables import Name

DIGITS = "9" * 4_000
EVALUATE = ["evaluate", "random", "greedy", "--game", "hanamikoji"]
EXPLOIT = ["exploit", "random", "--game", "hanamikoji"]
ODD = [
    [*EVALUATE, "--games", "1000000000000000000000"],
    [*EVALUATE, "--games", "-2"],
    [*EVALUATE, "--games", DIGITS],
    [*EVALUATE, "--seed", "18446744073709551616"],
    [*EVALUATE, "--seed", DIGITS],
    [*EVALUATE, "--seed", "9" * 5_000],
    [*EVALUATE, "--set", "games=4"],
    [*EVALUATE, "--against", "random", "--matrix"],
    [*EVALUATE, "--set", "batch=4"],
    [*EVALUATE, "--set", "cards=" + "[" * 600],
    [*EVALUATE, "--set", "x" * 100_000],
    [*EVALUATE, "--play", "x" * 100_000],
    ["evaluate", "\ud800", "\0", "--game", "hanamikoji"],
    ["evaluate", "x" * 100_000, "random", "--game", "hanamikoji"],
    ["evaluate", "random", "greedy", "--game", "x" * 100_000],
    [*EXPLOIT, "--exact", "--set", "policy=1"],
    [*EXPLOIT, "--steps", "1" + 30 * "0", "--out", "runs"],
    [*EXPLOIT, "--steps", "1", "--seeds", "1000000000", "--out", "runs"],
    [*EXPLOIT, "--steps", "1", "--out", "runs", "--config", "\0"],
    ["benchmark", "engine", "--seconds", "nan"],
    ["benchmark", "engine", "--seconds", "inf"],
    ["benchmark", "engine", "--rounds", "1000000000"],
    ["benchmark", "memory", "--most", "1000000000000"],
    ["train", "missing.yaml", "--ray", "--workers", "1000000000"],
    ["play", "hanamikoji", "--seat", DIGITS],
    ["export", "x" * 100_000],
    ["replay", "a\0b"],
    ["replay", "x" * 100_000],
    ["x" * 100_000],
]


@pytest.mark.parametrize("arguments", ODD, ids=lambda arguments: " ".join(arguments)[:60])
def test_an_odd_command_line_ends_in_one_sentence_and_code_2(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert err.startswith("hanamachi: ")
    assert err.count("\n") == 1
    assert len(err) <= len("hanamachi: \n") + MESSAGE


@pytest.mark.parametrize("command", ["replay", "train", "sweep"])
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no such pipes and devices")
def test_a_file_that_is_none_ends_in_one_sentence(command, tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", str(tmp_path / "pipe"), str(tmp_path)):
        with pytest.raises(SystemExit) as ended:
            cli.main([command, path])
        assert ended.value.code == 2
        assert path in capsys.readouterr().err


def full():
    raise OSError(errno.ENOSPC, "No space left on device", "out\x1b[31m")


def test_a_full_disk_says_what_to_do_and_no_name_reaches_the_terminal_raw(capsys):
    assert cli.run(full) == 2
    said = capsys.readouterr().err
    assert "free" in said
    assert "\x1b" not in said
    note("written: out\x1b[31m\nwritten: b")
    assert capsys.readouterr().err == "written: out\\x1b[31m\nwritten: b\n"
    assert "\x1b" not in "".join(map(str, Console(width=80).render(Name("bot\x1b[31m"))))


def test_a_terminal_without_columns_shows_results():
    command = ["evaluate", "greedy", "random", "--game", "hanamikoji", "--games", "4"]
    environment = {**os.environ, "COLUMNS": "0"}
    program = [sys.executable, "-m", "hanamachi.training.cli.main", *command]
    done = subprocess.run(program, capture_output=True, text=True, env=environment, check=True)
    assert "greedy" in done.stdout


def too_much(library):
    if library == "torch":
        return torch.empty(1 << 50)
    if library == "python":
        return bytearray(1 << 60)
    return __import__("numpy").empty(1 << 50)


@pytest.mark.parametrize("library", ["torch", "numpy", "python"])
def test_memory_that_cannot_be_had_is_one_sentence(library, capsys):
    assert cli.run(lambda: too_much(library)) == 2
    assert "memory" in capsys.readouterr().err


def test_an_error_that_cannot_be_encoded_is_printed_and_short(capsys):
    def mistaken():
        raise OSError(2, "No such file", "\ud800" * 100_000)

    assert cli.run(mistaken) == 2
    assert len(capsys.readouterr().err) <= len("hanamachi: \n") + MESSAGE


def test_characters_that_the_terminal_does_not_know_are_escaped(monkeypatch):
    there = TextIOWrapper(BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", there)
    cli.read_and_print_all()
    print("\ud800 ▁", end="", flush=True)
    assert there.buffer.getvalue() == b"\\ud800 \\u2581"


def test_input_that_is_no_text_is_read(monkeypatch):
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(b"\xff\n"), encoding="utf-8"))
    cli.read_and_print_all()
    assert sys.stdin.readline() == "\ufffd\n"


def test_a_command_needs_no_standard_streams(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(SystemExit) as ended:
        cli.main(["replay", "missing.json"])
    assert ended.value.code == 2
