"""Exact grades: those of the same policy in this process, and none for who answers by chance."""

import json
import os
from pathlib import Path

import pytest
from samples import WHOLE

from hanamachi.errors import Unavailable, UserError
from hanamachi.games.registry import variant as make_variant
from hanamachi.policies import load_policy
from hanamachi.policies.user_functions import as_policy
from hanamachi.training.arena import grade as grading
from hanamachi.training.arena.grade import check_place, grade, place_for, write
from hanamachi.training.exact import SMALL, exact_exploitability, report

pytestmark = pytest.mark.skipif(os.name != "posix", reason="bots run on Linux and macOS alone")

BOT = """
import json, random, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"ready"}', flush=True)
    elif message["type"] == "move":
        legal = message["choose_from"]
        print(json.dumps(ANSWER), flush=True)
"""
UNIFORM = '{"probabilities": {action: 1 / len(legal) for action in legal}}'
FIRST = '{"action": legal[0]}'
RANDOM = '{"action": random.choice(legal)}'


def bot(folder: Path, name: str, answer: str) -> None:
    (folder / f"{name}.py").write_text(BOT.replace("ANSWER", answer), encoding="utf-8")


@pytest.mark.parametrize("small", SMALL if WHOLE else ["hanabi-pairs"])
def test_a_bot_has_the_nash_conv_of_the_policy_that_it_is(small: str, tmp_path: Path) -> None:
    variant = make_variant(small)
    bot(tmp_path, "first", FIRST)
    first = as_policy(lambda observation, mask: int(mask.argmax()), variant)
    (found,) = grade(tmp_path, small).grades
    assert found.nash_conv == exact_exploitability(first).nash_conv


def test_grades_are_in_order_and_chance_is_refused(tmp_path: Path) -> None:
    for name, answer in (("uniform", UNIFORM), ("random", RANDOM), ("crash", "1 / 0")):
        bot(tmp_path, name, answer)
    small = "hanabi-pairs"  # and none imports the bot called random
    found = grade(tmp_path, small, others=["random"])
    graded = {each.player: each.nash_conv for each in found.grades}
    assert graded["uniform.py"] == graded["random"] == found.uniform
    assert graded["random.py"] is graded["crash.py"] is None
    assert [each.nash_conv is None for each in found.grades] == [False, False, True, True]
    site, data = write(found, tmp_path / "out")
    assert "two ways" in site.read_text(encoding="utf-8")
    assert json.loads(data.read_text(encoding="utf-8"))["small"] == small
    policy = load_policy("random", small)
    assert exact_exploitability(policy).nash_conv == found.uniform


def test_a_policy_whose_code_fails_is_refused_and_the_others_have_grades(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "def make(variant):\n    return lambda observation, mask: int('none')\n"
    (tmp_path / "failing_player.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    bots = tmp_path / "bots"
    bots.mkdir()
    found = grade(bots, "hanabi-pairs", others=["failing_player:make", "random"])
    best, last = found.grades
    assert (best.player, best.nash_conv) == ("random", found.uniform)
    assert (last.player, last.nash_conv) == ("failing_player:make", None)
    assert "ValueError: invalid literal" in last.refusal


@pytest.mark.parametrize("error", [MemoryError(), Unavailable("no server")])
def test_what_is_the_fault_of_no_policy_is_raised(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(tree: object, player: object) -> None:
        raise error

    monkeypatch.setattr(grading, "table_of", fail)
    with pytest.raises(type(error)):
        grade(tmp_path, "hanabi-pairs", others=["random"])


def test_a_search_is_refused_before_the_tree_is_walked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def walk(variant: object) -> None:
        raise AssertionError

    search = "search:improve:greedy:worlds=2"
    for module in (grading, report):
        monkeypatch.setattr(module, "tree_of", walk)
    with pytest.raises(UserError, match="blueprint"):
        exact_exploitability(search, "hanamikoji-gifts")
    with pytest.raises(UserError, match="blueprint"):
        grade(tmp_path, "hanamikoji-gifts", others=[search])


def test_folders_may_be_texts(tmp_path: Path) -> None:
    bot(tmp_path, "first", FIRST)
    out = tmp_path / "out"
    check_place(str(out), str(tmp_path), "hanabi-pairs")
    found = grade(str(tmp_path), "hanabi-pairs")
    assert {file.parent for file in write(found, str(out))} == {out}


def test_of_two_processes_that_grade_in_one_folder_one_is_refused(tmp_path: Path) -> None:
    bot(tmp_path, "first", FIRST)
    out = tmp_path / "out"
    with place_for(out, tmp_path, "hanabi-pairs"):
        with (
            pytest.raises(UserError, match="another process is grading"),
            place_for(out, tmp_path, "hanabi-pairs", others=["random"]),
        ):
            raise AssertionError
        write(grade(tmp_path, "hanabi-pairs"), out)
    with (
        pytest.raises(UserError, match="there already"),
        place_for(out, tmp_path, "hanabi-pairs", others=["random"]),
    ):
        raise AssertionError


def test_an_unknown_small_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="hanamikoji-gifts"):
        grade(tmp_path, "hanamikoji-gift")


@pytest.mark.parametrize(
    ("name", "words"),
    [('process:"x', "quot"), ("./nothing", "checkpoint"), ("broken.part:make", "ZeroDivision")],
)
def test_a_name_that_leads_to_no_policy_is_refused_in_a_sentence(
    name: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "__init__.py").write_text("1 / 0", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UserError, match=words):
        check_place(tmp_path / "out", tmp_path, "hanabi-pairs", others=[name])
    with pytest.raises(UserError, match=words):
        grade(tmp_path, "hanabi-pairs", others=[name])
