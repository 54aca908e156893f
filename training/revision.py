"""The revision of this code."""

import subprocess
from pathlib import Path


def git_revision() -> str | None:
    """The commit of this code, if it is in a repository; "-dirty" means that it was changed.

    Code that is installed in a folder of another project is not in that project's repository.
    """
    code = Path(__file__)
    try:
        git(code.parent, "ls-files", "--error-unmatch", code.name)
        return git(code.parent, "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*")
    except (OSError, subprocess.CalledProcessError):
        return None


def git(folder: Path, *command: str) -> str:
    """What git answers in a folder."""
    asked = subprocess.run(
        ["git", *command], cwd=folder, capture_output=True, text=True, check=True
    )
    return asked.stdout.strip()
