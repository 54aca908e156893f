"""Build what is released, check it, and install it in fresh environments.

    python scripts/dist.py

The wheel and the source distribution go to dist/. Both are installed in a fresh environment for
each Python that is at hand, without extras, and so without PyTorch: every agent that ships plays
there. Then the wheel is installed with the extra `onnx`, and an exported agent plays.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hanamachi.policies.export import export

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
PYTHONS = ("python3.11", "python3.12", "python3.13")
BIN = "Scripts" if os.name == "nt" else "bin"
AGENT = "agent.onnx"
ALL_PLAYED = """
import importlib.util
import hanamachi
from hanamachi.games.registry import VARIANTS
from hanamachi.policies.agents import agents, variant_of
from hanamachi.training import evaluate

assert "site-packages" in hanamachi.__file__, hanamachi.__file__
assert importlib.util.find_spec("torch") is None
for agent in agents():
    game = variant_of(agent)
    evaluate([agent] if VARIANTS[game].cooperative else [agent, "random"], game, games=2)
"""
EXPORTED_PLAYED = f"""
import gymnasium
from hanamachi.policies import load_policy

agent = load_policy({AGENT!r})
env, over = gymnasium.make("hanamachi/Hanamikoji-v0", opponent=agent), False
seen, info = env.reset(seed=0)
while not over:
    action, _ = agent.predict(seen, action_masks=info["action_mask"])
    seen, _, over, _, info = env.step(int(action))
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
            fresh = Path(folder, Path(python).name)
            run(python, "-m", "venv", fresh)
            installed = fresh / BIN / "python"
            for how in ([wheel], ["--force-reinstall", "--no-deps", source]):
                run(installed, "-m", "pip", "install", "--quiet", *how)
                run(installed, "-c", ALL_PLAYED, cwd=folder)
            run(installed, "-m", "pip", "install", "--quiet", f"{wheel}[onnx]")
            run(installed, "-c", EXPORTED_PLAYED, cwd=folder)
            print(f"{python} plays what is in {wheel.name} and {source.name}", flush=True)


def at_hand() -> list[str]:
    """The Pythons that run, or this one; what is found can be a shim that leads nowhere."""
    found = [path for name in PYTHONS if (path := shutil.which(name))]
    running = [
        path for path in found if subprocess.run([path, "-V"], capture_output=True).returncode == 0
    ]
    return running or [sys.executable]


def run(*command: Any, cwd: Path | str = ROOT) -> None:
    """Uncompiled, as few moves are played."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    subprocess.run([str(word) for word in command], cwd=cwd, env=environment, check=True)


if __name__ == "__main__":
    main()
