"""How the engine is compiled: `inline` for the rules, `kernel` for what Python calls.

Numba keeps compiled kernels on disk, but asks only whether the kernel's own file has changed. A
kernel holds the rules of every file it calls, so its entry is also marked with a digest of all
files that hold compiled code: whoever edits a rule never meets the old one again. A constant that
compiled code uses must therefore stand in such a file.
"""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])

SMALL = 200  # bytes of Python's code


def sources_digest() -> str:
    """SHA-256 over the names and bytes of every file of the engine that uses this module."""
    root = Path(__file__).parent
    digest = sha256()
    for path in sorted(root.rglob("*.py")):
        source = path.read_bytes()
        if b"from hanamachi.compiled import" in source or path == Path(__file__):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + source)
    return digest.hexdigest()


DIGEST = sources_digest()


def inline(function: F) -> F:
    """Compile a rule: part of whichever kernel calls it.

    Each call hands over all fields of a Rules, a cost that LLVM does not see when it decides what
    to inline; so small functions always are. Inlining larger ones, too, would double the time that
    compiling takes.
    """
    small = len(function.__code__.co_code) < SMALL
    compiled: Any = numba.njit(forceinline=small)(function)
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
