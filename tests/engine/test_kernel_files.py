"""Compiled code on disk is never run for another signature, or after its sources have changed."""

import errno
import os
import sys
from multiprocessing import get_context
from subprocess import check_output

import pytest

from hanamachi.engine import kernel_files
from hanamachi.engine.kernel_files import KernelFiles

KEY, OTHER = ("record of Hanamikoji", "x86-64"), ("record of Hanabi", "x86-64")
WRITERS = ["one process", "another"]


@pytest.fixture
def files(tmp_path):
    return KernelFiles(tmp_path, "step", "sources")


def test_what_is_saved_is_loaded_for_its_key_alone(files, tmp_path):
    files.save(KEY, "code")
    assert KernelFiles(tmp_path, "step", "sources").load(KEY) == "code"
    assert files.load(OTHER) is None


def test_code_from_other_sources_is_compiled_again_in_the_same_file(files, tmp_path):
    files.save(KEY, "old")
    edited = KernelFiles(tmp_path, "step", "edited")
    assert edited.load(KEY) is None
    edited.save(KEY, "new")
    assert edited.load(KEY) == "new"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_under_the_name_of_another_is_not_loaded(files):
    files.save(KEY, "code")
    files._path(KEY).rename(files._path(OTHER))
    assert files.load(OTHER) is None


@pytest.mark.parametrize("kept", [0, 10, 40, -1])
def test_a_damaged_file_is_compiled_again(files, kept):
    files.save(KEY, "code")
    path = files._path(KEY)
    path.write_bytes(path.read_bytes()[:kept])
    assert files.load(KEY) is None


def test_a_full_disk_costs_only_what_would_be_kept(files, monkeypatch):
    def full(path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(kernel_files, "replacing", full)
    files.save(KEY, "code")
    assert files.load(KEY) is None


@pytest.mark.skipif(os.name != "posix", reason="elsewhere no file is replaced while it is read")
def test_processes_that_compile_at_once_leave_whole_code_in_every_file(tmp_path):
    files, many = KernelFiles(tmp_path, "step", "sources"), get_context("spawn")
    compile_all(tmp_path, WRITERS[0])
    writers = [many.Process(target=compile_all, args=(tmp_path, who)) for who in WRITERS]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        for key in (KEY, OTHER):
            assert files.load(key) in [code_of(key, who) for who in WRITERS]
    assert [writer.exitcode for writer in writers] == [0] * len(writers)


def test_a_compiled_kernel_is_loaded_without_what_it_was_compiled_from():
    """Numba imports the modules of all code in a kernel: SciPy's algebra for a sum."""
    decide = """
import sys
import gymnasium
import hanamachi
env = gymnasium.make("hanamachi/Hanamikoji-v0", opponent="expert", seat=1)
env.reset(seed=0)
print("scipy.linalg" in sys.modules)
"""
    for _ in range(2):  # the first may compile
        needs_algebra = check_output([sys.executable, "-c", decide], text=True)
    assert needs_algebra.strip() == "False"


def compile_all(folder, who):
    files = KernelFiles(folder, "step", "sources")
    for key in (KEY, OTHER) * 10:
        files.save(key, code_of(key, who))


def code_of(key, who):
    """So much that a reader is likely to come while it is being written."""
    return f"{key} {who}" * 40_000
