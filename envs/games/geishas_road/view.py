"""What a seat may know of a game of Geisha's Road, as plain data and in words.

`viewer` is the seat that looks; None sees all that is hidden, too. `near` is the side that it is
seen from, by default the viewer's, or that of player 0.
"""

from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.contract import CHANCE, OVER
from hanamachi.engine.game import Variant
from hanamachi.engine.records import copied
from hanamachi.engine.rounds import scored_round
from hanamachi.games.four_actions import SIZES
from hanamachi.games.geishas_road.actions import TOKENS, Catalogue
from hanamachi.games.geishas_road.rules import (
    ACT,
    ACTIONS,
    ANSWER,
    COLLECT,
    COMPETITION,
    COUNTEROFFER,
    DEAL,
    DRAW,
    DRAW_MARKERS,
    DRAW_STARTER,
    ENDED,
    GIFT,
    HIDDEN_COMPETITION,
    HIDDEN_COUNTEROFFER,
    HIDDEN_GIFT,
    INSERTED,
    INTRIGUE,
    LAY_TOKENS,
    NONE,
    ORDER,
    PICK_MARKER,
    PICK_STARTER,
    PICK_TOKENS,
    PUT_IN_ORDER,
    REDRAW,
    REVEAL,
    TAKE_CARD,
    TAKE_MARKER,
    TAKE_PAIR,
    TWO_PLACES,
    base_points,
    count_points,
    favoured,
    guest_points,
    house_of,
    markers_held,
    player_of,
    unused_tokens,
    use_of,
    waiting_share,
)
from hanamachi.rendering.plain import segment
from hanamachi.rendering.words import counted, near_side, player_name

NAMES = tuple(action.capitalize() for action in ACTIONS)
STATUS = {
    DRAW_STARTER: "the starter is drawn",
    LAY_TOKENS: "prestige tokens are laid out",
    DRAW_MARKERS: "each player draws a first marker",
    DEAL: "cards are dealt",
    PICK_STARTER: "player {} names the starter",
    PICK_MARKER: "player {} takes a marker",
    DRAW: "a card is drawn",
    ACT: "player {} uses an action",
    REDRAW: "a card is drawn",
}

ROUND_OVER = "the round is over"

Markers = NDArray[np.int8]  # (C,) the seat whose marker counts for each geisha; NONE

# --- What lies where


class Card(NamedTuple):
    """A card as the viewer sees it."""

    name: str  # "?" if the viewer may not know
    colour: int  # NONE likewise
    down: bool  # it lies face down

    @property
    def words(self) -> str:
        return f"({self.name})" if self.down and self.colour != NONE else self.name


Cards = tuple[Card, ...]


class Action(NamedTuple):
    """An action of one player, and what was done with it."""

    name: str
    turn: int  # own turn in which it was used, from 1; 0 not yet
    cards: Cards = ()  # as they are since Counteroffers; a Competition's pairs one after the other
    taken: tuple[int, ...] = ()  # places that the other player has played
    open: bool = False  # cards of it are still to be played


class Token(NamedTuple):
    """An offer token of one player, and what was done with it."""

    name: str
    where: str = ""  # in which offer it was used; not yet
    cards: Cards = ()  # the hidden card; or the card of a Counteroffer and the one it removed


class Side(NamedTuple):
    """One player's side of the table, as the viewer sees it."""

    seat: int
    name: str
    score: str
    hand: Cards
    actions: list[Action]  # used ones in order of use, then the others
    tokens: list[Token]  # Hidden Offer and Counteroffer, if there are any
    tableau: list[list[int]]  # of each colour, the values in order of play
    influence: list[str]  # over each geisha
    guests: list[int]  # of each colour


class Geisha(NamedTuple):
    name: str  # of her colour
    worth: int  # the points that she brings now
    marker: int | None  # the player who holds her marker or tiebreaker
    stands_at: str  # whose house
    returns: int  # home, in this round
    guests: int  # at her house


