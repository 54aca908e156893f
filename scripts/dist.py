"""Build what is released, check it, and install it in fresh environments.

    python scripts/dist.py

The wheel and the source distribution go to dist/. For each Python that is at hand, both are
installed with the extra `onnx`, and so without PyTorch, and an exported agent plays a game; then
the wheel is with the extra `train`, and every agent that ships does.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hanamachi.policies.export import export

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
PYTHONS = ("python3.11", "python3.12", "python3.13")
BIN = "Scripts" if os.name == "nt" else "bin"
AGENT = "agent.onnx"
PLAYED = f"""
import importlib.util
import gymnasium
import hanamachi
from hanamachi.policies import load_policy

assert "site-packages" in hanamachi.__file__, hanamachi.__file__
assert importlib.util.find_spec("torch") is None
agent = load_policy({AGENT!r})
env, over = gymnasium.make("hanamachi/Hanamikoji-v0", opponent=agent), False
seen, info = env.reset(seed=0)
while not over:
    action, _ = agent.predict(seen, action_masks=info["action_mask"])
    seen, _, over, _, info = env.step(int(action))
"""
ALL_PLAYED = """
from hanamachi.games.registry import VARIANTS
from hanamachi.policies.load import agents
from hanamachi.training import evaluate

for id in agents():
    evaluate([id] if VARIANTS[id].cooperative else [id, "random"], id, games=2)
"""


def main() -> None:
    for left in (DIST, ROOT / "build", *ROOT.glob("*.egg-info")):  # it would come along
        shutil.rmtree(left, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
    (wheel,), (source,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, source)
    with tempfile.TemporaryDirectory() as folder:
        export("hanamikoji", Path(folder, AGENT))
        for python in at_hand():
            fresh = Path(folder, Path(python).stem)
            run(python, "-m", "venv", fresh)
            installed = fresh / BIN / "python"
            for how in ([f"{wheel}[onnx]"], ["--force-reinstall", "--no-deps", source]):
                run(installed, "-m", "pip", "install", "--quiet", *how)
                run(installed, "-c", PLAYED, cwd=folder)
            run(installed, "-m", "pip", "install", "--quiet", f"{wheel}[train]")
            run(installed, "-c", ALL_PLAYED, cwd=folder)
            print(f"{python} plays what is in {wheel.name} and {source.name}", flush=True)


def at_hand() -> Iterator[str]:
    """The Pythons that run; what is found can be a shim that leads nowhere."""
    for name in PYTHONS:
        found = shutil.which(name)
        if found and subprocess.run([found, "-V"], capture_output=True).returncode == 0:
            yield found


def run(*command: Any, cwd: Path | str = ROOT) -> None:
    """Uncompiled, as few moves are played."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    subprocess.run([str(word) for word in command], cwd=cwd, env=environment, check=True)


if __name__ == "__main__":
    main()
