"""Check types and imports of the package as users get it: mypy and import-linter on the wheel."""

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = ROOT / "pyproject.toml"


def main() -> int:
    """Build the wheel, unpack it, and let both read it; returns 0 if neither finds anything."""
    shutil.rmtree(ROOT / "build" / "lib", ignore_errors=True)  # it may hold files that moved since
    with tempfile.TemporaryDirectory() as folder:
        build = [sys.executable, "-m", "build", "--wheel", "--outdir", folder, str(ROOT)]
        done = subprocess.run(build, capture_output=True, text=True)
        if done.returncode:
            print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
            return done.returncode
        (wheel,) = Path(folder).glob("*.whl")
        site = Path(folder) / "site"
        zipfile.ZipFile(wheel).extractall(site)
        return check_types(site) | check_imports(site)


def check_types(site: Path) -> int:
    cache = ["--cache-dir", str(ROOT / ".mypy_cache")]
    mypy = [sys.executable, "-m", "mypy", "--config-file", str(SETTINGS), "hanamachi", *cache]
    return subprocess.run(mypy, cwd=site).returncode


def check_imports(site: Path) -> int:
    """The layers of the package, and no circle among files or folders."""
    code = "import sys; from importlinter.cli import lint_imports_command; lint_imports_command()"
    linter = [sys.executable, "-c", code, "--config", str(SETTINGS), "--no-cache"]
    found_first = os.environ | {"PYTHONPATH": str(site)}
    return subprocess.run(linter, cwd=site, env=found_first).returncode


if __name__ == "__main__":
    sys.exit(main())
