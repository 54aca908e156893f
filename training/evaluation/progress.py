"""Progress of an evaluation in the terminal: games played, the time left, results on the way."""

import time
from collections.abc import Iterator, Sequence
from typing import Any, Self

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from hanamachi.training.evaluation.deals import DealResults, Pairing, joined
from hanamachi.training.evaluation.plan import FEWEST_GAMES, Watch
from hanamachi.training.evaluation.results import row_of

SLOW = 5.0  # seconds of a pairing whose result is shown before the end
HOUR = 3600.0  # over which the speed is measured: a part of a search may take minutes


class TwoLines(Progress):
    """A bar, and below it a line of words."""

    words = ""

    def get_renderables(self) -> Iterator[RenderableType]:
        yield from super().get_renderables()
        if self.words:
            yield Text(self.words, style="dim", no_wrap=True, overflow="ellipsis")


class GamesBar:
    """On a terminal, a bar from the first game to the end of a `with`; elsewhere nothing."""

    def __init__(self, console: Console | None = None) -> None:
        """The console is stderr by default."""
        self.games = self.kept = 0
        console = console or Console(stderr=True, emoji=False)
        self.bar = TwoLines(
            TextColumn("games"),
            BarColumn(),
            TextColumn("{task.completed:,.0f}/{task.total:,.0f}"),
            TimeRemainingColumn(),
            TextColumn("left"),
            console=console,
            disable=not console.is_terminal,
            transient=True,
            speed_estimate_period=HOUR,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self.bar.stop()

    def begin(self, games: int, kept: int) -> None:
        """`games` are to be played; `kept` of them were played before."""
        self.games, self.kept = games, kept
        for ended in self.bar.task_ids:
            self.bar.remove_task(ended)
        self.task = self.bar.add_task("", total=games, completed=kept)
        self.advance(0)  # from now on time is measured
        self.bar.start()

    def advance(self, games: int) -> None:
        """`games` more were played."""
        self.bar.advance(self.task, games)

    @property
    def ended_before(self) -> bool:
        """Whether all games were kept from before, so that none was played."""
        return 0 < self.games == self.kept


class ShowGames(GamesBar, Watch):
    """The bar of an evaluation, with its results on the way."""

    def begin(self, games: int, kept: int) -> None:
        super().begin(games, kept)
        self.begun = time.perf_counter()

    def part_ended(self, pairing: Pairing, so_far: Sequence[DealResults], games: int) -> None:
        self.advance(games)
        if not self.bar.disable and len((whole := joined(so_far)).deals) >= FEWEST_GAMES:
            self.bar.words = line(pairing, whole)

    def pairing_ended(self, pairing: Pairing, whole: DealResults) -> None:
        now = time.perf_counter()
        if now - self.begun > SLOW and not self.bar.disable:
            words = line(pairing, whole)
            self.bar.console.print(words, markup=False, highlight=False, soft_wrap=True)
        self.begun = now


def line(pairing: Pairing, part: DealResults) -> str:
    """A result in words."""
    return f"{pairing.names[0]} ({pairing.play}): {row_of(pairing, part)}"
