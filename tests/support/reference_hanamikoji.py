"""A second Hanamikoji, written from the rulebook alone, to check the fast engine against.

It knows nothing of that engine and shares no code with it, and it prefers being plain to being
quick. There is no chance in here: whoever drives a game says who starts and which card comes
off the pile, so that both engines can be led through the very same game.

Geisha are numbered from 0, left to right; item cards carry the number of their geisha; the two
seats are 0 and 1. Hands, tables and the pile are lists of counts, one count for each geisha.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain, combinations

Move = tuple  # ("secret", 3), ("take", (0, 5)), ...: see Reference.moves
Counts = list[int]
Markers = Sequence[int | None]  # per geisha: the seat that won her, None while in the centre

CHARM_GOAL = 11
GEISHA_GOAL = 4
CARDS = (2, 2, 2, 3, 3, 4, 5)  # item cards of each geisha; the same numbers are her charm
SIZES = {"secret": 1, "trade_off": 2, "gift": 3, "competition": 4}  # cards that each action uses
SEATS = (0, 1)

# --- Phase 2: what an action may be done with ---------------------------------------------------


@cache  # the answer depends on nothing else
def choices(action: str, hand: tuple[int, ...]) -> tuple[Move, ...]:
    """All ways to do the action with a sorted hand; cards of one geisha cannot be told apart."""
    if action == "secret":
        found = set(hand)
    elif action == "competition":
        found = set(chain.from_iterable(map(two_sets, combinations(hand, 4))))
    else:
        found = set(combinations(hand, SIZES[action]))
    return tuple((action, choice) for choice in sorted(found))


def two_sets(four: tuple[int, int, int, int]) -> list[tuple]:
    """The first card goes with any of the other three; neither set comes before the other."""
    a, b, c, d = four
    divisions = (((a, b), (c, d)), ((a, c), (b, d)), ((a, d), (b, c)))
    return [tuple(sorted(division)) for division in divisions]


# --- Phase 3: scoring ---------------------------------------------------------------------------


def score_round(markers: Markers, table: Sequence[Sequence[int]]) -> list[int | None]:
    """The markers after comparing the sides; equal sides leave a marker wherever it was."""
    return [
        0 if mine > yours else 1 if yours > mine else marker
        for marker, mine, yours in zip(markers, table[0], table[1], strict=True)
    ]


def geisha_won(markers: Markers, seat: int) -> int:
    return sum(marker == seat for marker in markers)


def charm_won(markers: Markers, cards: Sequence[int], seat: int) -> int:
    return sum(charm for marker, charm in zip(markers, cards, strict=True) if marker == seat)


# --- End of the game ----------------------------------------------------------------------------


def winner_by_goal(markers: Markers, cards: Sequence[int]) -> int | None:
    """The seat that has reached a goal, if any; charm is asked first, as it beats four geisha."""
    for seat in SEATS:
        if charm_won(markers, cards, seat) >= CHARM_GOAL:
            return seat
    for seat in SEATS:
        if geisha_won(markers, seat) >= GEISHA_GOAL:
            return seat
    return None


def winner_at_limit(markers: Markers, cards: Sequence[int], limit_rule: str) -> int | None:
    """Who is ahead when the last allowed round brought no goal; None when they share it."""
    geisha = [geisha_won(markers, seat) for seat in SEATS]
    charm = [charm_won(markers, cards, seat) for seat in SEATS]
    for first, second in {"geisha_then_charm": [geisha, charm], "charm": [charm]}[limit_rule]:
        if first != second:
            return 0 if first > second else 1
    return None


# --- The sequence of play -----------------------------------------------------------------------


class Reference:
    """One game: begin(), then card() while needs_card(), otherwise play(), until over."""

    terminated: bool
    winner: int | None  # None also for a shared victory
    round: int  # from 1
    starter: int  # of this round
    turn: int  # whose turn it is
    mover: int | None  # who chooses now: the other seat at an offer, nobody before a card
    pile: Counts  # cards not drawn this round; what stays to the end is the removed card
    draws: list[int]  # the seats that get the next cards, in order
    hands: list[Counts]
    table: list[Counts]
    markers: list[int | None]
    secret: list[int | None]
    trade_off: list[tuple[int, ...] | None]
    used: list[list[str]]
    offer: Move | None  # its cards have left the hand and are on neither side yet

    def __init__(
        self,
        *,
        cards: Sequence[int] = CARDS,
        actions: Sequence[str] = tuple(SIZES),
        max_rounds: int | None = None,
        limit_rule: str = "geisha_then_charm",
    ) -> None:
        self.cards, self.actions = tuple(cards), tuple(actions)
        self.max_rounds, self.limit_rule = max_rounds, limit_rule
        if not actions or len(set(actions)) < len(actions) or not set(actions) <= set(SIZES):
            raise ValueError("actions: some of the four, each at most once")
        if limit_rule not in ("geisha_then_charm", "charm"):
            raise ValueError(f"unknown limit rule: {limit_rule}")
        # With more than this both could reach one goal together, which no rule decides.
        if sum(cards) >= 2 * CHARM_GOAL or len(cards) >= 2 * GEISHA_GOAL:
            raise ValueError("at most 21 cards and 7 geisha")
        played = sum(SIZES[action] for action in actions)  # by each player in a round
        if 2 * played > sum(cards):
            raise ValueError("too few cards for these actions")
        self.hand_size = played - len(actions)  # every action comes with one card drawn

    # Game setup

    def begin(self, starter: int) -> None:
        self.terminated, self.winner = False, None
        self.markers = [None] * len(self.cards)
        self._begin_round(1, starter)

    # Phase 1: the deal

    def _begin_round(self, number: int, starter: int) -> None:
        """Everything starts afresh except the markers."""
        self.round, self.starter = number, starter
        self.pile = list(self.cards)
        self.hands = [[0] * len(self.cards) for _ in SEATS]
        self.table = [[0] * len(self.cards) for _ in SEATS]
        self.secret, self.trade_off = [None, None], [None, None]
        self.used, self.offer = [[], []], None
        self.draws = [starter] * self.hand_size + [1 - starter] * self.hand_size
        self._begin_turn(starter)

    def needs_card(self) -> bool:
        return bool(self.draws)

    def card(self, geisha: int) -> None:
        if not self.draws:
            raise ValueError("no card is due")
        if geisha not in range(len(self.cards)) or self.pile[geisha] == 0:
            raise ValueError(f"no such card in the pile: {geisha}")
        self.pile[geisha] -= 1
        self.hands[self.draws.pop(0)][geisha] += 1
        if not self.draws:
            self.mover = self.turn

    # Phase 2: in turn, draw a card and do an action

    def _begin_turn(self, seat: int) -> None:
        self.turn, self.mover = seat, None
        self.draws.append(seat)

    def moves(self) -> list[Move]:
        """Every distinct move of the seat to choose, each written in one way only.

        ("secret", k), ("trade_off", (j, k)), ("gift", (i, j, k)), all in ascending order;
        ("competition", ((a, b), (c, d))), the pairs and their order ascending too;
        ("take", k) from a gift and ("take", (a, b)) from a competition.
        """
        if self.mover is None:
            return []
        if self.offer is not None:
            return [("take", choice) for choice in sorted(set(self.offer[1]))]
        hand = tuple(k for k, count in enumerate(self.hands[self.mover]) for _ in range(count))
        face_up = [action for action in self.actions if action not in self.used[self.mover]]
        return [move for action in face_up for move in choices(action, hand)]

    def play(self, move: Move) -> None:
        if move not in self.moves():
            raise ValueError(f"not a legal move: {move}")
        name, choice = move
        if name == "secret":
            self._leave_hand([choice])
            self.secret[self.turn] = choice
            self._end_turn(name)
        elif name == "trade_off":
            self._leave_hand(choice)
            self.trade_off[self.turn] = choice
            self._end_turn(name)
        elif name == "take":
            self._take(choice)
        else:
            self._leave_hand(choice if name == "gift" else chain(*choice))
            self.offer = move
            self.mover = 1 - self.turn

    def _leave_hand(self, cards: Iterable[int]) -> None:
        for card in cards:
            self.hands[self.turn][card] -= 1

    def _take(self, choice: int | tuple[int, int]) -> None:
        """The opponent has what he chose, the seat whose turn it is has the rest."""
        action, rest = self.offer[0], list(self.offer[1])
        rest.remove(choice)  # one of them only, even among equals
        if action == "gift":
            self._place(1 - self.turn, [choice])
            self._place(self.turn, rest)
        else:
            self._place(1 - self.turn, choice)
            self._place(self.turn, rest[0])
        self._end_turn(action)

    def _place(self, seat: int, cards: Iterable[int]) -> None:
        for card in cards:
            self.table[seat][card] += 1

    def _end_turn(self, action: str) -> None:
        """The action marker is turned down only now that the action is done with."""
        self.offer = None
        self.used[self.turn].append(action)
        if all(len(used) == len(self.actions) for used in self.used):
            self._score_and_update()
        else:
            self._begin_turn(1 - self.turn)

    # Phase 3, and the end of the game

    def _score_and_update(self) -> None:
        for seat in SEATS:
            if self.secret[seat] is not None:  # a small version may do without Secrets
                self._place(seat, [self.secret[seat]])
        self.markers = score_round(self.markers, self.table)
        self.winner = winner_by_goal(self.markers, self.cards)
        self.terminated = self.winner is not None
        if not self.terminated and self.round == self.max_rounds:
            self.winner = winner_at_limit(self.markers, self.cards, self.limit_rule)
            self.terminated = True
        self.mover = None
        if not self.terminated:
            self._begin_round(self.round + 1, 1 - self.starter)
