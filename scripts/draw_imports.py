"""Draw which rooms of the package import which others: docs/code.svg.

The floors are the layers that pyproject.toml declares and `make lint` checks. Each room has one
line, which leaves it on the right; a dot joins the line to the rail of every room that it imports,
and the rail ends in an arrow at that room.

    python scripts/draw_imports.py [FILE]
"""

import argparse
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, count, cycle, pairwise
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "code.svg"

MARGIN, GAP = 20, 10  # around the picture, between floors
BOX, HEIGHT, STEP = 510, 40, 46  # width and height of a room, from one room of a floor to the next
NAME, CHIP, LETTER = 13, 11, 0.62  # sizes of the letters, and the width of one by its size
RAIL = 30  # from one rail to the next
OUT, IN = 9, -8  # where lines leave a room and arrows reach it, below and above its middle
EDGE = MARGIN + BOX  # the right side of the rooms
PAPER, FLOOR, ROOM, INK, FAINT = "#fbf8f1", "#f1eadc", "#ffffff", "#33292c", "#75686b"
COLOURS = ("#9c3d54", "#2f6f8f", "#8a6d1d", "#4f7a3a", "#74549c", "#b3592b", "#2a7f74", "#5a6270")


@dataclass(frozen=True)
class Room:
    """A folder of the package, or the files of one floor that lie in no folder."""

    modules: tuple[str, ...]  # the folder, or these files
    inner: tuple[str, ...] = ()  # folders in it

    @property
    def name(self) -> str:
        return short(self.modules[0])

    @property
    def parts(self) -> tuple[str, ...]:
        """What the picture names in the room."""
        return (*map(short, self.modules[1:]), *self.inner)


@dataclass(frozen=True)
class Box:
    """A room in its place; `rail` is where its rail runs, if any room imports it."""

    room: Room
    y: float  # of the middle
    rail: float | None
    colour: str


def short(module: str) -> str:
    return module.rpartition(".")[2]


# --- What is drawn


def lay_out(settings: dict, site: Path) -> None:
    """Copy the package's Python files to `site` as an installation has them."""
    for package, folder in settings["tool"]["setuptools"]["package-dir"].items():
        target = site / package.replace(".", "/")
        for file in sorted((ROOT / folder).rglob("*.py")):
            copy = target / file.relative_to(ROOT / folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)


def graph_of(settings: dict) -> grimp.ImportGraph:
    """Every import in the package, those inside functions included."""
    with tempfile.TemporaryDirectory() as site:
        lay_out(settings, Path(site))
        sys.path.insert(0, site)  # before the checkout, whose folders have other names
        try:
            return grimp.build_graph(
                settings["tool"]["importlinter"]["root_package"], cache_dir=None
            )
        finally:
            sys.path.remove(site)


def floors_of(settings: dict) -> list[list[Room]]:
    """The rooms of each floor, from the top; what users import stands on the first."""
    linter = settings["tool"]["importlinter"]
    (layers,) = [c["layers"] for c in linter["contracts"] if c["type"] == "layers"]
    packages = settings["tool"]["setuptools"]["packages"]
    floors = [list(rooms_of(layer.split(" | "), packages)) for layer in layers]
    doors = floors[0][0]
    floors[0][0] = Room((linter["root_package"], *doors.modules))
    return floors


def rooms_of(modules: list[str], packages: list[str]) -> Iterator[Room]:
    """One room for all files of a layer, then one for each folder."""
    files = tuple(module for module in modules if module not in packages)
    if files:
        yield Room(files)
    for folder in modules:
        if folder in packages:
            names = [package.removeprefix(f"{folder}.") for package in packages]
            inner = [n for n, p in zip(names, packages, strict=True) if n != p and "." not in n]
            yield Room((folder,), tuple(inner))


def imports(graph: grimp.ImportGraph, rooms: list[Room]) -> set[tuple[Room, Room]]:
    """(room, room that it imports)."""
    home = {module: room for room in rooms for module in modules_in(graph, room)}
    pairs = {
        (home[module], home[imported])
        for module in home
        for imported in graph.find_modules_directly_imported_by(module) & home.keys()
    }
    return {(room, imported) for room, imported in pairs if room != imported}


def modules_in(graph: grimp.ImportGraph, room: Room) -> set[str]:
    """All files of a room; of the package itself only its own."""
    folders = [module for module in room.modules if "." in module]
    return set(room.modules).union(*(graph.find_descendants(folder) for folder in folders))


# --- How it is drawn


