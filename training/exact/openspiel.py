"""The tree of an OpenSpiel game whose players move in turn, such as Kuhn or Leduc poker."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hanamachi.errors import UserError
from hanamachi.training.exact.tree import MAX_STATES, Integers, Tree, merged_leaves, too_large

Node = tuple[Any, Integers, float]  # a pyspiel.State, the last sequence of each player, chance


@dataclass(frozen=True)
class OpenSpielTree(Tree):
    """The tree of an OpenSpiel game, with one state of every information set."""

    positions: list[Any]  # (I,) pyspiel.State

    def observations(self, sets: Integers) -> NDArray[np.float32]:
        """Information-state tensors, (n, N); UserError if the game has none."""
        kind = self.positions[0].get_game().get_type()
        if not kind.provides_information_state_tensor:
            raise UserError(
                f"{kind.short_name} has no information-state tensors, which a policy would see: "
                "give its tree a table of probabilities instead"
            )
        rows = [self.positions[i].information_state_tensor() for i in sets]
        return np.array(rows, np.float32)


def tree_of_openspiel(game: Any, max_states: int = MAX_STATES) -> OpenSpielTree:
    """The tree of a `pyspiel.Game`.

    UserError if its players move at the same time, if it has no information states, or if its tree
    has more than `max_states` states.
    """
    kind = game.get_type()
    if kind.dynamics != kind.Dynamics.SEQUENTIAL:
        raise UserError(
            f"players of {kind.short_name} move simultaneously: choose a game with turns"
        )
    if not kind.provides_information_state_string:
        raise UserError(f"{kind.short_name} has no information states: choose a game that has them")
    walk = Walk(game.num_players())
    waiting = [(game.new_initial_state(), np.arange(walk.seats), 1.0)]
    while waiting:  # no recursion, as a game may last longer than Python allows
        waiting += reversed(walk.visit(*waiting.pop()))
        if walk.states + len(waiting) > max_states:
            raise too_large(kind.short_name, max_states)
    return walk.tree(game.num_distinct_actions())


class Walk:
    """A walk through a game's tree, with its results so far."""

    def __init__(self, seats: int) -> None:
        self.seats = seats
        self.states = 0
        self.number: dict[tuple[int, str], int] = {}  # key of an information set -> its number
        self.positions: list[Any] = []
        self.before: list[int] = []
        self.first = [seats]
        self.actions = [-1] * seats
        self.ends: list[tuple[Integers, float, list[float]]] = []

    def visit(self, state: Any, sequences: Integers, chance: float) -> list[Node]:
        """The nodes that follow a state; `sequences` (S,) are the last ones of each player."""
        if state.is_chance_node():
            return [
                (state.child(outcome), sequences, chance * probability)
                for outcome, probability in state.chance_outcomes()
            ]
        self.states += 1
        if state.is_terminal():
            self.ends.append((sequences, chance, state.returns()))
            return []
        player, first = state.current_player(), self.first[self.information_set(state, sequences)]
        followers = []
        for sequence, action in enumerate(state.legal_actions(), first):
            after = sequences.copy()
            after[player] = sequence
            followers.append((state.child(action), after, chance))
        return followers

    def information_set(self, state: Any, sequences: Integers) -> int:
        """The number of an information set: by perfect recall, its sequence and state string."""
        before = int(sequences[state.current_player()])
        key = before, state.information_state_string()
        if key not in self.number:
            self.number[key] = len(self.positions)
            self.positions.append(state.clone())
            self.before.append(before)
            self.actions += state.legal_actions()
            self.first.append(len(self.actions))
        return self.number[key]

    def tree(self, actions: int) -> OpenSpielTree:
        """The tree that was walked, with `actions` distinct actions."""
        sequences, chance, payoff = map(np.array, zip(*self.ends, strict=True))
        return OpenSpielTree(
            size=actions,
            states=self.states,
            seat=np.array([position.current_player() for position in self.positions]),
            before=np.array(self.before),
            first=np.array(self.first),
            action=np.array(self.actions),
            **merged_leaves(sequences, chance, payoff),
            positions=self.positions,
        )
