"""What browsers read of a policy tells it from others, and names no folder of the user."""

import os
from pathlib import Path

import pytest

from hanamachi.training.serve.offers import public_name


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("/home/me/runs/b/policy", "b/policy"),
        ("/home/me/runs/b/best.onnx", "b/best.onnx"),
        ("search:improve:/home/me/runs/b/policy:worlds=4", "search improve b/policy worlds=4"),
        ("search:improve:greedy", "search improve greedy"),
        ("process:'/home/me/my bots/bad.pl' hang", "bad.pl hang"),
        ("process:/usr/bin/python /home/me/bot.py", "python bot.py"),
    ],
)
def test_a_name_shows_no_path(spec: str, name: str) -> None:
    assert public_name(spec, "policy") == name


def test_a_checkpoint_is_called_after_its_run_from_every_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run").mkdir()
    monkeypatch.chdir(tmp_path / "run")
    assert public_name(f"policy{os.sep}", "policy") == "run/policy"
