"""What only some systems can test."""

import os

TERMINALS_SIGNALS_FORKS = [f"test_{what}.py" for what in ("cluster", "play", "resume", "saving")]

collect_ignore = [] if os.name == "posix" else TERMINALS_SIGNALS_FORKS
