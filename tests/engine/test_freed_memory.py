"""Compiled code uses no memory that it has freed: a record does not keep its array alive."""

import ast
import os
import subprocess
import sys

import pytest
from record_lifetimes import compiled_functions, faults
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
from hanamachi.policies.search.hanabi_belief import follows
from hanamachi.sessions.observations import observe

rules = variant(GAME)
for games in real_play(rules, 1):
    assert kernels.is_valid(rules.rule_set_array, games)
    if games["mover"][0] >= 0:
        seat = 1 - int(games["mover"][0])  # of the type that all calls have
        decided = kernels.count_others_decisions(rules.rule_set, games, seat)
        assert decided == kernels.count_others_decisions(rules.rule_set, games, seat) >= 0
    assert kernels.is_valid(rules.rule_set_array, games)
if GAME == "hanabi:2p":
    belief = Features(rules, ["belief"])
    games = rules.new(np.full(3, 7, np.uint64))
    kernels.reset(rules.rule_set, games)
    seen = observe(rules, games, games["mover"].astype(np.int64))
    found = belief.extend(*seen, belief.initial_memory(3))[0]
    assert (found == found[:1]).all()
    turns = [games for games in real_play(rules, 1) if games["mover"][0] == 0]
    assert all(follows(rules.rule_set, *two) for two in zip(turns, turns[1:]))
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


def test_arrays_made_in_compiled_code_outlive_the_use_of_their_records():
    functions = [
        function
        for room in ("envs", "policies", "training")
        for function in compiled_functions(ROOT / room)
    ]
    assert len(functions) > 300
    assert [fault for function in functions for fault in faults(function)] == []


FAULTY = """
def last_use(now):
    before = np.zeros(1, RECORD)
    game = before[0]
    game.clues += 1
---
def of_a_field(now):
    before = now.copy()
    hand = before[0].hand
    return hand[0]
---
def in_its_loop(games):
    for w in range(len(games)):
        before = games[:1].copy()
        game = before[0]
        game.clues += 1
---
def given(now):
    before = np.zeros(1, RECORD)
    return clues_of(game=before[0])
---
def returned(now):
    before = now.copy()
    return before[0]
---
def read_at_once(now):
    before = now.copy()
    return before[0].clues + 1
"""
SOUND = """
def kept(now):
    before = np.zeros(1, RECORD)
    game = before[0]
    return after_use_of(before, game.clues > 0)
---
def made_before_its_loop(games):
    before = games[:1].copy()
    for w in range(len(games)):
        before[0] = games[w]
        game = before[0]
        game.clues += 1
"""


@pytest.mark.parametrize(("sources", "found"), [(FAULTY, True), (SOUND, False)])
def test_the_scan_tells_faults_from_sound_code(sources, found):
    for source in sources.split("---"):
        (function,) = ast.parse(source).body
        assert bool([*faults(function)]) == found, source
