"""Evaluations as HTML pages."""

from collections.abc import Iterable, Iterator
from html import escape

import numpy as np

from hanamachi.training.evaluation.models import model_rows
from hanamachi.training.evaluation.ranking import (
    WAYS,
    Ranking,
    forfeit_notes,
    rankings,
    rough_scores,
)
from hanamachi.training.evaluation.results import (
    Evaluation,
    Row,
    Rows,
    TeamScore,
    difference_rows,
)
from hanamachi.training.web_page import page, table

WIDTH = "70rem"
LOSING, WINNING = "192, 64, 74", "63, 143, 95"  # red, green and blue of a cell
SHADE = 0.7  # the opacity of a cell of the worst or the best result


def evaluation_page(evaluation: Evaluation) -> str:
    """The page of an evaluation: rankings and pairings, or each policy against its opponents."""
    title = f"{evaluation.game}: {evaluation.games:,} games of each pairing"
    parts = (
        [
            rows_table(evaluation.results),
            *paragraphs(rough_scores(evaluation)),
            *differences_part(evaluation),
        ]
        if evaluation.opponents
        else list(rankings_part(evaluation))
    )
    if notes := forfeit_notes(evaluation):
        parts += ["<h2>Forfeited games</h2>", *paragraphs(notes)]
    if evaluation.models:
        names = [model.policy for model in evaluation.models]
        figures = table([""], names, model_rows(evaluation.models))
        parts += ["<h2>Language models</h2>", figures]
    if evaluation.judged:
        lines = [[each.policy, f"{each.moves:,}", f"{each.lost:.3f}"] for each in evaluation.judged]
        parts += ["<h2>What moves lose, as a search judges them</h2>"]
        parts += [table(["policy"], ["moves", "lost by a move"], lines)]
    options = ", ".join(f"{name}={value}" for name, value in evaluation.options.items())
    parts.append(f"<p>Seed {evaluation.seed}; {escape(options)}. Intervals are of 95%.</p>")
    return page(title, "\n".join(parts), WIDTH)


def rows_table(rows: Rows) -> str:
    """A line for each opponent or partner and way of play."""
    team = isinstance(rows[0], TeamScore)
    words = ["policy", "with" if team else "against", "play"]
    numbers = ["games", "mean score" if team else "wins, per cent", "95% interval"]
    lines = []
    for row in rows:
        other, *figures = measured(row)
        low, middle, high = (f"{figure:.{2 if team else 1}f}" for figure in figures)
        lines.append([row.policy, other, row.play, f"{row.games:,}", middle, f"{low} to {high}"])
    return table(words, numbers, lines)


def differences_part(evaluation: Evaluation) -> Iterator[str]:
    """How much better each policy did than the first one, if there are several."""
    if not evaluation.differences:
        return
    yield f"<h2>Difference to {escape(evaluation.policies[0])} on the same deals</h2>"
    team = evaluation.cooperative
    words = ["policy", "with" if team else "against", "play"]
    numbers = ["games", "points" if team else "wins, per cent", "95% interval"]
    yield table(words, numbers, difference_rows(evaluation))


def measured(row: Row | TeamScore) -> tuple[str, float, float, float]:
    """The opponent or partner, then the low end, the middle and the high end of the result."""
    if isinstance(row, TeamScore):
        return row.partner_label, row.low, row.mean, row.high
    return row.opponent, 100 * row.low, 100 * row.rate, 100 * row.high


def rankings_part(evaluation: Evaluation) -> Iterator[str]:
    for ranking in rankings(evaluation):
        yield f"<h2>{WAYS[ranking.play].capitalize()}</h2>"
        lines = zip(ranking.policies, ranking.figures, strict=True)
        rows = [[f"{rank}. {name}", *figures] for rank, (name, figures) in enumerate(lines, 1)]
        yield table(["policy"], ranking.heads, rows)
        yield from paragraphs(ranking.remarks)
        if len(ranking.policies) > 1:
            yield f"<h3>{ranking.caption.capitalize()}</h3>"
            yield pairings(ranking)


def paragraphs(texts: Iterable[str]) -> list[str]:
    return [f"<p>{escape(text)}</p>" for text in texts]


def pairings(ranking: Ranking) -> str:
    """The matrix, each cell as red or as green as its result is bad or good."""
    heads = "".join(
        f'<th class="number" title="{escape(name)}">{rank}'
        for rank, name in enumerate(ranking.policies, 1)
    )
    lines = [f"<th>policy{heads}"]
    for rank, (name, row) in enumerate(zip(ranking.policies, ranking.pairings, strict=True), 1):
        results = "".join(cell(value, ranking) for value in row)
        lines.append(f"<td>{rank}. {escape(name)}{results}")
    rows = "".join(f"<tr>{line}" for line in lines)
    return f'<div class="wide"><table class="pairings">{rows}</table></div>'


def cell(value: float, ranking: Ranking) -> str:
    if np.isnan(value):
        return '<td class="number">-'
    lead = 2 * value / ranking.best - 1
    colour = f"rgba({WINNING if lead > 0 else LOSING}, {SHADE * abs(lead):.2f})"
    return f'<td class="number" style="background: {colour}">{value:.{ranking.decimals}f}'
