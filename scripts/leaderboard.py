"""The leaderboard: every policy that ships, versus and with each other, and with search.

    python scripts/leaderboard.py --out docs
    python scripts/leaderboard.py --out docs --games hanamikoji --add my_package:policy

For each game that an agent ships for, all rule policies, its agents, and all others named play
a tournament. In competitive games the agent that searches plays all of them, in Hanabi it plays
with copies of the agent; with --add it does not play. Results are kept in leaderboard.json, so that
a stopped script resumes, and make the page leaderboard.md. A game is measured again with --anew, if
somebody is missing, if the number of games differs, or if an agent's weights have changed; policies
that were added stay listed.
"""

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from shutil import rmtree
from time import perf_counter
from typing import Any

import numpy as np
from markdown_tables import heading, row, wins
from numpy.typing import NDArray

from hanamachi.engine.threads import processors
from hanamachi.games.registry import VARIANTS
from hanamachi.games.registry import variant as make_variant
from hanamachi.policies.agents import agent_folder, agents_of
from hanamachi.policies.load import load_policy
from hanamachi.policies.networks.checkpoint import CONFIG
from hanamachi.policies.rules.registry import rule_policies_for
from hanamachi.storage.files import replacing
from hanamachi.training.cli.main import run
from hanamachi.training.evaluation.deals import divided
from hanamachi.training.evaluation.fingerprints import DIGITS
from hanamachi.training.evaluation.json_results import write_json
from hanamachi.training.evaluation.matches import evaluate
from hanamachi.training.evaluation.playing import Deals, DecisionRequest, decide, play_games
from hanamachi.training.evaluation.progress import ShowGames
from hanamachi.training.evaluation.ranking import TOO_NOISY
from hanamachi.training.evaluation.report import bars
from hanamachi.training.evaluation.results import Row, rounded
from hanamachi.training.evaluation.statistics import Float64s, normal_interval, rating_among
from hanamachi.training.exploitation import (
    ATTACK,
    EVEN,
    EXPLOITATION,
    Response,
    budget,
    read_exploitation,
    summary,
)
from hanamachi.training.provenance import processor
from hanamachi.training.workers import map_by

