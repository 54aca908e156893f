"""How exploitable a policy is in a small version: the exact answer, for readers and programs."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from hanamachi.policies import load_policy
from hanamachi.policies.policy import Policy
from hanamachi.training.evaluation.matches import rounded
from hanamachi.training.evaluation.report import write_json
from hanamachi.training.exact.cfr import solve
from hanamachi.training.exact.response import asked, exploitability, nash_conv
from hanamachi.training.exact.team import best_team
from hanamachi.training.exact.tree import Tree
from hanamachi.training.exact.walk import tree_of


@dataclass(frozen=True)
class Seat:
    """What one seat can expect, all others playing the policy."""

    value: float  #: by the policy
    best_response: float  #: by a best response


@dataclass(frozen=True)
class Equilibrium:
    """The reference: what CFR+ finds."""

    value: float  #: for seat 0
    nash_conv: float  #: which bounds the error of the value


@dataclass(frozen=True)
class Exact:
    """How far a policy is from equilibrium; between partners, what they make together."""

    game: str
    options: dict[str, Any]
    policy: str
    states: int
    information_sets: int
    choices: int  #: information sets with more than one legal action
    seats: list[Seat]
    nash_conv: float
    uniform_nash_conv: float  #: of random play, to compare with
    equilibrium: Equilibrium | None  #: None between partners
    best_team: float | None  #: the most that partners can make; None for rivals, or if not known

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def exact_exploitability(
    policy: str | Path | Policy, game: str | None = None, **options: Any
) -> Exact:
    """The value of a policy, of its best responses, and its NashConv, to six digits.

    `game` and its `options` say which variant; a checkpoint and a Policy know their own. UserError
    if the variant is too large, or the policy cannot play it.
    """
    given = policy if isinstance(policy, Policy) else None
    player = given or load_policy(str(policy), game, **options)
    variant = player.variant
    tree = tree_of(variant)
    found = exploitability(tree, asked(tree, player))
    pairs = zip(found.values, found.responses, strict=True)
    return Exact(
        game=variant.id,
        options=dict(variant.options),
        policy=player.name if given else str(policy),
        states=tree.states,
        information_sets=tree.sets,
        choices=int((tree.choices > 1).sum()),
        seats=[Seat(rounded(value), rounded(best)) for value, best in pairs],
        nash_conv=rounded(found.nash_conv),
        uniform_nash_conv=rounded(nash_conv(tree, tree.uniform)),
        equilibrium=None if variant.game.cooperative else equilibrium(tree),
        best_team=most_together(tree) if variant.game.cooperative else None,
    )


def equilibrium(tree: Tree) -> Equilibrium:
    solution = solve(tree)
    return Equilibrium(rounded(solution.value), rounded(solution.found.nash_conv))


def most_together(tree: Tree) -> float | None:
    team = best_team(tree)
    return rounded(team.value) if team else None


def tables(exact: Exact) -> Group:
    """What a reader of the terminal gets."""
    table = Table("seat")
    for column in ("value", "best response", "gain"):
        table.add_column(column, justify="right")
    for number, seat in enumerate(exact.seats):
        gain = seat.best_response - seat.value
        cells = (f"{figure:+.4f}" for figure in (seat.value, seat.best_response, gain))
        table.add_row(str(number), *cells)
    size = f"{exact.states:,} states, {exact.information_sets:,} information sets"
    title = Text(f"\n{exact.game}, {exact.policy}: {size}", style="bold")
    return Group(title, table, *map(Text, conclusions(exact)))


def conclusions(exact: Exact) -> list[str]:
    lines = [f"NashConv {exact.nash_conv:.4f} (random play: {exact.uniform_nash_conv:.4f})"]
    if exact.equilibrium:
        value, error = exact.equilibrium.value, exact.equilibrium.nash_conv
        lines.append(f"value of the game for seat 0, by CFR+: {value:+.4f} ± {error:.4f}")
    if exact.best_team is not None:
        lines.append(f"best that partners can make: {exact.best_team:.4f}")
    return lines


def write(exact: Exact, folder: Path) -> Path:
    """Write `exact.json`; returns its path."""
    path = folder / "exact.json"
    write_json(exact.as_json(), path)
    return path
