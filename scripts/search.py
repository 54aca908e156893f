"""What search is worth: by the time that a choice may take, and by kind.

    python scripts/search.py --out docs

Every search meets the policy it starts from, or the one that is named; in Hanabi it plays with
it. Each choice has one thread, and as many games are played at once as there are processors.
Results are kept in search.json, so that a stopped script resumes, and make the page
value-of-search.md with its curve. What the agents gain is on the page, too: leaderboard.py measures
it, and keeps it in leaderboard.json.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from math import hypot
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
from leaderboard import searches_against
from markdown_tables import heading, points, row, wins

from hanamachi.engine.threads import processors
from hanamachi.games.registry import VARIANTS, variant
from hanamachi.policies.load import load_policy
from hanamachi.training.cli.main import run
from hanamachi.training.cluster import ONE_THREAD
from hanamachi.training.evaluation.deals import Pairing
from hanamachi.training.evaluation.json_results import write_json
from hanamachi.training.evaluation.matches import results_of
from hanamachi.training.evaluation.plan import Mapper, Plan, play_pairings
from hanamachi.training.evaluation.results import Row, TeamScore, team_score
from hanamachi.training.provenance import processor

PAGE_NAME = "value-of-search.md"  # the site itself writes a search.html
SEED = 30_000  # of deals that no run plays
PART = 10  # games that a process plays before it asks for more
PLAIN = 20_000  # games of Hanabi without search


class Match(NamedTuple):
    game: str
    search: str
    other: str
    games: int = 1_000


SECONDS = (0.01, 0.03, 0.1, 0.3, 1)
CURVE = [
    Match("hanamikoji", f"search:improve:expert:seconds={seconds}", "expert") for seconds in SECONDS
]
TENTH = [
    Match("hanamikoji", "search:endgame:expert:seconds=0.1", "expert"),
    Match("hanamikoji", "search:mcts:seconds=0.1", "greedy"),
]
BESIDE = [Match("hanabi:2p", "search:single_agent:expert:worlds=512", "expert", 600)]
PAGE = """# What search is worth

[Search at decision time](thinking-ahead.md) strengthens policies in competitive games, and some
teams of Hanabi. This page says by how much. Policies that compete play each deal twice with the
seats exchanged; a draw counts half. A policy samples its actions if it is stochastic; teams of
Hanabi play their most probable ones. All intervals are 95% intervals.

## Over the agents

Each agent of the package with search, against itself without, as measured for [the
leaderboard](leaderboard.md), which also has its games against others:

{rivals}

In Hanabi the search sits in one seat, with copies of the agent in the others, or in all seats. The
gain is what it adds to the same games without search. Intervals of fewer than 200 games are rough:
a single lost game moves them.

{teams}

A search assumes that the others play the agent. If one seat searches, this is true, so on average
its changes lose nothing, but for the errors of its samples. If all seats search, it is false: each
reads the others' changed actions as the agent's. So there each replaces the agent's action only if
another one is better by three standard errors (`sure=3`) instead of one. Even this guarantees
nothing. In `hanabi:2p`, all seats that search score about as much as one. Hat guessers, the agents
for three to five players without `:partner`, score less if all seats search than if one does: each
of their clues tells all others something, which a changed clue makes untrue. With the usual
`sure=1`, all seats of an earlier `hanabi:2p` gained +0.17 (-0.23 to +0.56) in 60 games; for that
agent, one seat gained +0.60 (+0.43 to +0.76) in 1,000 games.

The search `improve` stops its playouts only where a new round begins. Two alternatives were tried
at about 100 positions of Hanamikoji, and the chosen actions compared in 320 other worlds. Neither
helped: to stop within the round at the network's values, and to mix these values into the results
of the playouts.

The tables below are of policies written by hand, and were measured by `scripts/search.py` on
{machines}. A search has one thread for each decision, and as many games run at once as there are
processors. The seconds are the wall time of a game.

## By the time for a decision

In Hanamikoji, against the blueprint, which is the policy that the search starts from. A search
stops early once its choice is certain, and forced moves take no time. It may exceed its time by its
first few worlds, because it always looks at these.

{curve}

![Wins by seconds for a decision](search.png)

## In a tenth of a second

{tenth}

## In Hanabi

One of two players searches; the other plays the policy that the search starts from. The column
`without` is the mean score of that policy in both seats, over {plain:,} other deals. The gain is
the difference of two independent means.

