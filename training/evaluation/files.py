"""All files of an evaluation: JSON, CSV, a page and a picture."""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

from hanamachi.storage.files import replacing, utf8
from hanamachi.training.evaluation.json_results import write_json
from hanamachi.training.evaluation.matches import FILES
from hanamachi.training.evaluation.page import evaluation_page
from hanamachi.training.evaluation.pictures import draw
from hanamachi.training.evaluation.results import Evaluation, Row, rounded
from hanamachi.training.evaluation.spreadsheet import csv_of

HEADS = "policy", "opponent", "play", "games", "rate", "low", "high"
TEAM_HEADS = "policy", "partners", "play", "games", "mean", "low", "high", "perfect", "lost"


def write(evaluation: Evaluation, folder: Path) -> list[Path]:
    """Write `evaluation.json`, `.csv`, `.html` and `.png`; returns their paths."""
    data, sheet, page, picture = paths = [folder / file for file in FILES]
    write_json(evaluation.as_json(), data)
    with replacing(sheet) as file:
        file.write(utf8(as_csv(evaluation)))
    with replacing(page) as file:
        file.write(utf8(evaluation_page(evaluation)))
    with replacing(picture) as file:
        draw(evaluation).savefig(file, format="png", dpi=200)
    return paths


def as_csv(evaluation: Evaluation) -> str:
    """A line for each pairing and way of play, and how many games either side forfeited."""
    heads = TEAM_HEADS if evaluation.cooperative else HEADS
    lines: list[list[Any]] = [[*heads, "forfeited", "forfeited_by_other"]]
    lost = {(f.policy, f.opponent, f.play, f.place): f.games for f in evaluation.forfeits}
    for row in rows_of(evaluation):
        cells = [getattr(row, head) for head in heads]
        me, other, play = cells[:3]
        lines.append([*cells, lost.get((me, other, play, 0), 0), lost.get((other, me, play, 1), 0)])
    return csv_of(lines)


def rows_of(evaluation: Evaluation) -> Iterator[Row]:
    """The results of all pairings one by one, those of a matrix too."""
    if evaluation.opponents or evaluation.cooperative:
        yield from evaluation.results
        return
    names, games = evaluation.policies, evaluation.games
    for result in evaluation.results:
        for i, j in combinations(range(len(names)), 2):
            rates = (rounded(of[i, j]) for of in (result.rate, result.low, result.high))
            yield Row(names[i], names[j], result.play, games, *rates)
