"""What was measured: tables for the terminal, JSON for programs, a picture for papers."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Picture
from rich.console import Group
from rich.table import Table
from rich.text import Text

from hanamachi.storage.files import replacing
from hanamachi.training.benchmark.measure import Comparison, Curve, Figure, Finding, LeftOut
from hanamachi.training.evaluation.report import ACCENT, FAINT, INK, write_json


@dataclass
class Report:
    """All that one run has measured, and on what."""

    machine: dict[str, Any]
    load_before: float | None
    load_after: float | None = None
    comparisons: list[Comparison] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def add(self, finding: Finding | Figure | Curve) -> None:
        match finding:
            case Comparison():
                self.comparisons.append(finding)
            case Figure():
                self.figures.append(finding)
            case Curve():
                self.curves.append(finding)
            case LeftOut(why):
                self.left_out.append(why)

    @property
    def ratios(self) -> dict[str, float]:
        """The median of each ratio to another library, by what was compared.

        Beside a part of our own, a ratio also falls when that part becomes faster.
        """
        return {f"{c.what} / {c.peer}": c.ratio for c in self.comparisons if c.library}

    def as_json(self) -> dict[str, Any]:
        content = asdict(self)
        for row, c in zip(content["comparisons"], self.comparisons, strict=True):
            row |= {"ratio": c.ratio, "ratios": c.ratios}
        return content


# --- In the terminal


def tables(report: Report) -> Group:
    parts: list[Any] = [Text(line) for line in report.left_out]
    if report.comparisons:
        parts.append(comparisons_table(report.comparisons))
    for unit in dict.fromkeys(figure.unit for figure in report.figures):
        parts.append(figures_table(unit, [f for f in report.figures if f.unit == unit]))
    for what in dict.fromkeys(curve.what for curve in report.curves):
        parts.append(curves_table(what, [c for c in report.curves if c.what == what]))
    loads = {"load before": report.load_before, "load after": report.load_after}
    about = (f"{name} {value}" for name, value in {**report.machine, **loads}.items())
    return Group(*parts, Text(", ".join(about), style="dim"))


def comparisons_table(comparisons: Sequence[Comparison]) -> Table:
    title = "Decisions per second: medians, with the range over the rounds"
    table = Table("what", "rate", "beside", "its rate", "ratio", title=title, show_lines=True)
    for number in (1, 3, 4):
        table.columns[number].no_wrap = True
    for c in comparisons:
        ours, theirs = described(c.what, c.gives), described(c.peer, c.peer_gives)
        table.add_row(
            ours,
            interval_text(c.rates),
            theirs,
            interval_text(c.peer_rates),
            interval_text(c.ratios),
        )
    return table


def described(name: str, gives: str) -> Text:
    return Text(f"{name}\n").append(gives, style="dim")


def figures_table(unit: str, figures: Sequence[Figure]) -> Table:
    """A row for each thing, a column for each measure of it."""
    measures = list(dict.fromkeys(figure.measure for figure in figures))
    table = Table("what", *measures, title=f"In {unit}")
    cells = {(figure.what, figure.measure): interval_text(figure.values) for figure in figures}
    for what in dict.fromkeys(figure.what for figure in figures):
        table.add_row(what, *(cells[what, measure] for measure in measures))
    return table


def curves_table(what: str, curves: Sequence[Curve]) -> Table:
    """A row for each number of games, a column for each way to play them."""
    title = f"{what}: decisions per second"
    table = Table("games at once", *(curve.measure for curve in curves), title=title)
    for batch, *rates in zip(curves[0].batches, *(c.rates for c in curves), strict=True):
        table.add_row(f"{batch:,}", *map(interval_text, rates))
    return table


def interval_text(values: Sequence[float]) -> Text:
    """The median and, if there is one, the range."""
    text = Text(rounded(median(values)))
    if len(values) > 1:
        text.append(f"\n{rounded(min(values))} to {rounded(max(values))}", style="dim")
    return text


def rounded(value: float) -> str:
    return f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


# --- On disk


def write(report: Report, folder: Path) -> Iterator[Path]:
    """Write `benchmark.json`; `benchmark.png` if anything was compared, `scale.png` for curves."""
    data = folder / "benchmark.json"
    write_json(report.as_json(), data)
    yield data
    if report.comparisons:
        yield save(draw(report), folder / "benchmark.png")
    if report.curves:
        yield save(draw_curves(report), folder / "scale.png")


def save(picture: Picture, path: Path) -> Path:
    with replacing(path) as file:
        picture.savefig(file, format="png", dpi=200)
    return path


# --- As pictures


def draw(report: Report) -> Picture:
    """A bar for the median of each ratio, from equal speed, with a line for the range."""
    rows = report.comparisons
    picture = Picture(figsize=(7.5, 1.2 + 0.45 * len(rows)), layout="constrained")
    FigureCanvasAgg(picture)
    axes = picture.subplots()
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.axvline(1, color=INK, linewidth=0.8)
    for place, c in enumerate(rows):
        draw_bar(axes, place, c)
    axes.set_yticks(range(len(rows)), [f"{c.what}\nbeside {c.peer}" for c in rows], fontsize=7)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.margins(x=0.15)
    axes.set_xlabel("times as many decisions per second (median and range)", fontsize=8)
    finish(axes, report)
    axes.grid(axis="x", color=FAINT, linewidth=0.5)
    axes.spines["left"].set_visible(False)
    return picture


def finish(axes: Any, report: Report) -> None:
    axes.set_title(f"{report.machine['processor']}, {report.machine['cores']} cores", fontsize=9)
    axes.tick_params(labelsize=7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def draw_bar(axes: Any, place: int, c: Comparison) -> None:
    reach = [[c.ratio - min(c.ratios)], [max(c.ratios) - c.ratio]]
    axes.barh(place, c.ratio - 1, left=1, height=0.6, color=ACCENT)
    axes.errorbar(c.ratio, place, xerr=reach, color=INK, capsize=3, linewidth=1)
    end = max(1, *c.ratios), place
    beside = {"xytext": (6, 0), "textcoords": "offset points", "va": "center"}
    axes.annotate(rounded(c.ratio), end, **beside, color=INK, fontsize=7)


def draw_curves(report: Report) -> Picture:
    """The median rate by the number of games at once: a colour a game, broken for one thread."""
    picture = Picture(figsize=(7.5, 4), layout="constrained")
    FigureCanvasAgg(picture)
    axes = picture.subplots()
    games = list(dict.fromkeys(curve.what for curve in report.curves))
    for curve in report.curves:
        dashes = "--" if curve.measure == "threads: 1" else "-"
        label, colour = f"{curve.what}, {curve.measure}", f"C{games.index(curve.what)}"
        axes.plot(curve.batches, curve.medians, dashes, color=colour, label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("games at once", fontsize=8)
    axes.set_ylabel("decisions per second", fontsize=8)
    axes.legend(fontsize=7, frameon=False)
    axes.grid(color=FAINT, linewidth=0.5)
    finish(axes, report)
    return picture
