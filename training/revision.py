"""The revision of this code."""

import subprocess
from pathlib import Path


def git_revision() -> str | None:
    """The commit of this code, if it runs from a repository; "-dirty" means that it was changed."""
    try:
        asked = subprocess.run(
            ["git", "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return asked.stdout.strip()