def picture(floors: list[list[Room]], pairs: set[tuple[Room, Room]]) -> str:
    """The picture as SVG."""
    tops = tops_of(floors)
    boxes = placed(floors, tops, {imported for _, imported in pairs})
    linked = [(a, b) for a in boxes for b in boxes if (a.room, b.room) in pairs]
    width = max(box.rail or 0 for box in boxes) + MARGIN
    height = tops[-1] - GAP + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" '
        "font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\">",
        "<title>Which rooms of the package import which others</title>",
        rectangle(0, 0, width, height, PAPER, 12),
        *(rectangle(MARGIN - 8, t, BOX + 16, u - t - GAP, FLOOR, 9) for t, u in pairwise(tops)),
        *(line(box, linked) for box in boxes),
        *(rail(box, linked) for box in boxes),
        *(dot(box, imported) for box, imported in linked),
        *(part for box in boxes for part in drawn(box)),
        "</svg>",
    ]
    return "\n".join(filter(None, parts)) + "\n"


def tops_of(floors: list[list[Room]]) -> list[float]:
    """Where each floor begins, and where the next one would."""
    heights = [STEP * (len(rooms) - 1) + HEIGHT + 12 + GAP for rooms in floors]
    return list(accumulate(heights, initial=MARGIN))


def placed(floors: list[list[Room]], tops: list[float], imported: set[Room]) -> list[Box]:
    """Every room in its place; the lower a room, the further to the right its rail."""
    boxes: list[Box] = []
    rails = count(EDGE + RAIL, RAIL)
    colours = cycle(COLOURS)
    for top, rooms in zip(tops, floors, strict=False):
        for i, room in enumerate(rooms):
            y = top + 6 + HEIGHT / 2 + STEP * i
            mine = (next(rails), next(colours)) if room in imported else (None, FAINT)
            boxes.append(Box(room, y, *mine))
    return boxes


def line(box: Box, linked: list[tuple[Box, Box]]) -> str:
    """The line that leaves a room, as far as the last rail that it joins."""
    ends = [imported.rail or 0 for importer, imported in linked if importer == box]
    return stroke(f"M{EDGE} {box.y + OUT:g}H{max(ends)}", FAINT, 1.1) if ends else ""


def rail(box: Box, linked: list[tuple[Box, Box]]) -> str:
    """Down from the highest room that imports this one, then to an arrow at it."""
    tops = [importer.y + OUT for importer, imported in linked if imported == box]
    if not tops:
        return ""
    x, y, tip = box.rail or 0, box.y + IN, EDGE + 2
    bend = f"V{y - 7:g}Q{x} {y:g} {x - 7} {y:g}H{tip + 6}"
    head = f'<path d="M{tip} {y:g}l8 -4.5v9z" fill="{box.colour}"/>'
    return stroke(f"M{x} {min(tops):g}{bend}", box.colour, 2) + head


def dot(box: Box, imported: Box) -> str:
    """Where a room's line joins the rail of a room that it imports."""
    says = f"<title>{box.room.name} imports {imported.room.name}</title>"
    place = f'cx="{imported.rail}" cy="{box.y + OUT:g}" r="4"'
    return f'<circle {place} fill="{imported.colour}">{says}</circle>'


def drawn(box: Box) -> Iterator[str]:
    """A room: its name, and what is in it."""
    top = box.y - HEIGHT / 2
    yield rectangle(MARGIN, top, BOX, HEIGHT, ROOM, 6)
    yield rectangle(MARGIN, top, 6, HEIGHT, box.colour, 3)
    yield text(MARGIN + 18, box.y + 4.5, box.room.name, NAME, "bold")
    x = MARGIN + 104.0
    for name in box.room.parts:
        width = round(len(name) * CHIP * LETTER + 12)
        yield rectangle(x, box.y - 10.5, width, 21, FLOOR, 10)
        yield text(x + 6, box.y + 4, name, CHIP, "normal")
        x += width + 5


def rectangle(x: float, y: float, width: float, height: float, colour: str, corner: int) -> str:
    size = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    return f'<rect {size} rx="{corner}" fill="{colour}"/>'


def stroke(points: str, colour: str, width: float) -> str:
    return f'<path d="{points}" fill="none" stroke="{colour}" stroke-width="{width:g}"/>'


def text(x: float, y: float, words: str, size: int, weight: str) -> str:
    how = f'font-size="{size}" font-weight="{weight}" fill="{INK}"'
    return f'<text x="{x:g}" y="{y:g}" {how}>{words}</text>'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?", default=PICTURE, help="an SVG file")
    file = parser.parse_args().file
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    floors = floors_of(settings)
    rooms = [room for floor in floors for room in floor]
    svg = picture(floors, imports(graph_of(settings), rooms))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(svg, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