class Table(NamedTuple):
    """All that lies on the table, as the viewer sees it."""

    geisha: list[Geisha]  # by their houses, clockwise
    sides: list[Side]  # the near one first
    on_offer: dict[int, str]  # the cards that are still to be played, by place
    first_returns: list[int]  # prestige tokens in store, the next one first
    second_returns: list[int]
    unseen: list[str]  # cards that the viewer has not seen


def table(variant: Variant, game: np.record, viewer: int | None, near: int | None = None) -> Table:
    me, markers = near_side(viewer, near), counted_markers(game)
    cards = on_offer(variant, game, viewer)
    return Table(
        [geisha(variant, game, c) for c in range(variant.rule_set.colours)],
        [side(variant, game, seat, viewer, markers) for seat in (me, 1 - me)],
        {place: at(cards, place) for place in cards},
        row_left(variant, game, 0),
        row_left(variant, game, 1),
        [cast(Catalogue, variant.actions).names[card] for card in unseen(variant, game, viewer)],
    )


def geisha(variant: Variant, game: np.record, c: int) -> Geisha:
    names = colour_names(variant)
    return Geisha(
        names[c],
        worth(variant, game, c),
        None if game.marker[c] == NONE else int(game.marker[c]),
        names[(c + game.steps[c]) % len(names)],
        int(game.returns[c]),
        int(game.guests[c]),
    )


def unseen(variant: Variant, game: np.record, viewer: int | None) -> list[int]:
    """The cards that the viewer has not seen; without a viewer, those in the deck."""
    if viewer is None:
        return [card for card in range(variant.rule_set.cards) if game.unseen >> card & 1]
    return [card for card, n in enumerate(segment(variant, game, viewer, "unseen")) if n]


def side(
    variant: Variant, game: np.record, seat: int, viewer: int | None, markers: Markers
) -> Side:
    rule_set = variant.rule_set
    shown = viewer in (None, seat)
    held = game.hand[seat, : game.held[seat]].tolist()
    kinds = np.flatnonzero(rule_set.in_use).tolist()
    actions = [action(variant, game, seat, kind, viewer) for kind in kinds]
    return Side(
        seat,
        player_name(seat, viewer),
        score(variant, game, seat),
        tuple(card(variant, number, shown) for number in held),
        sorted(actions, key=lambda action: action.turn or len(actions) + 1),
        tokens(variant, game, seat, viewer) if rule_set.offer_tokens else [],
        tableaus(variant, game, seat),
        [influence(game, seat, c, markers) for c in range(rule_set.colours)],
        game.collected[seat, : rule_set.colours].tolist(),
    )


def card(variant: Variant, number: int, shown: bool, down: bool = False) -> Card:
    if not shown:
        return Card("?", NONE, down)
    names = cast(Catalogue, variant.actions).names
    return Card(names[number], int(variant.rule_set.colour[number]), down)


def score(variant: Variant, game: np.record, seat: int) -> str:
    """What the player has, and would have if the round ended now."""
    rule_set, wins = variant.rule_set, game.wins
    geisha = [c for c in range(rule_set.colours) if favoured(rule_set, game, c) == seat]
    now = sum(worth(variant, game, c) for c in geisha)
    now += int(guest_points(rule_set, game, seat) + unused_tokens(rule_set, game, seat))
    this_round = f"this round: {len(geisha)} geisha, {counted(now, 'point')}"
    this_round += ", starter" if seat == game.starter else ""
    if rule_set.rounds == 0:
        return f"{counted(wins[seat], 'round')} won ({this_round})"
    scored = wins.sum() == game.round_number  # not so during a round, nor after an instant win
    return f"{counted(game.points[seat] + (0 if scored else now), 'point')} ({this_round})"


