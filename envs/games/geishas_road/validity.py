"""Whether a record is a position of Geisha's Road: the round in progress is played again.

`game` is a RECORD of any bytes, `rule_set` a RULE_SET. A record holds all events of its round.
What carried over from earlier rounds is checked by itself; at the end of a game, the last scoring
is taken back first.
"""

import numpy as np

from hanamachi.engine.compiled import inline
from hanamachi.engine.replay import after_use_of, leads_to, same
from hanamachi.games.geishas_road.information import rewind
from hanamachi.games.geishas_road.rules import (
    CARDS,
    COLOURS,
    ENDED,
    KINDS,
    MIDDLE,
    NONE,
    RECORD,
    ROUNDS,
    WORTHS,
    ahead,
    count_points,
    markers_held,
    start,
)

TOKENS_OF_BOTH = 4  # Hidden Offers and Counteroffers, which are worth a point each


@inline
def valid(rule_set: np.record, game: np.record) -> bool:
    copies = np.empty(2, RECORD)
    copies[:] = game
    world, earlier = copies[0], copies[1]
    if game.round_number == 0:
        start(rule_set, earlier)
        return after_use_of(copies, same(earlier, game))
    if not can_be_rewound(rule_set, game):
        return False
    if game.phase == ENDED:
        take_scoring_back(rule_set, world)
    copies[1] = world
    earlier.winner = NONE
    earlier.rewards[:] = 0
    rewind(rule_set, earlier)
    mask = np.empty(rule_set.first[KINDS], np.int8)
    fits = can_begin(rule_set, earlier) and leads_to(rule_set, earlier, world, game, mask)
    return after_use_of(copies, fits)


# --- What can be rewound


@inline
def can_be_rewound(rule_set: np.record, game: np.record) -> bool:
    """Whether all is in range that the last scoring and the way of the geisha are computed from."""
    if not 1 <= game.round_number <= most_rounds(rule_set) or not NONE <= game.starter <= 1:
        return False
    for c in range(COLOURS):
        houses = rule_set.colours if c < rule_set.colours else 1
        if not 0 <= game.steps[c] < houses or not NONE <= game.marker[c] <= 1:
            return False
        for seat in range(2):
            if not 0 <= game.collected[seat, c] <= rule_set.guests:
                return False
    if game.phase == ENDED and game.starter == NONE:
        return False
    return cards_are_numbered(rule_set, game)


@inline
def most_rounds(rule_set: np.record) -> int:
    rounds: int = rule_set.rounds or 2 * rule_set.rounds_to_win - 1
    return rounds


@inline
def cards_are_numbered(rule_set: np.record, game: np.record) -> bool:
    """Whether the cards played have the numbers from 1 on, each once."""
    numbers = 0
    for card in range(CARDS):
        number = int(game.played_as[card])
        if number != 0:
            if card >= rule_set.cards or not 1 <= number <= CARDS or numbers >> number & 1:
                return False
            numbers |= 1 << number
    plays = int(game.plays)
    return 0 <= plays <= CARDS and numbers == (1 << plays + 1) - 2


@inline
def take_scoring_back(rule_set: np.record, game: np.record) -> None:
    """Wins, points and first markers as they may have been before the last scoring."""
    won = np.zeros(2, np.int64)
    points = np.zeros(2, np.int64)
    count_points(rule_set, game, won, points)
    if rule_set.instant_win == 0 or max(won[0], won[1]) < rule_set.instant_win:
        game.wins[ahead(rule_set, game, points[0] - points[1])] -= 1
        game.points[0] -= points[0]
        game.points[1] -= points[1]
    if game.round_number == 1 and rule_set.start_markers != MIDDLE:
        take_markers_back(rule_set, game)


@inline
def take_markers_back(rule_set: np.record, game: np.record) -> None:
    """Each player's first marker: where the scoring left it, else on any geisha that it moved to.

    A later round needs none of this: no marker that is held there could be collected.
    """
    for c in range(rule_set.colours):
        if game.influence[0, c] != game.influence[1, c]:
            game.marker[c] = NONE
    for seat in range(2):
        missing = markers_held(rule_set, game, seat) == 0
        for c in range(rule_set.colours):
            if missing and game.marker[c] == NONE and game.influence[0, c] != game.influence[1, c]:
                game.marker[c] = seat
                missing = False


# --- What carried over


@inline
def can_begin(rule_set: np.record, game: np.record) -> bool:
    """Whether a round can begin so: `game` as `rewind` leaves it."""
    if game.round_number == 1:
        return is_first_round(rule_set, game)
    if not 0 <= game.chooser <= 1 or not wins_fit(rule_set, game):
        return False
    held = markers_held(rule_set, game, 0) + markers_held(rule_set, game, 1)
    if rule_set.start_markers != MIDDLE and held < 2:
        return False
    for c in range(rule_set.colours, COLOURS):
        if game.marker[c] != NONE:
            return False
    return points_fit(rule_set, game)


@inline
def is_first_round(rule_set: np.record, game: np.record) -> bool:
    away = 0
    for c in range(COLOURS):
        away += game.steps[c]
    nothing = game.wins[0] == game.wins[1] == game.points[0] == game.points[1] == away == 0
    as_given = rule_set.starter == NONE or game.starter == rule_set.starter
    return bool(nothing and as_given and game.starter != NONE and game.chooser == NONE)


@inline
def wins_fit(rule_set: np.record, game: np.record) -> bool:
    """One for each earlier round, the last one for the seat that does not choose the starter."""
    wins0, wins1 = int(game.wins[0]), int(game.wins[1])
    if min(wins0, wins1) < 0 or wins0 + wins1 != game.round_number - 1:
        return False
    if rule_set.rounds == 0 and max(wins0, wins1) >= rule_set.rounds_to_win:
        return False
    return bool(game.wins[1 - game.chooser] > 0)


@inline
def points_fit(rule_set: np.record, game: np.record) -> bool:
    """No more than there are; who has won no round has no more than the other."""
    points0, points1 = int(game.points[0]), int(game.points[1])
    offers = int(rule_set.offer_tokens) * TOKENS_OF_BOTH * (game.round_number - 1)
    most = points_of_rounds(rule_set, game.round_number - 1)
    if min(points0, points1) < 0 or points0 + points1 > most + offers:
        return False
    if max(points0, points1) > most + offers // 2:
        return False
    return (game.wins[0] > 0 or points0 <= points1) and (game.wins[1] > 0 or points1 <= points0)


@inline
def points_of_rounds(rule_set: np.record, rounds: int) -> int:
    """The points of all geisha, tokens and guests in the first rounds."""
    guests = int(rule_set.guest_points[len(rule_set.guest_points) - 1])
    a_round = guests if rule_set.guests > 0 else 0
    for worth in range(WORTHS):
        a_round += worth * int(rule_set.tokens[worth])
    for row in range(2):
        for worth in rule_set.rows[row]:
            a_round += int(worth)
    points = a_round * rounds
    for number in range(rounds):
        points += int(rule_set.colours) * int(rule_set.base_points[min(number, ROUNDS - 1)])
    return points
