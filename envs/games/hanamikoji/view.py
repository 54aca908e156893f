"""What a seat may know of a game of Hanamikoji, as plain data and in words.

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
from hanamachi.games.hanamikoji.actions import Catalogue
from hanamachi.games.hanamikoji.rules import (
    ACT,
    ACTIONS,
    ANSWER_COMPETITION,
    ANSWER_GIFT,
    CHARM_GOAL,
    CHOOSE_STARTER,
    DEAL,
    GEISHA_GOAL,
    GIFT,
    NONE,
    SECRET,
    TAKE_CARD,
    TRADE_OFF,
    favours,
    player_of,
)
from hanamachi.rendering.plain import segment
from hanamachi.rendering.words import near_side, player_name

Cards = tuple[str, ...]

TILES = ("Secret", "Trade-off", "Gift", "Competition")
BACK = "?"  # a card that the viewer may not see
ROUND_OVER = "the round is over"

# --- What lies where


class Tile(NamedTuple):
    """A tile of one player, and what was done with it."""

    name: str
    turn: int  # own turn in which it was used, from 1; 0 not yet
    cards: Cards = ()  # a Competition's pairs one after the other
    taken: tuple[int, ...] = ()  # which of them the other player took
    answer: bool = False  # the other player has yet to take some


class Side(NamedTuple):
    """One player's side of the table, as the viewer sees it."""

    seat: int
    name: str
    geisha: int  # favours won so far
    charm: int
    hand: Cards
    tiles: list[Tile]  # used ones in order of use, then the others
    items: list[int]  # of each geisha
    favoured: list[bool]  # by each geisha


class Geisha(NamedTuple):
    name: str
    charm: int
    favours: int | None  # the player who has her favour


class Table(NamedTuple):
    """All that lies on the table, as the viewer sees it."""

    geisha: list[Geisha]
    sides: list[Side]  # the near one first
    unseen: dict[str, int]  # items of each geisha that the viewer has not seen


def table(variant: Variant, game: np.record, viewer: int | None, near: int | None = None) -> Table:
    me, rule_set = near_side(viewer, near), variant.rule_set
    markers, names = game.marker.tolist(), geisha_names(variant)
    unseen = unseen_by(variant, game, viewer)
    return Table(
        [
            Geisha(name, int(rule_set.cards[g]), None if markers[g] == NONE else markers[g])
            for g, name in enumerate(names)
        ],
        [side(variant, game, seat, viewer) for seat in (me, 1 - me)],
        dict(zip(names, unseen, strict=True)),
    )


def unseen_by(variant: Variant, game: np.record, viewer: int | None) -> list[int]:
    """The items of each geisha that the viewer has not seen; for None, those in the pile."""
    if viewer is None:
        return cast(list[int], game.unseen[: variant.rule_set.geisha].tolist())
    return [round(number) for number in segment(variant, game, viewer, "unseen")]


def side(variant: Variant, game: np.record, seat: int, viewer: int | None) -> Side:
    shown = viewer in (None, seat)
    geisha, charm = favours(variant.rule_set, game, seat)
    kinds = np.flatnonzero(variant.rule_set.in_use).tolist()
    tiles = [tile(variant, game, seat, kind, shown) for kind in kinds]
    return Side(
        seat,
        player_name(seat, viewer),
        geisha,
        charm,
        face_up(spelled(variant, game.hand[seat]), shown),
        sorted(tiles, key=lambda tile: tile.turn or len(tiles) + 1),
        game.table[seat, : variant.rule_set.geisha].tolist(),
        (game.marker[: variant.rule_set.geisha] == seat).tolist(),
    )


def tile(variant: Variant, game: np.record, owner: int, kind: int, shown: bool) -> Tile:
    name, turn = TILES[kind], int(game.used_in[owner, kind])
    if turn == 0:
        return Tile(name, turn)
    if kind == SECRET:
        card = (geisha_names(variant)[game.secret[owner]],)
        return Tile(name, turn, face_up(card, shown or game.mover == OVER))
    if kind == TRADE_OFF:
        return Tile(name, turn, face_up(spelled(variant, game.trade_off[owner]), shown))
    if kind == GIFT:
        cards, card_taken = spelled(variant, game.gift[owner]), game.gift_taken[owner]
        if card_taken == NONE:
            return Tile(name, turn, cards, answer=True)
        return Tile(name, turn, cards, (cards.index(geisha_names(variant)[card_taken]),))
    cards, pair = spelled(variant, game.pairs[owner, 0]), int(game.pair_taken[owner])
    cards += spelled(variant, game.pairs[owner, 1])
    if pair == NONE:
        return Tile(name, turn, cards, answer=True)
    return Tile(name, turn, cards, (2 * pair, 2 * pair + 1))


def geisha_names(variant: Variant) -> Cards:
    return cast(Catalogue, variant.actions).names


def spelled(variant: Variant, counts: NDArray[np.int8]) -> Cards:
    """The names of these cards, one by one."""
    return tuple(np.repeat(geisha_names(variant), counts[: variant.rule_set.geisha]).tolist())


def face_up(cards: Cards, shown: bool) -> Cards:
    return cards if shown else (BACK,) * len(cards)


# --- In words


