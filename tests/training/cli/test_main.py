"""The command line does what it says, and a mistake ends in one sentence and exit code 2."""

import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from functools import partial

import pytest
import typer
from root import ROOT

from hanamachi.games.registry import GAMES, VARIANTS, variant
from hanamachi.limits import LINE
from hanamachi.policies import load_policy
from hanamachi.policies.networks.checkpoint import save_checkpoint
from hanamachi.policies.networks.network import checkpoint_of, for_variant
from hanamachi.sessions.saved_games import load, record_of, save
from hanamachi.sessions.session import Session
from hanamachi.training import benchmark
from hanamachi.training.arena import grade
from hanamachi.training.benchmark import engine, kernel
from hanamachi.training.cli import main as cli
from hanamachi.training.cli.app import app
from hanamachi.training.evaluation import plan
from hanamachi.training.exact import SMALL as SMALL_VERSIONS
from hanamachi.training.exact import report
from hanamachi.training.ownership import LOCK


@pytest.fixture
def saved_game(tmp_path):
    """A record of three actions, and the words of the first."""
    session = Session(variant("hanamikoji"))
    session.begin(5)
    words = session.variant.actions.describe(first_legal(session))
    for _ in range(3):
        session.step(first_legal(session))
    path = tmp_path / "game.json"
    save(record_of(session), path)
    return path, words


def first_legal(session):
    return int(session.observe(session.mover)[1].argmax())


