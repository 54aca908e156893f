"""Matches: how well policies play, against each other or, in cooperative games, together.

In competitive games each pair of policies plays the same deals. Each deal is played twice with the
seats exchanged, so that neither policy has the better cards or the better seat; a draw counts half.
In cooperative games two policies take alternate seats, play each deal once, and their score counts.
Random numbers for chance and for every decision come from a hash of the seed, the deal and the
number of decisions made, never from the order in which games are played. So the batch size does not
change a result, and a policy that plays itself scores exactly one half.

Notation: G games, D deals, S seats, K policies, n rows of one call, A actions.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain, combinations, combinations_with_replacement
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hanamachi.engine import kernels
from hanamachi.engine.game import Variant, scatter
from hanamachi.engine.threads import parallel_for
from hanamachi.errors import UserError, shown
from hanamachi.games.registry import VARIANTS
from hanamachi.games.registry import variant as make_variant
from hanamachi.limits import GAMES
from hanamachi.policies.load import load_policy
from hanamachi.policies.policy import Policy, as_policy, best, sample
from hanamachi.policies.rules.registry import rule_policies_for
from hanamachi.sessions.players import SeatedPlayer, Turns, in_progress, turns_of
from hanamachi.sessions.policy_checks import memory_of
from hanamachi.sessions.session import whole_number
from hanamachi.training.evaluation.statistics import (
    Cycle,
    Floats,
    Pairs,
    at_once,
    cyclic_share,
    elo,
    interval,
    normal_interval,
    strongest_cycle,
)

Play = Literal["sample", "argmax"]
PLAYS: tuple[Play, ...] = ("sample", "argmax")
Given = str | Path | Policy  # a policy, as a caller names it
Mapper = Callable[..., Iterable[Any]]  # works like `map`, perhaps on many processors

ALL = "all"  # among opponents: every rule policy of the game
TWICE = 2  # games of one deal in competitive games
LEAST = 2  # games, for an interval
BATCH = 8192  # games played at the same time
MEMORY = 1 << 28  # bytes that the memories of policies may take in them
SEEDS = 2**63  # each gives two streams of random numbers


@dataclass(frozen=True)
class Schedule:
    """How many games are played, from which seed, and how they are divided."""

    games: int  #: of each pairing
    seed: int
    batch: int = BATCH  #: games played at the same time, at most; does not change results
    mapper: Mapper = map  #: may play several parts at once; does not change results


# --- Results


@dataclass(frozen=True)
class Row:
    """The result of one policy against one opponent; rates lie between 0 and 1."""

    policy: str
    opponent: str
    play: Play
    games: int
    rate: float
    low: float
    high: float

    def __str__(self) -> str:
        rate, low, high = (f"{100 * share:.1f}" for share in (self.rate, self.low, self.high))
        return f"{rate} % against {self.opponent} ({low} to {high}), {self.games:,} games"


@dataclass(frozen=True)
class CrossPlay:
    """All pairings of K policies under one way of play: each rate is the row policy's."""

    play: Play
    rate: Floats  #: (K, K), one half on the diagonal
    low: Floats  #: (K, K)
    high: Floats  #: (K, K)
    elo: Floats  #: (K,), mean 0
    elo_low: Floats  #: (K,)
    elo_high: Floats  #: (K,)
    cyclic: float  #: share of the log odds that no ratings explain, see `cyclic_share`
    noise: float  #: the share that noise alone stays below, 19 times in 20
    cycle: Cycle | None  #: of three policies, the strongest


@dataclass(frozen=True)
class TeamScore:
    """The score of a policy and its partners, which are copies of it or of another policy."""

    policy: str
    partners: str
    play: Play
    games: int
    mean: float
    low: float
    high: float
    perfect: float  #: share of the games with the best score that there is
    lost: float  #: share of the games that ended in a defeat
    histogram: list[int]  #: games by score, from 0

    @property
    def partner_label(self) -> str:
        """The partners in words."""
        return "itself" if self.partners == self.policy else self.partners


Rows = list[Row] | list[TeamScore]  # of one policy, the latter in a cooperative game


@dataclass(frozen=True)
class Evaluation:
    """The result of an evaluation: what was played, by which policies, and how it ended."""

    game: str
    options: dict[str, Any]
    policies: list[str]
    opponents: list[str]  #: of each policy; none if all policies meet each other
    games: int  #: of each pairing
    seed: int
    #: a CrossPlay for each way of play, or Rows; in cooperative games TeamScores
    results: list[Any]

    @property
    def cooperative(self) -> bool:
        return VARIANTS[self.game].cooperative

    def as_json(self) -> dict[str, Any]:
        """Plain lists and numbers, to six digits."""
        results = [{name: plain(value) for name, value in asdict(r).items()} for r in self.results]
        return {**asdict(self), "results": results}


