"""Tests that need a POSIX system are left out on others."""

import os

TERMINALS_SIGNALS_FORKS = [
    "storage/test_files.py",
    "training/cli/test_play.py",
    "training/cluster/test_cluster.py",
    "training/test_resume.py",
]

collect_ignore = [] if os.name == "posix" else TERMINALS_SIGNALS_FORKS