def process(*command, **keywords):
    return subprocess.run(
        [sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        check=False,
        **keywords,
    )


# --- What the commands do


def test_evaluate_prints_the_matrix_and_writes_it(hanamachi, tmp_path):
    arguments = ["evaluate", "random", "greedy", "--game", "hanamikoji", "--games", 40]
    code, out, _ = hanamachi(*arguments, "--set", "max_rounds=1", "--out", tmp_path)
    assert code == 0
    assert "Elo" in out
    content = json.loads((tmp_path / "evaluation.json").read_text())
    assert [r["play"] for r in content["results"]] == ["sample", "argmax"]
    assert content["options"]["max_rounds"] == 1
    assert (tmp_path / "evaluation.png").exists()


def test_evaluate_against_all_plays_every_other_rule_policy(hanamachi, tmp_path):
    arguments = ["evaluate", "expert", "greedy", "--against", "all", "--game", "hanamikoji"]
    code, out, _ = hanamachi(*arguments, "--games", 4, "--play", "sample", "--out", tmp_path)
    assert code == 0
    assert "against" in out
    content = json.loads((tmp_path / "evaluation.json").read_text())
    assert [(row["policy"], row["opponent"]) for row in content["results"]] == [
        ("expert", "random"), ("expert", "greedy"), ("greedy", "random"), ("greedy", "expert"),
    ]  # fmt: skip


SMALL = ("--set", "cards=[1,2,3]", "--set", "actions=[gift]", "--set", "max_rounds=1")


def test_exploit_prints_how_far_a_policy_is_from_equilibrium_and_writes_it(hanamachi, tmp_path):
    small = ("--exact", "--game", "hanamikoji", *SMALL)
    code, out, _ = hanamachi("exploit", "random", *small, "--out", tmp_path)
    assert code == 0
    content = json.loads((tmp_path / "exact.json").read_text())
    assert f"NashConv {content['nash_conv']:.4f}" in out
    assert content["nash_conv"] == content["uniform_nash_conv"] > 0.1
    assert content["equilibrium"]["nash_conv"] < 1e-3
    assert content["options"]["cards"] == [1, 2, 3]


def test_an_exact_result_is_written_again_but_not_over_that_of_another_policy(
    hanamachi, tmp_path, monkeypatch
):
    small = ("--exact", "--game", "hanamikoji", *SMALL, "--out", tmp_path)
    for _ in range(2):
        assert hanamachi("exploit", "random", *small)[0] == 0
    before = (tmp_path / "exact.json").read_text()
    monkeypatch.setattr(report, "tree_of", must_not_happen)
    for policy, *more in (["greedy"], ["random", "--set", "starter=0"]):
        code, _, said = hanamachi("exploit", policy, *small, *more)
        assert (code, said.count("\n")) == (2, 1)
        assert "exact.json is there already" in said
    assert (tmp_path / "exact.json").read_text() == before


def test_an_exact_result_is_not_replaced_by_that_of_other_weights(hanamachi, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    policy, place = tmp_path / "exactly_mine.py", ("--out", tmp_path)
    small = ("--exact", "--game", "hanamikoji", *SMALL)
    code = "def first(variant):\n    return lambda observation, mask: int(mask.argmax())\n"
    policy.write_text(code)
    assert hanamachi("exploit", "exactly_mine:first", *small, *place)[0] == 0
    before = (tmp_path / "exact.json").read_text()
    policy.write_text(code + "# and another weight\n")
    code, _, said = hanamachi("exploit", "exactly_mine:first", *small, *place)
    assert (code, said.count("\n")) == (2, 1)
    assert "exactly_mine:first has changed" in said
    assert (tmp_path / "exact.json").read_text() == before


def must_not_happen(*given, **how):
    raise AssertionError


@pytest.mark.skipif(os.name != "posix", reason="bots run on Linux and macOS alone")
def test_grades_of_each_small_version_have_files_of_their_own(hanamachi, tmp_path, monkeypatch):
    (tmp_path / "bots").mkdir()
    out = tmp_path / "out"
    command = ("arena", tmp_path / "bots", "--with", "random", "--out", out, "--grade")
    monkeypatch.setitem(SMALL_VERSIONS, "tiny", SMALL_VERSIONS["hanabi-pairs"])
    for small in ("hanabi-pairs", "tiny", "tiny"):
        assert hanamachi(*command, small)[0] == 0
    names = [f"grades-{small}.{kind}" for small in ("hanabi-pairs", "tiny") for kind in KINDS]
    assert sorted(path.name for path in out.glob("[!.]*")) == names
    monkeypatch.setattr(grade, "tree_of", must_not_happen)
    for name, text in (("grades-tiny.json", "theirs"), ("grades-hanabi-pairs.json", None)):
        (out / name).write_text(text) if text else (out / name).unlink()
        code, _, said = hanamachi(*command, name[len("grades-") : -len(".json")])
        assert (code, said.count("\n")) == (2, 1)
        assert "is there already" in said


@pytest.mark.skipif(os.name != "posix", reason="bots run on Linux and macOS alone")
def test_what_is_no_bot_is_not_graded_but_listed(hanamachi, tmp_path):
    (tmp_path / "bots").mkdir()
    (tmp_path / "bots" / "notes.txt").touch()
    out = ("--out", tmp_path / "out")
    code, _, said = hanamachi(
        "arena", tmp_path / "bots", "--with", "random", *out, "--grade", "hanabi-pairs"
    )
    assert code == 0
    assert "notes.txt is no bot" in said


@pytest.mark.skipif(os.name != "posix", reason="bots run on Linux and macOS alone")
@pytest.mark.parametrize(
    ("changed", "more"), [("bot.py has changed", ""), ("seconds", "--seconds 2"),
                          ("greedy was added", "--with greedy")],
)  # fmt: skip
def test_grades_of_other_bots_or_under_other_limits_stay(hanamachi, tmp_path, changed, more):
    bot = tmp_path / "bots" / "bot.py"
    bot.parent.mkdir()
    bot.write_text("1 / 0")  # so it is refused, and soon
    small = "hanabi-pairs"
    command = ("arena", bot.parent, "--out", tmp_path / "out", "--grade", small)
    for _ in range(2):
        assert hanamachi(*command)[0] == 0
    grades = [tmp_path / "out" / f"grades-{small}.{kind}" for kind in KINDS]
    before = [each.read_text() for each in grades]
    if not more:
        bot.write_text("2 / 0")
    code, _, said = hanamachi(*command, *more.split())
    assert (code, said.count("\n")) == (2, 1)
    assert "is there already" in said
    assert changed in said
    assert [each.read_text() for each in grades] == before


def test_processes_play_the_same_games(hanamachi, tmp_path, monkeypatch):
    """A function inside another one goes to the other processes, too."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "sent.py").write_text(
        "def first(variant):\n    return lambda observation, mask: int(mask.argmax())\n"
    )
    command = "evaluate sent:first random --game hanamikoji --games 256 --play sample --json"
    alone, both = (hanamachi(*command.split(), "--processes", n)[1] for n in (1, 2))
    assert alone == both


def test_processes_are_of_this_machine(hanamachi):
    code, _, said = hanamachi("evaluate", "hanamikoji", "greedy", "--ray", "--processes", 2)
    assert (code, said.count("\n")) == (2, 1)
    assert "leave out --processes" in said


KINDS = ("html", "json")


@pytest.mark.parametrize(
    "command",
    [
        "dataset hanamikoji --policy random --games 2",
        "evaluate random greedy --game hanamikoji --games 2",
        "exploit random --exact --game hanamikoji",
        "exploit random --search worlds=1 --game hanamikoji",
        "arena bots --with random --grade hanabi-pairs",
        "arena bots --with random --with greedy --game hanamikoji",
        "benchmark engine",
    ],
)
def test_a_file_in_the_place_of_a_folder_is_named_before_the_work(
    command, hanamachi, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bots").mkdir()
    (tmp_path / "afile").write_text("theirs")
    for module, work in (
        (report, "tree_of"), (grade, "tree_of"), (benchmark, "run"), (plan, "play_part"),
    ):  # fmt: skip
        monkeypatch.setattr(module, work, must_not_happen)
    for out in ("afile", "afile/deeper"):
        code, _, said = hanamachi(*command.split(), "--out", out)
        assert (code, said.count("\n")) == (2, 1)
        assert "afile is a file" in said
    assert (tmp_path / "afile").read_text() == "theirs"


def test_a_folder_in_the_place_of_a_file_is_named(hanamachi, tmp_path):
    (tmp_path / "folder.onnx").mkdir()
    code, _, said = hanamachi("export", "hanamikoji", "--out", tmp_path / "folder.onnx")
    assert (code, said.count("\n")) == (2, 1)
    assert "folder.onnx is a folder" in said


def test_games_lists_every_variant_and_whether_it_has_an_agent(hanamachi):
    code, out, _ = hanamachi("games")
    assert code == 0
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines()]
    agent = {row[0]: row[-1] for row in cells if row}
    assert agent.keys() == VARIANTS.keys()
    assert agent["hanamikoji:eight_suits"] == "that of hanamikoji"
    assert agent["hanabi:3p"] == "yes, :partner"
    assert agent["hanabi:4p:multicolour"] == "no"


def test_games_lists_a_small_version_with_its_own_options(hanamachi):
    code, out, _ = hanamachi("games", "hanabi-pairs", "--json")
    (listed,) = json.loads(out)
    assert (code, listed["id"], listed["game"], listed["agents"]) == (
        0,
        "hanabi-pairs",
        "hanabi",
        [],
    )
    assert listed["options"]["ranks"]["default"] == 2


@pytest.mark.parametrize("game", GAMES)
def test_games_lists_the_variants_and_options_of_one_game(hanamachi, game):
    code, out, _ = hanamachi("games", game)
    assert code == 0
    assert all(name in out for name in [*GAMES[game].variants, *GAMES[game].options])


def test_games_lists_one_variant_with_its_own_options_alone(hanamachi):
    code, out, _ = hanamachi("games", "geishas_road:2021", "--json")
    assert code == 0
    (listed,) = json.loads(out)
    assert (listed["id"], listed["agents"], listed["cooperative"]) == (
        "geishas_road:2021", ["geishas_road:2021"], False
    )  # fmt: skip
    assert listed["options"].keys() == VARIANTS["geishas_road:2021"].variants[listed["id"]].keys()
    code, out, _ = hanamachi("games", "geishas_road:2021")
    assert "rounds_to_win" in out
    assert "instant_win" not in out


def test_games_of_several_variants_say_which_of_them_have_an_option(hanamachi):
    rows = " ".join(hanamachi("games", "geishas_road")[1].replace("│", " ").split())
    assert "only in 2021" in rows
    assert len(json.loads(hanamachi("games", "--json")[1])) == len(VARIANTS)


@pytest.mark.parametrize(
    ("policies", "played"),
    [
        (["hanamikoji:three_rounds", "random"], ("hanamikoji:three_rounds", 3, "random")),
        (["random", "search:improve:hanamikoji:worlds=1"], ("hanamikoji", None, "random")),
        (["random", "--against", "FOLDER"], ("hanamikoji", 1, "random")),
        (["FOLDER", "random", "--set", "starter=1"], ("hanamikoji", 1, 1)),
    ],
)
def test_evaluate_plays_the_game_that_a_policy_knows(hanamachi, checkpoint, policies, played):
    given = [checkpoint if word == "FOLDER" else word for word in policies]
    code, out, err = hanamachi("evaluate", *given, "--games", 2, "--play", "argmax", "--json")
    assert code == 0, err
    content = json.loads(out)
    options = content["options"]
    assert (content["game"], options["max_rounds"], options["starter"]) == played


@pytest.fixture
def checkpoint(tmp_path):
    """An untrained one, in the folder of a run of one round."""
    game = variant("hanamikoji", max_rounds=1)
    network = for_variant(game, (4,))
    save_checkpoint(tmp_path / "run" / "policy", checkpoint_of(network, game), "")
    return tmp_path / "run" / "policy"


def test_a_run_folder_is_answered_with_the_path_of_its_policy(hanamachi, checkpoint):
    code, _, err = hanamachi("evaluate", checkpoint.parent, "--against", "random")
    assert code == 2
    assert str(checkpoint) in err


def test_train_says_where_the_policy_the_report_and_the_curve_are(hanamachi, tmp_path):
    settings = tmp_path / "tiny.yaml"
    settings.write_text(
        "{game: hanamikoji, steps: 64, num_games: 4, network: {hidden: [4]},"
        " evaluation: {games: 2, final_games: 2, final_opponents: [random]}}"
    )
    run = tmp_path / "run"
    for again in ([], ["--resume"]):
        code, _, err = hanamachi("train", settings, "--out", run, *again)
        assert code == 0, err
        for name in ("policy", "report.html", "curve.png"):
            assert f"{run / name}\n" in err
            assert (run / name).exists()


def test_no_table_cuts_a_name_or_is_wider_than_80_columns(hanamachi, checkpoint):
    names = [f"search:improve:{checkpoint}:worlds={n}" for n in (1, 2)]
    for column, pairing in (2, [*names, "random"]), (1, [*names, "--against", "random"]):
        code, out, err = hanamachi("evaluate", *pairing, "--games", 2)
        assert code == 0, err
        assert max(map(len, out.splitlines())) <= 80
        assert "…" not in out
        cells = [[c.strip() for c in line.split("│")] for line in out.splitlines() if "│" in line]
        assert all(name in "".join(row[column] for row in cells) for name in names)


def test_exact_exploitability_is_also_json(hanamachi):
    arguments = ["exploit", "random", "--exact", "--game", "hanamikoji", *SMALL, "--json"]
    code, out, _ = hanamachi(*arguments)
    assert (code, json.loads(out)["policy"]) == (0, "random")


def test_a_benchmark_is_also_json_and_fits_80_columns(hanamachi, tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "MANY", 64)
    monkeypatch.setattr(kernel, "BATCH", 16)
    monkeypatch.setattr(kernel, "RECORDED", 20)
    small = ["benchmark", "engine", "--rounds", 2, "--seconds", 0]
    code, out, _ = hanamachi(*small, "--out", tmp_path, "--json")
    assert code == 0
    assert (
        json.loads(out)["comparisons"]
        == json.loads((tmp_path / "benchmark.json").read_text())["comparisons"]
    )
    out = hanamachi(*small)[1]
    assert max(map(len, out.splitlines())) <= 80
    assert "…" not in out


def test_replay_prints_a_whole_game(hanamachi, saved_game):
    path, words = saved_game
    code, out, _ = hanamachi("replay", path, "--all")
    assert code == 0
    assert out.count("player_0: ") + out.count("player_1: ") >= 3
    assert words in out


def test_replay_shows_a_finished_round_before_the_next(hanamachi, tmp_path):
    session = Session(variant("hanamikoji", starter=0))
    session.begin(0)
    while session.games[0].round_number == 1:
        session.step(first_legal(session))
    save(record_of(session), tmp_path / "game.json")
    code, out, _ = hanamachi("replay", tmp_path / "game.json", "--all")
    assert code == 0
    assert out.count("the round is over") == 1
    assert out.index("the round is over") < out.index("round 2 · turn 1 of 8")


def test_replay_writes_an_animation(hanamachi, saved_game, tmp_path):
    code, out, said = hanamachi("replay", saved_game[0], "--out", tmp_path / "game.svg")
    assert (code, out) == (0, "")
    assert str(tmp_path / "game.svg") in said
    assert (tmp_path / "game.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize("name", ["game.txt", "again.json"])
def test_replay_writes_a_game_that_it_reads_again(hanamachi, saved_game, tmp_path, name):
    path, _ = saved_game
    assert hanamachi("replay", path, "--out", tmp_path / name)[0] == 0
    shown = [hanamachi("replay", file, "--all")[1] for file in (path, tmp_path / name)]
    assert shown[0] == shown[1]


def test_replay_refuses_a_kind_of_file_that_it_cannot_write(hanamachi, saved_game, tmp_path):
    for name in ("game.png", "game.hanab.json"):  # it is no game of Hanabi
        code, _, said = hanamachi("replay", saved_game[0], "--out", tmp_path / name)
        assert code == 2
        assert len(said.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("given", "unused"),
    [
        (["--web", "--out", "game.svg"], "--out"),
        (["--web", "--all"], "--all"),
        (["--web", "--seconds", 2], "--seconds"),
        (["--out", "game.svg", "--all"], "--all"),
        (["--seconds", 2], "--seconds"),
    ],
)
def test_replay_refuses_an_option_that_it_would_not_use(hanamachi, saved_game, given, unused):
    code, out, said = hanamachi("replay", saved_game[0], *given)
    assert (code, out) == (2, "")
    assert f"leave out {unused}" in said


@pytest.mark.parametrize(
    ("given", "unused"),
    [
        ("--exact --games 50", "--games"),
        ("--exact --resume", "--resume"),
        ("--search worlds=2 --seeds 1", "--seeds"),
        ("--steps 64 --out runs --games 50", "--games"),
        ("--exact --seed 1", "--seed"),
        ("--steps 64 --out runs --search worlds=2 --seed 1", "--seed"),
    ],
)
def test_exploit_refuses_an_option_that_it_would_not_use(hanamachi, given, unused):
    code, _, said = hanamachi("exploit", "random", "--game", "hanamikoji", *given.split())
    assert code == 2
    assert f"leave out {unused}" in said


@pytest.mark.parametrize("option", ["--set", "--games", "--swiss", "--seed", "--processes"])
def test_a_grade_refuses_the_options_of_a_tournament(hanamachi, tmp_path, option):
    value = "max_rounds=1" if option == "--set" else 3
    code, out, said = hanamachi("arena", tmp_path, "--grade", "hanabi-pairs", option, value)
    assert (code, out) == (2, "")
    assert f"leave out {option}" in said


def test_replay_steps_by_enter_and_ends_with_the_input(hanamachi, saved_game, monkeypatch):
    path, words = saved_game
    monkeypatch.setattr("sys.stdin", io.StringIO("\n"))
    code, out, _ = hanamachi("replay", path)
    assert code == 0
    assert words in out
    assert "the cards are dealt" in out


@pytest.mark.parametrize("command", [["play", "hanamikoji"], ["replay"]])
@pytest.mark.parametrize("typed", ["\0" * 2 * LINE, None], ids=["endless", "no input"])
def test_a_line_without_an_end_ends_the_input_as_having_none_does(
    hanamachi, saved_game, monkeypatch, command, typed
):
    monkeypatch.setattr("sys.stdin", typed and io.StringIO(typed))
    code, _, err = hanamachi(*command, *saved_game[:1] * (command == ["replay"]))
    assert (code, err) == (0, "")


def without_options(variant):
    return load_policy("greedy", variant.id)


def test_the_game_that_is_played_is_the_one_that_was_asked_for(hanamachi, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    arguments = ["--opponent", f"{__name__}:without_options", "--set", "starter=1"]
    hanamachi("play", "hanamikoji", *arguments, "--record", tmp_path / "game.json")
    assert load(tmp_path / "game.json").variant.options["starter"] == 1


@pytest.mark.parametrize("name", ["game.json", "game.json/again.json"])
def test_play_says_before_the_first_move_that_it_cannot_record(
    hanamachi, tmp_path, monkeypatch, name
):
    (tmp_path / "game.json").write_text("theirs")
    monkeypatch.setattr("sys.stdin", io.StringIO())
    code, out, err = hanamachi("play", "hanamikoji", "--record", tmp_path / name)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert str(tmp_path / "game.json") in err
    assert (tmp_path / "game.json").read_text() == "theirs"


def test_without_arguments_the_help_is_shown(hanamachi):
    code, out, _ = hanamachi()
    assert code == 0
    for command in typer.main.get_command(app).commands:
        assert re.search(rf"^\W*{command} ", out, re.MULTILINE)


@pytest.mark.parametrize("name", ["train", "evaluate", "play", "benchmark"])
def test_each_script_is_a_door_to_its_command(name):
    done = process(ROOT / "scripts" / f"{name}.py", "--help")
    assert done.returncode == 0
    assert f"hanamachi {name}" in done.stdout


@pytest.mark.parametrize("name", ["leaderboard", "search"])
def test_a_script_that_measures_explains_itself(name):
    done = process(ROOT / "scripts" / f"{name}.py", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "--out" in done.stdout


# --- Mistakes


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["evaluate"], "POLICY"),
        (["evaluate", "random", "greedy"], "--game"),
        (["evaluate", "random", "--game", "hanamikoji"], "at least two"),
        (["evaluate", "random", "gredy", "--game", "hanamikoji"], "did you mean greedy"),
        (["evaluate", "random", "runs/none", "--game", "hanamikoji"], "runs/none"),
        (["evaluate", "random", "no:thing", "--game", "hanamikoji"], "no:thing"),
        (["evaluate", "random", "greedy", "--game", "hanamikji"], "did you mean hanamikoji"),
        (["evaluate", "random", "greedy", "--game", "hanamikoji", "--games", "3"], "even"),
        (["evaluate", "random", "greedy", "--game", "hanamikoji", "--games", "x"], "--games"),
        (["evaluate", "random", "greedy", "--game", "hanamikoji", "--seed", "-1"], "--seed"),
        (["evaluate", "random", "greedy", "--game", "hanamikoji", "--play", "best"], "argmax"),
        (["evaluate", "random", "--against", "al", "--game", "hanamikoji"], "no policy 'al'"),
        (["evaluate", "random", "--against", "exprt", "--game", "hanamikoji"], "mean expert"),
        (["evaluate", "random", "README.md", "--game", "hanamikoji"], "process:README.md"),
        (["evaluate", "process:python", "README.md", "--game", "hanamikoji"], "is a file"),
        (["evaluate", "model:m?url=http://[::1]/v1", "--game", "hanabi:2p"], "--games 20"),
        (["exploit", "process:x", "--search", "worlds=2", "--game", "hanamikoji"], "--grade"),
        (["exploit", "random", "--game", "hanamikoji"], "--exact"),
        (["exploit", "random", "--exact"], "random needs a game: add --game"),
        (["exploit", "random", "--search", "worlds=2"], "random needs a game: add --game"),
        (["exploit", "random", "--exact", "--game", "hanamikoji"], "hanamikoji-gifts"),
        (["exploit", "hat", "--exact", "--game", "hanamikoji"], "no policy for hanamikoji"),
        (["play", "hanamikoji", "--seat", "2"], "from 0 to 1"),
        (["play", "hanamikoji", "--set", "max_rounds"], "name=value"),
        (["play", "hanamikoji", "--set", "max_round=3"], "did you mean max_rounds"),
        (["play", "hanamikoji", "--set", "max_rounds=[3"], "max_rounds"),
        (["play", "hanamikoji", "--set", "max_rounds=3", "--set", "max_rounds=4"], "twice"),
        (["play", "hanamikoji", "--set", "max_rounds=0"], "from 1 to 1000"),
        (["replay", "missing.json"], "missing.json"),
        (["replay", "missing.json", "--seconds", "61"], "--seconds"),
        (["train", "missing.yaml", "--out", "runs/x"], "missing.yaml"),
        (["arena", "bots", "--game", "hanamikoji", "--grade", "hanabi-pairs"], "not both"),
        (["arena", "bots", "--game", "hanamikoji", "--seconds", "inf"], "seconds"),
        (["arena", "bots", "--game", "hanamikoji", "--clock", "inf"], "clock"),
        (["arena", "bots", "--game", "hanamikoji", "--memory", "9999999"], "memory"),
        (["arena", "bots", "--game", "hanamikoji", "--cpu", "9999999"], "cpu"),
        (["play", "hanabi"], "hanabi:2p or hanabi:3p or hanabi:4p or hanabi:5p"),
        (["play", "hanamikoji", "--opponent", "hanabi:2p"], "name hanamikoji, which can"),
        (["play", "hanabi:3p", "--opponent", "hanabi:2p"], "name hanabi:3p, which can"),
        (["train"], "(see hanamachi train --help)"),
        (["evaluate", "--nothing"], "(see hanamachi evaluate --help)"),
        (["games", "hanbi"], "hanabi"),
        (["trian"], "trian"),
        (["games", "--all"], "--all"),
    ],
)
def test_a_mistake_ends_in_one_sentence_and_code_2(hanamachi, arguments, words):
    code, out, err = hanamachi(*arguments)
    assert code == 2
    assert out == ""
    assert words in err
    assert err.startswith("hanamachi: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "command",
    [
        "evaluate raises:make greedy --strict --games 2 --game hanamikoji",
        "dataset hanamikoji --policy raises:make --games 2 --out data",
    ],
)
def test_an_error_of_your_own_code_ends_in_a_traceback_and_code_1(command, tmp_path):
    code = "def make(variant):\n    return act\ndef act(observation, mask):\n    return 1 // 0\n"
    (tmp_path / "raises.py").write_text(code)
    done = process("-m", "hanamachi.training.cli.main", *command.split(), cwd=tmp_path)
    assert done.returncode == 1
    assert f'{tmp_path / "raises.py"}", line 4, in act' in done.stderr
    assert "the policy raises:make failed for seat" in done.stderr


def test_a_misspelt_range_of_a_sweep_names_its_setting(hanamachi, tmp_path):
    path = tmp_path / "sweep.yaml"
    path.write_text("game: hanamikoji\nsweep: {over: {ppo.learning_rate: {logg: [1, 2]}}}\n")
    code, _, err = hanamachi("sweep", path, "--out", tmp_path / "out")
    assert code == 2
    assert "sweep.over.ppo.learning_rate.logg: no such setting (did you mean log?)" in err


def test_a_folder_that_cannot_be_written_ends_in_one_sentence(hanamachi, tmp_path):
    (tmp_path / "file").write_text("")
    arguments = ["evaluate", "random", "greedy", "--game", "hanamikoji", "--games", 2]
    code, _, err = hanamachi(*arguments, "--out", tmp_path / "file" / "folder")
    assert code == 2
    assert f"{tmp_path / 'file'} is a file" in err
    assert err.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="file sizes are limited by the shell")
def test_a_disk_without_room_ends_in_one_sentence_and_leaves_no_results(tmp_path):
    command = f"ulimit -f 0; exec '{sys.executable}' -m hanamachi.training.cli.main "
    command += f"evaluate random greedy --game hanamikoji --games 2 --out '{tmp_path}'"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("hanamachi: cannot use")
    assert "File too large" in done.stderr
    assert done.stderr.count("\n") == 1
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} <= {LOCK}


@pytest.mark.parametrize(
    ("package", "command"),
    [
        ("matplotlib", "evaluate random greedy --game hanamikoji --games 2 --out runs/never"),
        ("pydantic", "train configs/hanamikoji.yaml --out runs/never"),
        ("torch", "train configs/hanamikoji.yaml --out runs/never"),
    ],
)
def test_a_missing_package_is_named_with_the_extra_that_brings_it(package, command):
    code = f"import sys; sys.modules['{package}'] = None; "
    code += f"from hanamachi.training.cli.main import main; main({command.split()})"
    done = process("-c", code, cwd=ROOT)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert package in done.stderr
    assert "pip install 'hanamachi[train]'" in done.stderr


EXTRAS = (  # but for pydantic, which newer versions of typer bring
    "torch", "stable_baselines3", "sb3_contrib", "tensorboard", "matplotlib", "scipy", "PIL",
    "onnxruntime", "pyspiel", "ray",
)  # fmt: skip


@pytest.mark.parametrize(
    "command",
    ["--help", "games hanabi:2p", "evaluate greedy random --game hanamikoji --games 2 --json"],
)
def test_the_base_install_is_enough(command):
    code = f"import sys; sys.modules |= dict.fromkeys({EXTRAS}); sys.argv[1:] = {command.split()}; "
    code += "import runpy; runpy.run_module('hanamachi', run_name='__main__')"
    done = process("-c", code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_an_interrupted_command_ends_with_130():
    def interrupted():
        raise KeyboardInterrupt

    assert cli.run(interrupted) == 130


@pytest.mark.skipif(os.name != "posix", reason="only POSIX has these signals")
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_command_that_a_signal_ends_has_its_exit_code(name, code, monkeypatch):
    monkeypatch.setattr(cli, "leave_terminal", lambda number: None)  # that of the tests stays
    number = signal.Signals[name]
    before = signal.signal(number, signal.SIG_DFL)
    with cli.exit_on_signals():
        assert cli.run(lambda: signal.raise_signal(number)) == code
    assert signal.getsignal(number) is signal.SIG_DFL
    signal.signal(number, before)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (["train", "a b.yaml", "--set", "seed=1"], "train 'a b.yaml' --set seed=1 --resume"),
        (["sweep", "x.yaml", "--resume"], "sweep x.yaml --resume"),
        (["exploit", "expert", "--steps", "9"], "exploit expert --steps 9 --resume"),
        (["exploit", "expert", "--search", "worlds=8", "--out", "x"], None),
        (["evaluate", "a", "b", "--out", "x"], "evaluate a b --out x"),
        (["evaluate", "a", "b", "--out=x"], "evaluate a b --out=x"),
    ],
)
def test_a_stopped_command_can_be_resumed_by_the_command_that_is_printed(given, wanted):
    assert cli.how_to_resume(given).endswith(f"hanamachi {wanted or shlex.join(given)}")


@pytest.mark.parametrize(
    "given", [["evaluate", "a", "b"], ["exploit", "a", "--search", "worlds=8"]]
)
def test_what_keeps_nothing_says_how_to_keep_it(given):
    assert "--out FOLDER" in cli.how_to_resume(given)


@pytest.mark.parametrize(
    "given",
    [[], ["games"], ["exploit", "expert", "--exact"], ["arena", "bots", "--grade", "gifts"]],
)
def test_what_cannot_be_resumed_names_no_command(given):
    assert cli.how_to_resume(given) == ""


SIGNAL_WHILE_CLEANING_UP = """
import signal, time, weakref
from hanamachi.training.cli import main as cli

class Thing: pass

def answer(arguments):
    thing = Thing()
    seen = weakref.ref(thing, lambda _: signal.raise_signal(signal.{name}))
    del thing  # the callback cannot raise
    time.sleep(30)

cli.answer = answer
cli.main(["games"])
"""


@pytest.mark.skipif(os.name != "posix", reason="only POSIX has these signals")
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
def test_a_signal_that_comes_while_python_cleans_up_is_not_lost(name, code):
    program = [sys.executable, "-c", SIGNAL_WHILE_CLEANING_UP.format(name=name)]
    hear = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    done = subprocess.run(program, capture_output=True, text=True, timeout=60, preexec_fn=hear)
    assert done.returncode == code
    assert len(done.stderr.splitlines()) == 1


def test_a_mistake_of_ours_is_not_hidden():
    def broken():
        return {}["key"]

    with pytest.raises(KeyError):
        cli.run(broken)


def test_a_factory_of_the_users_own_is_found_where_the_command_runs(tmp_path):
    (tmp_path / "mine.py").write_text(
        "def first(variant):\n    return lambda observation, mask: int(mask.argmax())\n"
    )
    command = "-m hanamachi.training.cli.main evaluate random mine:first --game hanamikoji"
    command += " --games 4"
    done = process(*command.split(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "mine:first" in done.stdout


def test_a_package_that_a_users_own_policy_lacks_is_no_extra_of_ours(
    hanamachi, tmp_path, monkeypatch
):
    (tmp_path / "lacking.py").write_text(
        "def make(variant):\n    def act(observation, mask):\n"
        "        import no_such_package\n    return act\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    arguments = [
        "evaluate",
        "random",
        "lacking:make",
        "--game",
        "hanamikoji",
        "--games",
        2,
        "--strict",
    ]
    code, _, err = hanamachi(*arguments)
    assert (code, err.count("\n")) == (2, 1)
    assert "no_such_package" in err
    assert "lacking:make" in err
    assert "pip install" not in err


@pytest.mark.parametrize("given", ["", "0", "17", "'no more cards'"])
def test_a_users_own_policy_that_ends_the_process_ends_it_with_a_mistake(
    given, hanamachi, tmp_path, monkeypatch
):
    (tmp_path / f"leaving_{len(given)}.py").write_text(
        "import sys\ndef make(variant):\n    def act(observation, mask):\n"
        f"        sys.exit({given})\n    return act\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    policy = f"leaving_{len(given)}:make"
    code, _, err = hanamachi("evaluate", policy, "random", "--game", "hanamikoji", "--games", 2)
    assert (code, err.count("\n")) == (2, 1)
    assert given.strip("'") in err
