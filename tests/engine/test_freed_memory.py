"""Compiled code uses no memory that it has freed: a record does not keep its array alive."""

import ast
import os
import re
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
from hanamachi.policies.search.hanabi_belief import follows
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
    turns = [games for games in real_play(rules, 1) if games["mover"][0] == 0]
    assert all(follows(rules.rule_set, *two) for two in zip(turns, turns[1:]))
"""
COPYING = re.compile(r"\.(copy|\w+_like)\(|RECORD|\.dtype")  # what may make an array of records


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


COMPILERS = {"kernel", "inline", "compiled", "in_order"}


def named_in(nodes):
    return {each.id for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name)}


def compiled_functions():
    for room in ("envs", "policies", "training"):
        for file in sorted((ROOT / room).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef) and COMPILERS & named_in(node.decorator_list):
                    yield pytest.param(node, id=f"{file.stem}-{node.name}")


def made_in(function):
    """The names of arrays, of records perhaps, that a function makes."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            pairs = [(node.targets[0], node.value)]
            if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = zip(node.targets[0].elts, node.value.elts, strict=True)
            for name, value in pairs:
                if isinstance(value, ast.Call) and COPYING.search(ast.unparse(value)):
                    yield name.id


def loads_of(name, function):
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            yield node


def is_element(node, name):
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant | ast.Name)
        and getattr(node.value, "id", "") == name
    )


def elements_used(name, function):
    """The lines that use what may be a record of the array of this name."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and any(is_element(each, name) for each in node.args):
            yield node.lineno
        if isinstance(node, ast.Assign):
            bound, given = node.targets[0], node.value
            both = isinstance(bound, ast.Tuple) and isinstance(given, ast.Tuple)
            pairs = zip(bound.elts, given.elts, strict=True) if both else [(bound, given)]
            for one, value in pairs:
                if isinstance(one, ast.Name) and is_element(value, name):
                    yield from (load.lineno for load in loads_of(one.id, function))


def kept_until(name, function):
    """The last line that runs before the array of this name may be freed."""
    loops = [node for node in ast.walk(function) if isinstance(node, ast.For | ast.While)]
    for load in loads_of(name, function):
        yield load.lineno - 1
        yield from (
            loop.end_lineno for loop in loops if loop.lineno < load.lineno <= loop.end_lineno
        )
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "after_use_of":
            yield node.end_lineno if node.args[0].id == name else 0


@pytest.mark.parametrize("function", [*compiled_functions()])
def test_arrays_made_in_compiled_code_outlive_the_use_of_their_records(function):
    for name in made_in(function):
        kept = max(kept_until(name, function))
        late = [line for line in elements_used(name, function) if line > kept]
        assert not late, f"{name} may be freed before line {late}: see after_use_of"
