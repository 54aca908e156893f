"""A dataset that several processes make ends soon when it is stopped."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SLEEPS = """
import os, time

def sleeper(variant):
    return choose

def choose(observation, mask):
    open(f"{os.getpid()}.pid", "w").close()
    time.sleep(600)
"""
LISTENS = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
COMMAND = f"{LISTENS}; from hanamachi.training.cli.main import main; main()"


@pytest.mark.skipif(os.name != "posix", reason="there are no such signals")
def test_an_interrupt_ends_the_command_and_its_processes(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(SLEEPS)
    words = "dataset hanamikoji --policy mine:sleeper --games 40 --out out --processes 2"
    command = [sys.executable, "-c", COMMAND, *words.split()]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as making:
        while len(found := [*tmp_path.glob("*.pid")]) < 2:
            assert making.poll() is None
            time.sleep(0.05)
        os.kill(making.pid, signal.SIGINT)
        try:
            said = making.communicate(timeout=30)[1]
        finally:
            making.kill()
            left = [each for each in found if is_running(int(each.stem))]
            for each in left:
                os.kill(int(each.stem), signal.SIGKILL)
    assert (making.returncode, left) == (130, [])
    assert "Traceback" not in said


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