def action(variant: Variant, game: np.record, owner: int, kind: int, viewer: int | None) -> Action:
    name, turn = NAMES[kind], int(game.used_in[owner, kind])
    if turn == 0:
        return Action(name, turn)
    numbers = offered(game, owner, kind)
    cards = tuple(
        laid(variant, by, number, hidden_by(game, by, what, number), viewer)
        for by, what, number in numbers
    )
    taken = [i for i, (_, _, n) in enumerate(numbers) if game.played_by[n] == 1 - owner]
    is_open = turn_of(game, owner, kind) == game.turn and bool((game.offer != NONE).any())
    return Action(name, turn, cards, tuple(taken), is_open)


def offered(game: np.record, owner: int, kind: int) -> list[tuple[int, int, int]]:
    """Who laid which card in each place, and in which action: (seat, action, card)."""
    cards = [(owner, kind, int(number)) for number in game.laid[owner, kind, : SIZES[kind]]]
    for seat in (1 - owner, owner):  # who is offered the cards is the first to counter
        if game.counter_to[seat] == turn_of(game, owner, kind):
            cards[game.counter_place[seat]] = (seat, INSERTED, int(game.counter_in[seat]))
    return cards


def turn_of(game: np.record, owner: int, kind: int) -> int:
    """The turn of the round, from 0, in which a player used an action."""
    return int(2 * (game.used_in[owner, kind] - 1) + (owner != game.starter))


def hidden_by(game: np.record, owner: int, action: int, number: int) -> bool:
    """Whether a card that the player laid in an action is still unknown to the other."""
    if action == INTRIGUE:
        return bool(game.played_by[number] == NONE)
    if game.hidden_use[owner] != use_of(action) or number != game.hidden_card[owner]:
        return False
    removed = owner in game.counter_out_by  # who finds it later cannot tell that it was this one
    return bool(removed or game.played_by[number] == NONE)


def laid(variant: Variant, owner: int, number: int, down: bool, viewer: int | None) -> Card:
    """A card that a player has laid down."""
    return card(variant, number, not down or viewer in (None, owner), down)


def tokens(variant: Variant, game: np.record, seat: int, viewer: int | None) -> list[Token]:
    """Hidden Offer with its card; Counteroffer with its card and the one that it removed."""
    hidden, counter = Token("Hidden Offer"), Token("Counteroffer")
    use, turn = int(game.hidden_use[seat]), int(game.counter_to[seat])
    if use != NONE:
        laid_in = use if use in (GIFT, COMPETITION) else INSERTED
        number = int(game.hidden_card[seat])
        down = hidden_by(game, seat, laid_in, number)
        where = "Counteroffer" if laid_in == INSERTED else NAMES[use]
        hidden = Token(hidden.name, where, (laid(variant, seat, number, down, viewer),))
    if turn != NONE:
        number, by = int(game.counter_in[seat]), int(game.counter_out_by[seat])
        down = hidden_by(game, seat, INSERTED, number)
        added = laid(variant, seat, number, down, viewer)
        removed = laid(variant, by, int(game.counter_out[seat]), by != NONE, viewer)
        counter = Token(counter.name, NAMES[offer_kind(game, turn)], (added, removed))
    return [hidden, counter]


def tableaus(variant: Variant, game: np.record, seat: int) -> list[list[int]]:
    """The values that a player has played of each colour, in order of play."""
    rule_set, order = variant.rule_set, game.played_as
    played = np.flatnonzero(game.played_by[: rule_set.cards] == seat)
    values: list[list[int]] = [[] for _ in range(rule_set.colours)]
    for card in sorted(played.tolist(), key=lambda card: order[card]):
        values[rule_set.colour[card]].append(int(rule_set.value[card]))
    return values


def influence(game: np.record, seat: int, colour: int, markers: Markers) -> str:
    """The sum of the cards, and a half for the marker."""
    return f"{game.influence[seat, colour] + 0.5 * (markers[colour] == seat):g}"


