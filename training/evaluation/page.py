"""Evaluations as HTML pages."""

from collections.abc import Iterable, Iterator
from html import escape

import numpy as np

from hanamachi.training.evaluation.ranking import (
    PLAY_WORDS,
    Ranking,
    forfeit_notes,
    rankings,
    rough_scores_note,
)
from hanamachi.training.evaluation.result_tables import ResultTable, differences, notes, rows_table
from hanamachi.training.evaluation.results import Evaluation
from hanamachi.training.web_page import page, table

WIDTH = "70rem"
LOSING, WINNING = "192, 64, 74", "63, 143, 95"  # red, green and blue of a cell
SHADE = 0.7  # the opacity of a cell of the worst or the best result


def evaluation_page(evaluation: Evaluation) -> str:
    """The page of an evaluation: rankings and pairings, or each policy against its opponents."""
    title = f"{evaluation.game}: {evaluation.games:,} games of each pairing"
    parts: list[str] = []
    if evaluation.opponents:
        parts += [shown(rows_table(evaluation.results))]
        parts += paragraphs(rough_scores_note(evaluation))
        parts += map(shown, differences(evaluation))
    else:
        parts += rankings_part(evaluation)
    if failed := forfeit_notes(evaluation):
        parts += ["<h2>Forfeited games</h2>", *paragraphs(failed)]
    parts += map(shown, notes(evaluation))
    options = ", ".join(f"{name}={value}" for name, value in evaluation.options.items())
    parts.append(
        f"<p>Seed {evaluation.seed}; {escape(options)}. All intervals are 95% intervals.</p>"
    )
    return page(title, "\n".join(parts), WIDTH)


def shown(given: ResultTable) -> str:
    """A table under its title, if it has one."""
    title = given.title[:1].upper() + given.title[1:]
    heading = f"<h2>{escape(title)}</h2>\n" if title else ""
    return heading + table(given.words, given.numbers, given.rows)


def rankings_part(evaluation: Evaluation) -> Iterator[str]:
    for ranking in rankings(evaluation):
        yield f"<h2>{PLAY_WORDS[ranking.play].capitalize()}</h2>"
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
