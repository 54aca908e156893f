"""What is wrong with a command that does not start is said where the system does not say it."""

import os
import sys

import pytest

from hanamachi.policies.external.start_errors import start_error

pytestmark = pytest.mark.skipif(os.name != "posix", reason="bots run on Linux and macOS alone")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def script(folder, content, mode=0o755):
    (folder / "bot.sh").write_bytes(content)
    (folder / "bot.sh").chmod(mode)
    return start_error(["./bot.sh"])


@pytest.mark.parametrize(
    ("first_line", "word"),
    [
        (b"#!/no-such-program", "/no-such-program"),
        (b"#! /usr/bin/env no-such-program -x", "no-such-program"),
        (b"#!/usr/bin/env -S no-such-program -x", "no-such-program"),
        (b"#!/usr/bin/env sh\r", "Windows"),
        (b"#!/bin/sh\r", "Windows"),
    ],
)
def test_a_first_line_that_names_no_program_is_blamed(first_line, word, folder):
    assert word in script(folder, first_line + b"\necho\n")


@pytest.mark.parametrize(
    "content",
    [
        b"#!/bin/sh\necho",
        b"#!/usr/bin/env sh\n",
        b"#!/usr/bin/env -u X no-such-program",
        b"#!",
        b"echo\r\n",
        b"",
        b"\x7fELF",
    ],
)
def test_nothing_is_said_of_what_may_be_right(content, folder):
    assert script(folder, content) == ""


def test_a_file_that_is_not_executable_needs_its_mode(folder):
    assert "chmod +x ./bot.sh" in script(folder, b"#!/bin/sh", mode=0o644)


@pytest.mark.parametrize("name", ["bots", "./bots"])
def test_a_folder_is_no_program(name, folder):
    (folder / "bots").mkdir()
    assert "folder" in start_error([name])


def test_words_that_are_one_path_need_quotes(folder):
    (folder / "my own bots").mkdir()
    (folder / "my own bots" / "bot.py").touch()
    words = ["my", "own", "bots/bot.py"]
    for command in (words, [sys.executable, *words, "-x"]):
        assert "'my own bots/bot.py'" in start_error(command)
    assert start_error([sys.executable, "my own bots/bot.py"]) == ""


def test_nothing_is_said_of_a_program_that_is_nowhere():
    assert start_error(["./no-such-bot"]) == start_error(["no-such-bot", "x"]) == ""
