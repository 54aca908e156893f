"""The report of a run: its learning curve, and one HTML page."""

import base64
from html import escape
from io import BytesIO
from pathlib import Path

import numpy as np

from hanamachi.engine.contract import OVER
from hanamachi.policies.policy import Policy
from hanamachi.rendering.animation import animated_svg
from hanamachi.sessions.animation import scenes
from hanamachi.sessions.players import SeatedPlayer, turn_of
from hanamachi.sessions.saved_games import Record, record_of
from hanamachi.sessions.session import Session
from hanamachi.storage.files import replacing
from hanamachi.training.config import Config
from hanamachi.training.curve import Curve
from hanamachi.training.curve_pictures import draw_curve
from hanamachi.training.evaluation.page import shown
from hanamachi.training.evaluation.playing import drawn, own_play
from hanamachi.training.evaluation.result_tables import rows_table
from hanamachi.training.evaluation.results import Rows
from hanamachi.training.run_files import CURVE, REPORT
from hanamachi.training.web_page import page

MOVES = 100  # a longer game is shown up to there
SECONDS = 1.5  # for a move

BODY = """<p>The policy learned from {decisions:,} decisions with seed {seed}.</p>
<h2>Learning curve</h2>
<div class="wide"><img class="curve" alt="Results, loss and entropy by decisions"
  src="data:image/png;base64,{curve}"></div>
<h2>Final evaluation</h2>
<p>These deals had no part in choosing the checkpoint. Intervals hold the truth with 95%.</p>
{table}
<h2>A game</h2>
<p>Copies of the policy play in all seats; all cards are open.</p>
<img alt="A game of the policy, move by move" src="data:image/svg+xml;base64,{played}">
<h2>Settings</h2>
<pre>{settings}</pre>"""


def write_report(
    config: Config, out: Path, curve: Curve, decisions: int, policy: Policy, rows: Rows
) -> None:
    """Write `out`/curve.png and `out`/report.html.

    `curve` is that of the run, `decisions` is how many the exported policy learned from, and `rows`
    its final evaluation.
    """
    picture = BytesIO()
    title = f"{config.game}, seed {config.seed}"
    draw_curve(curve, title).savefig(picture, format="png", dpi=160)
    with replacing(out / CURVE) as file:
        file.write(picture.getvalue())
    moving = animated_svg(list(scenes(sample_game(policy, config.seed), SECONDS)), config.game)
    body = BODY.format(
        decisions=decisions,
        seed=config.seed,
        curve=base64.b64encode(picture.getvalue()).decode(),
        table=shown(rows_table(rows)),
        played=base64.b64encode(moving.encode()).decode(),
        settings=escape(config.to_yaml()),
    )
    with replacing(out / REPORT) as file:
        file.write(page(f"{config.game}: a training run", body).encode())


def sample_game(policy: Policy, seed: int) -> Record:
    """A game between copies of the policy, in the way of play that its game is measured by."""
    session, rng = Session(policy.variant), np.random.default_rng(seed)
    session.begin(seed)
    player = SeatedPlayer(policy, policy.variant, games=1)
    play = own_play(policy.variant)
    while session.mover != OVER and len(session.actions) < MOVES:
        chances, _ = player.distribution(turn_of(session))
        session.step(int(drawn(chances, rng.random(1), play)[0]))
    return record_of(session)