{beside}
"""
Result = dict[str, Any]
Results = dict[str, Result]


# --- Measuring


def measure(match: Match, mapper: Mapper) -> Result:
    """What came out of a match, and how many seconds a game took."""
    together, begun = VARIANTS[match.game].cooperative, perf_counter()
    result = asdict((with_partners if together else apart)(match, mapper))
    taken = (perf_counter() - begun) * processors() / match.games
    result |= {"game": match.game, "seconds": round(taken, 2), "processor": processor()}
    if together:
        plain = Match(match.game, match.other, match.other, PLAIN)
        result["gain"] = difference(result, asdict(with_partners(plain, mapper, SEED + 1)))
    return result


def apart(match: Match, mapper: Mapper) -> Row:
    """How a search does against somebody."""
    game, search, other, games = match
    how: dict[str, Any] = {"plays": ["sample"], "batch": PART, "mapper": mapper}
    (row,) = results_of(search, [other], game, games, SEED, **how)
    return row


def with_partners(match: Match, mapper: Mapper, seed: int = SEED) -> TeamScore:
    """How it scores with somebody in the other seat."""
    game, search, other, games = match
    team = load_policy(search, game), load_policy(other, game)
    pairing = Pairing(team, (search, other), variant(game), "argmax")
    (part,) = play_pairings([pairing], Plan(games, seed, PART, mapper))
    return team_score(pairing, part)


def difference(score: Result, plain: Result) -> dict[str, float]:
    """Of the means of two independent samples, with its interval."""
    mean = score["mean"] - plain["mean"]
    half = hypot(*((each["high"] - each["low"]) / 2 for each in (score, plain)))
    return {"plain": plain["mean"], "mean": mean, "low": mean - half, "high": mean + half}


# --- The page


def page(results: Results, agents: Results) -> str:
    """What this script measured, and what the leaderboard has of the agents with search."""
    machines = {result["processor"] for result in results.values()}
    return PAGE.format(
        rivals="\n".join(over_rivals(agents)),
        teams="\n".join(over_teams(agents)),
        machines=" and ".join(sorted(machines)),
        curve="\n".join(rates(results, CURVE)),
        tenth="\n".join(rates(results, TENTH)),
        beside="\n".join(scores(results, BESIDE)),
        plain=PLAIN,
    )


def over_rivals(agents: Results) -> Iterator[str]:
    yield from heading("search", "games", "wins against the agent, per cent")
    for id, result in agents.items():
        for found in searches_against(id, result):
            yield row(f"`{found['policy']}`", f"{found['games']:,}", wins(found))


def over_teams(agents: Results) -> Iterator[str]:
    yield from heading("search", "seats", "games", "score", "gain")
    for result in agents.values():
        found = result.get("search", {})
        if "gain" in found:
            yield in_team(found, "one")
            yield in_team(found["everywhere"], "all")


def in_team(found: Mapping[str, Any], seats: str) -> str:
    means = points(found["score"], ".2f"), points(found["gain"], "+.2f")
    return row(f"`{found['policy']}`", seats, f"{found['games']:,}", *means)


def rates(results: Results, matches: Sequence[Match]) -> Iterator[str]:
    yield from heading("game", "search", "against", "games", "wins, per cent", "seconds a game")
    for match in matches:
        found = results[key(match)]
        names = match.game, f"`{match.search}`", f"`{match.other}`"
        yield row(*names, f"{found['games']:,}", wins(found), f"{found['seconds']:.1f}")


def scores(results: Results, matches: Sequence[Match]) -> Iterator[str]:
    yield from heading("game", "search", "games", "score", "without", "gain", "seconds a game")
    for match in matches:
        found = results[key(match)]
        gain = found["gain"]
        means = points(found, ".2f"), f"{gain['plain']:.2f}", points(gain, "+.2f")
        names = match.game, f"`{match.search}`", f"{found['games']:,}"
        yield row(*names, *means, f"{found['seconds']:.1f}")


def plot(results: Results, path: Path) -> None:
    """Wins over the seconds that a choice may take."""
    found = [results[key(match)] for match in CURVE]
    rate, low, high = ([100 * each[end] for each in found] for end in ("rate", "low", "high"))
    figure, panel = plt.subplots(figsize=(6, 3.5), layout="constrained")
    panel.fill_between(SECONDS, low, high, alpha=0.2, linewidth=0)
    panel.plot(SECONDS, rate, "o-")
    panel.set(xscale="log", xlabel="seconds for a choice", ylabel="wins, per cent")
    panel.set_xticks(SECONDS, [f"{seconds:g}" for seconds in SECONDS])
    panel.grid(axis="y", linewidth=0.5)
    figure.savefig(path, dpi=120)


def key(match: Match) -> str:
    return f"{match.game}: {match.search} and {match.other}"


def kept(data: Path) -> Results:
    """What a file holds, if it is there."""
    return json.loads(data.read_text(encoding="utf-8")) if data.exists() else {}


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the page and its data")
    parser.add_argument("--each", type=int, help="games of each; by default as many as are shown")
    return parser.parse_args()


def main(given: argparse.Namespace) -> None:
    os.environ.update(ONE_THREAD)  # of every process
    data = given.out / "search.json"
    results, agents = kept(data), kept(given.out / "leaderboard.json")
    with ProcessPoolExecutor(processors(), get_context("spawn")) as pool:
        for match in (*CURVE, *TENTH, *BESIDE):
            match = match._replace(games=given.each or match.games)
            name = key(match)
            if results.get(name, {}).get("games") != match.games:
                results[name] = measure(match, pool.map)
                write_json(results, data)
                print(name, results[name], flush=True)
    (given.out / PAGE_NAME).write_text(page(results, agents), encoding="utf-8")
    plot(results, given.out / "search.png")


if __name__ == "__main__":
    given = parsed()
    sys.exit(run(lambda: main(given)))