def plain(value: Any) -> Any:
    return value.round(6).tolist() if isinstance(value, np.ndarray) else value


# --- Evaluations


def evaluate(
    policies: Sequence[Given],
    game: str,
    games: int = 10_000,
    seed: int = 0,
    *,
    opponents: Sequence[Given] = (),
    play: Play | Literal["both"] | None = None,
    batch: int = BATCH,
    mapper: Mapper = map,
    **options: Any,
) -> Evaluation:
    """Let every pair of policies play `games` games, and rank or score all policies.

    With `opponents`, each policy plays against (or with) only these; "all" stands for every other
    rule policy of the game. In cooperative games each policy also plays with itself. `play` is how
    all choose: "sample" from the distributions, "argmax" for the most probable action (ties are
    broken at random), or "both"; None is "sample" in competitive games and "argmax" in cooperative
    ones. `batch` and `mapper` are those of a Schedule, and `options` the game's. Raises UserError
    if an argument does not fit.
    """
    variant = make_variant(game, **options)
    plays, schedule = chosen_plays(play, variant), Schedule(games, seed, batch, mapper)
    check_games(games, seed, variant)
    about = variant.id, dict(variant.options)
    if opponents:
        rows = each_against(policies, opponents, variant, plays, schedule)
        names, others = participants(rows)
        return Evaluation(*about, names, others, games, seed, rows)
    players = loaded(policies, variant)
    names = labels(policies, players)
    score_all = team_scores if variant.game.cooperative else tournament
    results = [score_all(players, names, variant, way, schedule) for way in plays]
    return Evaluation(*about, names, [], games, seed, list(chain.from_iterable(results)))


def chosen_plays(play: str | None, variant: Variant) -> Sequence[Play]:
    usual: Sequence[Play] = PLAYS[::-1] if variant.game.cooperative else PLAYS
    return usual if play == "both" else (checked_play(play or usual[0]),)


def tournament(
    players: Sequence[Policy],
    names: Sequence[str],
    variant: Variant,
    play: Play,
    schedule: Schedule,
) -> list[CrossPlay]:
    """Every pair of policies against each other; the list has one entry."""
    if len(players) < 2:
        raise UserError("name at least two policies to let them play each other, or --against all")
    pairs = list(combinations(range(len(players)), 2))
    how = vars(schedule)
    scores = [match((players[i], players[j]), variant, play=play, **how) for i, j in pairs]
    return [cross_play(play, names, pairs, np.array(scores))]


def cross_play(play: Play, names: Sequence[str], pairs: Pairs, scores: Floats) -> CrossPlay:
    """The matrix of all pairings from the scores of the first of each pair, (pairs, D)."""
    rate, low, high, least = (np.full((len(names), len(names)), 0.5) for _ in range(4))
    for (i, j), row in zip(pairs, scores, strict=True):
        rate[i, j], (low[i, j], high[i, j]) = row.mean(), interval(row)
        rate[j, i], low[j, i], high[j, i] = 1 - rate[i, j], 1 - high[i, j], 1 - low[i, j]
        least[i, j], most = interval(row, at_once(len(pairs)))
        least[j, i] = 1 - most
    ratings, margins = elo(len(names), pairs, scores)
    cyclic, noise = map(rounded, cyclic_share(len(names), pairs, scores))
    cycle = strongest_cycle(names, rate, least)
    return CrossPlay(
        play, rate, low, high, ratings, ratings - margins, ratings + margins, cyclic, noise, cycle
    )


def versus(
    policy: Given,
    opponents: Sequence[Given],
    game: str,
    games: int = 10_000,
    seed: int = 0,
    *,
    plays: Sequence[Play] = PLAYS,
    batch: int = BATCH,
    mapper: Mapper = map,
    **options: Any,
) -> list[Row]:
    """The result of one policy against each opponent, for each way of play in `plays`."""
    variant = make_variant(game, **options)
    me, *others = loaded([policy, *opponents], variant)
    (mine,) = labels([policy], [me])
    rows = []
    for name, other in zip(labels(opponents, others), others, strict=True):
        for play in plays:
            scores = match((me, other), variant, games, seed, play=play, batch=batch, mapper=mapper)
            low, high = interval(scores)
            rows.append(Row(mine, name, play, games, *map(rounded, (scores.mean(), low, high))))
    return rows


