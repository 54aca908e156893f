"""`hanamachi warmup` compiles what later commands need."""

import os
import subprocess
import sys

import pytest

from hanamachi.errors import UserError
from hanamachi.games.registry import GAMES
from hanamachi.policies.rules.registry import NAMES
from hanamachi.training.cli import warmup


def test_every_game_and_every_rule_policy_is_compiled():
    parts = list(warmup.parts())
    assert {part.game for part in parts} == set(GAMES)
    assert set(NAMES) == {name for part in parts for name in part.name.split(" and ")} & set(NAMES)


def test_an_unknown_game_is_refused_before_anything_is_compiled():
    with pytest.raises(UserError, match="hanamikoji"):
        next(warmup.parts(["hanabi", "hanamikoij"]))


def test_what_it_has_compiled_is_not_compiled_again():
    (rules,) = (part for part in warmup.parts(["hanamikoji"]) if "greedy" in part.name)
    rules.use()
    loud = {name: value for name, value in os.environ.items() if name != "HANAMACHI_QUIET"}
    command = [
        sys.executable,
        "-m",
        "hanamachi",
        "evaluate",
        "random",
        "greedy",
        "--game",
        "hanamikoji",
    ]
    done = subprocess.run(
        [*command, "--games", "2"], env=loud, capture_output=True, text=True, check=True
    )
    assert "compil" not in done.stderr