def counted_markers(game: np.record) -> Markers:
    """The markers that add to influence.

    At the end of a game they lie with who has won each geisha, and the record does not tell where
    they lay before. Those that won her, the cards being equal, lie where they lay.
    """
    if game.phase != ENDED:
        return cast(Markers, game.marker)
    return np.where(game.influence[0] == game.influence[1], game.marker, NONE)


def scored_markers(variant: Variant, before: np.record, action: int) -> Markers:
    """The markers that counted when `action` ended a round, before scoring moved them.

    The action is carried out where cards have no value, markers alone win nobody, and no other
    round follows: then scoring moves none.
    """
    rule_set, game = variant.rule_set.copy(), copied(before)
    rule_set["value"], rule_set["alone_wins"], rule_set["rounds"] = 0, False, game["round_number"]
    game["influence"] = 0
    kernels.apply_one(rule_set, game, action)
    return cast(Markers, game["marker"])


def on_offer(variant: Variant, game: np.record, viewer: int | None) -> dict[int, Card]:
    """The cards on the table that are still to be played, by place."""
    return {
        place: laid(variant, int(owner), int(number), bool(owner != NONE), viewer)
        for place, (number, owner) in enumerate(zip(game.offer, game.face_down, strict=True))
        if number != NONE
    }


def offer_kind(game: np.record, turn: int) -> int:
    """The Gift or Competition of a turn of the round, from 0; or NONE."""
    used = game.used_in[(game.starter + turn) % 2] == turn // 2 + 1
    kinds = [kind for kind in (GIFT, COMPETITION) if used[kind]]
    return kinds[0] if kinds else NONE


def worth(variant: Variant, game: np.record, colour: int) -> int:
    """The points that a geisha brings to the player who wins her."""
    return int(base_points(variant.rule_set, game) + game.prestige[colour])


def row_left(variant: Variant, game: np.record, row: int) -> list[int]:
    """The tokens of a row, the next one first."""
    left: list[int] = game.row[row, game.taken[row] : variant.rule_set.row_length[row]].tolist()
    return left


def colour_names(variant: Variant) -> tuple[str, ...]:
    return cast(Catalogue, variant.actions).colours


def marker_name(variant: Variant) -> str:
    return "tiebreaker" if variant.rule_set.shuffled else "marker"


# --- In words


def headline(variant: Variant, game: np.record) -> str:
    """Which round and turn it is, and how many cards lie in the deck."""
    rule_set = variant.rule_set
    edition = variant.id.partition(":")[2].capitalize()
    limit = f" of {rule_set.rounds}" if rule_set.rounds else ""
    turns = 2 * rule_set.markers
    return (
        f"{variant.game.title} · {edition} · round {max(game.round_number, 1)}{limit} · "
        f"turn {min(int(game.turn) + 1, turns)} of {turns} · deck {int(game.unseen).bit_count()}"
    )


def status(variant: Variant, game: np.record, viewer: int | None = None) -> str:
    """Who has to do what, or who has won, and how."""
    me = f"player {game.mover}"
    if game.mover == OVER:
        return victory(variant, game)
    if game.phase == ANSWER:
        return f"{me} answers the {NAMES[offer_kind(game, game.turn)]}"
    if game.phase == PUT_IN_ORDER:
        cards = on_offer(variant, game, viewer)
        first, second = (at(cards, int(i)) for i in game.share[waiting_share(game)])
        return f"{me} plays {first} or {second} first"
    if game.phase == PICK_TOKENS:
        house = house_of(variant.rule_set, game, game.playing)
        return f"{me} collects at the {colour_names(variant)[house]} house"
    return STATUS[int(game.phase)].format(game.mover)


