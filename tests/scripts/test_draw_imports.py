"""The picture of the imports is what its script draws, and shows every room."""

import subprocess
import sys
import tomllib

from root import ROOT

PICTURE = ROOT / "docs" / "code.svg"
SCRIPT = ROOT / "scripts" / "draw_imports.py"


def test_the_committed_picture_is_what_the_script_draws(tmp_path):
    subprocess.run([sys.executable, SCRIPT, tmp_path / "code.svg"], check=True)
    assert (tmp_path / "code.svg").read_text(encoding="utf-8") == PICTURE.read_text(
        encoding="utf-8"
    ), "the imports have changed: python scripts/draw_imports.py"


def test_the_picture_shows_every_room():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = [
        contract["layers"]
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    ]
    rooms = [module for layer in layers for module in layer.split(" | ")]
    picture = PICTURE.read_text(encoding="utf-8")
    assert [r for r in rooms if f">{r.rpartition('.')[2]}</text>" not in picture] == []
