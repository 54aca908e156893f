"""Imported once by the process from which runs are forked: it trains, to import what runs need."""

import os
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

from forked_runs import CLONE, ROAD, SETTINGS
from samples import WHOLE

from hanamachi.training.config import Config
from hanamachi.training.run import train

with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
    for settings in [SETTINGS, ROAD, CLONE] if WHOLE else [SETTINGS]:
        with TemporaryDirectory() as folder:
            train(Config(**settings), Path(folder))
