"""Evaluations as tables for the terminal, as JSON for programs, and as pictures for papers.

Competitive games show win rates, cooperative games mean scores.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from pydantic import Field, TypeAdapter, ValidationError
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from hanamachi.errors import UserError
from hanamachi.limits import RESULTS_BYTES
from hanamachi.storage.files import replacing
from hanamachi.storage.reading import read_bounded
from hanamachi.training.config import Config
from hanamachi.training.evaluation.matches import (
    CrossPlay,
    Evaluation,
    Play,
    Row,
    Rows,
    TeamScore,
)
from hanamachi.training.evaluation.statistics import Cycle, Floats

WAYS = {"sample": "sampled play", "argmax": "most probable action"}
COLOURS = "RdYlGn"  # losing, even, winning
SCORES = "YlGn"
SHIFTS = (-0.1, 0.1)  # of the two dots in one line of a picture
INK, FAINT, ACCENT = "#222222", "#cccccc", "#3b6ea5"
PLAY_COLOURS = {"sample": ACCENT, "argmax": INK}
BARS = " ▁▂▃▄▅▆▇█"
Written = Annotated[list[Row] | list[TeamScore], Field(min_length=1)]
CYCLE = 3  # policies that can form a cycle, at least


# --- In the terminal


def print_rows(rows: Rows, config: Config) -> None:
    """Print the final evaluation of a run's policy."""
    console = Console()
    together = config.variant().game.cooperative
    others = "with each partner" if together else "against each opponent"
    console.print(f"\n[bold]{config.game}: the trained policy {others}[/bold]")
    console.print(rows_table(rows))


def rows_table(rows: Sequence[Any]) -> Table | Group:
    return scores_table(rows) if isinstance(rows[0], TeamScore) else rates_table(rows)


def scores_table(scores: Sequence[TeamScore]) -> Group:
    """A table of the scores, and below it their histograms."""
    table = Table("policy", "with", "play")
    for column in ("games", "mean score", "perfect", "lost"):
        table.add_column(column, justify="right")
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
    table = Table("policy", "against", "play")
    for column in ("games", "wins, per cent", "95 % interval"):
        table.add_column(column, justify="right")
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
        table = Table("policy", *policies)
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
    table = Table("policy")
    for column in ("Elo", *(policies[j] for j in order)):
        table.add_column(column, justify="right")
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


# --- On disk


def write(evaluation: Evaluation, folder: Path) -> list[Path]:
    """Write `evaluation.json` and `evaluation.png`; returns their paths."""
    data, picture = folder / "evaluation.json", folder / "evaluation.png"
    write_json(evaluation.as_json(), data)
    with replacing(picture) as file:
        draw(evaluation).savefig(file, format="png", dpi=200)
    return [data, picture]


def write_rows(rows: Rows, path: Path) -> None:
    """Write one policy's results as a list of {policy, opponent, play, games, rate, low, high}, or
    of {policy, partners, ...} in a cooperative game."""
    write_json([asdict(row) for row in rows], path)


def read_rows(path: Path) -> Rows:
    """The rows that `write_rows` wrote to this file; UserError if it holds anything else."""
    try:
        return TypeAdapter(Written).validate_json(read_bounded(path, RESULTS_BYTES))
    except ValidationError:
        raise UserError(f"{path} is damaged: it does not hold the results of a policy") from None


def write_json(content: Any, path: Path) -> None:
    with replacing(path) as file:
        file.write((json.dumps(content, indent=2) + "\n").encode())


# --- As a picture


def draw(evaluation: Evaluation) -> Figure:
    if evaluation.opponents:
        return draw_against(evaluation)
    return draw_cooperative(evaluation) if evaluation.cooperative else draw_competitive(evaluation)


