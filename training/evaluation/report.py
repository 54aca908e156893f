"""Evaluations as tables for the terminal.

Competitive games show win rates, cooperative games mean scores.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from hanamachi.training.evaluation.matches import (
    CrossPlay,
    Evaluation,
    Play,
    Row,
    Rows,
    TeamScore,
)
from hanamachi.training.evaluation.statistics import Cycle, Floats
from hanamachi.training.tables import whole_table

WAYS = {"sample": "sampled play", "argmax": "most probable action"}
BARS = " ▁▂▃▄▅▆▇█"
CYCLE = 3  # policies that can form a cycle, at least


# --- In the terminal


def print_rows(rows: Rows, game: str) -> None:
    """Print the final evaluation of a policy that a run trained for this game."""
    console = Console()
    others = "with each partner" if isinstance(rows[0], TeamScore) else "against each opponent"
    console.print(f"\n[bold]{game}: the trained policy {others}[/bold]")
    console.print(rows_table(rows))


def rows_table(rows: Sequence[Any]) -> Table | Group:
    return scores_table(rows) if isinstance(rows[0], TeamScore) else rates_table(rows)


def scores_table(scores: Sequence[TeamScore]) -> Group:
    """A table of the scores, and below it their histograms."""
    figures = "games", "mean score", "perfect", "lost"
    table = whole_table("policy", "with", "play", right=figures)
    histograms = Table.grid(padding=(0, 2))
    for s in scores:
        mean = Text(f"{s.mean:.2f}").append(f" ± {(s.high - s.low) / 2:.2f}", style="dim")
        shares = f"{s.perfect:.1%}", f"{s.lost:.1%}"
        table.add_row(s.policy, s.partner_label, s.play, f"{s.games:,}", mean, *shares)
        histograms.add_row(s.policy, s.partner_label, s.play, f"{bars(s.histogram)}▏")
    best = len(scores[0].histogram) - 1
    return Group(table, Text(f"scores from 0 to {best}:", style="dim"), histograms)


def bars(histogram: Sequence[int]) -> str:
    """A character for each count; every count above 0 is visible."""
    most = max(1, *histogram)
    return "".join(BARS[-(-count * (len(BARS) - 1) // most)] for count in histogram)


def rates_table(rows: Sequence[Row]) -> Table:
    figures = "games", "wins, per cent", "95 % interval"
    table = whole_table("policy", "against", "play", right=figures)
    for row in rows:
        span = f"{100 * row.low:.1f} to {100 * row.high:.1f}"
        table.add_row(row.policy, row.opponent, row.play, f"{row.games:,}", percent(row.rate), span)
    return table


def tables(evaluation: Evaluation) -> Group:
    """The tables of an evaluation: win rates, or scores in a cooperative game."""
    if evaluation.opponents:
        title = f"{evaluation.game}, {evaluation.games:,} games each"
        return Group(heading(title), rows_table(evaluation.results))
    return (
        cooperative_tables(evaluation) if evaluation.cooperative else competitive_tables(evaluation)
    )


def heading(words: str) -> Text:
    return Text(f"\n{words}", style="bold")


def cooperative_tables(evaluation: Evaluation) -> Group:
    """Each policy's score with itself, and for each way of play the matrix of all pairings."""
    scores, policies = evaluation.results, evaluation.policies
    title = f"{evaluation.game}, {evaluation.games:,} games each"
    parts: list[Any] = [heading(title), scores_table(alone(scores))]
    for play in ways(scores) if len(policies) > 1 else ():
        means = mean_matrix(policies, scores, play)
        table = whole_table("policy", *policies)
        for name, row in zip(policies, means, strict=True):
            table.add_row(name, *(f"{mean:.2f}" for mean in row))
        parts += [Text(f"\nmean score of each pair, sitting in turn, {WAYS[play]}"), table]
    return Group(*parts)


def alone(scores: Sequence[TeamScore]) -> list[TeamScore]:
    return [score for score in scores if score.policy == score.partners]


def ways(rows: Sequence[Any]) -> list[Play]:
    return list(dict.fromkeys(row.play for row in rows))


def mean_matrix(policies: Sequence[str], scores: Sequence[TeamScore], play: Play) -> Floats:
    """The mean scores of all pairs, (K, K)."""
    means = {frozenset((s.policy, s.partners)): s.mean for s in scores if s.play == play}
    return np.array([[means[frozenset((a, b))] for b in policies] for a in policies])


def competitive_tables(evaluation: Evaluation) -> Group:
    """For each way of play the matrix of all pairings, strongest first."""
    parts: list[Text | Table] = []
    for result in evaluation.results:
        title = f"{evaluation.game}, {WAYS[result.play]}, {evaluation.games:,} games a pairing"
        parts += [heading(title), matrix_table(evaluation.policies, result), *cycles(result)]
    return Group(*parts, Text("per cent won by the row against the column, ± 95 %", style="dim"))


def matrix_table(policies: Sequence[str], result: CrossPlay) -> Table:
    order = np.argsort(-result.elo, kind="stable")
    table = whole_table("policy", right=("Elo", *(policies[j] for j in order)))
    for i in order:
        cells = (Text("-", style="dim") if i == j else cell(result, i, j) for j in order)
        margin = result.elo_high[i] - result.elo[i]
        table.add_row(policies[i], f"{result.elo[i]:+.0f} ± {margin:.0f}", *cells)
    return table


def cycles(result: CrossPlay) -> Iterator[Text]:
    """How much of the results ratings cannot show, and the strongest cycle."""
    yield from map(Text, hidden(result))
    if result.cycle:
        yield Text(f"strongest cycle: {cycle_text(result.cycle)}")


def hidden(result: CrossPlay) -> list[str]:
    if len(result.elo) < CYCLE:
        return []
    return [f"cyclic: {result.cyclic:.1%} of the log odds (noise alone: up to {result.noise:.1%})"]


def cycle_text(cycle: Cycle) -> str:
    """Who beats whom, in per cent of the games, and whether that is beyond noise."""
    following = cycle.policies[1:] + cycle.policies[:1]
    steps = zip(cycle.policies, following, cycle.rates, strict=True)
    words = ", ".join(f"{a} beats {b} in {100 * rate:.1f}" for a, b, rate in steps)
    return f"{words} ({'beyond' if cycle.sure else 'within'} noise)"


def cell(result: CrossPlay, i: int, j: int) -> Text:
    """The rate, with half the width of its interval."""
    half = 100 * (result.high[i, j] - result.low[i, j]) / 2
    return percent(result.rate[i, j]).append(f" ± {half:.1f}", style="dim")


def percent(rate: float) -> Text:
    return Text(f"{100 * rate:.1f}", style="green" if rate > 0.5 else "red" if rate < 0.5 else "")
