"""Pictures of a run's learning curve."""

from io import BytesIO
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from hanamachi.training.curve import AGAINST, HIGH, LOW, RESULT, SCORE, WITH, Curve

LOSSES = {"value_loss": "value loss", "critic_loss": "critic's value loss"}
COLOURS = ("#3b6ea5", "#c0404a", "#3f8f5f", "#c4951c", "#7d5ba6", "#cf5f94")
FAINT, CHOSEN = "#cccccc", "#777777"
SMALL: dict[str, Any] = {"fontsize": 8}
# around and between the panels; to let Matplotlib find them takes as long as all the rest
EDGES = {"left": 0.07, "right": 0.98, "bottom": 0.08, "top": 0.89, "hspace": 0.42, "wspace": 0.15}


def draw_curve(curve: Curve, title: str) -> Figure:
    """The results with their intervals, the losses and the entropy, by decisions."""
    figure = Figure(figsize=(9, 6))
    FigureCanvasAgg(figure)
    results, losses, entropy = figure.subplot_mosaic(
        [["results", "results"], ["losses", "entropy"]], height_ratios=(3, 2), gridspec_kw=EDGES
    ).values()
    draw_results(results, curve)
    for name, label in LOSSES.items():
        draw_line(losses, curve.get(f"train/{name}", {}), label)
    losses.set_title("loss", **SMALL)
    draw_line(entropy, curve.get("train/entropy", {}), "entropy")
    entropy.set_title("entropy of the policy, in nats", **SMALL)
    if len(losses.lines) > 1:
        losses.legend(frameon=False, **SMALL)
    for panel in (results, losses, entropy):
        style(panel)
    figure.suptitle(title, fontsize=10)
    return figure


def results_picture(curve: Curve, chosen: int) -> bytes:
    """The results alone, as PNG for a model card; a line marks the checkpoint, by its decisions."""
    figure = Figure(figsize=(6, 2.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.axvline(chosen, color=CHOSEN, linestyle=":", linewidth=1, label="this checkpoint")
    draw_results(axes, curve)
    style(axes)
    picture = BytesIO()
    figure.savefig(picture, format="png", dpi=100)
    return picture.getvalue()


def style(axes: Any) -> None:
    """A light grid, and decisions along the bottom."""
    axes.grid(axis="y", color=FAINT, linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
    axes.xaxis.set_major_formatter(lambda decisions, _: short(decisions))
    axes.set_xlabel("decisions", **SMALL)


def draw_results(axes: Any, curve: Curve) -> None:
    """A line for each opponent or the score, in a band of its 95% intervals.

    A single evaluation is a dot with its interval, as far from the beginning as it came.
    """
    names = [name.removeprefix(RESULT) for name in curve if name.startswith(RESULT)]
    for name, colour in zip(names, COLOURS * len(names), strict=False):
        scale = 1 if name.startswith(SCORE) else 100
        results = curve[f"{RESULT}{name}"]
        at = list(results)
        low, middle, high = (  # a log that was cut may lack the ends of an interval
            [scale * (results | curve.get(f"{prefix}{name}", {}))[decisions] for decisions in at]
            for prefix in (LOW, RESULT, HIGH)
        )
        label = "with itself" if name == SCORE else in_words(name)
        axes.plot(at, middle, "o-", color=colour, markersize=3, label=label)
        if len(at) > 1:
            axes.fill_between(at, low, high, color=colour, alpha=0.15, lw=0)
        else:  # a band would have no width
            axes.plot(2 * at, [*low, *high], color=colour, linewidth=1)
            axes.set_xlim(0, 1.05 * at[0])
    axes.set_title("mean score" if SCORE in names else "wins, per cent", **SMALL)
    if names:
        axes.legend(frameon=False, **SMALL)


def in_words(name: str) -> str:
    """Whom a result is against or with."""
    return name.replace(WITH, "with ").replace(AGAINST, "against ")


def draw_line(axes: Any, values: dict[int, float], label: str) -> None:
    if values:
        colour = COLOURS[len(axes.lines)]
        axes.plot(list(values), list(values.values()), color=colour, linewidth=1, label=label)


def short(decisions: float) -> str:
    """A number of decisions on an axis, such as 1.5M."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if abs(decisions) >= size:
            return f"{decisions / size:g}{letter}"
    return f"{decisions:g}"
