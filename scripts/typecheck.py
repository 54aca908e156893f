"""Check the types of the package as users get it: mypy on the built wheel."""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Build the wheel, unpack it, and let mypy read it; returns mypy's exit status."""
    with tempfile.TemporaryDirectory() as folder:
        build = [sys.executable, "-m", "build", "--wheel", "--outdir", folder, str(ROOT)]
        done = subprocess.run(build, capture_output=True, text=True)
        if done.returncode:
            print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
            return done.returncode
        (wheel,) = Path(folder).glob("*.whl")
        site = Path(folder) / "site"
        zipfile.ZipFile(wheel).extractall(site)
        check = ["-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "hanamachi"]
        cache = ["--cache-dir", str(ROOT / ".mypy_cache")]
        return subprocess.run([sys.executable, *check, *cache], cwd=site).returncode


if __name__ == "__main__":
    sys.exit(main())
