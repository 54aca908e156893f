"""How well policies play, against each other or, in cooperative games, together.

Rivals meet in every pair on the same deals. Each deal is played twice with the seats exchanged, so
that neither policy has the better cards or the better seat; a draw counts half. Partners sit in
turn, play each deal once, and what counts is their score. Chance and every decision take their
random numbers from a hash of the seed, the deal and the count of decisions, never from the order in
which games are played: the batch size changes nothing, and a rival that meets itself scores exactly
one half.

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
from hanamachi.errors import UserError
from hanamachi.games.registry import VARIANTS
from hanamachi.games.registry import variant as make_variant
from hanamachi.policies.load import load_policy
from hanamachi.policies.policy import Policy, as_policy, best, check_distribution, sample, views
from hanamachi.policies.rules.registry import rule_policies_for
from hanamachi.sessions.worlds import Worlds
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
Mapper = Callable[..., Iterable[Any]]  # does what `map` does, maybe on many processors

ALL = "all"  # among opponents: every rule policy of the game
TWICE = 2  # games of one deal, between rivals
LEAST = 2  # games of partners, for an interval
BATCH = 8192  # games played side by side
MEMORY = 1 << 28  # bytes that policies may remember in these
SEEDS = 2**63  # each gives two streams of random numbers


# --- What comes out


@dataclass(frozen=True)
class Row:
    """How one policy fares against one opponent; rates lie between 0 and 1."""

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
    """All pairings of K policies under one way of play; rates are the row's against the column."""

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
    """How a policy scores beside its partners, copies of itself or of another."""

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
        """Who the partners are, in words."""
        return "itself" if self.partners == self.policy else self.partners


Rows = list[Row] | list[TeamScore]  # of one policy, the latter in a cooperative game


@dataclass(frozen=True)
class Evaluation:
    """A tournament: what was played, by whom, and how it ended."""

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


# --- The questions


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
    """Let every two of the policies play `games` games, and rank or score them all.

    If there are `opponents`, each policy meets these alone, in cooperative games as partners;
    "all" stands for every other rule policy that plays the game. In cooperative games each policy
    also plays with itself alone. `play` is how all of them choose: "sample" from their
    distributions, "argmax" for the most probable action (ties are broken at random), or "both",
    one after the other; None is "sample" for rivals and "argmax" for partners. At most `batch`
    games are played side by side, and `mapper`, which does what `map` does, may play such parts at
    once: neither changes the result. `options` are the game's. Raises UserError if anything given
    does not fit.
    """
    variant = make_variant(game, **options)
    plays = chosen_plays(play, variant)
    how: dict[str, Any] = {"games": games, "seed": seed, "batch": batch, "mapper": mapper}
    about = variant.id, dict(variant.options)
    if opponents:
        rows = each_against(policies, opponents, variant, plays, **how)
        names, others = participants(rows)
        return Evaluation(*about, names, others, games, seed, rows)
    players = loaded(policies, variant)
    names = labels(policies, players)
    results: list[Any] = []
    for way in plays:
        if variant.game.cooperative:
            results += team_scores(players, names, variant, way, **how)
        else:
            results.append(tournament(players, names, variant, way, **how))
    return Evaluation(*about, names, [], games, seed, results)


def chosen_plays(play: str | None, variant: Variant) -> Sequence[Play]:
    usual: Sequence[Play] = PLAYS[::-1] if variant.game.cooperative else PLAYS
    return usual if play == "both" else (checked_play(play or usual[0]),)


def tournament(
    players: Sequence[Policy],
    names: Sequence[str],
    variant: Variant,
    play: Play,
    *,
    games: int,
    seed: int,
    batch: int,
    mapper: Mapper,
) -> CrossPlay:
    if len(players) < 2:
        raise UserError("name at least two policies to let them play each other, or --against all")
    pairs = list(combinations(range(len(players)), 2))
    scores = [
        match((players[i], players[j]), variant, games, seed, play=play, batch=batch, mapper=mapper)
        for i, j in pairs
    ]
    return cross_play(play, names, pairs, np.array(scores))


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
    """How one policy fares against each opponent, both playing in each of the ways of `plays`."""
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
    """How one policy scores in a cooperative game: with itself alone, then with each partner."""
    variant = make_variant(game, **options)
    me, *others = loaded([policy, *partners], variant)
    name, *names = labels([policy, *partners], [me, *others])
    how: dict[str, Any] = {"games": games, "seed": seed, "batch": batch, "mapper": mapper}
    return [
        team_score((me, other), (name, partner), variant, play, **how)
        for other, partner in zip([me, *others], [name, *names], strict=True)
        for play in plays
    ]


def each_against(
    policies: Sequence[Given],
    opponents: Sequence[Given],
    variant: Variant,
    plays: Sequence[Play],
    **how: Any,
) -> Rows:
    """Every policy against each opponent, or beside each partner."""
    meet: Any = with_partners if variant.game.cooperative else versus
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
    """Who was judged, and by whom."""
    judges = [row.partners if isinstance(row, TeamScore) else row.opponent for row in rows]
    return list(dict.fromkeys(row.policy for row in rows)), list(dict.fromkeys(judges))


def rounded(rate: float) -> float:
    return round(float(rate), 6)


def checked_play(play: str) -> Play:
    if play not in PLAYS:
        raise UserError(f"play must be sample, argmax or both, not {play!r}")
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


