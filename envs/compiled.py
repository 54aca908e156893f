"""How the engine is compiled: `inline` for the rules, `kernel` for what Python calls.

Numba keeps compiled kernels on disk, but asks only whether the kernel's own file has changed. A
kernel holds the rules of every file it calls, so its entry is also marked with a digest of all of
the engine's sources: whoever edits a rule never meets the old one again.
"""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def sources_digest() -> str:
    """SHA-256 over the names and bytes of every Python file of the engine."""
    root = Path(__file__).parent
    digest = sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


DIGEST = sources_digest()


def inline(function: F) -> F:
    """Compile a rule: part of whichever kernel calls it."""
    compiled: Any = numba.njit(function)
    result: F = compiled
    return result


def kernel(function: F) -> F:
    """Compile a batch loop, kept on disk between processes and free of the interpreter's lock."""
    compiled: Any = numba.njit(cache=True, nogil=True)(function)
    if compiled is not function:  # as it is with NUMBA_DISABLE_JIT=1
        entry = compiled._cache._cache_file
        entry._source_stamp = (entry._source_stamp, DIGEST)
    result: F = compiled
    return result
