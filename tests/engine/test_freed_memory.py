"""Compiled code uses no memory that it has freed: a record does not keep its array alive."""

import os
import subprocess
import sys

import pytest
from root import ROOT
from samples import UNCOMPILED

# freed memory is overwritten at once; elsewhere than in glibc this changes nothing
FILLED = {"MALLOC_PERTURB_": "165", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
PLAY = """
import numpy as np
from altered_states import real_play
from hanamachi.engine import kernels
from hanamachi.games.registry import variant
from hanamachi.policies.features.base import Features
from hanamachi.sessions.observations import observe

rules = variant(GAME)
for games in real_play(rules, 1):
    assert kernels.is_valid(rules.rule_set_array, games)
    if games["mover"][0] >= 0:
        seat = 1 - int(games["mover"][0])  # of the type that all calls have
        decided = kernels.decisions_of_others(rules.rule_set, games, seat)
        assert decided == kernels.decisions_of_others(rules.rule_set, games, seat) >= 0
    assert kernels.is_valid(rules.rule_set_array, games)
if GAME == "hanabi:2p":
    belief = Features(rules, ["belief"])
    games = rules.new(np.full(3, 7, np.uint64))
    kernels.reset(rules.rule_set, games)
    seen = observe(rules, games, games["mover"].astype(np.int64))
    found = belief.extend(*seen, belief.initial_memory(3))[0]
    assert (found == found[:1]).all()
"""


@pytest.mark.skipif(UNCOMPILED, reason="Python frees nothing that is in use")
@pytest.mark.parametrize("game", ["hanamikoji", "geishas_road:advanced", "hanabi:2p"])
def test_no_kernel_uses_memory_that_it_has_freed(game):
    done = subprocess.run(
        [sys.executable, "-c", f"GAME = {game!r}\n{PLAY}"],
        cwd=ROOT,
        env={**os.environ, **FILLED, "PYTHONPATH": str(ROOT / "tests" / "support")},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
