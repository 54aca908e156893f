"""Tournaments of real bots: fair, resumable, and no bot can spoil another's game."""

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hanamachi
from hanamachi.errors import UserError
from hanamachi.policies.external.bot import Limits
from hanamachi.sessions.notation import load_game
from hanamachi.training.arena import bots as arena_bots
from hanamachi.training.arena import page
from hanamachi.training.arena.bots import bots_in, digest
from hanamachi.training.arena.sheet import as_csv
from hanamachi.training.arena.tournament import Tournament, play_tournament
from hanamachi.training.cli import main as cli
from hanamachi.training.evaluation.deals import DealResults, Pairing
from hanamachi.training.evaluation.matches import evaluate
from hanamachi.training.evaluation.plan import Watch
from hanamachi.training.ownership import locked

pytestmark = pytest.mark.skipif(os.name != "posix", reason="bots run on Linux and macOS alone")

LIMITS = Limits(seconds=10, memory=1024, waits=True)
ONE_ROUND = {"max_rounds": 1}
BOT = """
import json, os, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"ready"}', flush=True)
    elif message["type"] == "move":
        legal = message["choose_from"]
        print(json.dumps({"action": CHOICE}), flush=True)
"""
CRASHES = "legal[0] if message['game'] else 1 / 0"  # in its first game in each seat


def class_of(folder: Path, **choices: str) -> Path:
    """A folder with a bot in Python for each choice."""
    folder.mkdir(exist_ok=True)
    for name, choice in choices.items():
        code = BOT.replace("CHOICE", choice)
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
    return folder


@pytest.fixture
def bots(tmp_path: Path) -> Path:
    return class_of(tmp_path / "bots", first="legal[0]", last="legal[-1]")


def play(folder: Path, out: Path, game: str = "hanamikoji", **how: Any) -> Tournament:
    chosen = {"games": 2, "limits": LIMITS, "processes": 1, **how}
    options = {} if "hanabi" in game else ONE_ROUND
    return play_tournament(folder, hanamachi.variant(game, **options), out, **chosen)


# --- Results