# --- Playing


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
    if games < TWICE or games % TWICE:
        raise UserError(f"games must be even, as every deal is played twice, not {games}")
    deals = np.arange(games // TWICE, dtype=np.uint64)
    parts = divided(deals, side_by_side(pair, variant, batch) // TWICE)
    return np.concatenate([*mapper(partial(play_deals, pair, variant, seed, play), parts)])


def divided(deals: NDArray[np.uint64], most: int) -> list[NDArray[np.uint64]]:
    """In parts of at most so many."""
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
    players: Sequence[Policy], names: Sequence[str], variant: Variant, play: Play, **how: Any
) -> list[TeamScore]:
    """Each policy with copies of itself, and every two of them."""
    pairs = combinations_with_replacement(zip(players, names, strict=True), 2)
    return [team_score((p, q), (a, b), variant, play, **how) for (p, a), (q, b) in pairs]


def team_score(
    team: tuple[Policy, Policy],
    names: tuple[str, str],
    variant: Variant,
    play: Play,
    *,
    games: int,
    seed: int,
    batch: int,
    mapper: Mapper,
) -> TeamScore:
    """How two policies score together; they may be the same."""
    scores, lost = play_together(team, variant, games, seed, play=play, batch=batch, mapper=mapper)
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
    team: tuple[Policy, Policy],
    variant: Variant,
    games: int,
    seed: int,
    *,
    play: Play,
    batch: int,
    mapper: Mapper = map,
) -> tuple[Floats, NDArray[np.bool_]]:
    """The score of each game, (G,), and whether it was lost, (G,)."""
    if games < LEAST:
        raise UserError(f"games must be at least {LEAST}, not {games}")
    parts = divided(np.arange(games, dtype=np.uint64), side_by_side(team, variant, batch))
    played = [*mapper(partial(play_deals_together, team, variant, seed, play), parts)]
    scores, lost = zip(*played, strict=True)
    return np.concatenate(scores), np.concatenate(lost)


def play_deals_together(
    team: tuple[Policy, Policy], variant: Variant, seed: int, play: Play, deals: NDArray[np.uint64]
) -> tuple[Floats, NDArray[np.bool_]]:
    """The two policies sit in turn, and which of them is first changes from deal to deal."""
    seating = (deals.astype(np.int64)[:, None] + np.arange(variant.seats)) % len(team)
    returns, ended = play_games(team, variant, seating, deals, seed, play)
    return returns[:, 0], variant.lost(ended)


def side_by_side(policies: Sequence[Policy], variant: Variant, batch: int) -> int:
    """How many games are played at once: fewer than `batch` where policies remember much."""
    remembered = variant.seats * sum(policy.initial_memory(1).nbytes for policy in policies)
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
    if not 0 <= seed < SEEDS:
        raise UserError(f"seed must be from 0 to {SEEDS - 1}, not {seed}")
    dealing, deciding = scatter(np.array([2 * seed, 2 * seed + 1], np.uint64))
    table = variant.new(dealing + deals)
    kernels.parallel_for(kernels.reset, variant.rule_set, table)
    players = [Player(policy, seating.shape, play) for policy in policies]
    returns = np.zeros(seating.shape)
    decisions = 0
    while (going := np.flatnonzero(table["mover"] >= 0)).size:
        games, seats = table[going], table["mover"][going].astype(np.int64)
        observations, masks = views(variant, games, seats)
        uniform = uniforms(deciding + deals[going], decisions)
        actions = np.zeros(len(going), np.int64)
        for i, player in enumerate(players):
            rows = np.flatnonzero(seating[going, seats] == i)
            if rows.size:
                place = going[rows], seats[rows]
                seen = observations[rows], masks[rows], Worlds(variant, games[rows], seats[rows])
                actions[rows] = player.decide(*seen, uniform[rows], place)
        kernels.parallel_for(kernels.step, variant.rule_set, games, actions)
        table[going] = games
        returns[going] += games["rewards"][:, : variant.seats]
        decisions += 1
    return returns, table


class Player:
    """A policy at play: how it chooses, and what it remembers in every game and seat."""

    def __init__(self, policy: Policy, shape: tuple[int, ...], play: Play) -> None:
        memory = policy.initial_memory(int(np.prod(shape)))
        self.policy, self.play = policy, play
        self.memory = memory.reshape(*shape, memory.shape[1])  # (G, S, M)

    def decide(
        self,
        observations: NDArray[np.float32],
        masks: NDArray[np.int8],
        worlds: Worlds,
        uniform: Floats,
        place: tuple[NDArray[np.int64], NDArray[np.int64]],
    ) -> NDArray[np.int64]:
        """One action a row, (n,); `place` holds its games and seats. UserError if not legal."""
        chances, _, self.memory[place] = self.policy.with_worlds(worlds).distribution(
            observations, masks, self.memory[place]
        )
        check_distribution(chances, masks, self.policy.name)
        return sample(best(chances) if self.play == "argmax" else chances, uniform)


def uniforms(streams: NDArray[np.uint64], count: int) -> Floats:
    """The number from [0, 1) that belongs to each stream and count, (n,)."""
    bits = scatter(scatter(streams) + np.uint64(count))
    return (bits >> np.uint64(12)) / 2.0**52