def draw_against(evaluation: Evaluation) -> Figure:
    """A panel for each policy: its rate or score with each opponent or partner, with intervals."""
    policies, lines = evaluation.policies, len(evaluation.opponents)
    size = 1 + 4 * len(policies), 1.8 + 0.4 * lines
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    (axes,) = figure.subplots(1, len(policies), squeeze=False, sharex=True)
    for panel, policy in zip(axes, policies, strict=True):
        draw_rows(panel, [row for row in evaluation.results if row.policy == policy])
        panel.set_title(policy, fontsize=9)
        panel.set_xlabel("mean score" if evaluation.cooperative else "wins, per cent", fontsize=8)
        panel.set_xlim(0, most(evaluation.results[0]))
    figure.suptitle(f"{evaluation.game}: {evaluation.games:,} games each", fontsize=10)
    dots, words = axes[0].get_legend_handles_labels()
    figure.legend(dots, words, loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    return figure


def draw_rows(axes: Any, rows: Sequence[Any]) -> None:
    """A dot and its interval for each row; two ways of play are one above the other."""
    others = list(dict.fromkeys(measured(row)[0] for row in rows))
    for shift, play in zip(SHIFTS, ways(rows), strict=False):
        shown = [measured(row) for row in rows if row.play == play]
        places = [others.index(other) + shift for other, *_ in shown]
        low, middle, high = np.array([figures for _, *figures in shown]).T
        reach, colour = np.abs([middle - low, high - middle]), PLAY_COLOURS[play]
        style = {"fmt": "o", "color": colour, "markersize": 4, "capsize": 3, "label": WAYS[play]}
        axes.errorbar(middle, places, xerr=reach, **style)
    axes.set_yticks(range(len(others)), others, fontsize=8)
    axes.set_ylim(len(others) - 0.5, -0.5)
    axes.tick_params(labelsize=8)
    axes.grid(axis="x", color=FAINT, linewidth=0.5)
    axes.spines[["top", "right", "left"]].set_visible(False)


def measured(row: Row | TeamScore) -> tuple[str, float, float, float]:
    """The opponent or partner, then the low end, the middle and the high end of the result."""
    if isinstance(row, TeamScore):
        return row.partner_label, row.low, row.mean, row.high
    return row.opponent, 100 * row.low, 100 * row.rate, 100 * row.high


def most(row: Row | TeamScore) -> int:
    """The best possible result: a score, or per cent won."""
    return len(row.histogram) - 1 if isinstance(row, TeamScore) else 100


def draw_cooperative(evaluation: Evaluation) -> Figure:
    """For each way of play the histograms, and the matrix if there is more than one policy."""
    scores, policies = evaluation.results, evaluation.policies
    columns, rows = 1 + (len(policies) > 1), len(ways(scores))
    figure = Figure(figsize=(5 * columns, 0.6 + 3.4 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False)
    for row, play in zip(axes, ways(scores), strict=True):
        draw_histograms(row[0], [score for score in alone(scores) if score.play == play])
        row[0].set_title(f"Each policy with itself ({WAYS[play]})", fontsize=9)
        for with_partners in row[1:]:
            best = len(scores[0].histogram) - 1
            draw_matrix(with_partners, mean_matrix(policies, scores, play), policies, SCORES, best)
            with_partners.set_title(f"Mean score of each pair ({WAYS[play]})", fontsize=9)
    figure.suptitle(f"{evaluation.game}: {evaluation.games:,} games each", fontsize=10)
    return figure


def draw_histograms(axes: Any, scores: Sequence[TeamScore]) -> None:
    for score in scores:
        shares = np.array(score.histogram) / score.games
        label = f"{score.policy}: {score.mean:.2f}"
        axes.stairs(shares, np.arange(len(shares) + 1) - 0.5, label=label, linewidth=1.5)
    axes.set_xlabel("score", fontsize=8)
    axes.set_ylabel("share of the games", fontsize=8)
    axes.legend(fontsize=8, frameon=False)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def draw_competitive(evaluation: Evaluation) -> Figure:
    """For each way of play the matrix of all pairings, and the ratings."""
    size, plays = len(evaluation.policies), len(evaluation.results)
    side = 1.2 + 0.75 * size
    figure = Figure(figsize=(2 * side + 1.2, plays * (side + 0.4)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(plays, 2, squeeze=False)
    for (left, right), result in zip(axes, evaluation.results, strict=True):
        order = np.argsort(-result.elo, kind="stable")
        names = [evaluation.policies[i] for i in order]
        shown = np.where(np.eye(size, dtype=bool), np.nan, result.rate)[np.ix_(order, order)]
        draw_matrix(left, 100 * shown, names, COLOURS, 100)
        draw_ratings(right, result, order)
        left.set_title(f"Wins of row against column, per cent\n({WAYS[result.play]})", fontsize=9)
    figure.suptitle(f"{evaluation.game}: {evaluation.games:,} games a pairing", fontsize=10)
    return figure


def draw_matrix(axes: Any, shown: Floats, names: list[str], colours: str, most: float) -> None:
    axes.imshow(shown, cmap=colours, vmin=0, vmax=most, alpha=0.75)
    for i, j in np.argwhere(~np.isnan(shown)):
        axes.text(j, i, f"{shown[i, j]:.1f}", ha="center", va="center", color=INK, fontsize=8)
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right", fontsize=8)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.tick_params(length=0)
    axes.spines[:].set_color(FAINT)


def draw_ratings(axes: Any, result: CrossPlay, order: Any) -> None:
    """A dot and its interval for each policy, in the order of the matrix's rows."""
    places, elo = np.arange(len(order)), result.elo[order]
    reach = [elo - result.elo_low[order], result.elo_high[order] - elo]
    axes.axvline(0, color=FAINT, linewidth=0.8)
    axes.errorbar(elo, places, xerr=reach, fmt="o", color=ACCENT, markersize=4, capsize=3)
    for place, rating in zip(places, elo, strict=True):
        above = {"xytext": (0, 7), "textcoords": "offset points", "ha": "center"}
        axes.annotate(f"{rating:+.0f}", (rating, place), **above, color=INK, fontsize=8)
    axes.set_ylim(len(order) - 0.5, -0.5)
    axes.set_yticks([])
    axes.margins(x=0.15)
    axes.set_title("\n".join(["Elo, mean 0, with 95 % intervals", *hidden(result)]), fontsize=9)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right", "left"]].set_visible(False)
