"""Play games and write down every decision.

The games are those of an evaluation, played in the same way: chance and decisions follow from a
hash of the seed, the deal and the number of decisions made. So the rows do not depend on which
games are played together, unless a policy decides otherwise when asked again: a search with a
budget in seconds, a bot or a language model may.

Notation: G games, S seats, n rows.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.entries import int8_rows
from hanamachi.engine.game import Variant
from hanamachi.engine.threads import parallel_for
from hanamachi.policies.search.hanabi_single_agent import SingleAgent
from hanamachi.policies.search.improve import Improve
from hanamachi.policies.search.regret import action_values
from hanamachi.sessions.players import SeatedPlayer, Turns, rewards_of
from hanamachi.training.dataset.recipe import OTHER_DEALS, Recipe
from hanamachi.training.evaluation.playing import (
    Deals,
    DecisionRequest,
    drawn,
    new_games,
    play_games,
)
from hanamachi.training.evaluation.statistics import Float64s


class RecordedGames(NamedTuple):
    """Some games, and what they came to."""

    arrays: dict[str, NDArray[Any]]  # the rows of each column, by game and decision
    totals: Float64s  # (G, S) what each seat earned
    seating: NDArray[np.int64]  # (G, S) which policy sat there


def record(recipe: Recipe, games: NDArray[np.int64]) -> RecordedGames:
    """Play the games with these numbers, (G,)."""
    variant, seed = recipe.variant, recipe.seed + OTHER_DEALS
    seating, deals = seats_and_deals(variant, len(recipe.players), games)
    recorder = Recorder(variant, len(games), recipe.search)
    play, decider = recipe.play, recorder.decide
    totals, _ = play_games(recipe.players, variant, seating, deals, seed, play, decider)
    arrays = recorder.arrays()
    total = totals[arrays["game"], arrays["seat"]]
    arrays["return"] = (total - arrays["earned"]).astype(np.float32)
    arrays["game"] = games[arrays["game"]].astype(np.int32)
    return RecordedGames(arrays, totals, seating)


def seats_and_deals(
    variant: Variant, policies: int, games: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Deals]:
    """Which policy sits where, (G, S), and which cards are dealt, (G,).

    Two policies take alternate seats, and exchange them from game to game. In a competitive game
    both games of such a pair have the same deal.
    """
    seating = (games[:, None] + np.arange(variant.seats)) % policies
    pairs = 1 if variant.game.cooperative else policies
    return seating, (games // pairs).astype(np.uint64)


def begun(recipe: Recipe) -> NDArray[Any]:
    """All games of a recipe at their first decision, (G,)."""
    variant, numbers = recipe.variant, np.arange(recipe.games)
    _, deals = seats_and_deals(variant, len(recipe.policies), numbers)
    table, _ = new_games(variant, deals, recipe.seed + OTHER_DEALS)
    parallel_for(kernels.reset, variant.rule_set, table)
    return table


class Recorder:
    """Lets the policies of `play_games` decide, and keeps what they saw and did."""

    def __init__(self, variant: Variant, games: int, search: Improve | SingleAgent | None) -> None:
        self.judge = ValueJudge(search, variant, games) if search else None
        self.earned = np.zeros((games, variant.seats))
        self.rows: list[dict[str, NDArray[Any]]] = []

    def decide(self, asked: DecisionRequest) -> NDArray[np.int64]:
        """One action for each turn, (n,)."""
        turns = asked.turns
        variant, place = turns.variant, (turns.rows, turns.seats)
        self.earned[turns.rows] += rewards_of(variant, turns.games)  # of the decision before
        distribution, _ = asked.player.distribution(turns)
        actions = drawn(distribution, asked.uniform, asked.play)
        rows = {
            "game": turns.rows,
            "decision": np.full(len(actions), asked.decision - 1, np.int32),
            "seat": turns.seats.astype(np.int8),
            "policy": np.full(len(actions), asked.side, np.int8),
            "legal": np.count_nonzero(turns.masks, axis=1).astype(np.int16),
            "observation": int8_rows(turns.observations, variant.observation.units),
            "mask": turns.masks,
            "action": actions.astype(np.int16),
            "probabilities": distribution,
            "earned": self.earned[place].astype(np.float32),
        }
        self.rows.append(rows | ({"values": self.judge.values(turns)} if self.judge else {}))
        return actions

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The rows of each column, by game and decision."""
        names: Sequence[str] = list(self.rows[0])
        arrays = {name: np.concatenate([rows[name] for rows in self.rows]) for name in names}
        order = np.lexsort((arrays["decision"], arrays["game"]))
        return {name: array[order] for name, array in arrays.items()}


class ValueJudge:
    """A search that follows all games and says what each action is worth."""

    def __init__(self, search: Improve | SingleAgent, variant: Variant, games: int) -> None:
        assert search.budget.worlds, "a judge has a number of worlds"
        self.worlds = search.budget.worlds
        self.player = SeatedPlayer(search, variant, games)

    def values(self, turns: Turns) -> NDArray[np.float32]:
        """The value of every action, (n, A); NaN where it is illegal, or the only one."""
        parts = (turns.part(np.array([i])) for i in range(len(turns.rows)))
        return np.array([action_values(self.player, turn, self.worlds) for turn in parts])
