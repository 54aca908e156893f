"""A second Geisha's Road, written from the rulebooks alone, to check the fast engine against.

It knows nothing of that engine and shares no code with it, and it prefers being plain to being
quick. There is no chance in here: whoever drives a game says who starts, which tokens lie in the
rows and which card comes off the pile, so that both engines can be led through the same game.

A game is one generator: it plays by the rules, in the rulebook's order, and stops to ask whenever
it needs a chance event or a player's move. So there is no position to resume from: what has
happened is where the generator stands, and the attributes are what lies on the table.

Colours are numbered from 0, clockwise by their teahouses; a card is (colour, value); the two
seats are 0 and 1. A move names a card of the hand by its place there, from 0: hands are sorted.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from functools import cache
from itertools import chain, combinations, permutations
from types import SimpleNamespace
from typing import Any, NamedTuple

Card = tuple[int, int]
Offered = tuple[Card, int | None]  # a card, and the seat that laid it face down if one did
Move = tuple  # ("reveal", 4), ("take", 1), ...: see the functions that list moves

SIZES = {"reveal": 1, "intrigue": 2, "gift": 3, "competition": 4}  # cards that each action uses
PICKS = {
    "gift": [("take", place) for place in range(3)],
    "competition": [("take pair", pair) for pair in range(2)],
}
COLLECTS = {1: 2, 2: 1}  # tokens that a card of this value collects
GUESTS = 3  # at each teahouse
SAME_GUESTS = (0, 0, 1, 4)  # points of a set of guests of one colour, by its size
DIFFERENT_GUESTS = (0, 0, 1, 3, 6, 10)  # and of a set of all different colours
SEATS = (0, 1)

# --- Editions and modes -------------------------------------------------------------------------

IN_EVERY_GAME = {
    "colours": 5,
    "item_values": (1, 2, 3, 4),
    "actions": tuple(SIZES),
    "loser_picks_starter": "after_deal",
    "tiebreaker_alone_wins": True,
}
IN_2021 = {
    "light": (3, 3, 4, 4, 4),
    "dark": (3, 2, 2, 2),
    "start_marker": "choose",
    "rounds_to_win": 2,
}
IN_2022 = {
    "prestige_tokens": (2, 2, 2, 3, 3, 3, 4, 4, 4),
    "base": (1, 2),
    "rounds": 2,
    "instant_win": 4,
}
WITH_GUESTS = {"decline_collecting": False}
WITH_OFFER_TOKENS = {
    "counteroffer_shares": "swap",
    "can_counter_hidden": True,
    "counter_own": True,
}
OPTIONS = {
    (2021, None): IN_EVERY_GAME | IN_2021,
    (2022, "introductory"): IN_EVERY_GAME | IN_2022,
    (2022, "standard"): IN_EVERY_GAME | IN_2022 | WITH_GUESTS,
    (2022, "advanced"): IN_EVERY_GAME | IN_2022 | WITH_GUESTS | WITH_OFFER_TOKENS,
}


def rules_of(edition: int, mode: str | None, options: dict[str, Any]) -> SimpleNamespace:
    """The options with the defaults of this edition and mode."""
    known = OPTIONS[edition, mode]
    if unknown := options.keys() - known.keys():
        raise ValueError(f"no such options of {edition} {mode}: {sorted(unknown)}")
    variant = SimpleNamespace(**known | options)
    if len(variant.item_values) * variant.colours < 2 * sum(SIZES[a] for a in variant.actions):
        raise ValueError("too few cards for these actions")
    if edition == 2022:
        # With fewer both players could win as many geisha, which no rule decides.
        if 2 * variant.instant_win <= variant.colours:
            raise ValueError("an instant win takes more than half of the geisha")
        if "prestige_tokens" not in options:  # one less than two for every geisha
            variant.prestige_tokens = variant.prestige_tokens[: 2 * variant.colours - 1]
    return variant


# --- What an action may be done with ------------------------------------------------------------


def gifts(hand: Sequence[int], face_down: bool) -> Iterable[tuple]:
    """Three cards in ascending order, or two and in the last place a third that lies face down."""
    if not face_down:
        return combinations(hand, 3)
    return ((*up, hidden) for up in combinations(hand, 2) for hidden in without(hand, up))


def competitions(hand: Sequence[int], face_down: bool) -> Iterable[tuple]:
    """Two pairs, ascending and neither before the other; a face-down card comes last of all."""
    if not face_down:
        return chain.from_iterable(map(two_pairs, combinations(hand, 4)))
    ups = combinations(hand, 2)
    return ((*up, *pair) for up in ups for pair in permutations(without(hand, up), 2))


def two_pairs(four: tuple) -> tuple[tuple, ...]:
    """The first card goes with any of the other three."""
    a, b, c, d = four
    return (a, b, c, d), (a, c, b, d), (a, d, b, c)


def without(hand: Sequence[int], cards: Sequence[int]) -> list[int]:
    return [card for card in hand if card not in cards]


@cache
def action_moves(action: str, size: int, may_hide: bool) -> list[Move]:
    """All ways to do the action with a hand of this size."""
    hand = range(size)
    if action == "reveal":
        return [("reveal", card) for card in hand]
    if action == "intrigue":
        return [("intrigue", kept, discarded) for kept, discarded in permutations(hand, 2)]
    ways = {"gift": gifts, "competition": competitions}[action]
    return [
        (action, cards, face_down)
        for face_down in ((False, True) if may_hide else (False,))
        for cards in ways(hand, face_down)
    ]


# --- Scoring ------------------------------------------------------------------------------------


def influence(table: Iterable[Card], colour: int, holds_marker: bool) -> float:
    """The numbers on a player's cards of this colour, and a half for her marker."""
    return sum(value for c, value in table if c == colour) + (0.5 if holds_marker else 0)


