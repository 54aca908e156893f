"""A process that compiles says so once; one that does not says nothing."""

import importlib.util
import re

import pytest
from samples import UNCOMPILED

from hanamachi.engine import kernel_files
from hanamachi.engine.compile_notice import CompileNotice

pytestmark = pytest.mark.skipif(UNCOMPILED, reason="nothing is compiled")

MODULE = """
from hanamachi.engine.compiled import kernel

@kernel
def double(number):
    return 2 * number

@kernel
def half(number):
    return number / 2
"""


@pytest.fixture
def start(tmp_path, monkeypatch, capsys):
    """Do what a new process does with two kernels; returns what stands on stderr."""
    path = tmp_path / "kernels_of_a_user.py"
    path.write_text(MODULE)

    def run() -> list[str]:
        monkeypatch.setattr(kernel_files, "NOTICE", CompileNotice())
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        assert (module.double(4), module.half(4)) == (8, 2)
        return capsys.readouterr().err.splitlines()

    return run


def test_the_first_kernel_that_is_compiled_is_announced_and_later_starts_are_silent(
    start, monkeypatch
):
    monkeypatch.delenv("HANAMACHI_QUIET")
    (line,) = start()
    assert line.startswith("hanamachi: ")
    assert start() == []


def test_it_can_be_kept_quiet(start):
    assert start() == []


def test_long_waits_hear_how_far_it_is(capsys, monkeypatch):
    monkeypatch.delenv("HANAMACHI_QUIET")
    monkeypatch.setattr("hanamachi.engine.compile_notice.OFTEN", 0.0)
    notice = CompileNotice()
    for _ in range(2):
        notice.begin()
        notice.end()
    assert len(capsys.readouterr().err.splitlines()) == 3


def test_the_time_between_two_kernels_is_not_counted(capsys, monkeypatch):
    monkeypatch.delenv("HANAMACHI_QUIET")
    monkeypatch.setattr("hanamachi.engine.compile_notice.monotonic", lambda: now[0])
    notice, now = CompileNotice(), [1000.0]
    for compiling, between in ((7, 300), (8, 600)):
        notice.begin()
        now[0] += 1
        notice.begin()  # a kernel within the other
        now[0] += compiling
        notice.end()
        now[0] += 1
        notice.end()
        now[0] += between
    lines = capsys.readouterr().err.splitlines()
    assert [re.findall(r"(\d+) s$", line) for line in lines] == [[], ["8"], ["18"]]
