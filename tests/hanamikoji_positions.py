"""Positions of Hanamikoji for the tests: led by hand in words, reached at random, or all of them.

A view is all that one seat has seen of a round, in order: whether it began, its hand as dealt,
then draws and moves. Of the other seat it holds that a card was drawn (None), and a hidden
action without its cards.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hanamachi import kernels
from hanamachi.game import CHANCE, OVER, Variant
from hanamachi.games import variant
from hanamachi.hanamikoji.actions import Move
from hanamachi.hanamikoji.rules import CHOOSE_STARTER, DEAL, DRAW, SECRET, TRADE_OFF

View = tuple

# --- Led by hand


class Table:
    """One game in which the test is chance and both players."""

    def __init__(self, id: str = "hanamikoji", **options: object) -> None:
        self.variant = variant(id, **{"starter": 0, **options})
        self.rules, self.actions = self.variant.rules, self.variant.actions
        self.game = self.variant.new(np.zeros(1, np.uint64))[0]
        kernels.start_one(self.rules, self.game)

    def draw(self, names: str) -> None:
        """These cards come next off the pile."""
        for name in names.split():
            kernels.resolve_one(self.rules, self.game, self.actions.names.index(name))

    def play(self, words: str) -> None:
        action = self.actions.parse(words, self.game)
        assert self.mask()[action], f"not legal: {words}"
        kernels.apply_one(self.rules, self.game, action)

    def mask(self) -> NDArray[np.int8]:
        return legal(self.variant, self.game)

    def follow(self, steps: Iterable[tuple[str, str]]) -> None:
        for step, words in steps:
            {"draw": self.draw, "play": self.play}[step](words)

    def round(self, *sides: list[int]) -> list[tuple[str, str]]:
        """Steps of a round that leaves these 8 items on the starter's side and on the other's."""
        (a, b), names = map(spelled, sides), self.actions.names
        rest = spelled(np.array(self.variant.options["cards"]) - sides[0] - sides[1])
        a, b, rest = ([names[g] for g in cards] for cards in (a, b, rest))
        first = [*a[:2], *b[:2], *a[2:4], b[2], *rest[:2], a[4]]
        second = [*b[3:5], *a[5:7], *b[5:7], a[7], *rest[2:4], b[7]]
        steps = [("draw", " ".join(first[:6])), ("draw", " ".join(second[:6]))]
        for turn in range(4):
            for cards in (first, second):
                steps.append(("draw", cards[6 + turn]))
                steps += [("play", words) for words in turns(cards)[turn]]
        return steps


def spelled(counts: Iterable[int]) -> list[int]:
    return [g for g, n in enumerate(counts) for _ in range(n)]


def turns(cards: list[str]) -> list[list[str]]:
    """Four turns with ten cards: the second pair and the third card of the Gift are taken."""
    words = " ".join
    return [
        [f"competition {words(cards[:2])} | {words(cards[2:4])}", f"take {words(cards[2:4])}"],
        [f"gift {words(cards[4:7])}", f"take {cards[6]}"],
        [f"trade-off {words(cards[7:9])}"],
        [f"secret {cards[9]}"],
    ]


def legal(variant: Variant, game: np.record) -> NDArray[np.int8]:
    mask = np.zeros((1, variant.actions.size), np.int8)
    kernels.masks(variant.rules, np.array([game], variant.game.record), mask)
    return mask[0]


# --- Histories


class Node(NamedTuple):
    """A history: where it led, how likely chance made it, and what each seat has seen."""

    game: np.record
    chance: float  # the product of chance's part; every choice counts 1
    views: tuple[View, View] = ((), ())


def root(variant: Variant) -> Node:
    game = variant.new(np.zeros(1, np.uint64))[0]
    kernels.start_one(variant.rules, game)
    return Node(game, 1.0)


def copied(game: np.record) -> np.record:
    """A copy to the byte; numpy's own leaves the bytes between the fields to chance."""
    return np.frombuffer(bytearray(game.tobytes()), game.dtype)[0]


