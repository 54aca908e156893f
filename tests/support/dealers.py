"""A dealer for each game, written from the rulebooks: it exchanges cards that a seat cannot know.

A dealer gets positions in which a seat is to move, or that are over, and a seat for each. It gives
other positions of the same games that the seat has every reason to hold possible: the cards that it
has seen stay where they are, and all others change places wherever the rules let them. It reads and
writes records, and knows nothing of how the engine deals cards again.

Notation: B positions.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine.contract import OVER
from hanamachi.engine.game import Variant
from hanamachi.games.geishas_road import rules as road
from hanamachi.games.hanabi import rules as hanabi
from hanamachi.games.hanamikoji import rules as hanamikoji

Games = NDArray[np.void]
Seats = NDArray[np.int64]  # (B,)
Counts = NDArray[np.int64]
NONE = -1
NEVER = 1000  # a turn that no round has

# --- Any game


def swapped(variant: Variant, games: Games, seats: Seats, rng: np.random.Generator) -> Games:
    """Positions that the seats cannot tell from these; the generators are others, too."""
    others = games.copy()
    DEALERS[variant.game.name](variant, others, seats, rng)
    others["rng"] = rng.integers(1, 1 << 63, size=len(games))
    return others


def listed(counts: Counts) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The cards of each row that counts, (B, K), stand for, in order; which places are filled."""
    totals = counts.sum(1)
    filled = np.arange(totals.max(initial=0)) < totals[:, None]
    cards = np.full(filled.shape, NONE)
    kinds = np.broadcast_to(np.arange(counts.shape[1]), counts.shape)
    cards[filled] = np.repeat(kinds.ravel(), counts.ravel())
    return cards, filled


def shuffled(
    cards: NDArray[np.int64], free: NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.int64]:
    """The same cards, those in the free places of each row in any order."""
    here = np.arange(cards.shape[1])
    places = np.argsort(np.where(free, here, len(here) + here), axis=1)
    drawn = np.argsort(np.where(free, rng.random(cards.shape), 1 + here), axis=1)
    result = cards.copy()
    np.put_along_axis(result, places, np.take_along_axis(cards, drawn, 1), 1)
    return result


# --- Hanamikoji: the foe's hand, Secret and Trade-off, the pile and the item that was removed


def deal_hanamikoji(variant: Variant, games: Games, seats: Seats, rng: np.random.Generator) -> None:
    rows, foe = np.arange(len(games)), 1 - seats
    secret = one_hot(games["secret"][rows, foe])
    secret[games["mover"] == OVER] = 0  # it has been turned up
    parts = (games["hand"][rows, foe], games["trade_off"][rows, foe], secret, games["unseen"])
    counts = np.stack(parts, 1).astype(np.int64)  # (B, 4, 7)
    cards, filled = listed(counts.reshape(len(games), -1))
    part, geisha = np.divmod(cards, hanamikoji.GEISHA)
    mixed = shuffled(geisha, filled, rng)
    dealt = np.zeros_like(counts)
    row, place = np.nonzero(filled)
    np.add.at(dealt, (row, part[row, place], mixed[row, place]), 1)
    hand, trade_off, secret, games["unseen"] = dealt.swapaxes(0, 1)
    games["hand"][rows, foe], games["trade_off"][rows, foe] = hand, trade_off
    known = games["secret"][rows, foe]
    games["secret"][rows, foe] = np.where(secret.any(1), secret.argmax(1), known)
    take_turns_back(games, foe, rng)


def one_hot(geisha: NDArray[np.int8]) -> Counts:
    """(B, 7); nothing for NONE."""
    return (np.arange(hanamikoji.GEISHA) == geisha[:, None]).astype(np.int64)


def take_turns_back(games: Games, foe: Seats, rng: np.random.Generator) -> None:
    """When the foe got its cards: back from the last turn, any card at hand is the one drawn."""
    rows = np.arange(len(games))
    hand = games["hand"][rows, foe].astype(np.int64)
    laid = (
        one_hot(games["secret"][rows, foe]),
        games["trade_off"][rows, foe],
        games["gift"][rows, foe],
        games["pairs"][rows, foe].sum(1),
    )
    for turn in (3, 2, 1, 0):
        for action, cards in enumerate(laid):
            hand += cards * (games["used_in"][rows, foe, action] == turn + 1)[:, None]
        drew = games["drawn"][rows, foe, turn] != NONE
        keys = np.where(hand > 0, rng.random(hand.shape) ** (1 / np.maximum(hand, 1)), 0)
        card = keys.argmax(1)  # each card of the hand is equally likely
        games["drawn"][rows, foe, turn] = np.where(drew, card, NONE)
        hand -= one_hot(card.astype(np.int8)) * drew[:, None]
    games["dealt"][rows, foe] = hand


# --- Hanabi: one's own hand and the deck, as far as clues allow

EXCHANGES = 12


