"""One run on many processors: Ray's tasks play, evaluate and try settings.

Work that is lost with a process or a machine is repeated elsewhere with the same result, because
results depend only on seeds and on what the task was sent. If the cluster itself is lost, waiting
for a task raises UserError.
"""

import atexit
import logging
import os
import socket
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import cache, lru_cache
from subprocess import PIPE, Popen
from threading import Thread
from typing import Any

from hanamachi.errors import UserError, missing_extra

# environment of every worker, because there is one worker for each processor
ONE_THREAD = {"HANAMACHI_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
# settings of Ray, unless the user has set them
QUIET = {
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # prints no messages of its processes
    "RAY_prestart_worker_first_driver": "0",  # starts no processes without ONE_THREAD
    # ends a process that waits for a lost head where Python cannot interrupt it
    "RAY_gcs_rpc_server_reconnect_timeout_s": "30",
}
RETRIES = 10  # of work that was lost with a process or a machine
WAIT = 1.0  # seconds between two looks at the cluster
PATIENCE = 20.0  # seconds in which the head of a cluster may be restarted
AGAIN = (
    "run the command again with a new one, and add --resume to continue a run, a sweep or best "
    "responses"
)
LOST = f"the Ray cluster was lost; {AGAIN}"


def connect() -> Any:
    """Ray's module, connected to the cluster at RAY_ADDRESS or else to one of this machine."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise missing_extra("ray", "ray") from error
    if not ray.is_initialized():
        announce_end()
        address = os.environ.get("RAY_ADDRESS", "local")
        if ":" in address and "://" not in address:
            join(address)
        else:
            start_ray(address)
    return ray


def join(address: str) -> None:
    """Join the cluster whose head has this address; UserError if that fails.

    A thread joins, because Ray waits for minutes for a head that is lost meanwhile. To start a
    cluster would not do there: its processes end with the thread that starts them.
    """
    joined: Future[None] = Future()
    Thread(target=set_when_joined, args=(address, joined), daemon=True).start()
    heard = time.monotonic()
    while True:
        with suppress(TimeoutError):
            return joined.result(WAIT)
        if listens(address):
            heard = time.monotonic()
        elif time.monotonic() - heard > PATIENCE:
            raise UserError(
                f"no Ray cluster answers at {address}: start one with ray start, "
                "or unset RAY_ADDRESS"
            )


def set_when_joined(address: str, joined: "Future[None]") -> None:
    """Set the future when Ray has started, or with its error."""
    try:
        start_ray(address)
    except UserError as error:
        joined.set_exception(error)
    else:
        joined.set_result(None)


def start_ray(address: str) -> None:
    """Start Ray in this process; UserError if it does not start or join a cluster."""
    import ray

    try:
        ray.init(
            address=address,
            runtime_env={"env_vars": {**ONE_THREAD}, "worker_process_setup_hook": same_place()},
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    except Exception as error:  # Ray raises of many classes
        raise UserError(f"Ray does not start or join the cluster {address!r}: {error}") from error


@cache
def announce_end() -> None:
    """Start a process that prints a message if Ray kills this one, which Ray does silently.

    It reads its input to the end: if nothing was written there, this process was killed.
    """
    words = f"hanamachi: the process has ended, as if the Ray cluster was lost; {AGAIN}"
    program = f"import sys; sys.stdin.read() or print({words!r}, file=sys.stderr)"
    command = [sys.executable, "-I", "-S", "-c", program]
    speaker = Popen(command, stdin=PIPE, start_new_session=True)
    atexit.register(speaker.communicate, b"exit")


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
    found = int(connect().cluster_resources().get("CPU", 0))
    if not found:
        raise UserError("the Ray cluster has no processors; add a machine to it with ray start")
    return found


def answer(task: Any) -> Any:
    """What a task returns; raises its own error, or UserError if the cluster is lost."""
    import ray

    while True:
        check_cluster()
        try:
            return ray.get(task, timeout=WAIT)
        except ray.exceptions.GetTimeoutError:
            continue
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except ray.exceptions.RayError as error:
            leave_cluster()
            raise UserError(LOST) from error


def check_cluster() -> None:
    """Raises UserError if the head of the cluster, or Ray on this machine, no longer runs."""
    import ray

    here, begun = ray.get_runtime_context(), time.monotonic()
    while not listens(here.gcs_address):
        if time.monotonic() - begun > PATIENCE:
            leave_cluster()
            raise UserError(LOST)
        time.sleep(WAIT)
    if not listens(raylet_address(here.get_node_id())):  # Ray ends a process that needs it
        leave_cluster()
        raise UserError(LOST)


@lru_cache
def raylet_address(node: str) -> str:
    """Where Ray's process on a machine listens."""
    import ray

    (own,) = (known for known in ray.nodes() if known["NodeID"] == node)
    return f"{own['NodeManagerAddress']}:{own['NodeManagerPort']}"


def listens(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=WAIT).close()
    except (OSError, ValueError, OverflowError):  # no such machine, or no such number
        return False
    return True


def leave_cluster() -> None:
    """Leave a cluster that no longer works; the next `connect` joins or starts another one."""
    import ray

    ray.shutdown()
