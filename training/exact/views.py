"""Any policy as a table: one that plays from views is asked once about every information set.

NashConv is only defined for a policy whose answer depends on what its seat knows. So the policy is
asked again about some information sets, and must answer the same.

Notation: as in tree.py.
"""

import numpy as np

from hanamachi.errors import UserError
from hanamachi.policies.arrays import Probabilities
from hanamachi.policies.policy import Policy
from hanamachi.policies.search.search import Search
from hanamachi.policies.view_policy import ViewPolicy
from hanamachi.sessions.events import History
from hanamachi.sessions.policy_checks import checked_distribution
from hanamachi.sessions.worlds import Worlds
from hanamachi.training.exact.response import tabulate
from hanamachi.training.exact.tree import Float64s, Integers
from hanamachi.training.exact.walk import VariantTree

AGAIN = 64  # information sets that it is asked about twice, at most
ALIKE = 1e-4  # by which two answers may differ


def refuse_search(policy: Policy) -> None:
    """UserError, before a tree is walked, if the policy is a search, which is no table."""
    if isinstance(policy, Search):
        raise UserError(
            f"{policy.name} is a search and cannot be tabulated: name its blueprint instead, or "
            "attack it with hanamachi exploit --search"
        )


def table_of(tree: VariantTree, policy: Policy) -> Float64s:
    """The probabilities of any policy in every information set, (Q,); UserError if it has none."""
    if isinstance(policy, ViewPolicy):
        return tabulate_views(tree, policy)
    return tabulate(tree, policy)


def tabulate_views(tree: VariantTree, policy: ViewPolicy) -> Float64s:
    """The probabilities of a policy in every information set, (Q,).

    It sees each position without the events that led there. UserError if it fails, or answers the
    same view in two ways.
    """
    table = tree.uniform.copy()
    choices = np.flatnonzero(tree.choices > 1)
    for number in choices:  # no forced move is asked about
        one = np.array([number])
        table[tree.sequences_in(one)] = asked_about(tree, policy, one)
    for number in np.random.default_rng(0).permutation(choices)[:AGAIN]:
        one = np.array([number])
        if np.abs(asked_about(tree, policy, one) - table[tree.sequences_in(one)]).max() > ALIKE:
            raise UserError(
                f"{policy.name} has no NashConv: it answered the same view in two ways; a policy "
                "that plays by chance must give its probabilities"
            )
    return table


def asked_about(tree: VariantTree, policy: ViewPolicy, one: Integers) -> Float64s:
    """The probabilities of the legal actions in one information set."""
    history = History(tree.variant, tree.games[one].copy())
    worlds = Worlds(tree.variant, history.games, tree.seat[one], lambda row: history)
    mask = tree.masks(one)
    answer: Probabilities = policy.with_worlds(worlds).probabilities(worlds, mask)
    row = checked_distribution(answer, mask, policy.name)[0].astype(np.float64)
    return np.asarray(row[tree.actions_in(one)] / row.sum())