def victory(variant: Variant, game: np.record) -> str:
    """Who has won, by what."""
    rule_set, winner = variant.rule_set, int(game.winner)
    won, _ = round_result(variant, game)
    has_won = f"player {winner} has won with"
    if 0 < rule_set.instant_win <= won[winner]:
        return f"{has_won} {won[winner]} geisha in one round"
    if rule_set.rounds == 0:
        return f"{has_won} {counted(game.wins[winner], 'round')}"
    mine, theirs = game.points[winner], game.points[1 - winner]
    if mine != theirs:
        return f"{has_won} {counted(mine, 'point')} to {theirs}"
    markers = markers_held(rule_set, game, winner)
    if markers != markers_held(rule_set, game, 1 - winner):
        return f"{has_won} {counted(mine, 'point')} each, and more {marker_name(variant)}s"
    return f"{has_won} {counted(mine, 'point')} each, as the starter"


def round_result(variant: Variant, scored: np.record) -> tuple[list[int], list[int]]:
    """The geisha that each seat has won in a scored round, and its points."""
    won, points = np.zeros(2, np.int64), np.zeros(2, np.int64)
    count_points(variant.rule_set, scored, won, points)
    return won.tolist(), points.tolist()


def heard(
    variant: Variant, before: np.record, by: int, event: int, viewer: int | None
) -> list[str]:
    """What the viewer hears of an action of the seat `by`, or of an outcome if it is CHANCE."""
    if by == CHANCE:
        return heard_of_chance(variant, before, event, viewer)
    after, scored = copied(before), scored_round(variant, before, event)
    kernels.apply_one(variant.rule_set, after, event)
    left = after if scored is None else scored
    words = [heard_words(variant, before, event, viewer), *played(variant, before, left, event)]
    if scored is not None:
        words.append(f"round {before.round_number} is over: {round_words(variant, scored)}")
    elif after.mover == OVER:
        words += [f"round {before.round_number} is over: {round_words(variant, after)}"]
        words += [victory(variant, after)]
    return words


def heard_words(variant: Variant, before: np.record, action: int, viewer: int | None) -> str:
    """An action in words that name no card which lies face down for the viewer."""
    words = variant.actions.describe(action, before)
    verb, *others = words.split()
    if viewer in (None, before.mover):
        return words
    move, kind = variant.actions.moves[action], variant.actions.kind[action]
    cards = on_offer(variant, before, viewer)
    if kind == INTRIGUE:
        return verb
    if kind in (HIDDEN_GIFT, HIDDEN_COMPETITION):
        return " ".join([verb, *others[:-1], "(?)"])
    if kind in (COUNTEROFFER, HIDDEN_COUNTEROFFER):
        card = "(?)" if kind == HIDDEN_COUNTEROFFER else others[0]
        return f"{verb} {card} for {at(cards, move.number)}"
    if kind == TAKE_CARD:
        return f"{verb} {at(cards, move.number)}"
    if kind == TAKE_PAIR:
        low = TWO_PLACES * move.number
        return f"{verb} {at(cards, low)} {at(cards, low + 1)}"
    if kind == ORDER:
        return f"{verb} {at(cards, int(before.share[waiting_share(before), move.number]))} first"
    return words


def played(variant: Variant, before: np.record, after: np.record, action: int) -> list[str]:
    """The cards that have come into each tableau, in order; but a Reveal's, which is named."""
    names, lines = cast(Catalogue, variant.actions).names, []
    named_card = variant.actions.describe(action, before).split()[-1]
    revealed = named_card if variant.actions.kind[action] == REVEAL else ""
    for seat in range(2):
        new = np.flatnonzero((after.played_by == seat) & (before.played_by == NONE)).tolist()
        in_order = sorted(new, key=lambda card: after.played_as[card])
        cards = [names[card] for card in in_order if names[card] != revealed]
        lines += [f"player {seat} plays {' '.join(cards)}"] if cards else []
    return lines


def round_words(variant: Variant, scored: np.record) -> str:
    won, points = round_result(variant, scored)
    return "; ".join(
        f"player {seat} has {won[seat]} geisha, {counted(points[seat], 'point')}"
        for seat in range(2)
    )