def with_partners(
    policy: Given,
    partners: Sequence[Given],
    game: str,
    games: int = 10_000,
    seed: int = 0,
    *,
    plays: Sequence[Play] = PLAYS[::-1],
    batch: int = BATCH,
    mapper: Mapper = map,
    **options: Any,
) -> list[TeamScore]:
    """The scores of one policy in a cooperative game: with itself, then with each partner."""
    variant = make_variant(game, **options)
    me, *others = loaded([policy, *partners], variant)
    name, *names = labels([policy, *partners], [me, *others])
    schedule = Schedule(games, seed, batch, mapper)
    return [
        team_score((me, other), (name, partner), variant, play, schedule)
        for other, partner in zip([me, *others], [name, *names], strict=True)
        for play in plays
    ]


def each_against(
    policies: Sequence[Given],
    opponents: Sequence[Given],
    variant: Variant,
    plays: Sequence[Play],
    schedule: Schedule,
) -> Rows:
    """Every policy against each opponent, or with each partner."""
    meet: Any = with_partners if variant.game.cooperative else versus
    how = vars(schedule)
    rows: Rows = []
    for policy in policies:
        others = named(opponents, policy, variant)
        rows += meet(policy, others, variant.id, plays=plays, **how, **variant.options)
    return rows


def named(opponents: Sequence[Given], policy: Given, variant: Variant) -> list[Given]:
    """The opponents of a policy, each once; "all" leaves out the policy itself."""
    every = [name for name in rule_policies_for(variant) if name != policy]
    return list(dict.fromkeys(chain.from_iterable(every if o == ALL else [o] for o in opponents)))


def participants(rows: Rows) -> tuple[list[str], list[str]]:
    """The names of the policies, and of their opponents or partners."""
    others = [row.partners if isinstance(row, TeamScore) else row.opponent for row in rows]
    return list(dict.fromkeys(row.policy for row in rows)), list(dict.fromkeys(others))


def rounded(rate: float) -> float:
    return round(float(rate), 6)


def checked_play(play: str) -> Play:
    if play not in PLAYS:
        raise UserError(f"play must be sample, argmax or both, not {shown(play)}")
    return play  # type: ignore[return-value]


def loaded(policies: Sequence[Given], variant: Variant) -> list[Policy]:
    """The policies themselves, each able to play this game."""
    players = [
        load_policy(str(p), variant.id, **variant.options)
        if isinstance(p, str | Path)
        else as_policy(p, variant)
        for p in policies
    ]
    for player in players:
        if not player.variant.understands(variant):
            raise UserError(f"{player.name} plays {player.variant.id} and cannot play {variant.id}")
    return players


def labels(given: Sequence[Given], players: Sequence[Policy]) -> list[str]:
    """A name for each policy, as it was given; a name used before gets a number."""
    names = [
        str(g) if isinstance(g, str | Path) else p.name for g, p in zip(given, players, strict=True)
    ]
    counts = [names[: i + 1].count(name) for i, name in enumerate(names)]
    return [f"{name} ({n})" if n > 1 else name for name, n in zip(names, counts, strict=True)]


# --- Matches