SEARCHES = {"hanabi:2p": 1_000}  # games of the search
BUDGET, TIMED = "worlds=16", "seconds=0.1"  # of the search that plays, and of one that is timed
# of a search in one seat of Hanabi, and in all, where each must be surer: the others search too, so
# what it believes of them is not quite true
IN_ONE_SEAT, IN_ALL_SEATS = "worlds=64", "worlds=64,sure=3"
MOST_IN_ALL_SEATS = 100  # games; a choice takes long
PART = 20  # games of a search of Hanabi that are kept together
TIMED_GAMES = 4
TEACHER = "expert"  # the strongest rule policy that every game has
SEED = 20_000  # of deals that no training and no evaluation of a run has seen
PAGE = """# Leaderboard

How strong every policy of the package is, as measured by `scripts/leaderboard.py`. In competitive
games every pair of policies plays each deal twice, with the seats exchanged; a draw counts half,
and actions are sampled. Elo is fitted without the games of the search; its mean is 0. In Hanabi the
policies sit in alternate seats and play their most probable actions. A result like 61.2 ± 0.9 gives
the farther end of its 95% interval. The agents are part of the package under the names in the
tables, as in `load_policy("hanamikoji")`; [their model cards](../policies/pretrained) say how they
were made.
Those with `:partner` are for play with people and other policies: with three to five players,
people cannot follow the clues of the strongest agent. A perfect game of Hanabi has the best score;
a game that is lost, by the third error, counts 0.

## The agents

{agents}
The last column of the first table is a lower bound: a perfect opponent that knows the agent wins at
least that often. The bounds do not rank the agents; [How strong, how
exploitable](strength.md#the-agents) says how each was found. [What search is
worth](value-of-search.md#over-the-agents) has what the agents gain by search. Results on this page
and on the cards differ by their deals.

{games}
## Published scores of Hanabi

Mean scores that others report of their own policies for 2 to 5 players, not measured here. The
first three count the points of a game that a third error ended; above, such a game counts 0.

{published}
## Your policy

Any policy can be measured in the same way, a checkpoint or a function of your own:

```bash
python scripts/leaderboard.py --out mine --games hanamikoji --add runs/first/policy
```

A policy written in Python is trusted: all policies of a game run in one process, and Python code
there can inspect any object, the true hidden cards included. Only another process is a real wall.

To be listed, open a pull request with the checkpoint in `policies/guests/NAME`, or with the name of
the package that `module:factory` is in, and the `leaderboard.json` that this wrote. Before it is
merged, it is measured again against everybody who is listed.
"""
PUBLISHED = (  # who, where, mean scores for 2 to 5 players
    ("SmartBot, conventions", "https://github.com/Quuxplusone/Hanabi", 23.09, 23.30, 22.44, 20.69),
    ("InfoBot, hat guessing", "https://github.com/Quuxplusone/Hanabi", 19.99, 24.26, 24.86, 24.89),
    ("hanabi.rs, hats", "https://github.com/WuTheFWasThat/hanabi.rs", 22.52, 24.79, 24.94, 24.92),
    ("SPARTA over SAD, search", "https://arxiv.org/abs/1912.02318", 24.61, None, None, None),
    ("IPPO, high entropy", "https://arxiv.org/abs/2511.22581", 24.48, 24.66, 24.55, 23.73),
    ("OBL, off-belief learning", "https://arxiv.org/abs/2103.04000", 24.10, 23.38, None, None),
    ("Other-Play, with SAD", "https://arxiv.org/abs/2003.02979", 24.06, None, None, None),
    ("SAD, deep Q-learning", "https://arxiv.org/abs/1912.02288", 24.01, 23.93, 23.81, 23.01),
    ("IPPO, policy gradient", "https://arxiv.org/abs/2103.01955", 24.0, 23.3, 22.5, 20.8),
    ("Rainbow, deep Q-learning", "https://arxiv.org/abs/1902.00506", 20.6, 18.7, 18.0, 15.3),
)


# --- Measuring


def met(result: Mapping[str, Any]) -> list[str]:
    """Who has played in a game."""
    return list(result["tournament"]["policies"]) if "tournament" in result else []


def games_in(result: Mapping[str, Any]) -> int:
    """How many games each pairing of a tournament has."""
    return int(result["tournament"]["games"])


def players(id: str, result: Mapping[str, Any], added: Sequence[str]) -> list[str]:
    """Everybody who is at home in a game, who was there before, and who is added."""
    at_home = [*rule_policies_for(make_variant(id)), *agents_of(id)]
    return list(dict.fromkeys([*at_home, *met(result), *added]))


def weights_of(id: str) -> dict[str, str]:
    """The digest of the weights of each agent for this game."""
    return {
        agent: json.loads((agent_folder(agent) / CONFIG).read_text(encoding="utf-8"))["weights"]
        for agent in agents_of(id)
    }


def tournament(id: str, everybody: Sequence[str], games: int, out: Path) -> dict[str, Any]:
    """Everybody against each other; an earlier one that was stopped resumes."""
    with ShowGames() as watch:
        how = {"out": kept(id, out), "watch": watch}
        return evaluate(everybody, id, games, SEED, **how).as_json()


def kept(id: str, out: Path) -> Path:
    """The folder of the games of a tournament that has not ended."""
    return out / "leaderboard.games" / id.replace(":", "-")


def forget(id: str, out: Path) -> None:
    """Remove the games of a tournament whose results are written."""
    rmtree(kept(id, out), ignore_errors=True)
    with suppress(OSError):  # which says that other games are kept there
        kept(id, out).parent.rmdir()


