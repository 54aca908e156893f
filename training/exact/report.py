"""Report the exact exploitability of a policy in a small game, as a record and as tables."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.text import Text

from hanamachi.policies import load_policy
from hanamachi.policies.policy import Policy
from hanamachi.training.evaluation.fingerprints import fingerprints
from hanamachi.training.evaluation.json_results import write_json
from hanamachi.training.evaluation.results import rounded
from hanamachi.training.evaluation.saved_parts import refuse_other_results
from hanamachi.training.exact.cfr import solve
from hanamachi.training.exact.response import exploitability, nash_conv
from hanamachi.training.exact.team import best_team
from hanamachi.training.exact.tree import Tree
from hanamachi.training.exact.views import refuse_search, table_of
from hanamachi.training.exact.walk import tree_of
from hanamachi.training.tables import whole_table

EXACT_JSON = "exact.json"


@dataclass(frozen=True)
class Seat:
    """The values of one seat if all others play the policy."""

    value: float  #: of the policy
    best_response: float  #: of a best response


@dataclass(frozen=True)
class Equilibrium:
    """The reference solution by CFR+."""

    value: float  #: for seat 0
    nash_conv: float  #: bounds the error of the value


@dataclass(frozen=True)
class Exact:
    """The exploitability of a policy; in a cooperative game, also the best possible team."""

    game: str
    options: dict[str, Any]
    policy: str
    files: dict[str, str]  #: digests of the policy's weights or code, where they can be seen
    states: int
    information_sets: int
    choices: int  #: information sets with more than one legal action
    seats: list[Seat]
    nash_conv: float
    uniform_nash_conv: float  #: of random play, for comparison
    equilibrium: Equilibrium | None  #: None in cooperative games
    #: value of the best joint policy; None in competitive games, or if unknown
    best_team: float | None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def exact_exploitability(
    policy: str | Path | Policy, game: str | None = None, **options: Any
) -> Exact:
    """The values of a policy and of its best responses, and its NashConv, to six digits.

    `game` and `options` name the variant; a checkpoint or a Policy has its own. UserError if the
    variant is too large, or the policy is a search or cannot play it. A policy that plays from
    views must answer equal views alike.
    """
    own = policy if isinstance(policy, Policy) else None
    player = own or load_policy(str(policy), game, **options)
    refuse_search(player)
    variant = player.variant
    tree = tree_of(variant)
    exact = exploitability(tree, table_of(tree, player))
    pairs = zip(exact.values, exact.responses, strict=True)
    return Exact(
        game=variant.id,
        options=dict(variant.options),
        policy=player.name if own else str(policy),
        files=fingerprints([policy]),
        states=tree.states,
        information_sets=tree.sets,
        choices=int((tree.choices > 1).sum()),
        seats=[Seat(rounded(value), rounded(best)) for value, best in pairs],
        nash_conv=rounded(exact.nash_conv),
        uniform_nash_conv=rounded(nash_conv(tree, tree.uniform)),
        equilibrium=None if variant.game.cooperative else equilibrium(tree),
        best_team=best_team_value(tree) if variant.game.cooperative else None,
    )


def equilibrium(tree: Tree) -> Equilibrium:
    """The reference solution of a competitive game."""
    solution = solve(tree)
    return Equilibrium(rounded(solution.value), rounded(solution.exploitability.nash_conv))


def best_team_value(tree: Tree) -> float | None:
    """The value of the best joint policy; None if the tree is too large."""
    team = best_team(tree)
    return rounded(team.value) if team else None


def tables(exact: Exact) -> Group:
    """The report as tables for the terminal."""
    table = whole_table("seat", right=("value", "best response", "gain"))
    for number, seat in enumerate(exact.seats):
        gain = seat.best_response - seat.value
        cells = (f"{figure:+.4f}" for figure in (seat.value, seat.best_response, gain))
        table.add_row(str(number), *cells)
    size = f"{exact.states:,} states, {exact.information_sets:,} information sets"
    title = Text(f"\n{exact.game}, {exact.policy}: {size}", style="bold")
    return Group(title, table, *map(Text, conclusions(exact)))


def conclusions(exact: Exact) -> list[str]:
    """The lines below the table."""
    lines = [f"NashConv {exact.nash_conv:.4f} (random play: {exact.uniform_nash_conv:.4f})"]
    if exact.equilibrium:
        value, error = exact.equilibrium.value, exact.equilibrium.nash_conv
        lines.append(f"value of the game for seat 0, by CFR+: {value:+.4f} ± {error:.4f}")
    if exact.best_team is not None:
        lines.append(f"value of the best joint policy: {exact.best_team:.4f}")
    return lines


def check_place(folder: Path, policy: str, game: str | None = None, **options: Any) -> None:
    """UserError if `write` would replace the result of another policy, or cannot write there.

    The arguments are those of `exact_exploitability`.
    """
    variant = load_policy(policy, game, **options).variant
    about = {"game": variant.id, "options": dict(variant.options), "policy": policy}
    about["files"] = fingerprints([policy])
    refuse_other_results(folder / EXACT_JSON, about)


def write(exact: Exact, folder: Path) -> Path:
    """Write `exact.json`; returns its path."""
    path = folder / EXACT_JSON
    write_json(exact.as_json(), path)
    return path
