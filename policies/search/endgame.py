"""Endgame search: solve the rest of a round exactly from sampled worlds.

When few decisions are left, the search follows every action, chance outcome and reply from each
world to the end of the round. It then solves the seat's decisions backwards, one decision for each
information set, so that the seat never uses hidden cards. The others reply as the blueprint would.
The result is the best response to the blueprint, exact up to the sample of worlds, which are
weighted by the others' actions (`posterior.py`). A sample of more than PORTION worlds is solved in
several trees: each decides as if the seat knew which worlds are in its tree, so what they promise
is a little too much. If a tree grows too large, those before it decide; if it is the first, the
blueprint plays.

Notation: K worlds, n positions of a level of the tree, A actions, E events: actions or outcomes.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.compiled import inline, kernel
from hanamachi.engine.contract import CHANCE, OVER, apply, chance, legal, resolve
from hanamachi.engine.game import Variant
from hanamachi.limits import SEARCH_POSITIONS
from hanamachi.policies.policy import Policy
from hanamachi.policies.sampling import best
from hanamachi.policies.search.budget import at_least_one, share
from hanamachi.policies.search.posterior import NEEDED_TO_WEIGH, RANDOM_SHARE, posterior
from hanamachi.policies.search.round_value import RoundValue
from hanamachi.policies.search.search import Decision, Search
from hanamachi.sessions.observations import observe
from hanamachi.sessions.policy_checks import distribution_of, memory_of

PORTION = 64  # worlds of one tree
NONE = -1  # the information set of a position in which the seat has no choice


class Endgame(Search):
    """Solves the rest of a round if a tree of it has at most `positions` positions.

    Its first world, which is tried alone, must not take more than an equal share of them.
    The value of the next round is the blueprint's (`round_value.py`). The worlds are weighted as if
    `random_share` of the others' decisions so far were random.
    """

    kind = "endgame"
    needs = (*NEEDED_TO_WEIGH, "round_number")

    def __init__(
        self,
        variant: Variant,
        blueprint: Policy | None,
        *,
        positions: int = 4000,
        random_share: float = RANDOM_SHARE,
        **common: Any,
    ) -> None:
        super().__init__(variant, blueprint, **common)
        assert blueprint is not None
        self.positions = at_least_one(positions, "positions", SEARCH_POSITIONS)
        self.random_share = share(random_share, "random_share")
        self.tree = RoundTree(blueprint, self.positions, self.random_share)

    def search(self, decision: Decision) -> NDArray[np.floating[Any]]:
        total, solved = np.zeros(len(decision.mask)), 0
        for count in self.budget.portions(PORTION):
            values = self.tree.values(decision.sample(count))
            if values is None:  # the tree of these worlds is too large
                break
            total, solved = total + count * values, solved + count
        if solved == 0:
            return decision.prior
        scores = np.where(decision.mask == 1, total, -np.inf)[None]
        return best(scores.astype(np.float32))[0]


class Events(NamedTuple):
    """The events that can happen at the positions of a level."""

    parent: NDArray[np.int64]  # (E,) the position
    event: NDArray[np.int64]  # (E,) the action or outcome
    chance: NDArray[np.float64]  # (E,) its probability; 1 for the seat's own actions


@dataclass
class Level:
    """The positions at one depth of the tree, and their events."""

    games: NDArray[Any]  # (n,)
    events: Events
    # (n,) numbered, at the seat's own choices; NONE elsewhere
    information_set: NDArray[np.int64]


class RoundTree:
    """The rest of a round, from worlds in which one seat is to move; the others play `policy`."""

    def __init__(self, policy: Policy, max_positions: int, random_share: float) -> None:
        self.policy, self.variant = policy, policy.variant
        self.max_positions, self.random_share = max_positions, random_share
        self.round_value = RoundValue(policy)

    def values(self, worlds: NDArray[Any]) -> NDArray[np.float64] | None:
        """The value of each action for the seat to move, (A,); None if the tree is too large.

        -inf where an action is illegal.
        """
        equal_part = self.max_positions // len(worlds)
        if self._levels(worlds[:1], equal_part) is None:  # one is an estimate of all
            return None
        levels = self._levels(worlds, self.max_positions)
        if levels is None:
            return None
        seat = int(worlds["mover"][0])
        reach = [posterior(self.policy, worlds, seat, self.random_share)]
        for level in levels:
            reach.append(reach[-1][level.events.parent] * level.events.chance)
        values = np.zeros(0)
        for depth in range(len(levels) - 1, 0, -1):
            ends = reach[depth] * self._end_values(levels[depth].games, worlds[0], seat)
            values = ends + self._best_of(levels[depth], values)
        return self._by_action(levels[0], values)[0]

    # --- From the worlds down

    def _levels(self, worlds: NDArray[Any], room: int) -> list[Level] | None:
        """All levels to the end of the round; None if they have more than `room` positions."""
        levels, games = [], worlds
        while len(games):
            room -= len(games)
            if room < 0:
                return None
            events = self._events(games, worlds[0], room)
            if events is None:
                return None
            levels.append(Level(games, events, self._information_sets(games, worlds[0], events)))
            games = games[events.parent]
            apply_events(self.variant.rule_set, games, events.event)
        return levels

    def _events(self, games: NDArray[Any], root: np.record, room: int) -> Events | None:
        """The events of every position before the end of the round; None if more than `room`."""
        going = (games["mover"] >= 0) & (games["round_number"] == root.round_number)
        others = np.flatnonzero(going & (games["mover"] != root.mover))
        room = max(room - len(others), 0)
        events = Events(np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room))
        mask = np.empty(self.variant.actions.size, np.int8)
        count = own_and_chance(self.variant.rule_set, games, root, mask, *events)
        if count > room:
            return None
        replies = self._replies(games[others])
        row, action = np.nonzero(replies)
        if count + len(row) > room + len(others):
            return None
        return Events(
            np.append(events.parent[:count], others[row]),
            np.append(events.event[:count], action),
            np.append(events.chance[:count], replies[row, action]),
        )

    def _replies(self, games: NDArray[Any]) -> NDArray[np.float32]:
        """The probabilities of the others' actions, (n, A); memories are the initial ones."""
        if not len(games):  # a policy may not know what to do about none
            return np.empty((0, self.variant.actions.size), np.float32)
        seen = observe(self.variant, games, games["mover"].astype(np.int64))
        return distribution_of(self.policy, *seen, memory_of(self.policy, len(games)))[0]

    def _information_sets(
        self, games: NDArray[Any], root: np.record, events: Events
    ) -> NDArray[np.int64]:
        """The information set of each position, (n,); NONE where the seat has no choice."""
        open_ = np.bincount(events.parent, minlength=len(games)) > 1
        own = np.flatnonzero(open_ & (games["mover"] == root.mover))
        sets = np.full(len(games), NONE)
        sets[own] = same_rows(
            observe(self.variant, games[own], games["mover"][own].astype(np.int64))[0]
        )
        return sets

    # --- From the ends up

    def _end_values(self, games: NDArray[Any], root: np.record, seat: int) -> NDArray[np.float64]:
        """The values for the seat of positions after the end of the round, (n,); 0 elsewhere."""
        values = games["rewards"][:, seat].astype(np.float64)
        next_round = (games["mover"] != OVER) & (games["round_number"] != root.round_number)
        values[next_round] += self.round_value(games[next_round], seat)
        return values

    def _by_action(self, level: Level, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The value of each of the seat's actions, (sets, A), summed over an information set."""
        parent, action, _ = level.events
        sets = level.information_set[parent]
        own = sets != NONE
        totals = np.full((sets.max(initial=NONE) + 1, self.variant.actions.size), -np.inf)
        totals[sets[own], action[own]] = 0
        np.add.at(totals, (sets[own], action[own]), values[own])
        return totals

    def _best_of(self, level: Level, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values of the positions, (n,), if the seat takes the best action of each set."""
        parent, event, _ = level.events
        sets = level.information_set[parent]
        chosen = self._by_action(level, values).argmax(1)
        kept = sets == NONE
        kept[~kept] = event[~kept] == chosen[sets[~kept]]
        sums = np.zeros(len(level.games))
        np.add.at(sums, parent[kept], values[kept])
        return sums


def same_rows(rows: NDArray[np.float32]) -> NDArray[np.int64]:
    """Number the rows, (n,); equal rows get the same number."""
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in rows], np.int64)


@kernel
def apply_events(rule_set: Any, games: NDArray[Any], events: NDArray[np.int64]) -> None:
    """Apply one event to every game: an outcome where chance decides, else an action."""
    for b in range(len(games)):
        if games[b].mover == CHANCE:
            resolve(rule_set, games[b], events[b])
        else:
            apply(rule_set, games[b], events[b])


@kernel
def own_and_chance(
    rule_set: Any,
    games: NDArray[Any],
    root: np.record,
    mask: NDArray[np.int8],
    parent: NDArray[np.int64],
    event: NDArray[np.int64],
    probabilities: NDArray[np.float64],
) -> int:
    """Write the events of chance and of the mover of `root`; returns their number.

    The number counts events that did not fit, too. `mask` (A,) is scratch space.
    """
    weights = np.empty(rule_set.max_outcomes, np.int64)
    count = 0
    for b in range(len(games)):
        game = games[b]
        if game.round_number != root.round_number:
            continue
        if game.mover == CHANCE:
            n = chance(rule_set, game, weights)
            count = write_events(
                b, weights[:n], 1 / weights[:n].sum(), count, parent, event, probabilities
            )
        elif game.mover == root.mover:
            legal(rule_set, game, mask)
            count = write_events(b, mask, 1.0, count, parent, event, probabilities)
    return count


@inline
def write_events(
    b: int,
    numbers: NDArray[Any],
    unit: float,
    count: int,
    parent: NDArray[np.int64],
    event: NDArray[np.int64],
    probabilities: NDArray[np.float64],
) -> int:
    """Write an event of probability number * unit for each positive number; returns the count."""
    for i in range(len(numbers)):
        if numbers[i] > 0:
            if count < len(parent):
                parent[count], event[count], probabilities[count] = b, i, numbers[i] * unit
            count += 1
    return count
