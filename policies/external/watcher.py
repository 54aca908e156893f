"""A small process for each bot, which ends the bot if this program is killed.

A program that ends in any other way ends its bots itself. A bot that is paused, or that computes
for ever, would not notice that its input has ended.
"""

import subprocess

from hanamachi.errors import UserError

# its input ends without a line if the program that started it was killed
WATCH = 'read -r _ || kill -KILL "-$1"'


def watcher_of(group: int) -> subprocess.Popen[bytes]:
    """The watcher of a process group; UserError if the system starts no more processes."""
    command = ["/bin/sh", "-c", WATCH, "watcher", str(group)]
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise UserError(f"cannot be watched: {error.strerror}") from None


def dismiss(watcher: subprocess.Popen[bytes]) -> None:
    """End a watcher whose group has ended."""
    watcher.communicate(b"\n")
