"""Compile rules as parts of kernels, without machine code of their own.

Numba optimises every compiled function together with all that it calls, and makes machine code of
it. A rule is only ever called by kernels, which are optimised with all their rules. What was done
for each rule before was done again at every level above: a quarter of all time to compile.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class NoEnvironment:
    """In place of a code generator: where there is no machine code, no environment is set."""

    def set_env(self, name: str, environment: Any) -> None:
        pass


class RuleLibrary(JITCodeLibrary):
    """The code of a rule as it is linked into kernels."""

    codegen = NoEnvironment()

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._verify_declare_only_symbols()  # type: ignore[no-untyped-call]
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """0, which stands for no machine code."""
        self._ensure_finalized()  # type: ignore[no-untyped-call]
        return 0


class RuleCompiler(Compiler):
    """Numba's compiler, which puts what it makes into a `RuleLibrary`."""

    def define_pipelines(self) -> Any:
        codegen, name = self.state.targetctx.codegen(), self.state.func_id.func_qualname
        self.state.library = RuleLibrary(codegen, name)  # type: ignore[no-untyped-call]
        return super().define_pipelines()  # type: ignore[no-untyped-call]
