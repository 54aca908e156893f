"""A benchmark's report: tables for the terminal, a JSON file, and pictures."""

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

from hanamachi.storage.files import check_folder, replacing
from hanamachi.training.benchmark.measure import Comparison, Curve, Figure, Finding, Omission
from hanamachi.training.evaluation.json_results import write_json
from hanamachi.training.evaluation.pictures import ACCENT, FAINT, INK
from hanamachi.training.evaluation.saved_parts import there_already
from hanamachi.training.tables import whole_table

DATA, BARS, CURVES = "benchmark.json", "benchmark.png", "scale.png"  # its files


@dataclass
class Report:
    """The results of one run, with the machine and its load."""

    machine: dict[str, Any]
    load_before: float | None
    load_after: float | None = None
    comparisons: list[Comparison] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def add(self, finding: Finding) -> None:
        match finding:
            case Comparison():
                self.comparisons.append(finding)
            case Figure():
                self.figures.append(finding)
            case Curve():
                self.curves.append(finding)
            case Omission(why):
                self.left_out.append(why)

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
    title = "Decisions per second: median and range of the rounds"
    columns = "measured", "rate", "baseline", "its rate", "ratio"
    table = whole_table(*columns, title=title, show_lines=True)
    for c in comparisons:
        table.add_row(
            described(c.what, c.gives),
            interval_text(c.rates),
            described(c.baseline, c.baseline_gives),
            interval_text(c.baseline_rates),
            interval_text(c.ratios),
        )
    return table


def described(name: str, gives: str) -> Text:
    return Text(f"{name}\n").append(gives, style="dim")


def figures_table(unit: str, figures: Sequence[Figure]) -> Table:
    """A row for each subject, a column for each of its measures."""
    measures = list(dict.fromkeys(figure.measure for figure in figures))
    table = whole_table("measured", *measures, title=f"In {unit}")
    cells = {(figure.what, figure.measure): interval_text(figure.values) for figure in figures}
    for what in dict.fromkeys(figure.what for figure in figures):
        table.add_row(what, *(cells.get((what, measure), "") for measure in measures))
    return table


def curves_table(what: str, curves: Sequence[Curve]) -> Table:
    """A row for each number of games, a column for each number of threads."""
    title = f"{what}: decisions per second"
    table = whole_table("games at once", *(curve.measure for curve in curves), title=title)
    for batch, *rates in zip(curves[0].batches, *(c.rates for c in curves), strict=True):
        table.add_row(f"{batch:,}", *map(interval_text, rates))
    return table


def interval_text(values: Sequence[float]) -> Text:
    """The median, and below it the range if there are several values."""
    text = Text(rounded(median(values)))
    if len(values) > 1:
        text.append(f"\n{rounded(min(values))} to {rounded(max(values))}", style="dim")
    return text


def rounded(value: float) -> str:
    return f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


# --- As files


def check_place(folder: Path) -> None:
    """UserError if this can be no folder, or holds a report, which is never replaced."""
    check_folder(folder)
    for file in (folder / name for name in (DATA, BARS, CURVES)):
        if file.exists():
            raise there_already(file)


def write(report: Report, folder: Path) -> Iterator[Path]:
    """Write `benchmark.json`, `benchmark.png` for comparisons and `scale.png` for curves."""
    data = folder / DATA
    write_json(report.as_json(), data)
    yield data
    if report.comparisons:
        yield save(draw(report), folder / BARS)
    if report.curves:
        yield save(draw_curves(report), folder / CURVES)


def save(picture: Picture, path: Path) -> Path:
    with replacing(path) as file:
        picture.savefig(file, format="png", dpi=200)
    return path


# --- As pictures


def draw(report: Report) -> Picture:
    """A bar from 1 to the median of each ratio, with a line for the range."""
    rows = report.comparisons
    picture = Picture(figsize=(7.5, 1.2 + 0.45 * len(rows)), layout="constrained")
    FigureCanvasAgg(picture)
    axes = picture.subplots()
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.axvline(1, color=INK, linewidth=0.8)
    for place, c in enumerate(rows):
        draw_bar(axes, place, c)
    axes.set_yticks(range(len(rows)), [f"{c.what} /\n{c.baseline}" for c in rows], fontsize=7)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.margins(x=0.15)
    axes.set_xlabel("ratio of decisions per second (median and range)", fontsize=8)
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
    extent = [[c.ratio - min(c.ratios)], [max(c.ratios) - c.ratio]]
    axes.barh(place, c.ratio - 1, left=1, height=0.6, color=ACCENT)
    axes.errorbar(c.ratio, place, xerr=extent, color=INK, capsize=3, linewidth=1)
    end = max(1, *c.ratios), place
    offset = {"xytext": (6, 0), "textcoords": "offset points", "va": "center"}
    axes.annotate(rounded(c.ratio), end, **offset, color=INK, fontsize=7)


def draw_curves(report: Report) -> Picture:
    """Median rates by the number of games at once: one colour per game, dashed for one thread."""
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
