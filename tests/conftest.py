"""What only some systems can test."""

import os

TERMINALS_SIGNALS_FORKS = ["test_play.py", "test_resume.py", "test_saving.py"]

collect_ignore = [] if os.name == "posix" else TERMINALS_SIGNALS_FORKS