def deal_hanabi(variant: Variant, games: Games, seats: Seats, rng: np.random.Generator) -> None:
    """Cards of the hand change places with each other and with the deck, where clues fit both."""
    rows, size = np.arange(len(games)), hanabi.HAND
    possible, held = games["possible"][rows, seats], games["held"][rows, seats].astype(np.int64)
    deck, filled = listed(games["unseen"])
    cards = np.hstack((games["hand"][rows, seats].astype(np.int64), deck))
    left = filled.sum(1)
    for _ in range(EXCHANGES):
        one = rng.integers(np.maximum(held, 1))
        other = rng.integers(np.maximum(held + left, 1))
        other = np.where(other < held, other, size + other - held)
        a, b = cards[rows, one], cards[rows, other]
        fits = (held > 0) & (possible[rows, one] >> b & 1 == 1)
        in_hand = np.minimum(other, size - 1)
        fits &= (other >= size) | (possible[rows, in_hand] >> a & 1 == 1)
        cards[rows[fits], one[fits]], cards[rows[fits], other[fits]] = b[fits], a[fits]
    games["hand"][rows, seats] = cards[:, :size]
    games["unseen"] = 0
    row, place = np.nonzero(filled)
    np.add.at(games["unseen"], (row, cards[row, size + place]), 1)


# --- Geisha's Road: the foe's hand, Intrigue and cards that lie face down, and the deck


def deal_geishas_road(
    variant: Variant, games: Games, seats: Seats, rng: np.random.Generator
) -> None:
    """Any cards that lay in the deck at one time may have lain there in another order.

    A Counteroffer puts a card back, which may come out again. Between two such moments, of which
    the beginning of the round is the first, cards of the deck that the seat does not see, and that
    have returned to it by the second moment, may change their names.
    """
    timed = Timeline(variant, games, seats)
    for begin in range(3):
        for end in range(begin, 3):
            timed.rename(begin, end, rng)
    timed.exchange_draws(rng)