def headline(variant: Variant, game: np.record) -> str:
    """Which round and turn it is, and how many cards can still be drawn."""
    limit = f" of {variant.rule_set.max_rounds}" if variant.rule_set.max_rounds else ""
    turns = 2 * variant.rule_set.tiles
    turn = min(int(game.turn) + 1, turns)
    removed = int(variant.rule_set.cards.sum()) - 2 * sum(
        size for size, used in zip(SIZES, variant.rule_set.in_use, strict=True) if used
    )
    pile = max(int(game.unseen.sum()) - removed, 0)
    return f"round {max(game.round_number, 1)}{limit} · turn {turn} of {turns} · pile {pile}"


def status(variant: Variant, game: np.record, viewer: int | None = None) -> str:
    """Who has to do what, or who has won, and how."""
    foe = 1 - game.mover
    if game.phase == ACT:
        return f"player {game.mover} uses a tile"
    if game.phase == ANSWER_GIFT:
        return f"player {game.mover} takes one of {written(spelled(variant, game.gift[foe]))}"
    if game.phase == ANSWER_COMPETITION:
        first, second = (written(spelled(variant, pair)) for pair in game.pairs[foe])
        return f"player {game.mover} takes {first} or {second}"
    if game.mover != OVER:
        return "cards are dealt" if game.phase <= DEAL else "a card is drawn"
    return victory(variant, game)


def victory(variant: Variant, game: np.record) -> str:
    """Who has won, by what."""
    winner = int(game.winner)
    if winner == NONE:
        return "victory is shared"
    (geisha, charm), (other_geisha, other_charm) = (
        favours(variant.rule_set, game, seat) for seat in (winner, 1 - winner)
    )
    if charm >= CHARM_GOAL:
        return f"player {winner} has won with {charm} charm"
    if geisha >= GEISHA_GOAL:
        return f"player {winner} has won with {geisha} geisha"
    if variant.rule_set.by_geisha and geisha != other_geisha:
        return f"player {winner} has won with {geisha} geisha to {other_geisha}"
    return f"player {winner} has won with {charm} charm to {other_charm}"


def heard(
    variant: Variant, before: np.record, by: int, event: int, viewer: int | None
) -> list[str]:
    """What the viewer hears of an action of the seat `by`, or of an outcome if it is CHANCE."""
    if by == CHANCE:
        return heard_of_chance(variant, before, event, viewer)
    words = variant.actions.describe(event, before)
    if viewer not in (None, by) and variant.actions.kind[event] in (SECRET, TRADE_OFF):
        words = words.split()[0]  # its cards lie face down
    return [words, *ended(variant, before, event)]


def heard_of_chance(
    variant: Variant, before: np.record, outcome: int, viewer: int | None
) -> list[str]:
    """The starter, and the card that is drawn; the hands that are dealt lie on the table."""
    if before.phase == CHOOSE_STARTER:
        return [f"player {outcome} begins"]
    if before.phase == DEAL:
        return []
    seat = int(player_of(before))
    card = geisha_names(variant)[outcome] if viewer in (None, seat) else "a card"
    return [f"player {seat} draws {card}"]


def ended(variant: Variant, before: np.record, action: int) -> list[str]:
    """How a round has ended, or the game, if this action ended it."""
    scored = scored_round(variant, before, action)
    if scored is not None:
        sides = [favours(variant.rule_set, scored, seat) for seat in range(2)]
        counts = [
            f"player {seat} has {geisha} geisha, {charm} charm"
            for seat, (geisha, charm) in enumerate(sides)
        ]
        return [f"round {before.round_number} is over: {'; '.join(counts)}"]
    after = copied(before)
    kernels.apply_one(variant.rule_set, after, action)
    return [victory(variant, after)] if after.mover == OVER else []


def deductions(variant: Variant, game: np.record, viewer: int) -> str:
    """The items that the viewer has not seen, and where they can be."""
    names, unseen = geisha_names(variant), unseen_by(variant, game, viewer)
    left = ", ".join(f"{n} of {name}" for name, n in zip(names, unseen, strict=True) if n)
    if not left:
        return "You know where all items are."
    where = "in the pile, out of the game, or with the other player"
    return f"Items that you have not seen ({where}): {left}."


def outcome_name(variant: Variant, before: np.record, outcome: int) -> str:
    """An outcome of chance as games are written down: the starter, or a card."""
    if before.phase == CHOOSE_STARTER:
        return f"player {outcome} begins"
    return geisha_names(variant)[outcome]


def written(cards: Cards) -> str:
    return " ".join(cards)


# --- What actions are made of


def pieces(variant: Variant, game: np.record, action: int) -> list[tuple[str, str]]:
    """The pieces that make up an action of the seat to move, each with what it is called.

    They are the pieces of the picture: a tile and cards of the hand, or what is on offer.
    """
    catalogue = cast(Catalogue, variant.actions)
    move = catalogue.moves[action]
    if move.kind == TAKE_CARD:
        name = catalogue.names[move.cards[0]]
        return [(f"offer:{name}", name)]
    if move.kind > TAKE_CARD:
        pair = spelled(variant, game.pairs[1 - game.mover, move.pair])
        return [(f"pair:{move.pair + 1}", written(pair))]
    names = [catalogue.names[card] for card in (*move.cards, *move.second)]
    return [(tile_piece(move.kind), TILES[move.kind]), *((f"hand:{name}", name) for name in names)]


def tile_piece(kind: int) -> str:
    return f"use:{ACTIONS[kind]}"
