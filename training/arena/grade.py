"""Grade bots exactly: how much best responses win against each in a small version of a game."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.text import Text

from hanamachi.engine.game import Variant
from hanamachi.errors import Unavailable, UserError, shortened, unknown
from hanamachi.games.registry import variant as make_variant
from hanamachi.games.small import SMALL
from hanamachi.policies.entry_point import type_and_message
from hanamachi.policies.external.bot import Limits
from hanamachi.policies.policy import Policy
from hanamachi.storage.files import utf8, write_whole
from hanamachi.storage.reading import checked_path
from hanamachi.training.arena.bots import bots_in
from hanamachi.training.arena.tournament import LIMITS, entrants, limits_and_files, put_away
from hanamachi.training.evaluation.json_results import write_json
from hanamachi.training.evaluation.results import rounded
from hanamachi.training.evaluation.saved_parts import refuse_other_results, refuse_unclaimed
from hanamachi.training.exact.response import nash_conv
from hanamachi.training.exact.views import refuse_search, table_of
from hanamachi.training.exact.walk import VariantTree, tree_of
from hanamachi.training.ownership import locked
from hanamachi.training.tables import Name, whole_table
from hanamachi.training.web_page import page, table

MEANING = (
    "NashConv is what best responses to a player would win more than it, all seats together; 0 is "
    "an equilibrium, or in a cooperative game a team that no player alone can improve."
)


@dataclass(frozen=True)
class Grade:
    """How exploitable a player is in a small version of a game."""

    player: str
    nash_conv: float | None  #: None if it was refused
    refusal: str  #: why, or ""


@dataclass(frozen=True)
class Grades:
    """The grades of all players, best first, and that of random play."""

    small: str
    about: dict[str, Any]  #: who was graded, under which limits, with digests of their files
    grades: list[Grade]
    uniform: float

    def as_json(self) -> dict[str, Any]:
        grades = [asdict(each) for each in self.grades]
        return {"small": self.small, **self.about, "grades": grades, "uniform": self.uniform}


def grade(
    folder: Path | str, small: str, limits: Limits = LIMITS, others: Sequence[str] = ()
) -> Grades:
    """The grades of all bots of a folder, and of the policies `others`.

    `small` names a version in `exact.SMALL`. A player that fails, or answers the same view in two
    ways, is refused. UserError if there is no such version or nobody to grade, or if one of the
    others is a search.
    """
    variant = version(small)
    players = players_to_grade(folder, variant, limits, others)
    about, tree = about_players(folder, limits, others), tree_of(variant)
    found = [graded(tree, player) for player in players]
    order = sorted(found, key=lambda each: (each.nash_conv is None, each.nash_conv))
    return Grades(small, about, order, rounded(nash_conv(tree, tree.uniform)))


def players_to_grade(
    folder: Path | str, variant: Variant, limits: Limits, others: Sequence[str]
) -> list[Policy]:
    """All who are graded; UserError for a name that leads to no policy, or to a search."""
    players = entrants(bots_in(folder)[0], others, variant, limits)
    for player in players:
        refuse_search(player)
    return players


def about_players(folder: Path | str, limits: Limits, others: Sequence[str]) -> dict[str, Any]:
    """What the grades depend on, besides the small version; of players that could be loaded."""
    programs, _ = bots_in(folder)
    return {"policies": [*programs, *others], **limits_and_files(folder, programs, others, limits)}


def version(small: str) -> Variant:
    if small not in SMALL:
        raise unknown("small version", small, SMALL)
    return make_variant(small)


def graded(tree: VariantTree, player: Policy) -> Grade:
    try:
        return Grade(player.name, rounded(nash_conv(tree, table_of(tree, player))), "")
    except (MemoryError, Unavailable):
        raise
    except UserError as error:
        return Grade(player.name, None, str(error).removeprefix(f"{player.name} "))
    except Exception as error:  # of the player's own code
        return Grade(player.name, None, shortened(type_and_message(error)))
    finally:
        put_away(player)


# --- As a table and as a page


def lines(grades: Grades) -> list[list[str]]:
    """Rank, player, remark and NashConv of each."""
    return [
        ["" if each.refusal else f"{rank}.", each.player, each.refusal, figure(each)]
        for rank, each in enumerate(grades.grades, 1)
    ]


def figure(grade: Grade) -> str:
    return "refused" if grade.nash_conv is None else f"{grade.nash_conv:.4f}"


def comparison(grades: Grades) -> str:
    return f"random play: {grades.uniform:.4f}"


def tables(grades: Grades) -> Group:
    """The grades as a table for the terminal."""
    shown = whole_table("", "player", "remark", right=("NashConv",))
    for rank, player, *others in lines(grades):
        shown.add_row(rank, Name(player), *map(Text, others))
    title = Text(f"\n{grades.small}", style="bold")
    return Group(title, shown, Text(comparison(grades)))


@contextmanager
def place_for(
    out: Path | str,
    bots: Path | str,
    small: str,
    limits: Limits = LIMITS,
    others: Sequence[str] = (),
) -> Iterator[None]:
    """Hold the folder `out` for `write`; the other arguments are those of `grade`.

    UserError for arguments that `grade` refuses, if `write` would replace other grades or other
    files or cannot write there, or if another process grades bots in this folder.
    """
    asked = bots, small, limits, others
    check_place(out, *asked)
    folder = checked_path(out)
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder, "grading bots in"):
        check_place(out, *asked)  # another process may have written since
        yield


def check_place(
    out: Path | str,
    folder: Path | str,
    small: str,
    limits: Limits = LIMITS,
    others: Sequence[str] = (),
) -> None:
    """UserError as in `place_for`, but for other processes."""
    players_to_grade(folder, version(small), limits, others)
    site, data = files(out, small)
    refuse_other_results(data, {"small": small, **about_players(folder, limits, others)})
    refuse_unclaimed(data, [site])


def files(out: Path | str, small: str) -> list[Path]:
    """The page and the grades as JSON; each small version has its own."""
    return [checked_path(out) / f"grades-{small}.{kind}" for kind in ("html", "json")]


def write(grades: Grades, out: Path | str) -> list[Path]:
    """Write the page and the JSON of `files`; returns their paths."""
    site, data = files(out, grades.small)
    body = table(["", "player", "remark"], ["NashConv"], lines(grades))
    body += f"<p>{comparison(grades).capitalize()}. {MEANING}</p>"
    write_whole(site, utf8(page(f"{grades.small}: exact grades", body, "60rem")))
    write_json(grades.as_json(), data)
    return [site, data]
