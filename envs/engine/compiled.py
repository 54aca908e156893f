"""How the engine is compiled: `inline` for the rules, `kernel` for what Python calls.

Numba keeps compiled kernels on disk, but asks only whether the kernel's own file has changed. A
kernel holds the rules of every file it calls, so its entry is also marked with a digest of all
files that hold compiled code, of the engine and of the kernel's own folder: whoever edits a rule
never meets the old one again. A constant that compiled code uses must stand in such a file.
"""

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, get_origin

import numba
import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

PACKAGE = Path(__file__).parents[1]


@cache
def sources_digest(folder: Path) -> str:
    """SHA-256 over the names and bytes of every file of the folder that uses this module."""
    digest = sha256()
    for path in sorted(folder.rglob("*.py")):
        source = path.read_bytes()
        if b"from hanamachi.engine.compiled import" in source or path == Path(__file__):
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + source)
    return digest.hexdigest()


def inline(function: F) -> F:
    """Compile a rule: part of whichever kernel calls it, in place if it takes arrays.

    A call would count the references of every array that it hands on, which takes longer than
    most rules; what takes records alone is left to the compiler, which keeps the code short.
    """
    hints: Any = function.__annotations__.values()
    in_place = any(get_origin(hint) is np.ndarray for hint in hints)
    compiled: Any = numba.njit(function, forceinline=in_place)
    result: F = compiled
    return result


def kernel(function: F) -> F:
    """Compile a batch loop, kept on disk between processes and free of the interpreter's lock."""
    compiled: Any = numba.njit(cache=True, nogil=True)(function)
    if compiled is not function:  # as it is with NUMBA_DISABLE_JIT=1
        entry = compiled._cache._cache_file
        own_folder = Path(function.__code__.co_filename).parent
        digests = [sources_digest(folder) for folder in (PACKAGE, own_folder)]
        entry._source_stamp = (entry._source_stamp, *digests)
    result: F = compiled
    return result
