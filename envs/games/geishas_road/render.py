"""The table of Geisha's Road to look at: as text for a terminal, and as a picture.

Both show what one seat sees, with that seat at the bottom; `seat=None` shows all that is hidden,
too, from the side of player 0.
"""

from math import cos, pi, sin
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.game import OVER, Variant
from hanamachi.engine.rounds import scored_round
from hanamachi.games.four_actions import SIZES
from hanamachi.games.geishas_road.actions import Catalogue
from hanamachi.games.geishas_road.rules import (
    ACT,
    ACTIONS,
    ANSWER,
    COMPETITION,
    DEAL,
    DRAW,
    DRAW_MARKERS,
    DRAW_STARTER,
    ENDED,
    GIFT,
    INSERTED,
    INTRIGUE,
    LAY_TOKENS,
    NONE,
    PICK_MARKER,
    PICK_STARTER,
    PICK_TOKENS,
    PUT_IN_ORDER,
    REDRAW,
    TWO_PLACES,
    base_points,
    favoured,
    guest_points,
    house_of,
    unused_tokens,
    use_of,
    waiting_share,
)
from hanamachi.rendering.canvas import GOLD, HIDDEN, INK, LIGHT, PANEL, PAPER, TABLE, Canvas
from hanamachi.rendering.words import counted

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

# --- What there is to show


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
        f"player {seat} (you)" if viewer == seat else f"player {seat}",
        score(variant, game, seat),
        tuple(card(variant, number, shown) for number in held),
        sorted(actions, key=lambda action: action.turn or len(actions) + 1),
        tokens(variant, game, seat, viewer) if rule_set.offer_tokens else [],
        [tableau(variant, game, seat, c) for c in range(rule_set.colours)],
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


def tableau(variant: Variant, game: np.record, seat: int, colour: int) -> list[int]:
    """The values of a colour that a player has played, in order of play."""
    played = np.flatnonzero(game.played_by[: variant.rule_set.cards] == seat)
    mine = [n for n in played if variant.rule_set.colour[n] == colour]
    return [int(variant.rule_set.value[n]) for n in sorted(mine, key=lambda n: game.played_as[n])]


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
    rule_set, game = variant.rule_set.copy(), before.copy()
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


def status(variant: Variant, game: np.record, viewer: int | None) -> str:
    """Who has to do what, or who has won."""
    me = f"player {game.mover}"
    if game.mover == OVER:
        return f"player {game.winner} has won"
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


def at(cards: dict[int, Card], place: int) -> str:
    """A card on offer, as the choices name it."""
    return cards[place].words if cards[place].colour != NONE else f"?{place + 1}"


def written(cards: Cards) -> str:
    return " ".join(card.words for card in cards)


# --- As text

MARGIN, COLUMNS = 15, 60  # characters


def text(variant: Variant, game: np.record, seat: int | None = None) -> str:
    """The table in at most 80 columns, as `seat` sees it, or all of it."""
    lines = table_lines(variant, game, seat, counted_markers(game))
    return "\n".join([*lines, status(variant, game, seat)])


def round_end(variant: Variant, before: np.record, action: int, seat: int | None = None) -> str:
    """The table when `action` has ended a round and another follows; else ""."""
    scored = scored_round(variant, before, action)
    if scored is None:
        return ""
    markers = scored_markers(variant, before, action)
    return "\n".join([*table_lines(variant, scored, seat, markers), ROUND_OVER])


def table_lines(variant: Variant, game: np.record, seat: int | None, markers: Markers) -> list[str]:
    me = seat or 0
    mine, theirs = (side(variant, game, owner, seat, markers) for owner in (me, 1 - me))
    lines = [
        headline(variant, game),
        "",
        *side_lines(variant, theirs),
        "",
        *board_lines(variant, game, theirs, mine),
        "",
        *side_lines(variant, mine),
        "",
        *common_lines(variant, game, seat),
    ]
    return [line.rstrip() for line in lines]


def side_lines(variant: Variant, side: Side) -> list[str]:
    used = [action for action in side.actions if action.turn]
    unused = [action.name for action in side.actions if not action.turn]
    unused += [token.name for token in side.tokens if not token.where]
    guests = [f"{n} {c}" for n, c in zip(side.guests, colour_names(variant), strict=True) if n]
    rows = [("hand", written(side.hand) or "none")]
    rows += [(f"{action.turn} {action.name}", action_words(action)) for action in used]
    rows += [(token.name, token_words(token)) for token in side.tokens if token.where]
    rows += [("not used", ", ".join(unused)), ("guests", ", ".join(guests))]
    title = f"{side.name:<{MARGIN}}  {side.score}"
    return [title, *(f"  {name:<{MARGIN}}{words}" for name, words in rows if words)]


