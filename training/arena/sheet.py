"""The table of a tournament for spreadsheets: a line for each player, best first."""

from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any

import numpy as np

from hanamachi.training.arena.tournament import Tournament
from hanamachi.training.evaluation.deals import Played
from hanamachi.training.evaluation.ranking import alone, best_first
from hanamachi.training.evaluation.results import Evaluation, Forfeits, WinRates, rounded
from hanamachi.training.evaluation.spreadsheet import csv_of

HEADS = "place", "player", "elo", "elo_low", "elo_high", "won", "games", "forfeited"
ALONE = "mean", "low", "high", "perfect", "lost", "games", "forfeited"  # of a player with itself
TEAM_HEADS = "place", "player", *ALONE, "forfeited_with_others"


def as_csv(tournament: Tournament) -> str:
    """Its players: `won` is a share of their games; in a cooperative game each plays with itself.

    `forfeited` are some of these games.
    """
    evaluation = tournament.evaluation
    heads = TEAM_HEADS if evaluation.cooperative else HEADS
    lines = team_lines(evaluation) if evaluation.cooperative else lines_of(tournament)
    return csv_of([heads, *([place, *line] for place, line in enumerate(lines, 1))])


def lines_of(tournament: Tournament) -> Iterator[Sequence[Any]]:
    evaluation = tournament.evaluation
    result: WinRates = evaluation.results[0]
    matches = [match for each in tournament.rounds for match in each.matches]
    for player in best_first(result).tolist():
        name = evaluation.policies[player]
        elo = [float(of[player]) for of in (result.elo, result.elo_low, result.elo_high)]
        ratings = ["" if isnan(each) else round(each, 1) for each in elo]
        yield name, *ratings, *won_by(name, matches), forfeited_by(name, evaluation.forfeits)


def won_by(name: str, matches: Sequence[Played]) -> tuple[float | str, int]:
    """The share of its games that a player won, "" without any, and how many it played."""
    own = [
        part.scores if pairing.names[0] == name else 1 - part.scores
        for pairing, part in matches
        if name in pairing.names
    ]
    if not own:
        return "", 0
    scores = np.concatenate(own)
    return rounded(scores.mean()), len(scores) * matches[0][0].games_a_deal


def team_lines(evaluation: Evaluation) -> Iterator[Sequence[Any]]:
    for team in sorted(alone(evaluation.results), key=lambda team: -team.mean):
        name = team.policy
        figures = team.mean, team.low, team.high, team.perfect, team.lost, team.games
        own = [each for each in evaluation.forfeits if each.opponent == name]
        lost = forfeited_by(name, own)
        yield name, *figures, lost, forfeited_by(name, evaluation.forfeits) - lost


def forfeited_by(name: str, forfeits: Sequence[Forfeits]) -> int:
    return sum(each.games for each in forfeits if each.policy == name)
