"""Memory is asked for before it is taken: a system may end a process that takes too much."""

import os
import sys
from functools import lru_cache

from hanamachi.errors import UserError


def check_memory(needed: int, what: str) -> None:
    """Raise UserError if arrays of this many bytes cannot fit into the machine's memory."""
    there = physical_memory()
    if needed > there:
        gigabytes = f"{needed / 1e9:,.0f} GB of memory, and this machine has {there / 1e9:,.0f} GB"
        raise UserError(f"{what} take more than {gigabytes}; ask for fewer")


@lru_cache(maxsize=1)
def physical_memory() -> int:
    """Bytes of the machine's memory; no bound where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # as on Windows
        return sys.maxsize
