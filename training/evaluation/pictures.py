"""Evaluations as pictures for papers.

Matplotlib draws no name that is not in UTF-8, so names are shown in printable characters.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from hanamachi.errors import printable
from hanamachi.training.evaluation.ranking import (
    PLAY_WORDS,
    Ranking,
    best_first,
    cyclic_note,
    plays_in,
    rankings,
)
from hanamachi.training.evaluation.results import Evaluation, Row, TeamScore, WinRates

COLOURS = "RdYlGn"  # losing, even, winning
SCORES = "YlGn"
RATINGS = 6.0  # inches, at most
SHIFT = 0.2  # between the two dots in one line of a picture
INK, FAINT, ACCENT = "#222222", "#cccccc", "#3b6ea5"
PLAY_COLOURS = {"sample": ACCENT, "argmax": INK}


def draw(evaluation: Evaluation) -> Figure:
    if evaluation.opponents:
        return draw_against(evaluation)
    return draw_cooperative(evaluation) if evaluation.cooperative else draw_competitive(evaluation)


def draw_against(evaluation: Evaluation) -> Figure:
    """A panel for each policy: its rate or score with each opponent or partner, with intervals."""
    policies, lines = evaluation.policies, len({row.other for row in evaluation.results})
    size = 1 + 4 * len(policies), 1.8 + 0.4 * lines
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    (axes,) = figure.subplots(1, len(policies), squeeze=False, sharex=True)
    for panel, policy in zip(axes, policies, strict=True):
        draw_rows(panel, [row for row in evaluation.results if row.policy == policy])
        panel.set_title(printable(policy), fontsize=9)
        panel.set_xlabel("mean score" if evaluation.cooperative else "wins, per cent", fontsize=8)
        panel.set_xlim(0, most(evaluation.results[0]))
    figure.suptitle(f"{evaluation.game}: {evaluation.games:,} games each", fontsize=10)
    dots, words = axes[0].get_legend_handles_labels()
    figure.legend(dots, words, loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    return figure


def draw_rows(axes: Any, rows: Sequence[Any]) -> None:
    """A dot and its interval for each row; two ways of play are one above the other."""
    others, plays = list(dict.fromkeys(row.other for row in rows)), plays_in(rows)
    for number, play in enumerate(plays):
        shown = [row for row in rows if row.play == play]
        shift = SHIFT * (number - (len(plays) - 1) / 2)
        places = [others.index(row.other) + shift for row in shown]
        low, middle, high = np.array([row.figures for row in shown]).T
        margins, colour = np.abs([middle - low, high - middle]), PLAY_COLOURS[play]
        style = {
            "fmt": "o",
            "color": colour,
            "markersize": 4,
            "capsize": 3,
            "label": PLAY_WORDS[play],
        }
        axes.errorbar(middle, places, xerr=margins, **style)
    axes.set_yticks(range(len(others)), [*map(printable, others)], fontsize=8)
    axes.set_ylim(len(others) - 0.5, -0.5)
    axes.tick_params(labelsize=8)
    axes.grid(axis="x", color=FAINT, linewidth=0.5)
    axes.spines[["top", "right", "left"]].set_visible(False)


def most(row: Row | TeamScore) -> int:
    """The best possible result: a score, or per cent won."""
    return row.best_score if isinstance(row, TeamScore) else 100


def draw_cooperative(evaluation: Evaluation) -> Figure:
    """For each way of play the histograms, and the matrix if there is more than one policy."""
    shown, columns = rankings(evaluation), 1 + (len(evaluation.policies) > 1)
    figure = Figure(figsize=(5 * columns, 0.6 + 3.4 * len(shown)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(shown), columns, squeeze=False)
    for row, ranking in zip(axes, shown, strict=True):
        draw_histograms(row[0], ranking)
        row[0].set_title(f"Each policy with itself ({PLAY_WORDS[ranking.play]})", fontsize=9)
        for with_partners in row[1:]:
            draw_matrix(with_partners, ranking, SCORES)
            with_partners.set_title(
                f"Mean score of each pair ({PLAY_WORDS[ranking.play]})", fontsize=9
            )
    figure.suptitle(f"{evaluation.game}: {evaluation.games:,} games each", fontsize=10)
    return figure


def draw_histograms(axes: Any, ranking: Ranking) -> None:
    means = ranking.pairings.diagonal()
    for name, mean, games in zip(ranking.policies, means, ranking.histograms, strict=True):
        shares = np.array(games) / sum(games)
        label = f"{printable(name)}: {mean:.2f}"
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
    widths = side, min(side, RATINGS)
    figure = Figure(figsize=(sum(widths) + 1.2, plays * (side + 0.4)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(plays, 2, squeeze=False, width_ratios=widths)
    each = zip(axes, rankings(evaluation), evaluation.results, strict=True)
    for (left, right), ranking, result in each:
        draw_matrix(left, ranking, COLOURS)
        draw_ratings(right, result)
        left.set_title(
            f"Wins of row against column, per cent\n({PLAY_WORDS[result.play]})", fontsize=9
        )
    figure.suptitle(f"{evaluation.game}: {evaluation.games:,} games a pairing", fontsize=10)
    return figure


def draw_matrix(axes: Any, ranking: Ranking, colours: str) -> None:
    """The pairings of a ranking."""
    names, shown = [*map(printable, ranking.policies)], ranking.pairings
    axes.imshow(shown, cmap=colours, vmin=0, vmax=ranking.best, alpha=0.75)
    for i, j in np.argwhere(~np.isnan(shown)):
        figure = f"{shown[i, j]:.{ranking.decimals}f}"
        axes.text(j, i, figure, ha="center", va="center", color=INK, fontsize=8)
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right", fontsize=8)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.tick_params(length=0)
    axes.spines[:].set_color(FAINT)


def draw_ratings(axes: Any, result: WinRates) -> None:
    """A dot and its interval for each policy, best first."""
    order = best_first(result)
    places, elo = np.arange(len(order)), result.elo[order]
    margins = [elo - result.elo_low[order], result.elo_high[order] - elo]
    axes.axvline(0, color=FAINT, linewidth=0.8)
    axes.errorbar(elo, places, xerr=margins, fmt="o", color=ACCENT, markersize=4, capsize=3)
    for place, rating in zip(places, elo, strict=True):
        above = {"xytext": (0, 7), "textcoords": "offset points", "ha": "center"}
        axes.annotate(f"{rating:+.0f}", (rating, place), **above, color=INK, fontsize=8)
    axes.set_ylim(len(order) - 0.5, -0.5)
    axes.set_yticks([])
    axes.margins(x=0.15)
    axes.set_title("\n".join(["Elo, mean 0, with 95% intervals", *cyclic_note(result)]), fontsize=9)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right", "left"]].set_visible(False)
