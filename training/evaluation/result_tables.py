"""The tables of an evaluation, as texts: the terminal (report.py) and pages (page.py) show them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hanamachi.training.evaluation.models import model_rows
from hanamachi.training.evaluation.results import Evaluation, Row, Rows, TeamScore


class ResultTable(NamedTuple):
    """A table: columns with names or words, then columns with numbers."""

    title: str  # none for the table of an evaluation's results
    words: Sequence[str]  # the heads of the columns with words
    numbers: Sequence[str]  # the heads of the columns with numbers
    rows: Sequence[Sequence[str]]  # the cells of all columns
    wins: int | None = None  # the place among the cells of the games won, per cent, if there is one


def rows_table(rows: Rows) -> ResultTable:
    """A line for each opponent or partner and way of play."""
    if isinstance(rows[0], TeamScore):
        words, numbers = ["policy", "with", "play"], ["games", "mean score", "perfect", "lost"]
    else:
        words, numbers = ["policy", "against", "play"], ["games", "wins, per cent", "95% interval"]
    lines = [[row.policy, row.other, row.play, f"{row.games:,}", *figures_of(row)] for row in rows]
    wins = None if isinstance(rows[0], TeamScore) else len(words) + 1
    return ResultTable("", words, numbers, lines, wins)


def figures_of(row: Row | TeamScore) -> list[str]:
    if isinstance(row, TeamScore):
        return [f"{row.mean:.2f} ± {row.margin:.2f}", f"{row.perfect:.1%}", f"{row.lost:.1%}"]
    low, rate, high = (f"{figure:.1f}" for figure in row.figures)
    return [rate, f"{low} to {high}"]


def differences(evaluation: Evaluation) -> Iterator[ResultTable]:
    """How much better each policy did than the first one, if there are several."""
    if not evaluation.differences:
        return
    decimals, unit = (2, "points") if evaluation.cooperative else (1, "wins, per cent")
    rows = []
    for each in evaluation.differences:
        figures = (each.mean, each.low, each.high)
        scaled = figures if evaluation.cooperative else [100 * figure for figure in figures]
        mean, low, high = (f"{figure:+.{decimals}f}" for figure in scaled)
        names = [each.policy, each.opponent, each.play]
        rows.append([*names, f"{each.games:,}", mean, f"{low} to {high}"])
    words = ["policy", "with" if evaluation.cooperative else "against", "play"]
    title = f"difference to {evaluation.policies[0]} on the same deals"
    yield ResultTable(title, words, ["games", unit, "95% interval"], rows)


def notes(evaluation: Evaluation) -> Iterator[ResultTable]:
    """What language models used, and what moves lost."""
    if models := evaluation.models:
        names = [model.policy for model in models]
        yield ResultTable("language models", [""], names, model_rows(models))
    if evaluation.judged:
        lost = [[each.policy, f"{each.moves:,}", f"{each.lost:.3f}"] for each in evaluation.judged]
        title = "what moves lose, as a search judges them"
        yield ResultTable(title, ["policy"], ["moves", "lost by a move"], lost)