def token_words(token: Token) -> str:
    return f"{' for '.join(card.words for card in token.cards)} in {token.where}"


def action_words(action: Action) -> str:
    words = written(action.cards)
    if action.name == NAMES[COMPETITION]:
        words = f"{written(action.cards[:TWO_PLACES])} | {written(action.cards[TWO_PLACES:])}"
    taken = written(tuple(action.cards[place] for place in action.taken))
    return f"{words}  ({taken} taken)" if taken else words


def board_lines(variant: Variant, game: np.record, above: Side, below: Side) -> list[str]:
    """Each geisha between what both players have played for her, and what is at her house."""
    n, names = variant.rule_set.colours, colour_names(variant)
    marks = {above.seat: "▲", below.seat: "▼", NONE: "house" if variant.rule_set.guests else "·"}
    rows = [
        ("", list(names)),
        ("cards", [spaced(values) for values in above.tableau]),
        ("influence", above.influence),
        ("worth", [worth(variant, game, c) for c in range(n)]),
        (marker_name(variant), [marks[int(seat)] for seat in game.marker[:n]]),
        ("influence", below.influence),
        ("cards", [spaced(values) for values in below.tableau]),
        ("returns", game.returns[:n].tolist()),
        ("stands at", [names[(c + game.steps[c]) % n] for c in range(n)]),
    ]
    if variant.rule_set.guests:
        rows.append(("guests here", ["●" * k for k in game.guests[:n]]))
    column = COLUMNS // n
    return [
        f"  {name:<{MARGIN}}" + "".join(f"{c:<{column}}" for c in cells) for name, cells in rows
    ]


def spaced(values: list[int]) -> str:
    return " ".join(map(str, values))


def common_lines(variant: Variant, game: np.record, seat: int | None) -> list[str]:
    """The prestige in store, the cards on offer, and for the eye that sees all, the deck."""
    cards = on_offer(variant, game, seat)
    rows = [
        ("first returns", spaced(row_left(variant, game, 0)) or "none left"),
        ("second returns", spaced(row_left(variant, game, 1)) or "none left"),
        ("on the table", offer_words(game, cards)),
    ]
    if seat is None:
        rule_set = variant.rule_set
        deck = [card for card in range(rule_set.cards) if game.unseen >> card & 1]
        for c, name in enumerate(colour_names(variant)):
            values = [int(rule_set.value[card]) for card in deck if rule_set.colour[card] == c]
            rows.append((f"deck, {name}", spaced(values)))
    return [*(f"  {name:<{MARGIN}}{words}" for name, words in rows if words), ""]


def offer_words(game: np.record, cards: dict[int, Card]) -> str:
    words = [at(cards, place) for place in cards]
    pairs = offer_kind(game, game.turn) == COMPETITION and len(cards) > TWO_PLACES
    return " ".join(words[:TWO_PLACES] + ["|"] * pairs + words[TWO_PLACES:])


# --- As a picture

WIDTH, HEIGHT = 840, 700  # the units of all sizes below

COLOURS = ("#d0649a", "#c0404a", "#3b7cb8", "#3f8f5f", "#c4951c")
CENTRE = (170, 352)  # of the circle
RADIUS = 122
ROAD = 7  # how wide it is
BOARD = 350  # where the tableaus begin
COLUMN = 74  # of one colour


def drawing(variant: Variant, game: np.record, seat: int | None = None) -> Canvas:
    """The table as `seat` sees it, or all of it."""
    words = status(variant, game, seat)
    return drawn_table(variant, game, seat, counted_markers(game), words)


def round_end_drawing(
    variant: Variant, before: np.record, action: int, seat: int | None = None
) -> Canvas | None:
    """The table when `action` has ended a round and another follows; else None."""
    scored = scored_round(variant, before, action)
    if scored is None:
        return None
    return drawn_table(variant, scored, seat, scored_markers(variant, before, action), ROUND_OVER)


def drawn_table(
    variant: Variant, game: np.record, seat: int | None, markers: Markers, words: str
) -> Canvas:
    """The table, with words on what is to be done below."""
    canvas = Canvas(WIDTH, HEIGHT)
    me = seat or 0
    mine, theirs = (side(variant, game, owner, seat, markers) for owner in (me, 1 - me))
    canvas.write(14, 18, headline(variant, game), 15, anchor="lm")
    draw_side(canvas, theirs, 36, to_decide=game.mover == theirs.seat)
    draw_circle(canvas, variant, game)
    draw_offer(canvas, variant, game, seat)
    draw_board(canvas, variant, game, theirs, mine)
    draw_rows(canvas, variant, game)
    draw_side(canvas, mine, 534, to_decide=game.mover == mine.seat)
    canvas.write(14, 682, words, 15, anchor="lm")
    return canvas


