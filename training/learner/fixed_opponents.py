"""The policies that play some of a learner's games, each in a share of them."""

from collections.abc import Sequence
from itertools import pairwise
from os import PathLike, fspath

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, shown
from hanamachi.policies.load import load_policy
from hanamachi.policies.policy import Policy
from hanamachi.sessions.arguments import is_number
from hanamachi.sessions.players import SeatedPlayer

SHARES_ROUNDED = 1e-6  # by how much the sum of rounded shares may miss 1


class FixedOpponent(SeatedPlayer[Policy]):
    """A policy that plays some of the games; `rows` are their numbers in the whole batch."""

    def __init__(self, policy: Policy, variant: Variant, rows: NDArray[np.int64]) -> None:
        super().__init__(policy, variant, len(rows))
        self.rows = rows


def rows_of_each(shares: Sequence[tuple[str, float]], games: int) -> list[NDArray[np.int64]]:
    """The numbers of the games that each opponent, by name and share, plays in.

    UserError if one with a share above 0 gets none.
    """
    edges = np.round(games * np.cumsum([0, *(share for _, share in shares)]).clip(max=1))
    rows = [np.arange(begin, end, dtype=np.int64) for begin, end in pairwise(edges)]
    for (name, share), its_rows in zip(shares, rows, strict=True):
        if share and not len(its_rows):
            raise no_games(name, share, games)
    return rows


def no_games(name: str, share: float, games: int) -> UserError:
    return UserError(
        f"{name} gets none of {games} games, as its share is {share:g}: play more games, or give "
        "it a larger share"
    )


def checked_opponents(
    opponents: Sequence[tuple[Policy | str | PathLike[str], float]], variant: Variant
) -> list[tuple[Policy, float]]:
    """Policies for this variant and their shares of the games; names are loaded."""
    if not isinstance(opponents, list | tuple):
        raise UserError(f"opponents must be a list of (policy, share), not {shown(opponents)}")
    checked = []
    for each in opponents:
        if not isinstance(each, tuple | list) or len(each) != 2:
            raise UserError(f"each of opponents must be (policy, share), not {shown(each)}")
        given, share = each
        policy = load_policy(fspath(given), variant) if isinstance(given, str | PathLike) else given
        made_for = getattr(policy, "variant", None)
        if not isinstance(made_for, Variant) or not made_for.understands(variant):
            raise UserError(
                f"{shown(policy)} is no policy for {variant.id}: give the name of one, or what "
                "load_policy returns for this game"
            )
        if not is_number(share) or not 0 <= share <= 1:
            raise UserError(f"the share of {policy.name} must be from 0 to 1, not {shown(share)}")
        checked.append((policy, share))
    if (total := sum(share for _, share in checked)) > 1 + SHARES_ROUNDED:
        raise UserError(f"the shares of opponents sum to {total:g}: they may be 1 at most")
    return checked
