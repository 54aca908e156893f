"""Evaluations to look at: tables for the terminal, JSON for programs, a picture for papers."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from hanamachi.saving import replacing
from hanamachi.training.config import Config
from hanamachi.training.evaluation import CrossPlay, Evaluation, Row

WAYS = {"sample": "sampled play", "argmax": "most probable action"}
COLOURS = "RdYlGn"  # losing, even, winning
INK, FAINT, ACCENT = "#222222", "#cccccc", "#3b6ea5"


# --- In the terminal


def print_rows(rows: Sequence[Row], config: Config) -> None:
    """Say how the policy of a run does against each opponent."""
    console = Console()
    console.print(f"\n[bold]{config.game}: the trained policy against each opponent[/bold]")
    console.print(rows_table(rows))


def rows_table(rows: Sequence[Row]) -> Table:
    table = Table("opponent", "play")
    for column in ("games", "wins, per cent", "95 % interval"):
        table.add_column(column, justify="right")
    for row in rows:
        span = f"{100 * row.low:.1f} to {100 * row.high:.1f}"
        table.add_row(row.opponent, row.play, f"{row.games:,}", percent(row.rate), span)
    return table


def tables(evaluation: Evaluation) -> Group:
    """For each way of play the matrix of all pairings, strongest first."""
    parts: list[Text | Table] = []
    for result in evaluation.results:
        title = f"{evaluation.game}, {WAYS[result.play]}, {evaluation.games:,} games a pairing"
        parts += [Text(f"\n{title}", style="bold"), matrix_table(evaluation.policies, result)]
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


def write_rows(rows: Sequence[Row], path: Path) -> None:
    """Write one policy's results as a list of {opponent, play, games, rate, low, high}."""
    write_json([asdict(row) for row in rows], path)


def write_json(content: Any, path: Path) -> None:
    with replacing(path) as file:
        file.write((json.dumps(content, indent=2) + "\n").encode())


# --- As a picture


def draw(evaluation: Evaluation) -> Figure:
    """For each way of play the matrix, and beside it the ratings."""
    size, ways = len(evaluation.policies), len(evaluation.results)
    side = 1.2 + 0.75 * size
    figure = Figure(figsize=(2 * side + 1.2, ways * (side + 0.4)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(ways, 2, squeeze=False)
    for (left, right), result in zip(axes, evaluation.results, strict=True):
        order = np.argsort(-result.elo, kind="stable")
        names = [evaluation.policies[i] for i in order]
        draw_matrix(left, result.rate[np.ix_(order, order)], names)
        draw_ratings(right, result, order)
        left.set_title(f"Wins of row against column, per cent\n({WAYS[result.play]})", fontsize=9)
    figure.suptitle(f"{evaluation.game}: {evaluation.games:,} games a pairing", fontsize=10)
    return figure


def draw_matrix(axes: Any, rate: Any, names: list[str]) -> None:
    shown = np.where(np.eye(len(names), dtype=bool), np.nan, rate)
    axes.imshow(shown, cmap=COLOURS, vmin=0, vmax=1, alpha=0.75)
    for i, j in np.argwhere(~np.isnan(shown)):
        axes.text(j, i, f"{100 * rate[i, j]:.1f}", ha="center", va="center", color=INK, fontsize=8)
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
    axes.set_title("Elo, mean 0, with 95 % intervals", fontsize=9)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right", "left"]].set_visible(False)
