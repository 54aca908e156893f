"""The catalogue of actions of Hanabi: what each action number means, in order.

First discards and plays by slot of the own hand, the oldest card first, then clues by colour and
clues by rank, each for the next player, the one after, and so on clockwise: as DeepMind's Hanabi
environment numbers them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Actions
from hanamachi.games.hanabi.rules import CLUE, DISCARD, NONE, PLAY

KINDS = 3
ROLES = 2  # of a slot: discarded, played
FILLERS = ("card", "player", "about")  # words that may be left out


@dataclass(frozen=True)
class Move:
    """One entry of the catalogue."""

    kind: int  # DISCARD, PLAY, CLUE
    slot: int = NONE  # whose card is discarded or played
    offset: int = 0  # seats, clockwise, to the one who gets the clue
    trait: int = NONE  # what it tells: a suit, or the number of suits + a rank


def moves(players: int, hand_size: int, suits: int, ranks: int) -> Iterator[Move]:
    """Every move of a rule set, in catalogue order."""
    for kind in (DISCARD, PLAY):
        for slot in range(hand_size):
            yield Move(kind, slot)
    for traits in (range(suits), range(suits, suits + ranks)):
        for offset in range(1, players):
            for trait in traits:
                yield Move(CLUE, offset=offset, trait=trait)


class Catalogue(Actions):
    """All moves of one rule set; a move's index is its action number."""

    kinds = KINDS

    def __init__(self, players: int, hand_size: int, colours: Sequence[str], ranks: int) -> None:
        super().__init__(moves(players, hand_size, len(colours), ranks))
        self.players, self.hand_size = players, hand_size
        self.traits = (*colours, *(f"{rank + 1}s" for rank in range(ranks)))

    @cached_property
    def slot(self) -> NDArray[np.int8]:
        """(A,) the slot whose card is discarded or played; NONE for a clue."""
        return np.array([move.slot for move in self.moves], np.int8)

    @cached_property
    def offset(self) -> NDArray[np.int8]:
        """(A,) seats, clockwise, to the one who gets the clue; 0 without."""
        return np.array([move.offset for move in self.moves], np.int8)

    @cached_property
    def trait(self) -> NDArray[np.int8]:
        """(A,) what the clue tells; NONE without."""
        return np.array([move.trait for move in self.moves], np.int8)

    @cached_property
    def clue(self) -> NDArray[np.int64]:
        """(P, T) the clue by offset and trait; nobody clues himself."""
        clue = np.zeros((self.players, len(self.traits)), np.int64)
        for action, move in enumerate(self.moves):
            if move.kind == CLUE:
                clue[move.offset, move.trait] = action
        return clue

    @cached_property
    def features(self) -> NDArray[np.float32]:
        """(A, 3 + P - 1 + T) a move's kind, who gets a clue, and what it tells."""
        kinds = np.eye(KINDS)[self.kind]
        offsets = self.offset[:, None] == np.arange(1, self.players)
        traits = self.trait[:, None] == np.arange(len(self.traits))
        return np.column_stack((kinds, offsets, traits)).astype(np.float32)

    @cached_property
    def uses(self) -> Mapping[str, NDArray[np.float32]]:
        """Of slots: (A, 2, H) 1 where a move discards or plays its card; of clues: (A, 1, K)."""
        slots = np.zeros((self.size, ROLES, self.hand_size), np.float32)
        for action, move in enumerate(self.moves):
            if move.kind != CLUE:
                slots[action, move.kind, move.slot] = 1
        clues = np.eye(self.size, dtype=np.float32)[:, self.kind == CLUE]
        return {"slot": slots, "clue": clues[:, None]}

    # --- In words

    def describe(self, action: int, game: np.record | None = None) -> str:
        """The action in words; with the game, a clue names the player who gets it.

        Without it, "player +2" is the second one clockwise.
        """
        move = self.move(action, game)
        if move.kind != CLUE:
            return f"{('discard', 'play')[move.kind]} card {move.slot + 1}"
        return f"tell {self._told(move, game)} about {self.traits[move.trait]}"

    def _told(self, move: Move, game: np.record | None) -> str:
        if game is None or game.mover < 0:
            return f"player +{move.offset}"
        return f"player {(game.mover + move.offset) % self.players}"

    def words(self, text: str) -> list[str]:
        """What tells one move from another, so that "play 2" and "tell 1 red" are understood."""
        return [word for word in text.lower().split() if word not in FILLERS]
