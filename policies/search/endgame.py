"""Endgame: the end of a round is looked through to its last card.

Where few decisions are left, every action, outcome of chance and reply is followed from each
sampled world to the end of the round. The seat's own decisions are then solved backwards, one for
all worlds that it could not tell apart there, so that it never plays as if it saw hidden cards;
the others reply as the blueprint would. The result is the best reply to the blueprint, exact but
for the sample of worlds, whose weights are what the others' actions in the round tell of them.
Elsewhere, and where the tree would grow too large, the blueprint plays.

Notation: K worlds, n positions of a level of the tree, A actions, E events: actions or outcomes.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import game as rule
from hanamachi.engine.compiled import inline, kernel
from hanamachi.engine.game import CHANCE, OVER, Variant
from hanamachi.policies.policy import Policy, best
from hanamachi.policies.search.budget import at_least_one
from hanamachi.policies.search.prospects import Prospects
from hanamachi.policies.search.reach import weights
from hanamachi.policies.search.search import Decision, Search
from hanamachi.sessions.players import observe

apply, chance, legal, resolve = rule.apply, rule.chance, rule.legal, rule.resolve

PORTION = 64  # worlds of one tree
NONE = -1  # the information set of a position where the seat has no choice


class Endgame(Search):
    """Solves the rest of a round where it has at most so many `positions`, of all worlds of a tree.

    In a game that goes on, the next round is worth what the blueprint makes of it.
    """

    kind = "endgame"

    def __init__(
        self,
        variant: Variant,
        blueprint: Policy | None,
        *,
        positions: int = 4000,
        **common: Any,
    ) -> None:
        super().__init__(variant, blueprint, **common)
        assert blueprint is not None
        self.tree = Tree(blueprint, at_least_one(positions, "positions"))

    def search(self, decision: Decision) -> NDArray[np.floating[Any]]:
        total = np.zeros(len(decision.mask))
        for count in self.budget.portions(PORTION):
            values = self.tree.values(decision.sample(count))
            if values is None:
                return decision.prior
            total += count * values
        scores = np.where(decision.mask == 1, total, -np.inf)[None]
        return best(scores.astype(np.float32))[0]


class Events(NamedTuple):
    """What can happen at the positions of a level."""

    parent: NDArray[np.int64]  # (E,) the position
    event: NDArray[np.int64]  # (E,) the action or outcome
    chance: NDArray[np.float64]  # (E,) of it; 1 for the seat's own actions


@dataclass
class Level:
    """Positions as many events away from the worlds, and what can happen there."""

    games: NDArray[Any]  # (n,)
    events: Events
    # (n,) a number for what the seat knows, at its own choices; NONE elsewhere
    information_set: NDArray[np.int64]


class Tree:
    """The rest of a round, from worlds in which one seat is to move, against one policy."""

    def __init__(self, policy: Policy, most: int) -> None:
        self.policy, self.variant, self.most = policy, policy.variant, most
        self.prospects = Prospects(policy)

    def values(self, worlds: NDArray[Any]) -> NDArray[np.float64] | None:
        """What each action brings the seat that has a choice, (A,); None if the tree is too large.

        -inf where an action is illegal.
        """
        share = self.most // len(worlds)
        if self._grown(worlds[:1], share) is None:  # the first one tells early if all will fit
            return None
        levels = self._grown(worlds, self.most)
        if levels is None:
            return None
        seat = int(worlds["mover"][0])
        reach = [weights(self.policy, worlds, seat)]
        for level in levels:
            reach.append(reach[-1][level.events.parent] * level.events.chance)
        values = np.zeros(0)
        for level, likely in zip(levels[:0:-1], reach[-2::-1], strict=False):
            ends = likely * self._at_the_end(level.games, worlds[0], seat)
            values = ends + self._best_of(level, values)
        return self._by_action(levels[0], values)[0]

    # --- Down

    def _grown(self, worlds: NDArray[Any], room: int) -> list[Level] | None:
        """All levels, from the worlds down to the end of the round; None if there is no room."""
        levels, games = [], worlds
        while len(games):
            room -= len(games)
            events = self._events(games, worlds[0], room)
            if events is None:
                return None
            levels.append(Level(games, events, self._information_sets(games, worlds[0], events)))
            games = games[events.parent]
            happen(self.variant.rule_set, games, events.event)
        return levels

    def _events(self, games: NDArray[Any], root: np.record, room: int) -> Events | None:
        """Of every position in which the round goes on; None if there are more than `room`."""
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
        return Events(
            np.append(events.parent[:count], others[row]),
            np.append(events.event[:count], action),
            np.append(events.chance[:count], replies[row, action]),
        )

    def _replies(self, games: NDArray[Any]) -> NDArray[np.float32]:
        """What the others will do, (n, A); they are asked as at the beginning of a game."""
        seen = observe(self.variant, games, games["mover"].astype(np.int64))
        return self.policy.distribution(*seen, self.policy.initial_memory(len(games)))[0]

    def _information_sets(
        self, games: NDArray[Any], root: np.record, events: Events
    ) -> NDArray[np.int64]:
        open_ = np.bincount(events.parent, minlength=len(games)) > 1
        own = np.flatnonzero(open_ & (games["mover"] == root.mover))
        sets = np.full(len(games), NONE)
        sets[own] = same_rows(
            observe(self.variant, games[own], games["mover"][own].astype(np.int64))[0]
        )
        return sets

    # --- And up

    def _at_the_end(self, games: NDArray[Any], root: np.record, seat: int) -> NDArray[np.float64]:
        """What the positions in which the round is over are worth to the seat, (n,); others 0."""
        values = games["rewards"][:, seat].astype(np.float64)
        on = (games["mover"] != OVER) & (games["round_number"] != root.round_number)
        values[on] += self.prospects(games[on], seat)
        return values

    def _by_action(self, level: Level, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the seat's actions lead to, (sets, A), from all positions of each set together."""
        parent, action, _ = level.events
        sets = level.information_set[parent]
        own = sets != NONE
        totals = np.full((sets.max(initial=NONE) + 1, self.variant.actions.size), -np.inf)
        totals[sets[own], action[own]] = 0
        np.add.at(totals, (sets[own], action[own]), values[own])
        return totals

    def _best_of(self, level: Level, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the positions lead to, (n,), if the seat chooses what is best for a whole set."""
        parent, event, _ = level.events
        sets = level.information_set[parent]
        chosen = self._by_action(level, values).argmax(1)
        kept = sets == NONE
        kept[~kept] = event[~kept] == chosen[sets[~kept]]
        sums = np.zeros(len(level.games))
        np.add.at(sums, parent[kept], values[kept])
        return sums


def same_rows(rows: NDArray[np.float32]) -> NDArray[np.int64]:
    """A number for every row, (n,), equal rows having the same."""
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in rows], np.int64)


@kernel
def happen(rule_set: Any, games: NDArray[Any], events: NDArray[np.int64]) -> None:
    """One event in every row: an outcome where chance decides, else an action."""
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
    chances: NDArray[np.float64],
) -> int:
    """Write what chance, and the mover of `root`, may do, as Events; returns how many there are.

    There may be more than fit. `mask` (A,) is room to work in.
    """
    weights = np.empty(rule_set.max_outcomes, np.int64)
    count = 0
    for b in range(len(games)):
        game = games[b]
        if game.round_number != root.round_number:
            continue
        if game.mover == CHANCE:
            n = chance(rule_set, game, weights)
            count = note(b, weights[:n], 1 / weights[:n].sum(), count, parent, event, chances)
        elif game.mover == root.mover:
            legal(rule_set, game, mask)
            count = note(b, mask, 1.0, count, parent, event, chances)
    return count


@inline
def note(
    b: int,
    numbers: NDArray[Any],
    unit: float,
    count: int,
    parent: NDArray[np.int64],
    event: NDArray[np.int64],
    chances: NDArray[np.float64],
) -> int:
    """Write the events of one position whose number is not 0, as likely as so many units."""
    for i in range(len(numbers)):
        if numbers[i] > 0:
            if count < len(parent):
                parent[count], event[count], chances[count] = b, i, numbers[i] * unit
            count += 1
    return count