class Timeline:
    """When the cards of a round came and went; a part of the round ends as a card goes back.

    `parts` holds for each entry of a field the part in which its card got there.
    """

    def __init__(self, variant: Variant, games: Games, seats: Seats) -> None:
        self.games, self.seats, self.foe = games, seats, 1 - seats
        self.rows, self.cards = np.arange(len(games)), int(variant.rule_set.cards)
        self.hand_size = int(variant.rule_set.hand_size)
        self.second = games["starter"][:, None] != np.arange(2)  # (B, 2) the seat that began not
        counter_to = games["counter_to"].astype(np.int64)
        self.turns = np.where(counter_to == NONE, NEVER, counter_to)  # (B, 2) of Counteroffers
        offerer = (self.turns + games["starter"][:, None]) % 2 == np.arange(2)
        order = 2 * self.turns + offerer  # who answers may counter first
        self.before = (order[:, ::-1] < order).astype(np.int64)  # (B, 2) counters before a seat's
        self.last = (counter_to != NONE).sum(1)  # the part that lasts until now
        self.when, received = self._received()
        self.laid_in = 2 * (games["used_in"].astype(np.int64) - 1) + self.second[:, :, None]
        laid = np.repeat(self._part_of(self.laid_in)[..., None], road.PLACES, 3)
        self.parts = {
            "received": received,
            "laid": laid,
            "counter_in": self.before,
            "counter_out": self.before,
            "hidden_card": self._hidden(laid),
        }

    def _part_of(self, turns: NDArray[np.int64]) -> NDArray[np.int64]:
        """The part to which the beginning of a turn belongs, for turns (B, ...)."""
        by_seat = self.turns.reshape(len(turns), 2, *(1,) * (turns.ndim - 1))
        return (by_seat < turns[:, None]).sum(1)

    def _received(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """When each card that a seat received came, and in which part, (B, 2, 11)."""
        draws = (self.turns - self.second) // 2 + 1  # of one's own, before the own Counteroffer
        redrawn = np.where(self.turns < NEVER, self.hand_size + draws, NEVER)[..., None]
        place = np.arange(road.RECEIVED)
        turns = 2 * (place - self.hand_size - (place > redrawn)) + self.second[..., None]
        by_counter = place == redrawn
        part = np.where(by_counter, self.before[..., None] + 1, self._part_of(turns))
        when = np.where(by_counter, self.turns[..., None] + 0.3, turns)
        dealt = place < self.hand_size
        return np.where(dealt, -1.0, when), np.where(dealt, 0, part)

    def _hidden(self, laid: NDArray[np.int64]) -> NDArray[np.int64]:
        """The part in which each seat laid a card face down, (B, 2)."""
        use = self.games["hidden_use"].astype(np.int64)
        action = np.where(np.isin(use, (road.GIFT, road.COMPETITION)), use, road.GIFT)
        by_action = np.take_along_axis(laid[..., 0], action[..., None], 2)[..., 0]
        return np.where(use == road.COUNTEROFFER, self.before, by_action)

    # What lies where

    def marked(self, cards: NDArray[np.int8], valid: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """(B, CARDS) the cards of those entries that are valid."""
        flat, valid = cards.reshape(len(cards), -1), valid.reshape(len(cards), -1)
        found = np.zeros((len(cards), road.CARDS), np.bool_)
        row, place = np.nonzero(valid & (flat != NONE))
        found[row, flat[row, place]] = True
        return found

    def deck(self, part: int) -> NDArray[np.bool_]:
        """(B, CARDS) the cards that were in the deck when a part began."""
        deck = np.broadcast_to(np.arange(road.CARDS) < self.cards, (len(self.rows), road.CARDS))
        for earlier in range(part):
            deck = deck & ~self.marked(self.games["received"], self.parts["received"] == earlier)
            deck = deck | self.marked(self.games["counter_out"], self.before == earlier)
        return deck

    def seen(self, begin: int, end: int) -> NDArray[np.bool_]:
        """(B, CARDS) the cards that the seat saw in these parts: its own, and all face up."""
        games, rows, foe = self.games, self.rows, self.foe
        within = {name: (part >= begin) & (part <= end) for name, part in self.parts.items()}
        up = within["laid"][rows, foe].copy()  # (B, 4, 4)
        up[:, road.INTRIGUE] = False
        for action in (road.GIFT, road.COMPETITION):
            up[:, action, road.SIZES[action] - 1] &= games["hidden_use"][rows, foe] != action
        inserted = within["counter_in"][rows, foe]
        inserted &= games["hidden_use"][rows, foe] != road.COUNTEROFFER
        played = (games["played_as"] > 0) & (self.last <= end)[:, None]
        return (
            self.marked(games["received"][rows, self.seats], within["received"][rows, self.seats])
            | self.marked(games["laid"][rows, foe], up)
            | self.marked(games["counter_in"][rows, foe], inserted)
            | played
        )

    # What may be otherwise

    def rename(self, begin: int, end: int, rng: np.random.Generator) -> None:
        """Shuffle the names that cards could have in these parts, of which the last is not over."""
        until_now = self.last <= end
        back = self.deck(end + 1) | until_now[:, None]
        free = self.deck(begin) & back & ~self.seen(begin, end)
        free &= ((end <= self.last) & (begin <= self.last))[:, None]
        names = np.broadcast_to(np.arange(road.CARDS), free.shape)
        names = np.hstack((shuffled(names, free, rng), np.full((len(free), 1), NONE)))
        for field, part in self.parts.items():
            cards = self.games[field]
            here = (part >= begin) & (part <= end)
            cards[here] = self.named(names, cards)[here]
        for field in ("hand", "offer"):
            cards = self.games[field]
            cards[until_now] = self.named(names, cards)[until_now]
        self.games["hand"] = in_order(self.games["hand"])
        deck = self.games["unseen"][:, None] >> np.arange(road.CARDS) & 1
        moved = np.zeros_like(deck)
        np.put_along_axis(moved, names[:, :-1], deck, 1)
        now = (moved << np.arange(road.CARDS)).sum(1)
        self.games["unseen"] = np.where(until_now, now, self.games["unseen"])

    def named(self, names: NDArray[np.int64], cards: NDArray[np.int8]) -> NDArray[np.int8]:
        """The new names of the cards of a field."""
        flat = cards.reshape(len(cards), -1).astype(np.int64)
        return np.take_along_axis(names, flat % (road.CARDS + 1), 1).reshape(cards.shape)

    def exchange_draws(self, rng: np.random.Generator) -> None:
        """The foe may have got two cards the other way round if neither was laid down before."""
        rows, received = self.rows, self.games["received"][self.rows, self.foe]
        when, parts = self.when[rows, self.foe], self.parts["received"][rows, self.foe]
        count = np.maximum((received != NONE).sum(1), 1)
        for _ in range(EXCHANGES):
            one, other = np.sort(rng.integers(count, size=(2, len(rows))), axis=0)
            first = received[rows, one]
            fits = parts[rows, one] == parts[rows, other]
            fits &= self.gone(first, when[rows, one]) > when[rows, other]
            a, b = received[rows, one].copy(), received[rows, other].copy()
            received[rows[fits], one[fits]] = b[fits]
            received[rows[fits], other[fits]] = a[fits]
        self.games["received"][rows, self.foe] = received

    def gone(self, card: NDArray[np.int8], after: NDArray[np.float64]) -> NDArray[np.float64]:
        """When the foe laid down a card, (B,), for the first time after it came."""
        games, rows, foe = self.games, self.rows, self.foe
        laid = games["laid"][rows, foe].reshape(len(rows), -1)
        times = np.repeat(self.laid_in[rows, foe], road.PLACES, 1) + 0.1
        cards = np.column_stack((laid, games["counter_in"][rows, foe]))
        times = np.column_stack((times, self.turns[rows, foe] + 0.2))
        leaves = (cards == card[:, None]) & (times > after[:, None])
        return np.where(leaves, times, NEVER).min(1)


def in_order(hands: NDArray[np.int8]) -> NDArray[np.int8]:
    """Hands ascending, and NONE, the largest as an unsigned number, behind."""
    return np.sort(hands.astype(np.uint8), axis=-1).astype(np.int8)


DEALERS: dict[str, Callable[..., None]] = {
    "hanamikoji": deal_hanamikoji,
    "hanabi": deal_hanabi,
    "geishas_road": deal_geishas_road,
}
