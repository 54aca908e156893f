"""Swiss rounds: in each, players of about the same score meet who have not met before.

Notation: K players, known by their numbers.
"""

from collections.abc import Sequence

from hanamachi.errors import UserError, shown
from hanamachi.sessions.arguments import whole_number

FEWEST_ROUNDS = 2  # so that everybody has an opponent

Pair = tuple[int, int]  # of players, the lower number first
Shares = tuple[float, float]  # won by each of a pair; none by two that did not play


def check_rounds(rounds: int, players: int) -> None:
    """UserError unless this number of rounds can be played without two players meeting twice.

    Then everybody has at least half of the others still to meet, which is enough (see `paired`).
    """
    most = players // 2
    if most < FEWEST_ROUNDS:
        raise UserError("Swiss rounds need four players; without --swiss all meet all")
    if not FEWEST_ROUNDS <= whole_number(rounds, "swiss") <= most:
        raise UserError(
            f"Swiss rounds must be from {FEWEST_ROUNDS} to {most} with {players} players, not "
            f"{shown(rounds)}; without --swiss all meet all"
        )


class Standings:
    """What each player has scored so far, and whom it has met."""

    def __init__(self, players: int) -> None:
        self.matches = [0.0] * players  # won; one half for a draw, and one for a bye
        self.games = [0.0] * players  # the shares won in all matches, which decide among equals
        self.met: set[Pair] = set()
        self.had_bye: set[int] = set()

    def order(self) -> list[int]:
        """The players, best first; equals as they were named."""
        return sorted(
            range(len(self.games)), key=lambda player: (-self.matches[player], -self.games[player])
        )

    def next_round(self) -> tuple[list[Pair], int | None]:
        """Who meets whom, and who has a bye: the last who had none, if the number is odd."""
        order, bye = self.order(), None
        if len(order) % 2:
            bye = next(player for player in reversed(order) if player not in self.had_bye)
            order.remove(bye)
        return paired(order, self.met), bye

    def add(self, pairs: Sequence[Pair], shares: Sequence[Shares], bye: int | None) -> None:
        """A round was played; `shares` of the games were won by the two of each pair."""
        for pair, its in zip(pairs, shares, strict=True):
            self.met.add(pair)
            for player, own in zip(pair, its, strict=True):
                self.matches[player] += 0.5 if own == 0.5 else float(own > 0.5)
                self.games[player] += own
        if bye is not None:
            self.had_bye.add(bye)
            self.matches[bye] += 1
            self.games[bye] += 0.5


def paired(order: Sequence[int], met: set[Pair]) -> list[Pair]:
    """All players in pairs that have not met: each with the next in the order, where that goes.

    Possible if everybody has at least half of the K still to meet. Two who are left over, and have
    met, then have at least K of them to meet among the other K - 2, so that some pair can be parted
    and each of the two meets one of it (Dirac 1952).
    """
    waiting, left_over, pairs = list(order), [], []
    while waiting:
        player = waiting.pop(0)
        other = next((each for each in waiting if pair_of(player, each) not in met), None)
        if other is None:
            left_over.append(player)
        else:
            waiting.remove(other)
            pairs.append((player, other))
    while left_over:
        first, second = left_over.pop(), left_over.pop()
        parted, meetings = exchange(first, second, pairs, met)
        pairs.remove(parted)
        pairs += meetings
    return [pair_of(*pair) for pair in pairs]


def exchange(
    first: int, second: int, pairs: Sequence[Pair], met: set[Pair]
) -> tuple[Pair, list[Pair]]:
    """A pair to part, the last that can be, and the two that take its place."""
    for a, b in reversed(pairs):
        for meetings in ([(first, a), (second, b)], [(first, b), (second, a)]):
            if not any(pair_of(*meeting) in met for meeting in meetings):
                return (a, b), meetings
    raise AssertionError("somebody has met more than half of the others")


def pair_of(first: int, second: int) -> Pair:
    return min(first, second), max(first, second)
