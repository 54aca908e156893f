"""The report of a run: one HTML page that needs no other file, no script and no network."""

import base64
from html import escape
from io import BytesIO
from pathlib import Path

import numpy as np

from hanamachi.engine.game import OVER
from hanamachi.policies.policy import Policy, best, sample
from hanamachi.rendering.animation import animated_svg
from hanamachi.sessions.animation import scenes
from hanamachi.sessions.players import SeatedPlayer, turn_of
from hanamachi.sessions.saved_games import Record, record_of
from hanamachi.sessions.session import Session
from hanamachi.storage.files import replacing
from hanamachi.training.config import Config
from hanamachi.training.curve import draw_curve, read_curve
from hanamachi.training.evaluation.matches import Rows, TeamScore
from hanamachi.training.evaluation.pictures import measured

MOVES = 100  # a longer game is shown up to there
SECONDS = 1.5  # for a move

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{game}: a training run</title>
<style>
body {{ margin: 0 auto; padding: 1rem; max-width: 50rem; background: #fff; color: #3a3330;
  font: 16px/1.5 system-ui, sans-serif; }}
h1 {{ font-size: 1.5rem; }} h2 {{ font-size: 1.15rem; margin-top: 2rem; }}
img {{ display: block; max-width: 100%; height: auto; margin: auto; border-radius: 4px; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: 0.9rem; width: 100%; }}
th, td {{ padding: 0.3rem 0.6rem; border-bottom: 1px solid #e2d7c1; text-align: left; }}
.number {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }}
.curve {{ min-width: 34rem; }}
pre {{ background: #f7f3ea; padding: 1rem; overflow-x: auto; font-size: 0.85rem; columns: 13rem; }}
@media (max-width: 34rem) {{ table {{ font-size: 0.8rem; }} th, td {{ padding: 0.3rem; }} }}
</style>
</head>
<body>
<h1>{game}: a training run</h1>
<p>The policy learned from {decisions:,} decisions with seed {seed}.</p>
<h2>Learning curve</h2>
<div class="wide"><img class="curve" alt="Results, loss and entropy by decisions"
  src="data:image/png;base64,{curve}"></div>
<h2>Final evaluation</h2>
<p>These deals had no part in choosing the checkpoint. Intervals hold the truth with 95 %.</p>
<div class="wide">{table}</div>
<h2>A game</h2>
<p>Copies of the policy play in all seats; all cards are open.</p>
<img alt="A game of the policy, move by move" src="data:image/svg+xml;base64,{played}">
<h2>Settings</h2>
<pre>{settings}</pre>
</body>
</html>
"""


def write_report(config: Config, out: Path, decisions: int, policy: Policy, rows: Rows) -> None:
    """Write `out`/curve.png and `out`/report.html.

    `decisions` is how many the exported policy learned from, `rows` its final evaluation.
    """
    picture = BytesIO()
    title = f"{config.game}, seed {config.seed}"
    draw_curve(read_curve(out / "tensorboard"), title).savefig(picture, format="png", dpi=160)
    with replacing(out / "curve.png") as file:
        file.write(picture.getvalue())
    moving = animated_svg(list(scenes(sample_game(policy, config.seed), SECONDS)), config.game)
    page = PAGE.format(
        game=escape(config.game),
        decisions=decisions,
        seed=config.seed,
        curve=base64.b64encode(picture.getvalue()).decode(),
        table=table(rows),
        played=base64.b64encode(moving.encode()).decode(),
        settings=escape(config.to_yaml()),
    )
    with replacing(out / "report.html") as file:
        file.write(page.encode())


def sample_game(policy: Policy, seed: int) -> Record:
    """A game between copies of the policy, in the way of play that its game is measured by."""
    session, rng = Session(policy.variant), np.random.default_rng(seed)
    session.begin(seed)
    player = SeatedPlayer(policy, policy.variant, games=1)
    cooperative = policy.variant.game.cooperative
    while session.mover != OVER and len(session.actions) < MOVES:
        chances, _ = player.distribution(turn_of(session), True)
        played = best(chances) if cooperative else chances
        session.step(int(sample(played, rng.random(1))[0]))
    return record_of(session)


def table(rows: Rows) -> str:
    """The final evaluation, a line for each opponent or partner and way of play."""
    team = isinstance(rows[0], TeamScore)
    heads = ["policy", "with" if team else "against", "play"]
    numbers = ["games", "mean score" if team else "wins, per cent", "95 % interval"]
    lines = ["".join(f"<th>{head}" for head in heads)]
    lines[0] += "".join(f'<th class="number">{head}' for head in numbers)
    for row in rows:
        other, *figures = measured(row)
        low, middle, high = (f"{figure:.{2 if team else 1}f}" for figure in figures)
        words = (row.policy, other, row.play)
        numbers = [f"{row.games:,}", middle, f"{low} to {high}"]
        line = "".join(f"<td>{escape(word)}" for word in words)
        lines.append(line + "".join(f'<td class="number">{number}' for number in numbers))
    return f"<table>{''.join(f'<tr>{line}' for line in lines)}</table>"
