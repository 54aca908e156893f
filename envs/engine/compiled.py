"""How the engine is compiled: `inline` for the rules, `kernel` for what Python calls.

Numba keeps compiled kernels on disk and checks only whether the kernel's own file has changed. A
kernel contains the compiled rules of every file that it calls. Its cache entry therefore also holds
a digest of all files with compiled code, in the package and in the kernel's own room: an edited
rule is always compiled again. A constant that compiled code uses must stand in such a file.
"""

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, get_origin

import numba
import numpy as np
from numba import types
from numba.core.typing.templates import infer_global
from numba.extending import models, register_model

from hanamachi.engine.kernel_files import KernelCache
from hanamachi.engine.rule_compiler import RuleCompiler

F = TypeVar("F", bound=Callable[..., Any])

PACKAGE = Path(__file__).parents[1]
RULES: list[Any] = []  # the compiled rules, which Numba itself does not keep alive
# Numba's options for what only compiled code calls: nothing that Python could call, and no machine
# code of its own; Numba's types lack some of them
PART: Any = {
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": RuleCompiler,
}


@cache
def sources_digest(folder: Path) -> str:
    """SHA-256 over the names and bytes of every file of the folder that uses this module."""
    digest = sha256()
    for path in sorted(filter(Path.is_file, folder.rglob("*.py"))):  # no dangling link of an editor
        source = path.read_bytes()
        if b"from hanamachi.engine.compiled import" in source or path == Path(__file__):
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + source)
    return digest.hexdigest()


class Rule(types.Dispatcher):
    """The type of a rule, which is compiled once for all constants that it is called with."""

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        unliteral: Any = types.unliteral
        any_numbers = {name: unliteral(kind) for name, kind in dict(kws).items()}
        return super().get_call_type(context, tuple(map(unliteral, args)), any_numbers)


register_model(Rule)(models.OpaqueModel)


def inline(function: F) -> F:
    """Compile a rule as part of the kernels that call it; inline it if it takes arrays.

    A call counts the references of every array that it passes, which takes longer than most rules.
    Functions of records alone are left to the compiler, which keeps the code short. Python callers
    get the plain function: to compile a wrapper for them took a fifth of all time to compile.
    """
    hints: Any = function.__annotations__.values()
    in_place = any(get_origin(hint) is np.ndarray for hint in hints)
    compiled = numba.njit(function, forceinline=in_place, **PART)
    if compiled is not function:  # as it is with NUMBA_DISABLE_JIT=1
        RULES.append(compiled)
        infer_global(function, Rule(compiled))  # type: ignore[no-untyped-call]
    return function


def kernel(function: F, fastmath: bool | set[str] = False) -> F:
    """Compile a batch loop, kept on disk between processes and free of the interpreter's lock.

    `fastmath` says which rules of floating-point numbers may be broken: with "reassoc" the terms of
    a sum may be added in any order, so that vector instructions can be used.
    """
    compiled: Any = numba.njit(cache=True, nogil=True, fastmath=fastmath)(function)
    if compiled is not function:  # as it is with NUMBA_DISABLE_JIT=1
        # in a clone a room such as `policies`, whose folders share rules, is no part of PACKAGE
        floors = max(function.__module__.count(".") - 2, 0)
        room = Path(function.__code__.co_filename).parents[floors]
        digests = [sources_digest(folder) for folder in (PACKAGE, room)]
        compiled._cache = KernelCache(function, *digests)
    result: F = compiled
    return result
