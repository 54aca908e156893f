"""A second Hanabi, written from the rulebook alone, to check the fast engine against.

It knows nothing of that engine and shares no code with it, and it prefers being plain to being
quick. There is no chance in here: whoever drives a game says who starts and which card comes off
the deck, so that both engines can be led through the very same game.

Seats are numbered clockwise from 0. A card is (suit, rank): suits are numbered from 0, the
multicolour suit after all others; ranks are the numbers printed on the cards, from 1.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

Kind = tuple[int, int]  # suit, rank
Move = tuple  # ("discard", 0), ("play", 2), ("colour", seat, suit), ("rank", seat, rank)

HAND_SIZES = {2: 5, 3: 5, 4: 4, 5: 4}  # by the number of players


def copies(rank: int, ranks: int) -> int:
    """How often an ordinary suit has a card."""
    if rank == 1:
        return 3
    return 1 if rank == ranks else 2


@dataclass
class Card:
    """A card in somebody's hand, and what clues have told its owner about it."""

    kind: Kind
    suits: set[int]  # those it may have
    ranks: set[int]
    told_suit: int | None = None  # by a clue that pointed at it
    told_rank: int | None = None

    def hear(self, sort: str, value: int) -> None:
        """A clue named this suit or rank, and pointed at the card or passed it over."""
        suit, rank = self.kind
        if sort == "colour" and suit == value:
            self.suits, self.told_suit = {value}, value
        elif sort == "colour":
            self.suits.discard(value)
        elif rank == value:
            self.ranks, self.told_rank = {value}, value
        else:
            self.ranks.discard(value)


class Reference:
    """One game: begin(), then card() while needs_card(), otherwise play(), until over."""

    terminated: bool
    mover: int | None  # nobody before a card and after the end
    deck: Counter[Kind]
    hands: list[list[Card]]  # the newest card last
    clues: int  # blue chips in the box
    errors: int  # red chips in the box
    fireworks: list[int]  # the highest rank of each suit
    discards: list[Kind]
    draws: list[int]  # the seats that get the next cards, in order
    last_turns: int | None  # still to come once the deck is empty

    def __init__(
        self,
        players: int,
        *,
        multicolour: str = "none",
        max_clues: int = 8,
        max_errors: int = 3,
        allow_empty_hints: bool = False,
        strikeout_score: str = "zero",
        colours: int = 5,
        ranks: int = 5,
        hand_size: int | None = None,
    ) -> None:
        self.players, self.hand_size = players, hand_size or HAND_SIZES[players]
        self.max_clues, self.max_errors = max_clues, max_errors
        self.allow_empty_hints, self.strikeout_score = allow_empty_hints, strikeout_score
        self.suits = list(range(colours + (multicolour != "none")))
        self.ranks = list(range(1, ranks + 1))
        self.cards = Counter(
            {(suit, rank): copies(rank, ranks) for suit in self.suits for rank in self.ranks}
        )
        if multicolour == "five":  # one of each
            self.cards.update({(colours, rank): 1 - copies(rank, ranks) for rank in self.ranks})
        if self.cards.total() < players * self.hand_size:
            raise ValueError("too few cards for these hands")

    # Setup

    def begin(self, starter: int) -> None:
        self.terminated, self.mover, self.turn = False, None, starter
        self.deck = self.cards.copy()
        self.clues, self.errors = self.max_clues, 0
        self.fireworks, self.discards = [0] * len(self.suits), []
        self.hands = [[] for _ in range(self.players)]
        self.draws = [seat for seat in range(self.players) for _ in range(self.hand_size)]
        self.last_turns = None

    def needs_card(self) -> bool:
        return bool(self.draws)

    def card(self, suit: int, rank: int) -> None:
        """The next card off the deck; whoever draws the last one still has a turn himself."""
        if not self.draws:
            raise ValueError("no card is due")
        if not self.deck[suit, rank]:
            raise ValueError(f"no such card in the deck: {suit, rank}")
        self.deck[suit, rank] -= 1
        card = Card((suit, rank), set(self.suits), set(self.ranks))
        self.hands[self.draws.pop(0)].append(card)
        if not self.deck.total():
            self.last_turns = self.players
        if not self.draws:
            self.mover = self.turn

    # A turn

    def moves(self) -> list[Move]:
        """Every legal move of the seat whose turn it is: discards, plays, colours, ranks."""
        if self.mover is None:
            return []
        slots = range(len(self.hands[self.mover]))
        may_discard = self.clues < self.max_clues
        discards = [("discard", slot) for slot in slots if may_discard]
        return [*discards, *(("play", slot) for slot in slots), *self._hints()]

    def _hints(self) -> list[Move]:
        """One colour or one rank, to one other player."""
        if not self.clues:
            return []
        return self._hints_of("colour", self.suits) + self._hints_of("rank", self.ranks)

    def _hints_of(self, sort: str, values: list[int]) -> list[Move]:
        hints = []
        for offset in range(1, self.players):
            seat = (self.mover + offset) % self.players
            held = {card.kind[sort == "rank"] for card in self.hands[seat]}
            told = values if self.allow_empty_hints else [v for v in values if v in held]
            hints += [(sort, seat, value) for value in told]
        return hints

    def play(self, move: Move) -> None:
        """Make one of these moves."""
        in_final_round = self.last_turns is not None
        if move[0] == "discard":
            self.discards.append(self._take(move[1]))
            self.clues += 1
        elif move[0] == "play":
            self._build(self._take(move[1]))
        else:
            self._tell(*move)
        if in_final_round:
            self.last_turns -= 1
        self._end_turn()

    def _take(self, slot: int) -> Kind:
        """The card leaves the hand, and another is drawn if there is one."""
        if self.deck.total():
            self.draws.append(self.turn)
        return self.hands[self.turn].pop(slot).kind

    def _build(self, kind: Kind) -> None:
        """Begin or continue a firework; a card that does neither is an error and discarded."""
        suit, rank = kind
        if rank != self.fireworks[suit] + 1:
            self.discards.append(kind)
            self.errors += 1
            return
        self.fireworks[suit] = rank
        if rank == self.ranks[-1] and self.clues < self.max_clues:
            self.clues += 1

    def _tell(self, sort: str, seat: int, value: int) -> None:
        self.clues -= 1
        for card in self.hands[seat]:
            card.hear(sort, value)

    # The end of the game

    def _end_turn(self) -> None:
        lost, won = self.lost(), sum(self.fireworks) == len(self.suits) * len(self.ranks)
        self.terminated = lost or won or self.last_turns == 0
        self.turn = (self.turn + 1) % self.players
        if self.terminated:
            self.draws = []
        self.mover = None if self.terminated or self.draws else self.turn

    def lost(self) -> bool:
        return self.errors == self.max_errors

    def score(self) -> int:
        """The highest cards of all fireworks together; a lost game may be worth nothing."""
        return 0 if self.lost() and self.strikeout_score == "zero" else sum(self.fireworks)