def draw_side(canvas: Canvas, side: Side, y: float, to_decide: bool) -> None:
    """A player's score, guests, hand, actions and tokens; framed while it is theirs to decide."""
    canvas.box(10, y, 820, 126, PANEL, GOLD if to_decide else None)
    canvas.write(22, y + 17, side.name, 15, anchor="lm")
    canvas.write(22, y + 37, side.score, 12, anchor="lm")
    draw_guests(canvas, side.guests, 420, y + 27)
    for place, card in enumerate(reversed(side.hand)):
        draw_card(canvas, card, 788 - 34 * place, y + 10, 30)
    for place, action in enumerate(side.actions):
        draw_action(canvas, action, 20 + 132 * place, y + 58)
    for place, token in enumerate(side.tokens):
        draw_token(canvas, token, 556 + 134 * place, y + 58)


def draw_guests(canvas: Canvas, guests: list[int], x: float, y: float) -> None:
    """How many a player has collected of each colour."""
    collected = [c for c, count in enumerate(guests) if count]
    if collected:
        canvas.write(x, y, "guests", 12, anchor="lm")
    for place, c in enumerate(collected):
        canvas.disc(x + 58 + 22 * place, y, 10, COLOURS[c])
        canvas.write(x + 58 + 22 * place, y, str(guests[c]), 12, LIGHT)


def draw_action(canvas: Canvas, action: Action, x: float, y: float) -> None:
    """One not yet used stands out; a used one shows its cards, those taken underlined."""
    draw_tile(canvas, action.name, bool(action.turn), x, y, 128, GOLD if action.open else None)
    if action.turn:
        canvas.write(x + 120, y + 12, f"turn {action.turn}", 10, anchor="rm")
    for place, card in enumerate(action.cards):
        apart = action.name == NAMES[COMPETITION] and place >= TWO_PLACES
        left = x + 8 + 26 * place + 10 * apart
        draw_card(canvas, card, left, y + 23, 22)
        if place in action.taken:
            canvas.box(left, y + 54, 22, 3, GOLD)


def draw_token(canvas: Canvas, token: Token, x: float, y: float) -> None:
    """A used one shows the new card, the card that it replaced smaller, and the offer."""
    draw_tile(canvas, token.name, bool(token.where), x, y, 130)
    for place, card in enumerate(token.cards):
        draw_card(canvas, card, x + 8 + 26 * place, y + 23 + 5 * place, 22 - 4 * place)
    canvas.write(x + 122, y + 37, token.where, 10, anchor="rm")


def draw_tile(
    canvas: Canvas, name: str, used: bool, x: float, y: float, w: float, edge: str | None = None
) -> None:
    canvas.box(x, y, w, 60, TABLE if used else INK, edge)
    canvas.write(x + 8, y + 12, name, 12, INK if used else LIGHT, anchor="lm")


def draw_card(canvas: Canvas, card: Card, x: float, y: float, width: float) -> None:
    """A card; one that lies face down has a wide grey rim."""
    height, rim = 1.27 * width, width / 7 if card.down else 0
    canvas.box(x, y, width, height, HIDDEN)
    if card.colour != NONE:
        canvas.box(x + rim, y + rim, width - 2 * rim, height - 2 * rim, COLOURS[card.colour])
    canvas.write(x + width / 2, y + height / 2, card.name[-1], 0.55 * width, LIGHT)


def draw_circle(canvas: Canvas, variant: Variant, game: np.record) -> None:
    """The houses clockwise from the top, on a road, with the geisha and tokens at each."""
    x, y = CENTRE
    n = variant.rule_set.colours
    for colour, radius in ((TABLE, RADIUS + ROAD), (PAPER, RADIUS - ROAD)):
        canvas.ellipse((x - radius, y - radius, x + radius, y + radius), colour)
    for house in range(n):
        angle = 2 * pi * house / n
        draw_arrow(canvas, angle + pi / n)
        at_x, at_y = x + RADIUS * sin(angle), y - RADIUS * cos(angle)
        tiebreaker = variant.rule_set.guests > 0 and game.marker[house] == NONE
        draw_house(canvas, at_x, at_y, house, colour_names(variant)[house])
        draw_tokens(canvas, at_x, at_y, house, int(game.guests[house]), tiebreaker)
        there = [c for c in range(n) if (c + game.steps[c]) % n == house]
        for place, c in enumerate(there):
            draw_standee(canvas, at_x + 17 * (place - (len(there) - 1) / 2), at_y + 32, COLOURS[c])


