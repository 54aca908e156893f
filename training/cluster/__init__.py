"""One run on many processors: Ray's actors play, its tasks evaluate and try settings.

Work that is lost with a worker or a machine is repeated elsewhere with the same result, because
results depend only on seeds and on what the worker was sent.
"""

import logging
import os
import sys
from collections.abc import Callable
from typing import Any

from hanamachi.errors import missing_extra

# environment of every worker, because there is one worker for each processor
ONE_THREAD = {"HANAMACHI_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def connect() -> Any:
    """Ray's module, connected to the cluster at RAY_ADDRESS or else to one of this machine."""
    try:
        import ray
    except ImportError as error:
        raise missing_extra("ray", "ray") from error
    if not ray.is_initialized():
        ray.init(
            address=os.environ.get("RAY_ADDRESS", "local"),
            runtime_env={"env_vars": ONE_THREAD, "worker_process_setup_hook": same_place()},
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    return ray


def same_place() -> Callable[[], None]:
    """A hook that gives workers this process's folder and import paths, if they exist there."""
    folder, modules = os.getcwd(), [os.path.abspath(path) for path in sys.path]

    def settle() -> None:
        if os.path.isdir(folder):
            os.chdir(folder)
        sys.path.extend(path for path in modules if path not in sys.path)

    return settle


def processors() -> int:
    """The number of processors of the cluster."""
    return int(connect().cluster_resources()["CPU"])