def heard_of_chance(
    variant: Variant, before: np.record, outcome: int, viewer: int | None
) -> list[str]:
    """The starter, first markers, and cards that are drawn; the rest lies on the table."""
    if before.phase == DRAW_STARTER:
        return [f"player {outcome} begins"]
    if before.phase == DRAW_MARKERS:
        seat = markers_held(variant.rule_set, before, 0)
        return [f"player {seat} draws the marker of {colour_names(variant)[outcome]}"]
    if before.phase not in (DRAW, REDRAW):
        return []
    seat = int(before.playing if before.phase == REDRAW else player_of(before))
    shown = viewer in (None, seat)
    card = cast(Catalogue, variant.actions).names[outcome] if shown else "a card"
    return [f"player {seat} draws {card}"]


def deductions(variant: Variant, game: np.record, viewer: int) -> str:
    """The cards that the viewer has not seen."""
    names = cast(Catalogue, variant.actions).names
    left = " ".join(names[card] for card in unseen(variant, game, viewer))
    if not left:
        return "You know where all cards are."
    return f"Cards that you have not seen (in the deck or with the other player): {left}."


def outcome_name(variant: Variant, before: np.record, outcome: int) -> str:
    """An outcome of chance as games are written down: starter, token, marker or card."""
    if before.phase == DRAW_STARTER:
        return f"player {outcome} begins"
    if before.phase == LAY_TOKENS:
        return f"token {outcome}"
    if before.phase == DRAW_MARKERS:
        return colour_names(variant)[outcome]
    return cast(Catalogue, variant.actions).names[outcome]


def at(cards: dict[int, Card], place: int) -> str:
    """A card on offer, as the choices name it."""
    return cards[place].words if cards[place].colour != NONE else f"?{place + 1}"


def written(cards: Cards) -> str:
    return " ".join(card.words for card in cards)


# --- What actions are made of


def pieces(variant: Variant, game: np.record, action: int) -> list[tuple[str, str]]:
    """The pieces that make up an action of the seat to move, each with what it is called.

    They are the pieces of the picture: an action marker and cards of the hand, cards on offer, or a
    geisha; what to collect and who begins are pieces of their own.
    """
    move, kind = variant.actions.moves[action], int(variant.actions.kind[action])
    names = cast(Catalogue, variant.actions).names
    in_hand = game.hand[game.mover].tolist() if move.slots else []
    held = [names[in_hand[slot]] for slot in move.slots]
    hand = [(f"hand:{name}", name) for name in held]
    if kind <= HIDDEN_COMPETITION:
        hides = kind >= HIDDEN_GIFT
        token = [("token:hidden", "Hidden Offer")] if hides else []
        return [action_piece(kind - 2 if hides else kind), *token, *hand]
    cards = on_offer(variant, game, game.mover)
    if kind in (COUNTEROFFER, HIDDEN_COUNTEROFFER):
        token = [("token:hidden", "Hidden Offer")] if kind == HIDDEN_COUNTEROFFER else []
        return [("token:counter", "Counteroffer"), *token, *hand, offer_piece(cards, move.number)]
    if kind == TAKE_CARD:
        return [offer_piece(cards, move.number)]
    if kind == TAKE_PAIR:
        low = TWO_PLACES * move.number
        return [offer_piece(cards, low), offer_piece(cards, low + 1)]
    if kind == ORDER:
        return [offer_piece(cards, int(game.share[waiting_share(game), move.number]))]
    if kind == COLLECT:
        return [(f"collect:{TOKENS[move.number]}", TOKENS[move.number])]
    if kind == TAKE_MARKER:
        colour = colour_names(variant)[move.number]
        return [(f"geisha:{colour}", colour)]
    words = variant.actions.describe(action, game)
    return [(words, words)]


def action_piece(kind: int) -> tuple[str, str]:
    return f"use:{ACTIONS[kind]}", NAMES[kind]


def offer_piece(cards: dict[int, Card], place: int) -> tuple[str, str]:
    return f"offer:{place + 1}", at(cards, place)