def match(
    pair: tuple[Policy, Policy],
    variant: Variant,
    games: int,
    seed: int,
    *,
    play: Play = "sample",
    batch: int = BATCH,
    mapper: Mapper = map,
) -> Floats:
    """The first policy's score on each deal, (D,): the mean of its two games."""
    check_games(games, seed, variant)
    deals = np.arange(games // TWICE, dtype=np.uint64)
    parts = divided(deals, games_at_once(pair, variant, batch) // TWICE)
    return np.concatenate([*mapper(partial(play_deals, pair, variant, seed, play), parts)])


def check_games(games: int, seed: int, variant: Variant) -> None:
    """Raise UserError unless these games can be played from this seed."""
    games, parts = whole_number(games, "games"), 1 if variant.game.cooperative else TWICE
    if not LEAST <= games <= GAMES or games % parts:
        even = "" if parts == 1 else "even, as every deal is played twice, and "
        raise UserError(f"games must be {even}from {LEAST} to {GAMES:,}, not {shown(games)}")
    if not 0 <= whole_number(seed, "a seed") < SEEDS:
        raise UserError(f"a seed must be from 0 to {SEEDS - 1}, not {shown(seed)}")


def divided(deals: NDArray[np.uint64], most: int) -> list[NDArray[np.uint64]]:
    """The deals in parts of at most `most`."""
    return [deals[i : i + max(1, most)] for i in range(0, len(deals), max(1, most))]


def play_deals(
    pair: tuple[Policy, Policy], variant: Variant, seed: int, play: Play, deals: NDArray[np.uint64]
) -> Floats:
    """Play each deal twice; the seats of the second game are those of the first, exchanged."""
    first = np.arange(variant.seats) % TWICE
    seating = np.repeat([first, 1 - first], len(deals), axis=0)  # (G, S) which policy sits where
    returns, _ = play_games(pair, variant, seating, np.tile(deals, TWICE), seed, play)
    lead = (returns * (1 - 2 * seating)).sum(1)
    return ((np.sign(lead) + 1) / 2).reshape(TWICE, -1).mean(0)


def team_scores(
    players: Sequence[Policy],
    names: Sequence[str],
    variant: Variant,
    play: Play,
    schedule: Schedule,
) -> list[TeamScore]:
    """Each policy with copies of itself, and every pair of policies together."""
    pairs = combinations_with_replacement(zip(players, names, strict=True), 2)
    return [team_score((p, q), (a, b), variant, play, schedule) for (p, a), (q, b) in pairs]


def team_score(
    team: tuple[Policy, Policy],
    names: tuple[str, str],
    variant: Variant,
    play: Play,
    schedule: Schedule,
) -> TeamScore:
    """The score of two policies together; they may be the same."""
    scores, lost = play_together(team, variant, play, schedule)
    games = schedule.games
    low, high = normal_interval(scores)
    counts = np.bincount(scores.astype(np.int64), minlength=variant.best_score + 1)
    return TeamScore(
        *names,
        play,
        games,
        mean=rounded(scores.mean()),
        low=rounded(low),
        high=rounded(high),
        perfect=rounded(counts[-1] / games),
        lost=rounded(lost.mean()),
        histogram=counts.tolist(),
    )


def play_together(
    team: tuple[Policy, Policy], variant: Variant, play: Play, schedule: Schedule
) -> tuple[Floats, NDArray[np.bool_]]:
    """The score of each game, (G,), and whether it was lost, (G,)."""
    games = schedule.games
    check_games(games, schedule.seed, variant)
    most = games_at_once(team, variant, schedule.batch)
    parts = divided(np.arange(games, dtype=np.uint64), most)
    part = partial(play_deals_together, team, variant, schedule.seed, play)
    played = [*schedule.mapper(part, parts)]
    scores, lost = zip(*played, strict=True)
    return np.concatenate(scores), np.concatenate(lost)


def play_deals_together(
    team: tuple[Policy, Policy], variant: Variant, seed: int, play: Play, deals: NDArray[np.uint64]
) -> tuple[Floats, NDArray[np.bool_]]:
    """The two policies take alternate seats; which of them sits first changes with each deal."""
    seating = (deals.astype(np.int64)[:, None] + np.arange(variant.seats)) % len(team)
    returns, ended = play_games(team, variant, seating, deals, seed, play)
    return returns[:, 0], variant.lost(ended)


def games_at_once(policies: Sequence[Policy], variant: Variant, batch: int) -> int:
    """How many games are played at the same time: fewer than `batch` for large memories."""
    remembered = variant.seats * sum(memory_of(policy, 1).nbytes for policy in policies)
    return max(1, min(batch, MEMORY // max(1, remembered)))


def play_games(
    policies: Sequence[Policy],
    variant: Variant,
    seating: NDArray[np.int64],
    deals: NDArray[np.uint64],
    seed: int,
    play: Play,
) -> tuple[Floats, NDArray[Any]]:
    """Play one game in each row of `seating`, (G, S).

    Returns what each seat earned, (G, S), and the games as they ended, (G,).
    """
    dealing, deciding = scatter(np.array([2 * seed, 2 * seed + 1], np.uint64))
    table = variant.new(dealing + deals)
    parallel_for(kernels.reset, variant.rule_set, table)
    players = [SeatedPlayer(policy, variant, len(seating)) for policy in policies]
    returns = np.zeros(seating.shape)
    decisions = 0
    while (going := in_progress(table)).size:
        turns = turns_of(variant, table, going)
        uniform = uniforms(deciding + deals[going], decisions)
        actions = np.zeros(len(going), np.int64)
        for i, player in enumerate(players):
            own = np.flatnonzero(seating[going, turns.seats] == i)
            if own.size:
                actions[own] = decide(player, turns.part(own), uniform[own], play)
        returns[going] += turns.step(table, actions)
        decisions += 1
    return returns, table


def decide(
    player: SeatedPlayer[Policy], turns: Turns, uniform: Floats, play: Play
) -> NDArray[np.int64]:
    """One action for each turn, (n,); UserError if the policy's distribution is not valid."""
    distribution, _ = player.distribution(turns)
    return sample(best(distribution) if play == "argmax" else distribution, uniform)


def uniforms(streams: NDArray[np.uint64], count: int) -> Floats:
    """The number from [0, 1) that belongs to each stream and count, (n,)."""
    bits = scatter(scatter(streams) + np.uint64(count))
    return (bits >> np.uint64(12)) / 2.0**52