def search(id: str, games: int | None, others: Sequence[str], out: Path) -> dict[str, Any]:
    """What the agent gains by search."""
    games = games or SEARCHES.get(id, 100 if VARIANTS[id].cooperative else 1_000)
    if VARIANTS[id].cooperative:
        few = min(games, MOST_IN_ALL_SEATS)
        everywhere = search_in_team(id, IN_ALL_SEATS, few, out, everywhere=True)
        return search_in_team(id, IN_ONE_SEAT, games, out) | {"everywhere": everywhere}
    thinker = f"search:improve:{id}:"
    with ShowGames() as watch:
        how = {"play": "sample", "out": kept(id, out) / "search", "watch": watch}
        played = evaluate([thinker + BUDGET], id, games, SEED, opponents=others, **how)
    timed = min(games, TIMED_GAMES)
    times = {budget: times_of(thinker + budget, id, timed) for budget in (BUDGET, TIMED)}
    return {"rows": played.as_json()["results"], "times": times}


class Stopwatch:
    """Times each choice of the first policy in a game between several legal actions."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def decide(self, asked: DecisionRequest) -> NDArray[np.int64]:
        begun = perf_counter()
        actions = decide(asked)
        if asked.side == 0 and (asked.turns.masks.sum(1) > 1).any():
            self.seconds.append(perf_counter() - begun)
        return actions


def searched(result: Mapping[str, Any]) -> bool:
    """Whether the search has played everybody, or in Hanabi, with the agent."""
    found = result.get("search", {})
    return "score" in found or met_all(found.get("rows", ()), met(result))


def times_of(thinker: str, id: str, games: int) -> dict[str, Any]:
    """Seconds that a search takes for a choice, in games against its agent."""
    variant, watch = make_variant(id), Stopwatch()
    pair = load_policy(thinker, id), load_policy(id)
    for number in range(1 + games):
        if number == 1:  # by now all is compiled
            watch.seconds.clear()
        seating, deal = np.roll([[0, 1]], number), np.array([number], np.uint64)
        play_games(pair, variant, seating, deal, SEED, "sample", watch.decide)
    median, p95 = np.quantile(watch.seconds, [0.5, 0.95])
    times = {"median": median, "p95": p95, "longest": max(watch.seconds)}
    return {name: rounded(value) for name, value in times.items()} | {"processor": processor()}


def search_in_team(
    id: str, budget: str, games: int, out: Path, everywhere: bool = False
) -> dict[str, Any]:
    """The score with a search in one seat, each in turn, and what it is more than without.

    With `everywhere`, all seats search, each as if the others did not. All processors play.
    """
    thinker, weights = f"search:single_agent:{id}:{budget}", weights_of(id)[id][:DIGITS]
    folder = kept(id, out) / f"{weights}-{budget}-{'all' if everywhere else 'one'}"
    deals = divided(np.arange(games, dtype=np.uint64), PART)
    with map_by(min(processors(), len(deals))) as mapper:
        parts = list(mapper(partial(scores_of_team, id, thinker, everywhere, folder), deals))
    plain, searched = np.concatenate(parts, axis=1)
    about = {"policy": thinker, "games": games}
    return {**about, "score": estimate(searched), "gain": estimate(searched - plain)}


def scores_of_team(id: str, thinker: str, everywhere: bool, folder: Path, deals: Deals) -> Float64s:
    """The scores of these deals without and with search, (2, D), which the folder keeps."""
    file = folder / f"{deals[0]}-{len(deals)}.npy"
    if not file.exists():
        variant, pair = make_variant(id), (load_policy(id), load_policy(thinker, id))
        turn = (deals.astype(np.int64)[:, None] + np.arange(variant.seats)) % variant.seats
        searching = np.ones_like(turn) if everywhere else (turn == 0).astype(np.int64)
        scores = [
            play_games(pair, variant, seating, deals, SEED, "argmax")[0][:, 0]
            for seating in (np.zeros_like(turn), searching)
        ]
        with replacing(file) as writing:
            np.save(writing, scores)
    return np.load(file)


def estimate(scores: Float64s) -> dict[str, float]:
    low, high = normal_interval(scores)
    return {"mean": rounded(scores.mean()), "low": rounded(low), "high": rounded(high)}


# --- The page


def page(results: Mapping[str, Any]) -> str:
    listed = {id: results[id] for id in VARIANTS if id in results}
    games = "\n".join(section(id, result) for id, result in listed.items())
    agents = "\n".join([*overview(listed), ""])
    return PAGE.format(agents=agents, games=games, published=published())


def overview(results: Mapping[str, Any]) -> Iterator[str]:
    """The agents in a few figures: those that compete, then those that cooperate."""
    rivals = [id for id in results if not VARIANTS[id].cooperative]
    teams = [id for id in results if VARIANTS[id].cooperative]
    if rivals:
        yield from heading("wins, per cent", f"against `{TEACHER}`", "a perfect opponent, at least")
        yield from (rival(id, results[id]) for id in rivals)
    if rivals and teams:
        yield ""
    if teams:
        yield from heading("mean score", "with itself", f"`{TEACHER}` with itself")
        at_home = ((agent, results[id]) for id in teams for agent in agents_of(id))
        yield from (team(agent, result) for agent, result in at_home if agent in met(result))


def rival(id: str, result: Mapping[str, Any]) -> str:
    """The row of an agent that competes."""
    names, (play,) = result["tournament"]["policies"], result["tournament"]["results"]
    won = rate(play, names.index(id), names.index(TEACHER))
    found = strongest_attacker(id, result)
    return row(f"`{id}`", won, f"{100 * found.low:.1f}" if found else "")


def strongest_attacker(id: str, result: Mapping[str, Any]) -> Row | Response | None:
    """Whose interval begins highest, if it begins above what a copy of the agent wins."""
    found: list[Row | Response] = [Row(**each) for each in searches_against(id, result)]
    file = agent_folder(id) / EXPLOITATION
    if file.exists():
        found.append(read_exploitation(file).strongest)
    above = (each for each in found if each.low > EVEN)
    return max(above, key=lambda each: each.low, default=None)


def bounds(results: Mapping[str, Any]) -> Iterator[str]:
    """The table of strength.md: the bound of each agent that competes, and who found it."""
    yield from heading("agent", "bound", "strongest attacker", "its wins, per cent")
    for id, result in results.items():
        if found := strongest_attacker(id, result):
            bound = f"{100 * found.low:.1f}%"
            yield row(
                f"`{id}`", bound, in_words(found), f"{wins(asdict(found))} of {found.games:,} games"
            )


def in_words(attacker: Row | Response) -> str:
    if isinstance(attacker, Response):
        return "the best trained response"
    kind = "local best response" if ATTACK in attacker.policy else "its own search"
    return f"{kind}, `{budget(attacker)}`"


def searches_against(id: str, result: Mapping[str, Any]) -> list[Any]:
    """What an agent's own search wins against it: a row if it was measured."""
    rows = result.get("search", {}).get("rows", ())
    return [each for each in rows if each["opponent"] == id]