def favoured(
    tables: Sequence[Iterable[Card]], colour: int, marker: int | None, alone_wins: bool = True
) -> int | None:
    """The seat that wins this geisha, if any; `alone_wins`: the marker does without a card."""
    mine, yours = (influence(tables[seat], colour, marker == seat) for seat in SEATS)
    if mine == yours or (max(mine, yours) < 1 and not alone_wins):
        return None
    return 0 if mine > yours else 1


def round_points(
    seat: int,
    winners: Sequence[int | None],
    prestige: Sequence[int],
    *,
    base: int = 0,
    guests: Iterable[int] = (),
    unused_tokens: int = 0,
) -> int:
    """Her base and prestige for each geisha won, the guests, and a point for an unused token."""
    geisha = (base + p for w, p in zip(winners, prestige, strict=True) if w == seat)
    return sum(geisha) + guest_points(guests) + unused_tokens


def guest_points(counts: Iterable[int]) -> int:
    """The most that guests are worth, so many of each colour, when each is in one set at most."""
    return best_sets(tuple(sorted(counts)))


@cache
def best_sets(counts: tuple[int, ...]) -> int:
    """Every set that could be laid aside is tried, and then every one that the rest allows."""
    colours = [colour for colour, count in enumerate(counts) if count]
    sets = [
        (DIFFERENT_GUESTS[size], chosen)
        for size in range(2, len(colours) + 1)
        for chosen in combinations(colours, size)
    ]
    sets += [(SAME_GUESTS[n], (c,) * n) for c in colours for n in (2, 3) if counts[c] >= n]
    return max((points + guest_points(rest(counts, chosen)) for points, chosen in sets), default=0)


def rest(counts: tuple[int, ...], chosen: tuple[int, ...]) -> list[int]:
    return [count - chosen.count(colour) for colour, count in enumerate(counts)]


# --- The sequence of play -----------------------------------------------------------------------


class Question(NamedTuple):
    """What the game waits for; an answer listed twice is twice as likely."""

    expects: str  # "starter", "token", "marker" or "card" of chance, else "move" or "over"
    mover: int | None  # whose move it is, nobody before chance
    answers: Sequence[Any]


Course = Generator[Question, Any, None]


