"""The catalogue of actions of Geisha's Road: what each action number means, in order.

Cards of one's own hand are named by their slot in the sorted hand, from 0, since what is in the
hand is known to the player who chooses. Within a kind, actions are in the order of the highest
slot that they use: with h cards only those of the first h slots are possible. Cards on offer are
named by their place: three in a Gift, two pairs in a Competition.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.game import Actions
from hanamachi.games.four_actions import SIZES
from hanamachi.games.geishas_road.rules import (
    ACTIONS,
    COLLECT,
    COMPETITION,
    COUNTEROFFER,
    GIFT,
    HAND,
    HIDDEN_COMPETITION,
    HIDDEN_COUNTEROFFER,
    HIDDEN_GIFT,
    INTRIGUE,
    KINDS,
    NONE,
    ORDER,
    PLACES,
    REVEAL,
    TAKE_CARD,
    TAKE_MARKER,
    TAKE_PAIR,
    TWO_PLACES,
    player_of,
    waiting_share,
)

Slots = tuple[int, ...]

TOKENS = ("guests", "the tiebreaker", "nothing")
PLAYED, KEPT, DISCARDED, GIVEN, COMPETING, HIDDEN, EXCHANGED, TAKEN, LEFT, REMOVED = range(10)
ROLES = 10
STARTERS = ("begin", "let the other begin")


@dataclass(frozen=True)
class Move:
    """One entry of the catalogue."""

    kind: int  # REVEAL .. STARTER
    slots: Slots = ()  # of the own hand, place by place; a hidden card is the last
    number: int = 0  # which place, pair, order, tokens, colour or starter


def moves(hand: int, in_use: Sequence[str], offers: bool, others: Sequence[Move]) -> list[Move]:
    """Every move with a hand of at most `hand` cards; `others` come last."""
    made = [Move(REVEAL, slots) for slots in ordered(hand, "reveal", in_use)]
    made += [Move(INTRIGUE, slots) for slots in ordered(hand, "intrigue", in_use)]
    made += [Move(GIFT, slots) for slots in chosen(hand, "gift", in_use)]
    fours = list(chosen(hand, "competition", in_use))
    made += [Move(COMPETITION, slots) for four in fours for slots in two_pairs(four)]
    if offers:
        for three in chosen(hand, "gift", in_use):
            made += [Move(HIDDEN_GIFT, slots) for slots in one_hidden(three)]
        for four in fours:
            made += [Move(HIDDEN_COMPETITION, slots) for slots in pair_and_hidden(four)]
        for kind in (COUNTEROFFER, HIDDEN_COUNTEROFFER):
            for slot in range(hand - 1):  # who answers has not drawn
                made += [Move(kind, (slot,), place) for place in range(places(in_use))]
    made += [Move(TAKE_CARD, number=place) for place in range(SIZES[GIFT]) if "gift" in in_use]
    made += [Move(TAKE_PAIR, number=pair) for pair in range(2) if "competition" in in_use]
    if places(in_use):
        made += [Move(ORDER, number=higher) for higher in range(2)]
    return made + list(others)


def places(in_use: Sequence[str]) -> int:
    """How many cards an offer can have."""
    return SIZES[COMPETITION] * ("competition" in in_use) or SIZES[GIFT] * ("gift" in in_use)


def chosen(hand: int, action: str, in_use: Sequence[str]) -> Iterator[Slots]:
    """So many slots of the hand as the action uses, ascending, by the highest."""
    if action in in_use:
        slots = combinations(range(hand), SIZES[ACTIONS.index(action)])
        yield from sorted(slots, key=lambda chosen: chosen[::-1])


def ordered(hand: int, action: str, in_use: Sequence[str]) -> Iterator[Slots]:
    """Slots in each order: of two cards of an Intrigue, the first is kept."""
    for slots in chosen(hand, action, in_use):
        yield from permutations(slots)


def two_pairs(four: Slots) -> list[Slots]:
    """The lowest card lies with any of the other three."""
    a, b, c, d = four
    return [(a, b, c, d), (a, c, b, d), (a, d, b, c)]


def one_hidden(cards: Slots) -> Iterator[Slots]:
    """Any of them may be hidden and then lies last, so that its place tells nothing."""
    for hidden in cards:
        yield (*(slot for slot in cards if slot != hidden), hidden)


def pair_and_hidden(four: Slots) -> Iterator[Slots]:
    """The face-up pair lies first, then the card next to the hidden one."""
    for *face_up, hidden in one_hidden(four):
        for neighbour in face_up:
            yield (*(slot for slot in face_up if slot != neighbour), neighbour, hidden)


class Catalogue(Actions):
    """All moves of one rule set; a move's index is its action number."""

    kinds = KINDS

    def __init__(
        self,
        hand: int,
        in_use: Sequence[str],
        offers: bool,
        others: Sequence[Move],
        colours: Sequence[str],
        item_values: Sequence[int],
        keep_shares: bool = False,
    ) -> None:
        super().__init__(moves(hand, in_use, offers, others))
        self.colours = tuple(colours)
        self.names = tuple(f"{colour}{value}" for colour in colours for value in item_values)
        self.keep_shares = keep_shares
        self.hand = hand

    @cached_property
    def slots(self) -> NDArray[np.int8]:
        """(A, 4) the slot that each move puts in each place; NONE."""
        slots = np.full((self.size, PLACES), NONE, np.int8)
        for action, move in enumerate(self.moves):
            slots[action, : len(move.slots)] = move.slots
        return slots

    @cached_property
    def fitting(self) -> NDArray[np.int16]:
        """(6, 8) how many moves of each of the player's own kinds a hand of 0 to 7 cards has."""
        highest = self.slots.max(1)
        kinds = range(HIDDEN_COMPETITION + 1)
        counts = [[(highest[self.kind == k] < h).sum() for h in range(HAND + 1)] for k in kinds]
        return np.array(counts, np.int16)

    @cached_property
    def features(self) -> NDArray[np.float32]:
        """(A, 47) a move's kind, the slots that it lays together, and its number."""
        kinds = np.eye(KINDS)[self.kind]
        together = np.zeros((self.size, HAND * (HAND - 1) // 2))
        numbers = np.zeros((self.size, 12))
        pairs = {pair: i for i, pair in enumerate(combinations(range(HAND), 2))}
        for action, move in enumerate(self.moves):
            for pile in self._piles(move):
                for two in combinations(sorted(pile), 2):
                    together[action, pairs[two]] = 1
            if move.kind >= COUNTEROFFER:
                numbers[action, move.number % 6 + 6 * (move.kind >= ORDER)] = 1
        return np.column_stack((kinds, together, numbers)).astype(np.float32)

    @cached_property
    def uses(self) -> Mapping[str, NDArray[np.float32]]:
        """Of slots: (A, 10, H + 4) 1 where a move uses one of the hand or the offer in a role.

        Cards of the hand are played, kept, discarded, given, competing, hidden or exchanged; cards
        on offer are taken, left or removed.
        """
        uses = np.zeros((self.size, ROLES, self.hand + PLACES), np.float32)
        for action, move in enumerate(self.moves):
            for place, slot in enumerate(move.slots):
                uses[action, self._role(move, place), slot] = 1
            for place, role in self._picks(move):
                uses[action, role, self.hand + place] = 1
        return {"slot": uses}

    @staticmethod
    def _role(move: Move, place: int) -> int:
        if move.kind in (HIDDEN_GIFT, HIDDEN_COMPETITION) and place == len(move.slots) - 1:
            return HIDDEN
        return (PLAYED, KEPT + place, GIVEN, COMPETING, GIVEN, COMPETING, EXCHANGED, EXCHANGED)[
            move.kind
        ]

    @staticmethod
    def _picks(move: Move) -> list[tuple[int, int]]:
        """The places of the offer that a move names, and in which role."""
        if move.kind in (COUNTEROFFER, HIDDEN_COUNTEROFFER):
            return [(move.number, REMOVED)]
        if move.kind == TAKE_CARD:
            return [(p, TAKEN if p == move.number else LEFT) for p in range(SIZES[GIFT])]
        if move.kind == TAKE_PAIR:
            places = range(SIZES[COMPETITION])
            return [(p, TAKEN if p // TWO_PLACES == move.number else LEFT) for p in places]
        return []

    @staticmethod
    def _piles(move: Move) -> list[Slots]:
        """Cards that will lie together, so that one player may get both."""
        if move.kind in (COMPETITION, HIDDEN_COMPETITION):
            return [move.slots[:TWO_PLACES], move.slots[TWO_PLACES:]]
        return [move.slots] if move.kind in (GIFT, HIDDEN_GIFT) else []

    # --- In words

    def describe(self, action: int, game: np.record | None = None) -> str:
        """The action in words; with the game, its cards by name, as the seat to move sees them.

        A card in brackets lies face down and is the seat's own; "?3" is the foe's in place 3.
        """
        move = self.move(action, game)
        if move.kind <= HIDDEN_COUNTEROFFER:
            return self._lays_down(move, game)
        if move.kind == TAKE_CARD:
            return f"{self._takes(game)} {self._at(move.number, game)}"
        if move.kind == TAKE_PAIR:
            low = TWO_PLACES * move.number
            return f"take {self._at(low, game)} {self._at(low + 1, game)}"
        if move.kind == ORDER:
            return self._plays_first(move, game)
        if move.kind == COLLECT:
            return f"collect {TOKENS[move.number]}"
        if move.kind == TAKE_MARKER:
            return f"take the marker of {self.colours[move.number]}"
        return STARTERS[move.number]

    def _lays_down(self, move: Move, game: np.record | None) -> str:
        """The cards that leave the hand, place by place."""
        cards = self._held(move, game)
        if move.kind in (HIDDEN_GIFT, HIDDEN_COMPETITION, HIDDEN_COUNTEROFFER):
            cards[-1] = f"({cards[-1]})"
        if move.kind >= COUNTEROFFER:
            return f"counteroffer {cards[0]} for {self._at(move.number, game)}"
        if move.kind in (COMPETITION, HIDDEN_COMPETITION):
            cards.insert(TWO_PLACES, "|")
        if move.kind == INTRIGUE:
            cards.insert(1, "discarding")
        action = move.kind - 2 if move.kind >= HIDDEN_GIFT else move.kind
        return " ".join([ACTIONS[action], *cards])

    def _takes(self, game: np.record | None) -> str:
        """Where shares are kept, the offerer of a Gift who picks first names the card he leaves."""
        if self.keep_shares and game is not None and game.mover == player_of(game):
            return "leave"
        return "take"

    def _plays_first(self, move: Move, game: np.record | None) -> str:
        if game is None or game.mover < 0:
            return f"play the {('lower', 'higher')[move.number]} place first"
        place = game.share[waiting_share(game), move.number]
        return f"play {self._at(place, game)} first"

    def _held(self, move: Move, game: np.record | None) -> list[str]:
        """The cards in slots of the mover's hand."""
        hand = [NONE] * HAND
        if game is not None and game.mover >= 0:
            hand = game.hand[game.mover].tolist()
        held = [(slot, hand[slot]) for slot in move.slots]
        return [f"#{slot + 1}" if card == NONE else self.names[card] for slot, card in held]

    def _at(self, place: int, game: np.record | None) -> str:
        """The card in a place of the offer."""
        if game is None or game.offer[place] == NONE:
            return f"#{place + 1}"
        card, owner = self.names[game.offer[place]], game.face_down[place]
        return card if owner == NONE else f"({card})" if owner == game.mover else f"?{place + 1}"

    def words(self, text: str) -> tuple[str, tuple[tuple[str, ...], ...]]:
        """The word for the action, and its piles; of an offer in an order that does not matter."""
        verb, _, rest = text.strip().lower().partition(" ")
        piles = [tuple(pile.split()) for pile in rest.replace("/", "|").split("|")]
        if verb in (ACTIONS[GIFT], ACTIONS[COMPETITION]):
            piles = sorted(tuple(sorted(pile)) for pile in piles)
        return verb, tuple(piles)
