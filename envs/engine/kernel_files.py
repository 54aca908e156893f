"""Compiled kernels on disk: a file for each kernel and each signature that it is called with.

Numba numbers these files, and keeps the numbers in an index. Two processes that compile the same
kernel at the same time, each for another game, can then give two signatures the same file; and a
process that dies between index and file leaves old code under a new number. Either way machine code
runs on arrays that it was not compiled for. Here a file is named after its signature, and begins
with a digest of what it was compiled from: any process may write it at any time.
"""

import pickle
import sys
from contextlib import suppress
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

from numba import __version__ as VERSION
from numba.core.caching import FunctionCache
from numba.core.environment import Environment, lookup_environment
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

from hanamachi.engine.compile_notice import NOTICE
from hanamachi.storage.files import replacing

DIGEST = sha256().digest_size


class KernelCache(FunctionCache):
    """The compiled forms of one kernel, one for each signature.

    Numba's own class prepares to compile before it looks for a file: it imports all that Numba can
    compile, and SciPy with it. That took a fifth of the time in which an evaluation starts.
    """

    def __init__(self, function: Any, *digests: str) -> None:
        """`digests` stand for the sources that the kernel is compiled from."""
        super().__init__(function)  # type: ignore[no-untyped-call]
        sources = (self._impl.locator.get_source_stamp(), *digests)
        files: Any = KernelFiles(Path(self.cache_path), self._impl.filename_base, sources)
        self._cache_file = files

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel for a signature; None if it must be compiled."""
        rtsys.initialize(target_context)
        found = self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        if found is None:
            NOTICE.begin()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a kernel that has just been compiled."""
        super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        NOTICE.end()


class KernelFiles:
    """The files of one kernel, in place of `numba.core.caching.IndexDataCacheFile`.

    A key is what Numba looks a kernel up by: signature, processor, and digest of its bytecode.
    """

    def __init__(self, folder: Path, kernel: str, sources: Any) -> None:
        """`kernel` begins the names of the files; `sources` stands for all that it is made from."""
        self.folder = folder
        self.kernel = kernel
        self.sources = sources

    def load(self, key: Any) -> Any:
        """The compiled kernel; None if none was saved, or if it is damaged or out of date."""
        try:
            content = self._path(key).read_bytes()
        except OSError:
            return None
        digest, code = content[:DIGEST], content[DIGEST:]
        return KernelReader(BytesIO(code)).load() if digest == self._digest(key, code) else None

    def save(self, key: Any, compiled: Any) -> None:
        """Keep a compiled kernel; where the disk is full, the next process compiles it again."""
        code: bytes = dumps(compiled)  # type: ignore[no-untyped-call]
        with suppress(OSError), replacing(self._path(key)) as file:
            file.write(self._digest(key, code) + code)

    def _path(self, key: Any) -> Path:
        signature = sha256(repr(key).encode()).hexdigest()[:16]
        return self.folder / f"{self.kernel}.{signature}.nbc"

    def _digest(self, key: Any, code: bytes) -> bytes:
        made_from = repr((VERSION, self.sources, key))
        return sha256(made_from.encode() + b"\0" + code).digest()


class KernelReader(pickle.Unpickler):
    """Reads a compiled kernel without importing the modules of Numba that it was compiled from."""

    def find_class(self, module: str, name: str) -> Any:
        return _environment if name == "_rebuild_env" else super().find_class(module, name)


def _environment(module: str, constants: list[Any], name: str) -> Environment:
    """The environment of compiled code, in place of Numba's `_rebuild_env`.

    Only code that calls Python reads a module's globals from it, and no kernel does. Numba imports
    the module for them; the one for sums of arrays imports SciPy, a quarter of a second.
    """
    found: Environment | None = lookup_environment(name)  # type: ignore[no-untyped-call]
    if found is None:
        loaded = sys.modules.get(module)
        found = Environment(vars(loaded) if loaded else {"__name__": module})
        found.consts[:] = constants
        found.env_name = name
        Environment._memo[name] = found
    return found