class Reference:
    """One game: chance() for what expects() names, play() for a "move", until "over"."""

    winner: int | None  # of the game
    round: int  # from 1
    starter: int | None  # of this round, once chosen
    loser: int  # of the round before
    turn: int  # turns completed in this round
    wins: list[int]  # rounds won by each seat, 2021
    points: list[int]  # of each seat in all rounds scored, 2022
    markers: list[int | None]  # the seat that holds a geisha's scoring marker or tiebreaker
    steps: list[int]  # of each geisha past her own teahouse
    landings: list[int]  # of each geisha at home, in this round
    rows: list[list[int]]  # prestige for first and for second returns, next one first
    prestige: list[int]  # added to each geisha in this round
    guests: list[int]  # still at each teahouse
    collected: list[list[int]]  # guests of each colour with each seat
    pile: list[Card]  # cards not drawn; like hands and tables in no order but the sorted one
    hands: list[list[Card]]
    tables: list[list[Card]]  # the cards on each side
    kept: list[Card | None]  # under the Intrigue marker, until it is played
    discarded: list[Card | None]
    used: list[dict[str, int]]  # the own turn, from 1, in which each action was done
    offer: list[Offered] | None  # its cards have left the hand and are on neither side yet
    hidden_offer_used: list[bool]
    counteroffer_used: list[bool]

    def __init__(self, edition: int, mode: str | None, **options: Any) -> None:
        self.edition, self.rule_set = edition, rules_of(edition, mode, options)
        self.has_guests = mode in ("standard", "advanced")
        self.has_offer_tokens = mode == "advanced"
        self.draws_markers = (
            mode == "introductory" if edition == 2022 else self.rule_set.start_marker == "random"
        )
        self.chooses_markers = edition == 2021 and not self.draws_markers
        self.colours = range(self.rule_set.colours)
        self.hand_size = sum(
            SIZES[action] - 1 for action in self.rule_set.actions
        )  # each comes with a draw
        self.events: Counter[str] = Counter()  # what happens rarely, to see that samples met it
        self._course = self._game()
        self._question = next(self._course)

    # Led from outside

    def expects(self) -> str:
        return self._question.expects

    @property
    def mover(self) -> int | None:
        return self._question.mover

    def moves(self) -> list[Move]:
        """The moves of the seat to choose, each written in one way only."""
        return list(self._question.answers) if self.expects() == "move" else []

    def outcomes(self) -> dict[Any, float]:
        """What chance may say now, and how likely that is."""
        answers = [] if self.expects() in ("move", "over") else self._question.answers
        return {value: n / len(answers) for value, n in Counter(answers).items()}

    def play(self, move: Move) -> None:
        if self.expects() != "move":
            raise ValueError(f"a {self.expects()} is due, not a move")
        self._answer(move)

    def chance(self, value: Any) -> None:
        if self.expects() in ("move", "over"):
            raise ValueError("chance has nothing to say")
        self._answer(value)

    def _answer(self, answer: Any) -> None:
        if answer not in self._question.answers:
            raise ValueError(f"not possible as {self.expects()}: {answer}")
        self._question = self._course.send(answer)

    # Setup

    def _game(self) -> Course:
        self.winner, self.round = None, 0
        self.wins, self.points = [0, 0], [0, 0]
        self.markers = [None for _ in self.colours]
        self.steps = [0 for _ in self.colours]
        self._prepare_round()
        self.starter = yield Question("starter", None, SEATS)
        while self.winner is None:
            yield from self._round()
            if self.winner is None:
                self._prepare_round()
        yield Question("over", None, [])

    def _prepare_round(self) -> None:
        """Everything is as at first except the markers and, in 2022, where the geisha stand."""
        self.round, self.starter, self.turn = self.round + 1, None, 0
        if self.edition == 2021:
            self.steps = [0 for _ in self.colours]
        self.landings = [0 for _ in self.colours]
        self.prestige = [0 for _ in self.colours]
        self.guests = [GUESTS if self.has_guests else 0 for _ in self.colours]
        self.collected = [[0 for _ in self.colours] for _ in SEATS]
        self.rows = [[], []]
        self.pile = [(c, value) for c in self.colours for value in self.rule_set.item_values]
        self.hands, self.tables = [[], []], [[], []]
        self.kept, self.discarded = [None, None], [None, None]
        self.used, self.offer = [{}, {}], None
        self.hidden_offer_used, self.counteroffer_used = [False, False], [False, False]

    def _set_out_prestige(self) -> Course:
        """Two stacks in a fixed order, or two rows of shuffled tokens, the far end first."""
        if self.edition == 2021:
            self.rows = [list(self.rule_set.light), list(self.rule_set.dark)]
            return
        tokens = list(self.rule_set.prestige_tokens)
        while tokens:
            token = yield Question("token", None, tokens)
            tokens.remove(token)
            full_geisha, okaasan = self.rows
            (full_geisha if len(full_geisha) < len(self.colours) else okaasan).append(token)

    def _draw_markers(self) -> Course:
        for seat in SEATS:
            colour = yield Question("marker", None, self._markers_in_the_middle())
            self.markers[colour] = seat

    def _choose_markers(self) -> Course:
        for seat in (self.starter, 1 - self.starter):
            choices = [("marker", colour) for colour in self._markers_in_the_middle()]
            _, colour = yield Question("move", seat, choices)
            self.markers[colour] = seat

    def _markers_in_the_middle(self) -> list[int]:
        return [colour for colour in self.colours if self.markers[colour] is None]

    def _choose_starter(self) -> Course:
        _, who = yield Question("move", self.loser, [("starter", "me"), ("starter", "other")])
        self.starter = self.loser if who == "me" else 1 - self.loser

    # A round

    def _round(self) -> Course:
        first, loser_picks = self.round == 1, self.rule_set.loser_picks_starter
        yield from self._set_out_prestige()
        if first and self.draws_markers:
            yield from self._draw_markers()
        if not first and loser_picks == "before_deal":
            yield from self._choose_starter()
        yield from self._deal()
        if first and self.chooses_markers:
            yield from self._choose_markers()
        if not first and loser_picks == "after_deal":
            yield from self._choose_starter()
        yield from self._take_turns()
        yield from self._reveal_intrigues()
        self._end_round()

    def _deal(self) -> Course:
        for seat in SEATS:
            for _ in range(self.hand_size):
                yield from self._draw(seat)

    def _draw(self, seat: int) -> Course:
        card = yield Question("card", None, self.pile)
        self.pile.remove(card)
        insort(self.hands[seat], card)

    def _take_turns(self) -> Course:
        for _ in range(len(self.rule_set.actions)):
            for seat in (self.starter, 1 - self.starter):
                yield from self._draw(seat)
                yield from self._act(seat)
                self.turn += 1

    # The four actions

    def _act(self, seat: int) -> Course:
        action, *details = yield Question("move", seat, self._actions(seat))
        self.used[seat][action] = len(self.used[seat]) + 1
        if action == "reveal":
            yield from self._play_card(seat, *self._leave_hand(seat, details))
        elif action == "intrigue":
            self.kept[seat], self.discarded[seat] = self._leave_hand(seat, details)
        else:
            yield from self._offer_cards(seat, action, *details)

    def _actions(self, seat: int) -> list[Move]:
        size = len(self.hands[seat])
        may_hide = self.has_offer_tokens and not self.hidden_offer_used[seat]
        unused = [action for action in self.rule_set.actions if action not in self.used[seat]]
        return [move for action in unused for move in action_moves(action, size, may_hide)]

    def _leave_hand(self, seat: int, places: Iterable[int]) -> list[Card]:
        cards = [self.hands[seat][place] for place in places]
        for card in cards:
            self.hands[seat].remove(card)
        return cards

    def _offer_cards(
        self, offerer: int, action: str, places: tuple[int, ...], face_down: bool
    ) -> Course:
        """The opponent picks first, unless he counters: then the players change places."""
        self.offer = [(card, None) for card in self._leave_hand(offerer, places)]
        if face_down:
            self.hidden_offer_used[offerer] = True
            self.offer[-1] = (self.offer[-1][0], offerer)
        self.laid_by = [offerer] * len(self.offer)
        picker = 1 - offerer
        while True:
            answers = PICKS[action] + self._counteroffers(picker)
            answer, *details = yield Question("move", picker, answers)
            if answer != "counteroffer":
                break
            self._note("counter to a counter", picker == offerer)
            yield from self._counter(picker, *details)
            picker = 1 - picker
        taken = self._places_taken(answer, details[0], picker == offerer)
        yield from self._share_out(picker, taken)

    def _places_taken(self, answer: str, chosen: int, by_offerer: bool) -> list[int]:
        """One card or one pair; where shares are kept the offerer of a Gift leaves one card."""
        if answer == "take pair":
            return [2 * chosen, 2 * chosen + 1]
        if by_offerer and self.rule_set.counteroffer_shares == "keep":
            return [place for place in range(3) if place != chosen]
        return [chosen]

    def _share_out(self, picker: int, taken: list[int]) -> Course:
        """The picker has played all of his share before the other begins."""
        offer, self.offer = self.offer, None
        left = [place for place in range(len(offer)) if place not in taken]
        yield from self._play_share(picker, [offer[place] for place in taken])
        yield from self._play_share(1 - picker, [offer[place] for place in left])

    def _play_share(self, seat: int, share: list[Offered]) -> Course:
        if len(share) == 2 and self._order_may_matter(*share):
            _, first = yield Question("move", seat, [("order", 0), ("order", 1)])
            share = [share[first], share[1 - first]]
        for card, _ in share:
            yield from self._play_card(seat, card)

    def _order_may_matter(self, one: Offered, two: Offered) -> bool:
        """As far as both players can see, so always if either card lies face down."""
        (a, a_hidden_by), (b, b_hidden_by) = one, two
        if a_hidden_by is not None or b_hidden_by is not None or a[0] == b[0]:
            return True
        both_return = self._steps_after(a) == self._steps_after(b) == 0
        both_collect = self.has_guests and a[1] in COLLECTS and b[1] in COLLECTS
        return both_return or (both_collect and self._house_after(a) == self._house_after(b))

    # Counteroffer and Hidden Offer

    def _counteroffers(self, seat: int) -> list[Move]:
        if not self.has_offer_tokens or self.counteroffer_used[seat]:
            return []
        return [
            ("counteroffer", place, card, face_down)
            for place, (_, hidden_by) in enumerate(self.offer)
            if hidden_by is None or self.rule_set.can_counter_hidden
            if self.laid_by[place] != seat or self.rule_set.counter_own
            for card in range(len(self.hands[seat]))
            for face_down in ((False,) if self.hidden_offer_used[seat] else (False, True))
        ]

    def _counter(self, seat: int, place: int, card: int, face_down: bool) -> Course:
        """One card of the offer gives way to one of the hand, which is filled up from the pile."""
        removed, _ = self.offer[place]
        self._note_counteroffer(place, face_down)
        self.counteroffer_used[seat] = True
        self.hidden_offer_used[seat] |= face_down
        (laid,) = self._leave_hand(seat, [card])
        self.offer[place] = (laid, seat if face_down else None)
        self.laid_by[place] = seat
        insort(self.pile, removed)
        yield from self._draw(seat)
        self._note("counteroffer redraws the same card", removed in self.hands[seat])
        hidden = [hidden_by for _, hidden_by in self.offer if hidden_by is not None]
        self._note("two hidden cards in one offer", len(hidden) == 2)

    def _note_counteroffer(self, place: int, face_down: bool) -> None:
        on_turn_7 = self.turn == 6 and len(self.pile) == 1
        self._note("counteroffer on a hidden card", self.offer[place][1] is not None)
        self._note("counteroffer in tandem with a hidden offer", face_down)
        self._note("counteroffer with one card in the pile on turn 7", on_turn_7)

    # Playing a card, returning home

    def _steps_after(self, card: Card) -> int:
        """How far past her own teahouse this card would bring its geisha."""
        colour, value = card
        return (self.steps[colour] + value) % len(self.colours)

    def _house_after(self, card: Card) -> int:
        return (card[0] + self._steps_after(card)) % len(self.colours)

    def _play_card(self, seat: int, card: Card) -> Course:
        """The card has all of its effects before anything else happens."""
        colour, value = card
        house = self._house_after(card)
        insort(self.tables[seat], card)
        self.steps[colour] = self._steps_after(card)
        if house == colour:
            self._return_home(colour)
        if self.has_guests and value in COLLECTS:
            yield from self._collect(seat, house, COLLECTS[value])

    def _return_home(self, colour: int) -> None:
        self.landings[colour] += 1
        time = self.landings[colour]
        row = self.rows[time - 1] if time <= 2 else []
        self._note("second return", time == 2)
        self._note("fifth second return meets an empty row", time == 2 and not row)
        self._note("third landing", time == 3)
        if row:
            self.prestige[colour] += row.pop(0)

    # Collecting guests and tiebreakers

    def _collect(self, seat: int, house: int, tokens: int) -> Course:
        at_house = self.guests[house] + (self.markers[house] is None)
        self._note("house short of tokens", at_house < tokens)
        choices = self._collections(house, tokens)
        if not choices:
            return
        _, what = choices[0]
        if len(choices) > 1:
            _, what = yield Question("move", seat, choices)
        if what == "guests":
            self._take_guests(seat, house, tokens)
        elif what == "tiebreaker":
            self.markers[house] = seat
            self._take_guests(seat, house, tokens - 1)
            self._note("tiebreaker taken mid-round")

    def _collections(self, house: int, tokens: int) -> list[Move]:
        """As many tokens as the card collects or all there are; nobody moves a held tiebreaker."""
        guests, tiebreaker = self.guests[house], self.markers[house] is None
        choices = []
        if guests and (guests >= tokens or not tiebreaker):
            choices.append(("collect", "guests"))
        if tiebreaker:
            choices.append(("collect", "tiebreaker"))
        if choices and self.rule_set.decline_collecting:
            choices.append(("collect", "nothing"))
        return choices

    def _take_guests(self, seat: int, house: int, most: int) -> None:
        taken = min(most, self.guests[house])
        self.guests[house] -= taken
        self.collected[seat][house] += taken

    # Round end

    def _reveal_intrigues(self) -> Course:
        for seat in (self.starter, 1 - self.starter):
            if self.kept[seat] is not None:  # a small version may do without Intrigue
                card, self.kept[seat] = self.kept[seat], None
                yield from self._play_card(seat, card)

    def _end_round(self) -> None:
        winners = [self._win_geisha(colour) for colour in self.colours]
        if self.edition == 2021:
            self._end_round_2021(winners)
        else:
            self._end_round_2022(winners)

    def _win_geisha(self, colour: int) -> int | None:
        """The marker goes to whoever wins her; if nobody does, it stays where it is."""
        alone_wins = self.rule_set.tiebreaker_alone_wins
        seat = favoured(self.tables, colour, self.markers[colour], alone_wins)
        if seat is not None:
            cards = [card for table in self.tables for card in table if card[0] == colour]
            at_house = self.has_guests and self.markers[colour] is None
            self._note("marker alone wins", not cards)
            self._note("tiebreaker won from the teahouse", at_house)
            self.markers[colour] = seat
        return seat

    def _end_round_2021(self, winners: list[int | None]) -> None:
        winner = self._ahead(
            [round_points(seat, winners, self.prestige) for seat in SEATS], "round"
        )
        self.loser = 1 - winner
        self.wins[winner] += 1
        if self.wins[winner] == self.rule_set.rounds_to_win:
            self.winner = winner

    def _end_round_2022(self, winners: list[int | None]) -> None:
        for seat in SEATS:
            if winners.count(seat) >= self.rule_set.instant_win:
                self._note(f"instant win in round {self.round}")
                self.winner = seat
                return
        points = [self._round_points_2022(seat, winners) for seat in SEATS]
        self.points = [before + now for before, now in zip(self.points, points, strict=True)]
        if self.round == self.rule_set.rounds:
            self.winner = self._ahead(self.points, "game")
        else:
            self.loser = 1 - self._ahead(points, "round")

    def _round_points_2022(self, seat: int, winners: list[int | None]) -> int:
        used = self.hidden_offer_used[seat] + self.counteroffer_used[seat]
        return round_points(
            seat,
            winners,
            self.prestige,
            base=self.rule_set.base[min(self.round, len(self.rule_set.base)) - 1],
            guests=self.collected[seat],
            unused_tokens=2 - used if self.has_offer_tokens else 0,
        )

    def _ahead(self, points: list[int], contest: str) -> int:
        """The seat with more points; on a tie with more markers; on a tie the one that started."""
        held = [self.markers.count(seat) for seat in SEATS]
        if points[0] != points[1]:
            return points.index(max(points))
        if held[0] != held[1]:
            self._note(f"{contest} tie broken by markers")
            return held.index(max(held))
        self._note(f"{contest} tie broken by starter")
        return self.starter

    def _note(self, event: str, happened: bool = True) -> None:
        self.events[event] += happened
