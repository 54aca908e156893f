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
from hanamachi.training.evaluation.judge import MoveLoss
from hanamachi.training.evaluation.models import ModelUse, model_rows
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
    console.print(rows_table(rows))


def rows_table(rows: Sequence[Any]) -> Table | Group:
    return scores_table(rows) if isinstance(rows[0], TeamScore) else rates_table(rows)


def scores_table(scores: Sequence[TeamScore]) -> Group:
    """A table of the scores, and below it their histograms."""
    figures = "games", "mean score", "perfect", "lost"
    table = whole_table("policy", "with", "play", right=figures)
    pictures = Table.grid(padding=(0, 2))
    pictures.add_column(overflow="fold")
    pictures.add_column(overflow="fold")
    for s in scores:
        mean = Text(f"{s.mean:.2f}").append(f" ± {s.margin:.2f}", style="dim")
        shares = f"{s.perfect:.1%}", f"{s.lost:.1%}"
        names = Name(s.policy), Name(s.partner_label)
        table.add_row(*names, s.play, f"{s.games:,}", mean, *shares)
        pictures.add_row(*names, s.play, f"{bars(s.histogram)}▏")
    caption = f"scores from 0 to {scores[0].best_score}:"
    return Group(table, Text(caption, style="dim"), pictures)


def bars(histogram: Sequence[int]) -> str:
    """A character for each count; every count above 0 is visible."""
    most = max(1, *histogram)
    return "".join(BARS[-(-count * (len(BARS) - 1) // most)] for count in histogram)


def rates_table(rows: Sequence[Row]) -> Table:
    figures = "games", "wins,\nper cent", "95% interval"  # a wider one would fold the names
    table = whole_table("policy", "against", "play", right=figures)
    for row in rows:
        span = f"{100 * row.low:.1f} to {100 * row.high:.1f}"
        names = Name(row.policy), Name(row.opponent)
        table.add_row(*names, row.play, f"{row.games:,}", percent(row.rate), span)
    return table


def tables(evaluation: Evaluation, matrix: bool = False) -> Group:
    """The tables of an evaluation: win rates, or scores in a cooperative game.

    Every pairing of more than FEW policies is shown only if `matrix`.
    """
    forfeits = map(printable, forfeit_notes(evaluation))
    notes: list[Any] = [Text(f"\n{note}", style="yellow") for note in forfeits]
    if evaluation.models:
        notes += [heading("language models"), models_table(evaluation.models)]
    if evaluation.judged:
        notes += [heading("what moves lose, as a search judges them"), losses(evaluation.judged)]
    if evaluation.opponents:
        rows = heading(f"{evaluation.game}, {evaluation.games:,} games each")
        rough = map(Text, rough_scores(evaluation))
        apart = differences(evaluation)
        return Group(rows, rows_table(evaluation.results), *rough, *apart, *notes)
    games = f"{evaluation.games:,} games a pairing"
    shown = (
        part
        for ranking in rankings(evaluation)
        for part in (
            heading(f"{evaluation.game}, {WAYS[ranking.play]}, {games}"),
            *tournament(ranking, matrix),
        )
    )
    return Group(*shown, *notes)


def differences(evaluation: Evaluation) -> Iterator[Any]:
    """How much better each policy did than the first one, if there are several."""
    if not evaluation.differences:
        return
    yield heading(f"difference to {evaluation.policies[0]} on the same deals")
    other, unit = ("with", "points") if evaluation.cooperative else ("against", "wins,\nper cent")
    table = whole_table("policy", other, "play", right=("games", unit, "95% interval"))
    for policy, player, *cells in difference_rows(evaluation):
        table.add_row(Name(policy), Name(player), *cells)
    yield table


def models_table(models: Sequence[ModelUse]) -> Table:
    """A column for each model, whose name may be long."""
    table = whole_table("")
    for model in models:
        table.add_column(Name(model.policy), justify="right", overflow="fold")
    for row in model_rows(models):
        table.add_row(*row)
    return table


def losses(judged: Sequence[MoveLoss]) -> Table:
    table = whole_table("policy", right=("moves", "lost by a move"))
    for each in judged:
        table.add_row(Name(each.policy), f"{each.moves:,}", f"{each.lost:.3f}")
    return table


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
        return Text(f"{value:.2f}") if self.ranking.histograms else percent(value / 100)


def percent(rate: float) -> Text:
    return Text(f"{100 * rate:.1f}", style="green" if rate > 0.5 else "red" if rate < 0.5 else "")
