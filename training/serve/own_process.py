"""A server in a process of its own, for programs that measure it or show what it looks like."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.request import Request, urlopen


@contextmanager
def serving(folder: str) -> Iterator[str]:
    """A server that keeps its games in a folder and ends with the block; gives its address."""
    command = [sys.executable, "-m", "hanamachi.training.cli.main", "serve", "--port", "0"]
    started = subprocess.Popen([*command, "--data", folder], stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    try:
        (address,) = (word for word in started.stdout.readline().split() if "http" in word)
        yield address
    finally:
        started.terminate()
        started.wait()


def post(address: str, path: str, content: Any) -> Any:
    """What the server answers to a request of its page, as JSON."""
    headers = {"content-type": "application/json", "origin": address}
    with urlopen(Request(address + path, json.dumps(content).encode(), headers)) as answer:
        return json.load(answer)
