"""The command `hanamachi`, outside of the package: importing that takes half a second.

What a user can do meanwhile ends in one sentence, too.
"""

import os
import sys
from typing import NoReturn


def main() -> None:
    """Run the command with the arguments of the process, and exit."""
    try:
        os.getcwd()  # which libraries ask for as they are imported
    except FileNotFoundError:
        end("the current folder has been deleted: change to another one", 2)
    try:
        from hanamachi.training.cli.main import main as run

        run()
    except KeyboardInterrupt:
        end("interrupted", 130)


def end(words: str, code: int) -> NoReturn:
    if sys.stderr:  # None if it is closed: then print would write to stdout
        print(f"hanamachi: {words}", file=sys.stderr)
    sys.exit(code)