def outcomes(variant: Variant, game: np.record) -> list[tuple[int, float]]:
    numbers, chances = np.empty(7, np.int64), np.empty(7)
    n = kernels.outcomes_of(variant.rules, game, numbers, chances)
    return list(zip(numbers[:n].tolist(), chances[:n].tolist(), strict=True))


def resolved(variant: Variant, node: Node, outcome: int, chance: float) -> Node:
    """What follows when chance decides so."""
    game, views = copied(node.game), node.views
    kernels.resolve_one(variant.rules, game, outcome)
    if node.game.phase == DRAW:
        views = seen(views, game.mover, outcome, None)
    elif game.phase == DRAW:  # both hands have just been dealt
        views = tuple((game.starter == s, tuple(game.hand[s].tolist())) for s in (0, 1))
    return Node(game, node.chance * chance, views)


def played(variant: Variant, node: Node, action: int) -> Node:
    """What follows when the mover decides so."""
    game, move = copied(node.game), variant.actions.moves[action]
    public = Move(move.kind) if move.kind in (SECRET, TRADE_OFF) else move
    kernels.apply_one(variant.rules, game, action)
    return Node(game, node.chance, seen(node.views, node.game.mover, move, public))


def seen(views: tuple[View, View], me: int, mine: object, theirs: object) -> tuple[View, View]:
    events = (mine, theirs) if me == 0 else (theirs, mine)
    return (*views[0], events[0]), (*views[1], events[1])


def random_actions(
    variant: Variant, masks: NDArray[np.int8], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Legal actions, (B,): a tile first and then its cards, as most actions are Competitions."""
    tile = rng.random((len(masks), 6))[:, variant.actions.kind]
    return (masks * (1 + tile + 1e-9 * rng.random(masks.shape))).argmax(1)


def random_decisions(variant: Variant, rng: np.random.Generator) -> Iterator[Node]:
    """The decision points of one game in which everybody plays at random."""
    node = root(variant)
    while node.game.mover != OVER:
        if node.game.mover == CHANCE:
            choices = outcomes(variant, node.game)
            outcome, chance = choices[rng.choice(len(choices), p=[p for _, p in choices])]
            node = resolved(variant, node, outcome, chance)
        else:
            yield node
            mask = legal(variant, node.game)[None]
            node = played(variant, node, int(random_actions(variant, mask, rng)[0]))


# --- All of them


def walk(variant: Variant) -> Iterator[Node]:
    """Every node of a one-round game, from where both hands have been dealt."""
    stack = deals(variant)
    while stack:
        node = stack.pop()
        yield node
        stack.extend(children(variant, node))


def children(variant: Variant, node: Node) -> list[Node]:
    if node.game.mover == OVER:
        return []
    if node.game.mover == CHANCE:
        return [resolved(variant, node, *outcome) for outcome in outcomes(variant, node.game)]
    actions = np.flatnonzero(legal(variant, node.game)).tolist()
    return [played(variant, node, action) for action in actions]


def deals(variant: Variant) -> list[Node]:
    """Every deal once, whatever the order of its cards."""
    level = [root(variant)]
    while level[0].game.phase in (CHOOSE_STARTER, DEAL):
        level = merged(child for node in level for child in children(variant, node))
    return level


def merged(nodes: Iterable[Node]) -> list[Node]:
    found: dict[bytes, Node] = {}
    for node in nodes:
        same = found.setdefault(node.game.tobytes(), node._replace(chance=0.0))
        found[node.game.tobytes()] = same._replace(chance=same.chance + node.chance)
    return list(found.values())


def batch(variant: Variant, nodes: list[Node]) -> NDArray[np.void]:
    """The games of these nodes as one array, (B,)."""
    games = variant.new(np.zeros(len(nodes), np.uint64))
    for b, node in enumerate(nodes):
        games[b] = node.game
    return games