def test_folders_may_be_texts(bots: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    variant = hanamachi.variant("hanamikoji", **ONE_ROUND)
    played = play_tournament(str(bots), variant, str(out), 2, limits=LIMITS, processes=1)
    files = "index.html", "evaluation.json", "players.csv"
    assert page.write(played, str(out)) == [out / name for name in files]


def test_its_table_has_a_line_for_each_player(bots: Path, tmp_path: Path) -> None:
    played = play(class_of(bots, crash=CRASHES), tmp_path / "out", games=4)
    lines = list(csv.DictReader(as_csv(played).splitlines()))
    assert [line["place"] for line in lines] == ["1", "2", "3"]
    assert {line["player"] for line in lines} == {"first.py", "last.py", "crash.py"}
    assert all(line["games"] == "8" for line in lines)
    assert sum(float(line["won"]) for line in lines) == pytest.approx(1.5)
    forfeited = {line["player"]: line["forfeited"] for line in lines}
    assert forfeited == {"first.py": "0", "last.py": "0", "crash.py": "4"}


def test_the_table_of_a_cooperative_game_has_the_mean_score_of_each_team(
    bots: Path, tmp_path: Path
) -> None:
    played = play(bots, tmp_path / "out", "hanabi:2p")
    means = [float(line["mean"]) for line in csv.DictReader(as_csv(played).splitlines())]
    assert means == sorted(means, reverse=True)
    assert len(means) == 2


def test_no_name_of_a_player_is_a_formula(bots: Path, tmp_path: Path) -> None:
    played = play(class_of(bots, **{"=1+1": "legal[0]"}), tmp_path / "out")
    lines = list(csv.DictReader(as_csv(played).splitlines()))
    assert {line["player"] for line in lines} == {"first.py", "last.py", "'=1+1.py"}
    assert any(line["elo"].startswith("-") for line in lines)


def test_the_forfeits_of_a_team_stand_beside_the_games_that_they_are_of(
    bots: Path, tmp_path: Path
) -> None:
    played = play(class_of(bots, crash="1 / 0"), tmp_path / "out", "hanabi:2p")
    lines = {line["player"]: line for line in csv.DictReader(as_csv(played).splitlines())}
    counts = {
        name: (line["games"], line["forfeited"], line["forfeited_with_others"])
        for name, line in lines.items()
    }
    assert counts["crash.py"] == ("2", "2", "4")
    assert counts["first.py"] == ("2", "0", "0")
    assert "forfeited with all" in page.tournament_page(played)


def test_a_tournament_has_the_results_of_an_evaluation(bots: Path, tmp_path: Path) -> None:
    def first(observation: Any, mask: Any) -> int:
        return int(mask.argmax())

    def last(observation: Any, mask: Any) -> int:
        return int(len(mask) - 1 - mask[::-1].argmax())

    played = play(bots, tmp_path / "out", others=["random"]).evaluation
    expected = evaluate([first, last, "random"], "hanamikoji", games=2, play="sample", **ONE_ROUND)
    named = re.sub("(first|last)", r"\1.py", json.dumps(expected.as_json()["results"]))
    assert played.as_json()["results"] == json.loads(named)


def test_two_processes_give_the_results_of_one(bots: Path, tmp_path: Path) -> None:
    class_of(bots, middle="legal[len(legal) // 2]")
    one, two = (play(bots, tmp_path / str(n), processes=n) for n in (1, 2))
    assert repr(one.evaluation) == repr(two.evaluation)
    assert replays(tmp_path / "1") == replays(tmp_path / "2")


CLOSURE = """
def make(variant):
    def choose(observation, mask):
        return int(mask.argmax())
    return choose
"""


def test_a_function_of_a_function_plays_in_several_processes(
    bots: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_policy.py").write_text(CLOSURE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    own = {"others": ["own_policy:make"]}
    one, two = (play(bots, tmp_path / str(n), processes=n, **own) for n in (1, 2))
    assert repr(one.evaluation) == repr(two.evaluation)


def replays(out: Path) -> dict[str, bytes]:
    files = sorted((out / "replays").rglob("*.json"))
    return {str(file.relative_to(out)): file.read_bytes() for file in files}


def test_a_cooperative_game_is_scored(bots: Path, tmp_path: Path) -> None:
    played = play(bots, tmp_path / "out", "hanabi:3p")
    assert len(played.evaluation.results) == 3
    shown = page.tournament_page(played)
    assert "points" in shown
    assert "games a and b" not in shown  # each deal is played once


# --- Swiss rounds

FOUR = ("random", "greedy", "expert", "search:improve:random:worlds=1")
PAIRS = [*combinations(FOUR, 2)]


@pytest.fixture
def many(tmp_path: Path) -> Path:
    choices = {str(n): f"legal[{n} % len(legal)]" for n in (0, 3, 7, 11, -1)}
    return class_of(tmp_path / "many", **choices)


def meetings(played: Tournament) -> list[list[tuple[str, str]]]:
    return [[pairing.names for pairing, _ in each.matches] for each in played.rounds]


def test_swiss_rounds_pair_by_score_and_have_byes(many: Path, tmp_path: Path) -> None:
    played = play(many, tmp_path / "out", swiss=2)
    first, second = meetings(played)
    assert len(first) == len(second) == 2
    assert set(first).isdisjoint(second)
    assert len({each.bye for each in played.rounds} - {None}) == 2, "nobody has two"
    (result,) = played.evaluation.results
    assert np.isnan(result.rate).sum() == 2 * (10 - 4), "as many pairs did not meet"
    assert np.isfinite([result.elo, result.elo_low, result.elo_high]).all()
    kept = {file: file.stat().st_mtime_ns for file in (tmp_path / "out" / "games").rglob("*.npz")}
    whole = play(many, tmp_path / "out").evaluation.results[0].rate
    assert {file: file.stat().st_mtime_ns for file in kept} == kept, "what was played counts"
    assert np.nanmax(abs(result.rate - whole)) == 0, "each match is that of all against all"


def test_a_swiss_tournament_is_the_same_in_two_processes(many: Path, tmp_path: Path) -> None:
    one, two = (play(many, tmp_path / str(n), swiss=2, processes=n) for n in (1, 2))
    assert meetings(one) == meetings(two)
    assert repr(one.evaluation) == repr(two.evaluation)
    assert [each.bye for each in one.rounds] == [each.bye for each in two.rounds]


def test_a_stopped_swiss_tournament_goes_on_where_it_was(many: Path, tmp_path: Path) -> None:
    whole = play(many, tmp_path / "whole", swiss=2)
    with pytest.raises(Stopped):
        play(many, tmp_path / "out", swiss=2, watch=StopAfterOne())
    (kept,) = (tmp_path / "out" / "games").rglob("*.npz")
    before = kept.stat().st_mtime_ns
    again = play(many, tmp_path / "out", swiss=2)
    assert kept.stat().st_mtime_ns == before
    assert meetings(again) == meetings(whole)
    assert repr(again.evaluation) == repr(whole.evaluation)


class Progress(Watch):
    """What a bar shows: the games in all, those that were kept or played, and those played now."""

    def __init__(self) -> None:
        self.games = self.done = self.now = 0

    def begin(self, games: int, kept: int) -> None:
        self.games, self.done = games, kept

    def part_ended(self, pairing: Pairing, so_far: Sequence[DealResults], games: int) -> None:
        self.done, self.now = self.done + games, self.now + games


def test_kept_games_count_as_progress_only_if_a_round_pairs_them(tmp_path: Path) -> None:
    """Four players have six matches, and two rounds pair four of them."""
    (tmp_path / "none").mkdir()
    play_four = partial(play, tmp_path / "none", tmp_path / "out", others=FOUR)
    paired = {name for each in meetings(play_four(swiss=2)) for name in each}
    play_four()
    for folder, pair in zip(sorted((tmp_path / "out" / "games").glob("[0-9]")), PAIRS, strict=True):
        if pair in paired:
            shutil.rmtree(folder)
    for played_now in (8, 0):  # at first two matches are kept that nobody needs
        progress = Progress()
        play_four(swiss=2, watch=progress)
        assert (progress.games, progress.done, progress.now) == (8, 8, played_now)


def test_the_page_of_swiss_rounds_links_to_games(many: Path, tmp_path: Path) -> None:
    played = play(many, tmp_path / "out", swiss=2)
    site, data, _ = page.write(played, tmp_path / "out")
    links = re.findall(r'href="([^"]+)"', site.read_text(encoding="utf-8"))
    assert len(links) == 2 * 2 * 2
    for link in links:
        assert load_game(tmp_path / "out" / link).variant.id == "hanamikoji"
    assert None in json.loads(data.read_text())["results"][0]["rate"][0]


def test_swiss_rounds_that_make_no_sense_are_refused(many: Path, tmp_path: Path) -> None:
    for rounds, game in ((1, "hanamikoji"), (3, "hanamikoji"), (2, "hanabi:2p")):
        with pytest.raises(UserError, match="--swiss"):
            play(many, tmp_path / "out", game, swiss=rounds)


# --- Going on


class Stopped(Exception):
    pass


class StopAfterOne(Watch):
    def part_ended(self, pairing: Pairing, so_far: Sequence[DealResults], games: int) -> None:
        raise Stopped


def test_a_stopped_tournament_goes_on_where_it_was(bots: Path, tmp_path: Path) -> None:
    class_of(bots, middle="legal[len(legal) // 2]")
    whole = play(bots, tmp_path / "whole")
    with pytest.raises(Stopped):
        play(bots, tmp_path / "out", watch=StopAfterOne())
    kept = {file: file.stat().st_mtime_ns for file in (tmp_path / "out" / "games").rglob("*.npz")}
    again = play(bots, tmp_path / "out")
    assert repr(again.evaluation) == repr(whole.evaluation)
    assert kept
    assert {file: file.stat().st_mtime_ns for file in kept} == kept
    assert replays(tmp_path / "whole") == replays(tmp_path / "out")


def test_a_changed_bot_or_another_clock_is_not_mixed_in(bots: Path, tmp_path: Path) -> None:
    play(bots, tmp_path / "out")
    with pytest.raises(UserError, match="seconds"):
        play(bots, tmp_path / "out", limits=Limits(1, 1024, True))
    class_of(bots, first="legal[1 % len(legal)]")
    with pytest.raises(UserError, match=r"first\.py has changed"):
        play(bots, tmp_path / "out")


def test_a_bot_that_came_or_went_is_named_without_a_digest(bots: Path, tmp_path: Path) -> None:
    play(bots, tmp_path / "out")
    class_of(bots, third="legal[0]")
    (bots / "last.py").unlink()
    with pytest.raises(UserError, match=r": third\.py was added; last\.py is gone$"):
        play(bots, tmp_path / "out")


def test_bots_that_are_added_play_their_own_matches_alone(bots: Path, tmp_path: Path) -> None:
    play(bots, tmp_path / "out")
    class_of(bots, another="legal[len(legal) // 2]", zero="legal[0]")
    kept = {file: file.stat().st_mtime_ns for file in (tmp_path / "out" / "games").rglob("*.npz")}
    grown = play(bots, tmp_path / "out").evaluation
    assert {file: file.stat().st_mtime_ns for file in kept} == kept
    assert grown.policies == ["first.py", "last.py", "another.py", "zero.py"]
    whole = play(bots, tmp_path / "whole").evaluation
    (among,), (all_at_once,) = grown.results, whole.results
    order = [whole.policies.index(name) for name in grown.policies]
    np.testing.assert_allclose(among.rate, all_at_once.rate[np.ix_(order, order)])
    assert repr(play(bots, tmp_path / "out").evaluation) == repr(grown)


def test_two_processes_do_not_play_the_same_tournament(bots: Path, tmp_path: Path) -> None:
    play(bots, tmp_path / "out")
    with locked(tmp_path / "out" / "games", "playing"), pytest.raises(UserError, match="another"):
        play(bots, tmp_path / "out")


def test_games_are_not_kept_among_the_bots(bots: Path) -> None:
    with pytest.raises(UserError, match="--out"):
        play(bots, bots / ".." / bots.name)


@pytest.mark.parametrize("name", ["index.html", "evaluation.json", "players.csv"])
def test_only_the_results_of_the_same_tournament_are_replaced(
    name: str, bots: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / name).write_text("theirs")
    with pytest.raises(UserError, match=name):
        play(bots, out)
    assert [(file.name, file.read_text()) for file in out.iterdir()] == [(name, "theirs")]
    (out / name).unlink()
    first = play(bots, out)
    page.write(first, out)
    assert repr(play(bots, out).evaluation) == repr(first.evaluation)


# --- Bots that fail


def test_a_bot_that_fails_loses_its_own_games_and_the_page_says_why(
    bots: Path, tmp_path: Path
) -> None:
    hostile = {
        "crash": CRASHES,
        "stall": CRASHES.replace("1 / 0", "time.sleep(9)"),
        "memory": CRASHES.replace("1 / 0", "len(bytearray(1 << 31))"),
    }
    (bots / "last.py").unlink()
    limits = replace(LIMITS, seconds=2)  # for the one that stalls
    played = play(class_of(bots, **hostile), tmp_path / "out", limits=limits)
    lost = {each.policy: each.error for each in played.evaluation.forfeits}
    assert set(lost) == {f"{name}.py" for name in hostile}
    shown = page.tournament_page(played)
    for why in ("ZeroDivisionError", "no answer in 2 seconds", "MemoryError"):
        assert why in shown
    for each in played.evaluation.forfeits:
        assert each.games <= 2, "one in each seat"


@pytest.mark.parametrize(
    ("wasteful", "limits", "why"),
    [
        ("sum(iter(int, 1))", Limits(60, waits=True, cpu=1), "1 second of processor time"),
        ("time.sleep(60)", Limits(60, waits=True, clock=2), "2 seconds for the game"),
    ],
)
def test_a_bot_that_takes_too_long_over_a_game_loses_it_alone(
    wasteful: str, limits: Limits, why: str, bots: Path, tmp_path: Path
) -> None:
    (bots / "last.py").unlink()
    class_of(bots, wasteful=CRASHES.replace("1 / 0", wasteful))
    played = play(bots, tmp_path / "out", games=4, limits=limits)
    (forfeits,) = played.evaluation.forfeits
    assert (forfeits.policy, forfeits.games) == ("wasteful.py", 2)
    assert why in page.tournament_page(played)


def test_games_of_a_bot_that_did_not_start_are_played_again(bots: Path, tmp_path: Path) -> None:
    book = tmp_path / "book"
    code = BOT.replace("CHOICE", "legal[0]").replace("for", f"open({str(book)!r})\nfor", 1)
    (bots / "reader.py").write_text(code, encoding="utf-8")
    forfeits = play(bots, tmp_path / "out").evaluation.forfeits
    assert [(each.policy, each.games) for each in forfeits] == [("reader.py", 2)] * 2
    assert "not ready" in forfeits[0].error
    book.touch()
    assert not play(bots, tmp_path / "out").evaluation.forfeits


def test_a_bot_that_does_not_start_loses_every_game_and_two_play_no_match(
    bots: Path, tmp_path: Path
) -> None:
    class_of(bots, broken="legal[0", other="legal[[", crash="1 / 0")  # two of them no Python
    played = play(bots, tmp_path / "out", games=4)
    (only,) = played.rounds
    assert [pairing.names for pairing, _ in only.not_played] == [("broken.py", "other.py")]
    assert len(only.matches) == 9
    (result,) = played.evaluation.results
    names = played.evaluation.policies
    for name in ("broken.py", "other.py"):
        rates = np.delete(result.rate[names.index(name)], names.index(name))
        assert np.nanmax(rates) == 0
    lines = csv.DictReader(as_csv(played).splitlines())
    forfeited = {line["player"]: int(line["forfeited"]) for line in lines}
    assert forfeited["broken.py"] == forfeited["other.py"] == 3 * 4
    assert forfeited["crash.py"] == 2 * 4
    shown = page.tournament_page(played)
    assert "broken.py and other.py" in shown


@pytest.mark.parametrize("absent", [["last"], ["first", "last"]])
def test_a_half_played_match_of_bots_that_no_longer_start_has_no_other_winner(
    absent: list[str], bots: Path, tmp_path: Path
) -> None:
    for name in ("first", "last"):
        opens = f"open({str(tmp_path / name)!r})\nfor line"
        code = BOT.replace("CHOICE", "legal[0]").replace("for line", opens, 1)
        (bots / f"{name}.py").write_text(code, encoding="utf-8")
        (tmp_path / name).touch()
    out = tmp_path / "out"
    class_of(bots, third="legal[0]")
    whole = play(bots, out, games=8)
    (parts,) = (out / "games").glob("0")
    for file in sorted(parts.iterdir())[1:]:
        file.unlink()
    for name in absent:
        (tmp_path / name).unlink()
    found = play(bots, out, games=8)
    matches = {pairing.names: part for each in found.rounds for pairing, part in each.matches}
    half = matches.get(("first.py", "last.py"))
    if len(absent) == 2:
        assert half is None
    else:
        assert half
        assert len(half.deals) == 4
        assert half.scores[1:].tolist() == [1, 1, 1]
    assert whole.evaluation.policies == found.evaluation.policies


def test_swiss_rounds_go_on_without_bots_that_do_not_start(bots: Path, tmp_path: Path) -> None:
    class_of(bots, a="legal[0", b="legal[0", c="legal[0")
    (bots / "last.py").unlink()
    played = play(bots, tmp_path / "out", swiss=2)
    assert [len(each.not_played) for each in played.rounds] == [1, 1]
    lines = {line["player"]: line for line in csv.DictReader(as_csv(played).splitlines())}
    assert next(iter(lines)) == "first.py"
    for name, line in lines.items():
        assert (line["elo"] == "") == (line["games"] == "0"), name
    page.tournament_page(played)


def test_a_tournament_without_a_bot_that_starts_says_why(tmp_path: Path) -> None:
    folder = class_of(tmp_path / "bots", one="legal[0", two="legal[0")
    with pytest.raises(UserError, match=r"one\.py is not ready"):
        play(folder, tmp_path / "out")


# --- The page


def test_the_page_has_a_line_for_each_way_in_which_a_bot_fails(bots: Path, tmp_path: Path) -> None:
    class_of(bots, crash="1 / 0", more="legal[0]", most="legal[0]")
    played = play(bots, tmp_path / "out")
    shown = page.tournament_page(played).split("<h2>Forfeited games</h2>")[1]
    failures = shown.split("<h2>")[0]
    assert failures.count("<td>crash.py<td>") == 1
    assert "and 1 more" in failures


def test_every_link_of_the_page_leads_to_a_game(bots: Path, tmp_path: Path) -> None:
    class_of(bots, **{"<b>": CRASHES})
    out = tmp_path / "out"
    played = play(bots, out)
    site, *_ = page.write(played, out)
    text = site.read_text(encoding="utf-8")
    links = re.findall(r'href="([^"]+)"', text)
    assert len(links) == 3 * 2
    for link in links:
        assert load_game(out / link).variant.id == "hanamikoji"
    assert "<b>" not in text
    assert "in game b" in text


def test_the_page_of_the_folder_above_is_called_by_its_name(
    bots: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bots / "within").mkdir()
    monkeypatch.chdir(bots / "within")
    how = "--game hanamikoji --set max_rounds=1 --games 2 --processes 1"
    with pytest.raises(SystemExit) as ended:
        cli.main(["arena", "..", *how.split()])
    assert not ended.value.code
    assert [path.name for path in Path().iterdir()] == ["runs"]
    assert Path("runs", "bots", "index.html").exists()


# --- Which are bots


def test_programs_of_all_kinds_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena_bots, "which", lambda program: program)
    for name in ("a.py", "b.js", "c", "d.cpp", "e.txt", "_f.py", ".g.py"):
        (tmp_path / name).write_text("", encoding="utf-8")
    (tmp_path / "c").chmod(0o755)
    for folder, program in (("h", "run"), ("i", "other")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / program).write_text("", encoding="utf-8")
        (tmp_path / folder / program).chmod(0o755)
    found, others = bots_in(tmp_path)
    assert list(found) == ["a.py", "b.js", "c", "h"]
    assert others == ["d.cpp", "e.txt", "i"]
    monkeypatch.setattr(arena_bots, "which", lambda program: None if program == "node" else program)
    found, others = bots_in(tmp_path)
    assert list(found) == ["a.py", "c", "h"]
    assert others == ["b.js", "d.cpp", "e.txt", "i"]


def test_mistakes_end_in_a_sentence(bots: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no folder"):
        bots_in(tmp_path / "missing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="no bots"):
        play(tmp_path / "empty", tmp_path / "out")
    with pytest.raises(UserError, match="processes"):
        play(bots, tmp_path / "out", processes=-3)
    with pytest.raises(UserError, match="limits"):
        play(bots, tmp_path / "out", limits=5)
    with pytest.raises(UserError, match="variant"):
        play_tournament(bots, "hanamikoji", tmp_path / "out")
    with pytest.raises(UserError, match="are called"):
        play(bots, tmp_path / "out", others=["random", "random"])
    (bots / "last.py").unlink()
    with pytest.raises(UserError, match="one player"):
        play(bots, tmp_path / "out")


def test_its_files_and_their_places_change_a_bot_but_not_what_it_compiles(tmp_path: Path) -> None:
    bot = tmp_path / "bot"
    (bot / "__pycache__").mkdir(parents=True)
    (bot / "run").write_text("a program")
    before = digest(bot)
    (bot / "__pycache__" / "brain.pyc").write_text("compiled")
    (bot / ".log").write_text("it wrote this")
    assert digest(bot) == before
    (bot / "brain.py").write_text("a part of it")
    whole = digest(bot)
    assert whole != before
    (bot / "lib").mkdir()
    (bot / "brain.py").rename(bot / "lib" / "brain.py")
    assert digest(bot) not in (before, whole)


NOT_UTF_8 = "notes_\udce9"  # as Python reads b"notes_\xe9"
LINUX_ALONE = pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere names of files are in UTF-8"
)


@LINUX_ALONE
def test_names_that_are_not_in_utf_8_stop_no_tournament(bots: Path, tmp_path: Path) -> None:
    class_of(bots, **{NOT_UTF_8: "legal[0]"})
    (bots / f"{NOT_UTF_8}.txt").touch()
    played = play(bots, tmp_path / "out")
    assert f"{NOT_UTF_8}.py" in played.evaluation.policies
    site, *_ = page.write(played, tmp_path / "out")
    shown = site.read_text(encoding="utf-8")
    assert all(f"notes_\\udce9.{kind}" in shown for kind in ("py", "txt"))


@LINUX_ALONE
def test_a_file_whose_name_is_not_in_utf_8_is_a_part_of_its_bot(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a program")
    before = digest(tmp_path)
    (tmp_path / NOT_UTF_8).touch()
    assert digest(tmp_path) != before


def test_a_program_called_run_is_a_bot_of_its_own(bots: Path) -> None:
    (bots / "run").write_text("a program")
    before = digest(bots / "run")
    class_of(bots, another="legal[0]")
    assert digest(bots / "run") == before


def test_a_process_that_is_killed_ends_the_tournament_in_a_sentence(
    tmp_path: Path,
) -> None:
    bots = class_of(tmp_path / "bots", first="legal[0]", kills="os.kill(os.getppid(), 9)")
    class_of(bots, last="legal[-1]")
    with pytest.raises(UserError, match="was killed"):
        play(bots, tmp_path / "out", processes=2)


STOPPED = """
import signal
from pathlib import Path
import hanamachi
from hanamachi.policies.external.bot import Limits
from hanamachi.training.arena.tournament import play_tournament

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    variant, limits = hanamachi.variant("hanamikoji", max_rounds=1), Limits(99, 1024, True)
    play_tournament(Path("bots"), variant, Path("out"), games=2, limits=limits, processes=2)
"""


NO_LIST = pytest.mark.skipif(not Path("/proc").exists(), reason="it does not list processes")


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(getattr(signal, "SIGKILL", 9), marks=NO_LIST)]
)
def test_a_tournament_that_is_stopped_leaves_nobody_behind(number: int, tmp_path: Path) -> None:
    sleeps = f"(open(f'{tmp_path}/{{os.getpid()}}.pid', 'w').close(), time.sleep(99))"
    class_of(tmp_path / "bots", **{name: sleeps for name in ("one", "other", "third")})
    (tmp_path / "stopped.py").write_text(STOPPED)
    command = [sys.executable, "stopped.py"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL) as tournament:
        while len(found := [*tmp_path.rglob("*.pid")]) < 2:
            assert tournament.poll() is None
            time.sleep(0.05)
        tournament.send_signal(number)
        tournament.wait(timeout=30)
    if number == signal.SIGINT:
        for bot in found:
            with pytest.raises(ProcessLookupError):
                os.kill(int(bot.stem), 0)
    until = time.monotonic() + 30
    while left := processes_of(tmp_path / "bots"):  # the waiting ones, too
        assert time.monotonic() < until, left
        time.sleep(0.1)


def processes_of(bots: Path) -> list[bytes]:
    """The command lines of the bots that run; none where the platform does not list them."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # of one that ends meanwhile
            found.append(file.read_bytes())
    return [words for words in found if os.fsencode(bots) in words]