def team(agent: str, result: Mapping[str, Any]) -> str:
    """The row of an agent that cooperates."""
    alone = {
        s["policy"]: s for s in result["tournament"]["results"] if s["policy"] == s["partners"]
    }
    return row(f"`{agent}`", mean_score(alone[agent]), mean_score(alone[TEACHER]))


def section(id: str, result: Mapping[str, Any]) -> str:
    tournament = result["tournament"]
    lines = partners(result) if VARIANTS[id].cooperative else competitive(id, result)
    games = f"{tournament['games']:,} games of each pairing."
    return "\n".join([f"## {id}", "", games, "", *lines, *failed(tournament), ""])


def failed(tournament: Mapping[str, Any]) -> Iterator[str]:
    """Who has forfeited games."""
    games: Counter[str] = Counter()
    for forfeits in tournament.get("forfeits", ()):
        games[forfeits["policy"]] += forfeits["games"]
    for policy, count in games.items():
        yield f"\n`{policy}` failed in {count:,} games, which it forfeited."


def competitive(id: str, result: Mapping[str, Any]) -> Iterator[str]:
    """Strongest first: their ratings, and what each wins against each."""
    names, (play,) = result["tournament"]["policies"], result["tournament"]["results"]
    order = sorted(range(len(names)), key=lambda i: -play["elo"][i])
    yield from heading("policy", "Elo", *(names[j] for j in order))
    rows = result.get("search", {}).get("rows", ())
    lines = [search_row(names, play, order, rows)] if met_all(rows, names) else []
    for i in order:
        margin = play["elo_high"][i] - play["elo"][i]
        cells = [f"`{names[i]}`", rating(play["elo"][i], margin)]
        lines.append((play["elo"][i], row(*cells, *(rate(play, i, j) for j in order))))
    yield from (line for _, line in sorted(lines, key=lambda line: -line[0]))
    yield ""
    if 0 < play["noise"] < TOO_NOISY:
        cyclic, noise = f"{play['cyclic']:.1%}", f"{play['noise']:.1%}"
        yield f"{cyclic} of the squared log odds are cyclic (noise alone: up to {noise})."
    yield from search_notes(result.get("search", {}), names)
    file = agent_folder(id) / EXPLOITATION
    if file.exists():
        yield ""
        others = [(each["low"], by_its_search(each)) for each in searches_against(id, result)]
        yield summary(read_exploitation(file), f"`{id}`", others).strip()