def draw_arrow(canvas: Canvas, angle: float) -> None:
    """On the road, in the direction of the walk."""
    corners = []
    for along, out in ((0.05, 0), (-0.04, ROAD - 2), (-0.04, 2 - ROAD)):
        corners.append(CENTRE[0] + (RADIUS + out) * sin(angle + along))
        corners.append(CENTRE[1] - (RADIUS + out) * cos(angle + along))
    canvas.polygon(corners, HIDDEN)


def draw_house(canvas: Canvas, x: float, y: float, colour: int, name: str) -> None:
    roof = [x - 34, y - 32, x + 34, y - 32, x + 44, y - 13, x - 44, y - 13]
    canvas.box(x - 36, y - 16, 72, 30, PANEL, COLOURS[colour])
    canvas.polygon(roof, COLOURS[colour])
    canvas.write(x, y - 22, name, 12, LIGHT)


def draw_tokens(
    canvas: Canvas, x: float, y: float, colour: int, guests: int, tiebreaker: bool
) -> None:
    """Guests in the house, and her tiebreaker."""
    for guest in range(guests):
        canvas.disc(x - 24 + 15 * guest, y + 1, 6, COLOURS[colour])
    if tiebreaker:
        canvas.disc(x + 23, y + 1, 7, GOLD)


def draw_standee(canvas: Canvas, x: float, y: float, colour: str) -> None:
    canvas.polygon([x, y - 10, x + 8, y + 12, x - 8, y + 12], colour)
    canvas.disc(x, y - 8, 6, colour)


def draw_offer(canvas: Canvas, variant: Variant, game: np.record, seat: int | None) -> None:
    """In the middle of the circle: what lies on the table, else the deck."""
    x, y = CENTRE
    cards = on_offer(variant, game, seat)
    pairs = offer_kind(game, game.turn) == COMPETITION
    left = x - (17 * (max(cards, default=0) + 1) + 4 * pairs)
    for place, card in cards.items():
        draw_card(canvas, card, left + 34 * place + 8 * (pairs and place >= TWO_PLACES), y + 8, 30)
    if not cards:
        canvas.write(x, y - 12, "deck", 12)
        canvas.box(x - 15, y, 30, 38, HIDDEN)
        canvas.write(x, y + 19, str(int(game.unseen).bit_count()), 16, LIGHT)


def draw_board(canvas: Canvas, variant: Variant, game: np.record, above: Side, below: Side) -> None:
    """The tableaus of both players on both sides of the geisha, with what decides who wins her."""
    left = BOARD + COLUMN * (len(COLOURS) - variant.rule_set.colours) / 2
    for c in range(variant.rule_set.colours):
        x = left + COLUMN * c + 4
        draw_tableau(canvas, x, 280, -27, above.tableau[c], COLOURS[c])
        draw_tableau(canvas, x, 393, 27, below.tableau[c], COLOURS[c])
        canvas.box(x, 310, 66, 79, COLOURS[c])
        canvas.write(x + 8, 322, above.influence[c], 12, LIGHT, anchor="lm")
        canvas.write(x + 8, 350, str(worth(variant, game, c)), 22, LIGHT, anchor="lm")
        canvas.write(x + 8, 377, below.influence[c], 12, LIGHT, anchor="lm")
        for k in range(game.returns[c]):
            draw_home(canvas, x + 41, 350 + 15 * (k - (game.returns[c] - 1) / 2))
        held = int(game.marker[c])
        if held != NONE or not variant.rule_set.guests:
            towards = (held == below.seat) - (held == above.seat)
            canvas.disc(x + 54, 350 + 27 * towards, 8, GOLD)


def draw_home(canvas: Canvas, x: float, y: float) -> None:
    """A small sign for a return."""
    canvas.polygon([x - 5, y - 1, x, y - 6, x + 5, y - 1], LIGHT)
    canvas.polygon([x - 3, y - 1, x + 3, y - 1, x + 3, y + 5, x - 3, y + 5], LIGHT)


def draw_tableau(
    canvas: Canvas, x: float, y: float, step: float, values: list[int], colour: str
) -> None:
    """Cards from the geisha outwards, closer together where small versions have many."""
    for k, value in enumerate(values):
        top = y + step * k * min(1, 4 / len(values))
        canvas.box(x, top, 66, 25, colour, TABLE if len(values) > 4 else None)
        canvas.write(x + 33, top + 12, str(value), 16, LIGHT)


def draw_rows(canvas: Canvas, variant: Variant, game: np.record) -> None:
    """The prestige in store for first and second returns, the next one in gold."""
    canvas.write(780, 236, "returns", 12)
    for row, name in enumerate(("first", "second")):
        x = 758 + 46 * row
        canvas.write(x, 254, name, 11)
        for place, token in enumerate(row_left(variant, game, row)):
            canvas.disc(x, 280 + 35 * place, 14, LIGHT if place else GOLD)
            canvas.write(x, 280 + 35 * place, str(token), 15)
