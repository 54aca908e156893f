"""Whether nobody can ever win with some cards and actions, so that `max_rounds` must be set."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache

from hanamachi.games.hanamikoji import rules
from hanamachi.games.hanamikoji.observation import CARDS_KEPT, GIVEN


@cache
def never_won(cards: tuple[int, ...], actions: tuple[str, ...]) -> bool:
    """Whether no rounds whatever give a player 11 charm or 4 geisha.

    This is exact. The deal and the draws can give any cards to any hand, and players may group them
    as they like, so a round can end in all ways of `round_ends`. A player holds the geisha won in
    any round and not lost since: `reached` are all sets that some rounds lead to. It is enough to
    follow one player, as seats can be exchanged: if one of them can win, so can the other.
    """
    tiles = zip(rules.ACTIONS, CARDS_KEPT, GIVEN, strict=True)
    each = sum(kept + given for action, kept, given in tiles if action in actions)
    ends = round_ends(cards, each)
    reached, unexplored = {0}, [0]
    while unexplored:
        held = unexplored.pop()
        if is_goal(cards, held):
            return False
        after = {held & ~lost | won for won, lost in ends} - reached
        reached |= after
        unexplored.extend(after)
    return True


def is_goal(cards: Sequence[int], held: int) -> bool:
    """Whether these geisha win the game; bit g stands for geisha g."""
    charm = sum(items for g, items in enumerate(cards) if held >> g & 1)
    return charm >= rules.CHARM_GOAL or held.bit_count() >= rules.GEISHA_GOAL


def round_ends(cards: Sequence[int], each: int) -> set[tuple[int, int]]:
    """The sets of geisha that a round can give to a player and to the other, a bit for each geisha.

    Each side gets `each` items, of every geisha any number, together at most all of hers.
    """
    base = sum(cards) + 1
    sums_of = {(0, 0): 1}  # by both sets, bit a * base + b: the sides can have a and b items so far
    for g, items in enumerate(cards):
        with_her: defaultdict[tuple[int, int], int] = defaultdict(int)
        for (won, lost), sums in sums_of.items():
            for a in range(items + 1):
                for b in range(items + 1 - a):
                    with_her[won | (a > b) << g, lost | (b > a) << g] |= sums << a * base + b
        sums_of = with_her
    return {ends for ends, sums in sums_of.items() if sums >> each * base + each & 1}