def by_its_search(won: Mapping[str, Any]) -> str:
    rate, low, high = (f"{won[name]:.1%}" for name in ("rate", "low", "high"))
    won_by = f"{rate} ({low} to {high}) of {won['games']:,} games"
    return f"Its own search, in the table above, wins {won_by}."


def met_all(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> bool:
    """Whether a search has played everybody, so that it can be rated."""
    return {row["opponent"] for row in rows} >= set(names)


def search_row(
    names: Sequence[str], play: Mapping[str, Any], order: Sequence[int], rows: Sequence[Any]
) -> tuple[float, str]:
    """The rating of the agent that searches, and its row."""
    won = {each["opponent"]: each for each in rows}
    each_won = [won[names[i]] for i in order]
    rates, low, high = (np.array([w[part] for w in each_won]) for part in ("rate", "low", "high"))
    margins = (high - low) / 2
    elo, margin = rating_among(np.array(play["elo"])[order], rates, margins, rows[0]["games"] // 2)
    cells = map(percent, low, rates, high)
    return elo, row(f"`{rows[0]['policy']}`", rating(elo, margin), *cells)


def rating(elo: float, margin: float) -> str:
    return f"{elo:+.0f} ± {margin:.0f}"


def search_notes(found: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    """How often the search played, and how long it takes."""
    rows = found.get("rows", ())
    if met_all(rows, names):
        yield (
            f"The search played {rows[0]['games']:,} games of each pairing. Its Elo is fitted to "
            "the others', which count as exact."
        )
    else:
        yield from (f"`{each['policy']}` wins {Row(**each)}." for each in rows)
    for how, times in found.get("times", {}).items():
        median, p95, longest = (1000 * times[name] for name in ("median", "p95", "longest"))
        yield (
            f"With `{how}` a choice takes {median:.0f} ms (median; 1 in 20 more than {p95:.0f}, "
            f"the longest {longest:.0f}), on one thread of this processor: {times['processor']}."
        )


def rate(play: Mapping[str, Any], i: int, j: int) -> str:
    if i == j:
        return "-"
    return percent(*(play[part][i][j] for part in ("low", "rate", "high")))


def mean_score(found: Mapping[str, Any]) -> str:
    return f"{found['mean']:.2f} ± {margin_of(found['low'], found['mean'], found['high']):.2f}"


def percent(low: float, rate: float, high: float) -> str:
    return f"{100 * rate:.1f} ± {100 * margin_of(low, rate, high):.1f}"


def margin_of(low: float, middle: float, high: float) -> float:
    """How far an interval reaches from its middle, to the farther side."""
    return max(middle - low, high - middle)


def partners(result: Mapping[str, Any]) -> Iterator[str]:
    """Best score first, each with copies of itself; then with each other."""
    scores = result["tournament"]["results"]
    alone = sorted((s for s in scores if s["policy"] == s["partners"]), key=lambda s: -s["mean"])
    names = [s["policy"] for s in alone]
    means = {frozenset((s["policy"], s["partners"])): s["mean"] for s in scores}
    most = len(alone[0]["histogram"]) - 1
    yield from heading("policy", "score", "perfect", "lost", f"a bar for each score, 0 to {most}")
    for s in alone:
        shares = f"{s['perfect']:.1%}", f"{s['lost']:.1%}"
        yield row(f"`{s['policy']}`", mean_score(s), *shares, f"`{bars(s['histogram'])}`")
    yield ""
    yield from reported(result["tournament"]["game"])
    yield "Mixed teams, one policy in each row and column:"
    yield ""
    yield from heading("policy", *names)
    for a in names:
        yield row(f"`{a}`", *(f"{means[frozenset((a, b))]:.2f}" for b in names))


def reported(id: str) -> Iterator[str]:
    """What others say of as many players with five suits."""
    if make_variant(id).options["multicolour"] == "none":
        column = make_variant(id).seats - 2
        scores = [(name, s[column]) for name, _, *s in PUBLISHED if s[column] is not None]
        yield f"Others report {'; '.join(f'{score:g} by {name}' for name, score in scores)}."
        yield ""


def published() -> str:
    lines = [*heading("policy", "2", "3", "4", "5")]
    for name, source, *scores in PUBLISHED:
        cells = ("" if score is None else f"{score:g}" for score in scores)
        lines.append(row(f"[{name}]({source})", *cells))
    return "\n".join([*lines, ""])


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the page and its data")
    games = [id for id in VARIANTS if agents_of(id)]
    parser.add_argument("--games", nargs="+", choices=games, default=games, metavar="GAME")
    parser.add_argument("--add", nargs="+", default=[], metavar="POLICY", help="others to measure")
    parser.add_argument("--each", type=int, default=10_000, help="games of each pairing")
    parser.add_argument("--search-each", type=int, help="games of the search; default: as listed")
    parser.add_argument("--anew", action="store_true", help="measure again what is there")
    return parser.parse_args()


def main(given: argparse.Namespace) -> None:
    data = given.out / "leaderboard.json"
    results = json.loads(data.read_text(encoding="utf-8")) if data.exists() else {}
    for id in given.games:
        result = results.setdefault(id, {})
        everybody, weights = players(id, result, given.add), weights_of(id)
        before = result.get("weights", {})
        if before != weights:  # another agent did it
            result.pop("tournament", None)
        if before.get(id) != weights[id]:
            result.pop("search", None)
        result["weights"] = weights
        if given.anew or met(result) != everybody or games_in(result) != given.each:
            result["tournament"] = tournament(id, everybody, given.each, given.out)
            write_json(results, data)
            forget(id, given.out)
            print(f"played: {id}", flush=True)
        if not given.add and (given.anew or not searched(result)):
            result["search"] = search(id, given.search_each, met(result), given.out)
            write_json(results, data)
            forget(id, given.out)
            print(f"searched: {id}", flush=True)
    (given.out / "leaderboard.md").write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    sys.path.append(os.getcwd())  # where a module:factory is looked for
    given = parsed()
    sys.exit(run(lambda: main(given)))
