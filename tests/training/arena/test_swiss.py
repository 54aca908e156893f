"""Swiss rounds: everybody plays in each, nobody twice against the same, equals against equals."""

import numpy as np
import pytest

from hanamachi.errors import UserError
from hanamachi.training.arena.swiss import Shares, Standings, check_rounds


def both(*firsts: float) -> list[Shares]:
    """What the two of each pair won, given what the first did."""
    return [(first, 1 - first) for first in firsts]


def play_all(players: int, results: np.random.Generator) -> Standings:
    """As many rounds as are allowed, whose results are given by chance."""
    standings = Standings(players)
    check_rounds(players // 2, players)
    for _ in range(players // 2):
        pairs, bye = standings.next_round()
        playing = [player for pair in pairs for player in pair]
        away = [] if bye is None else [bye]
        assert sorted(playing + away) == list(range(players))
        assert len(away) == players % 2
        assert standings.met.isdisjoint(pairs)
        assert standings.had_bye.isdisjoint(away)
        standings.add(pairs, both(*results.choice([0, 0.25, 0.5, 1], len(pairs))), bye)
    return standings


@pytest.mark.parametrize("players", [*range(4, 40), 101])
def test_everybody_plays_each_round_against_somebody_new(players: int) -> None:
    for seed in range(20):
        play_all(players, np.random.default_rng(seed))


def test_players_left_over_part_a_pair() -> None:
    """Taken in order, 0 to 3 leave 4 and 5 to each other, who have met."""
    standings = Standings(6)
    standings.add([(0, 2), (1, 3), (4, 5)], both(0.5, 0.5, 0.5), None)
    pairs, _ = standings.next_round()
    assert (4, 5) not in pairs
    assert sorted(player for pair in pairs for player in pair) == list(range(6))


def test_those_of_the_same_score_meet() -> None:
    standings = Standings(8)
    standings.add([(0, 1), (2, 3), (4, 5), (6, 7)], both(1, 0, 0.75, 0.25), None)
    pairs, _ = standings.next_round()
    assert pairs == [(0, 3), (4, 7), (5, 6), (1, 2)]


def test_the_last_without_a_bye_has_it_and_scores_a_match() -> None:
    standings = Standings(5)
    _, bye = standings.next_round()
    assert bye == 4
    standings.add([(0, 1), (2, 3)], both(1, 1), 4)
    assert standings.order() == [0, 2, 4, 1, 3]
    assert standings.next_round()[1] == 3


@pytest.mark.parametrize(("rounds", "players"), [(1, 20), (11, 20), (2, 3), (3, 5)])
def test_rounds_in_which_somebody_would_meet_twice_are_refused(rounds: int, players: int) -> None:
    with pytest.raises(UserError, match="--swiss"):
        check_rounds(rounds, players)
