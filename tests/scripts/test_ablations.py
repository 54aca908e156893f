"""The script that says what each piece of the learner is worth."""

import json

import commands
from root import ROOT
from samples import WHOLE

SCRIPT = ROOT / "scripts" / "ablations.py"
GAMES = ("kuhn_poker", "hanamikoji-gifts")
SOME = [] if WHOLE else ["--pieces", "all pieces", "credit: unsigned", "head: plain"]


def ablations(out, *more):
    arguments = ["--steps", "100", "--seeds", "1", "--games", *GAMES, "--out", str(out), *more]
    return commands.script(SCRIPT, arguments, out)


def test_every_piece_is_measured_once_and_shown(tmp_path):
    assert ablations(tmp_path, *SOME)
    rows = json.loads((tmp_path / "ablations.json").read_text())
    pieces = {game: {row["piece"] for row in rows if row["game"] == game} for game in GAMES}
    assert pieces["hanamikoji-gifts"] - pieces["kuhn_poker"] == {"head: plain"}
    assert len(rows) == sum(map(len, pieces.values()))
    assert all(0 <= row["average"] < 2 * row["uniform"] for row in rows)
    assert "| all pieces, average |" in (tmp_path / "ablations.md").read_text()
    assert (tmp_path / "ablations.png").stat().st_size > 10_000
    assert ablations(tmp_path, *SOME) == ""  # all is there already


def test_one_piece_can_be_measured_at_another_length(tmp_path):
    chosen = "--pieces", "all pieces", "--games", "kuhn_poker"
    ablations(tmp_path, *chosen)
    longer = ablations(tmp_path, *chosen, "--steps", "200")
    assert longer.count("'piece'") == longer.count("'piece': 'all pieces', 'steps': 200") == 1
    page = (tmp_path / "ablations.md").read_text()
    assert page.index("## After 100 decisions") < page.index("## After 200 decisions")
    assert "no magnet" not in page
