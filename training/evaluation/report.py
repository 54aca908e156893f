"""Evaluations as tables for the terminal.

Competitive games show win rates, cooperative games mean scores. A tournament is a ranking; the
pairings of a few policies are shown as well.

Notation: K policies.
"""

from collections.abc import Iterator, Sequence
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.table import Table
from rich.text import Text

from hanamachi.errors import printable
from hanamachi.training.evaluation.ranking import (
    PLAY_WORDS,
    Ranking,
    forfeit_notes,
    rankings,
    rough_scores_note,
)
from hanamachi.training.evaluation.result_tables import (
    ResultTable,
    differences,
    notes,
    rows_table,
)
from hanamachi.training.evaluation.results import Evaluation, Rows, TeamScore
from hanamachi.training.tables import Name, whole_table

BARS = " ▁▂▃▄▅▆▇█"
FEW = 5  # policies whose pairings are shown unasked, at most
CELL = 6  # characters of a pairing
NAME = 14  # characters for a number and a name in a line of pairings, at least


def print_rows(rows: Rows, game: str) -> None:
    """Print the final evaluation of a policy that a run trained for this game."""
    console = Console(emoji=False)
    others = "with each partner" if isinstance(rows[0], TeamScore) else "against each opponent"
    console.print(f"\n[bold]{game}: the trained policy {others}[/bold]")
    console.print(*rows_shown(rows), sep="\n")


def rows_shown(rows: Rows) -> Iterator[Any]:
    """A table of the rows; below those of a cooperative game, the histograms of the scores."""
    yield shown(rows_table(rows))
    scores = [row for row in rows if isinstance(row, TeamScore)]
    if scores:
        yield Text(f"scores from 0 to {scores[0].best_score}:", style="dim")
        pictures = Table.grid(padding=(0, 2))
        for _ in ("policy and partner", "way of play and histogram"):
            pictures.add_column(overflow="fold")
        for s in scores:
            pictures.add_row(Name(s.policy), Name(s.other), s.play, f"{bars(s.histogram)}▏")
        yield pictures


def shown(given: ResultTable) -> Group:
    """A table under its title, if it has one; heads take two lines before names need to."""
    table = whole_table(*given.words)
    for head in given.numbers:  # perhaps the name of a model
        words = head.replace(", ", ",\n") if ", " in head else Name(head)
        table.add_column(words, justify="right", overflow="fold")
    for row in given.rows:
        cells: list[Any] = [*map(Name, row[: len(given.words)]), *row[len(given.words) :]]
        if given.wins is not None:
            cells[given.wins] = percent(float(row[given.wins]) / 100)
        table.add_row(*cells)
    return Group(*[heading(given.title)] * bool(given.title), table)


def bars(histogram: Sequence[int]) -> str:
    """A character for each count; every count above 0 is visible."""
    most = max(1, *histogram)
    return "".join(BARS[-(-count * (len(BARS) - 1) // most)] for count in histogram)


def tables(evaluation: Evaluation, matrix: bool = False) -> Group:
    """The tables of an evaluation: win rates, or scores in a cooperative game.

    Every pairing of more than FEW policies is shown only if `matrix`.
    """
    forfeits = map(printable, forfeit_notes(evaluation))
    parts: list[Any] = []
    if evaluation.opponents:
        parts += [heading(f"{evaluation.game}, {evaluation.games:,} games each")]
        parts += rows_shown(evaluation.results)
        parts += map(Text, rough_scores_note(evaluation))
        parts += map(shown, differences(evaluation))
    for ranking in () if evaluation.opponents else rankings(evaluation):
        games = f"{evaluation.games:,} games a pairing"
        parts += [heading(f"{evaluation.game}, {PLAY_WORDS[ranking.play]}, {games}")]
        parts += tournament(ranking, matrix)
    parts += [Text(f"\n{note}", style="yellow") for note in forfeits]
    return Group(*parts, *map(shown, notes(evaluation)))


def heading(words: str) -> Text:
    return Text(f"\n{printable(words)}", style="bold")


def tournament(ranking: Ranking, matrix: bool) -> Iterator[Any]:
    """The ranking, and every pairing if they are few or asked for."""
    yield ranking_table(ranking)
    yield from map(Text, map(printable, ranking.remarks))
    if matrix or len(ranking.policies) <= FEW:
        yield from histograms(ranking)
        if len(ranking.policies) > 1:
            yield Text(f"\n{ranking.caption}", style="dim")
            yield Pairings(ranking)


def ranking_table(ranking: Ranking) -> Table:
    table = whole_table("", "policy", right=ranking.heads)
    table.columns[0].justify = "right"
    lines = zip(ranking.policies, ranking.figures, strict=True)
    for rank, (name, figures) in enumerate(lines, 1):
        table.add_row(str(rank), Name(name), *figures)
    return table


def histograms(ranking: Ranking) -> Iterator[Any]:
    """The scores of each policy with itself, if there are any."""
    if ranking.histograms:
        yield Text(f"\nscores from 0 to {ranking.best}", style="dim")
        grid = Table.grid(padding=(0, 2))
        grid.add_column(overflow="fold")
        for name, counts in zip(ranking.policies, ranking.histograms, strict=True):
            grid.add_row(Name(name), f"{bars(counts)}▏")
        yield grid


class Pairings:
    """The matrix of a ranking, in as many columns side by side as the terminal has room for."""

    def __init__(self, ranking: Ranking) -> None:
        self.ranking = ranking

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        count = len(self.ranking.policies)
        room = max(1, (options.max_width - NAME) // CELL)
        for columns in np.array_split(np.arange(count), -(-count // room)):
            if columns[0]:
                yield ""
            yield self._block(columns, options.max_width - CELL * len(columns) - 1)

    def _block(self, columns: NDArray[np.int64], width: int) -> Table:
        """The results of all against some; names that need more than `width` are left out."""
        ranks = range(1, len(self.ranking.policies) + 1)
        labels = [f"{rank:>{len(str(ranks[-1]))}} " for rank in ranks]
        named = [*map(add, labels, map(printable, self.ranking.policies))]
        table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold")
        table.add_column("", no_wrap=True)
        for column in columns:
            table.add_column(str(column + 1), justify="right", min_width=CELL - 1)
        short = max(map(cell_len, named)) <= width
        for label, row in zip(named if short else labels, self.ranking.pairings, strict=True):
            table.add_row(Text(label), *map(self._cell, row[columns]))
        return table

    def _cell(self, value: float) -> Text:
        if np.isnan(value):
            return Text("-", style="dim")
        if self.ranking.histograms:
            return Text(f"{value:.{self.ranking.decimals}f}")
        return percent(value / 100)


def percent(rate: float) -> Text:
    return Text(f"{100 * rate:.1f}", style="green" if rate > 0.5 else "red" if rate < 0.5 else "")
