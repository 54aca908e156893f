"""Matches: how well policies play, against each other or, in cooperative games, together.

In competitive games each pair of policies plays the same deals. Each deal is played twice with the
seats exchanged, so that neither policy has the better cards or the better seat; a draw counts half.
In cooperative games two policies take alternate seats, play each deal once, and their score counts.
The batch size does not change a result, and a policy that plays itself scores exactly one half.

Notation: D deals, K policies.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain, combinations, combinations_with_replacement, count
from pathlib import Path
from typing import Any, Literal

import numpy as np

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, shown
from hanamachi.games.registry import VARIANTS
from hanamachi.games.registry import variant as make_variant
from hanamachi.limits import SEARCH_WORLDS
from hanamachi.policies.external.process import ProcessPolicy
from hanamachi.policies.load import load_policy
from hanamachi.policies.policy import Policy, as_policy
from hanamachi.policies.rules.registry import rule_policies_for
from hanamachi.policies.search.regret import FEWEST
from hanamachi.sessions.opponent_protocol import cannot_play
from hanamachi.sessions.policy_checks import memory_of
from hanamachi.sessions.session import whole_number
from hanamachi.storage.reading import checked_path
from hanamachi.training.evaluation.deals import REPLAYS, Pairing, Part, Play, keeping_games
from hanamachi.training.evaluation.fingerprints import fingerprints
from hanamachi.training.evaluation.judge import MoveLoss, move_loss
from hanamachi.training.evaluation.models import ModelUse, counted, model_use
from hanamachi.training.evaluation.pairings import (
    BATCH,
    FEWEST_GAMES,
    Mapper,
    Plan,
    Watch,
    check_games,
    play_pairings,
)
from hanamachi.training.evaluation.saved_parts import SavedParts
from hanamachi.training.evaluation.statistics import (
    Cycle,
    Floats,
    Pairs,
    at_once,
    cyclic_share,
    elo,
    interval,
    points_interval,
    strongest_cycle,
)

PLAYS: tuple[Play, ...] = ("sample", "argmax")
Given = str | Path | Policy  # a policy, as a caller names it

ALL = "all"  # among opponents: every rule policy of the game
GAMES_FOLDER = "games"  # the folder in which an evaluation keeps what is played
FILES = tuple(f"evaluation.{kind}" for kind in ("json", "csv", "html", "png"))  # beside it
RESULTS = FILES[0]


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
    rate: Floats  #: (K, K), one half on the diagonal, NaN where two did not meet
    low: Floats  #: (K, K)
    high: Floats  #: (K, K)
    elo: Floats  #: (K,), mean 0
    elo_low: Floats  #: (K,)
    elo_high: Floats  #: (K,)
    cyclic: float  #: share of the squared log odds that no ratings explain, see `cyclic_share`
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

    def __str__(self) -> str:
        span = f"{self.low:.2f} to {self.high:.2f}"
        return f"{self.mean:.2f} points with {self.partner_label} ({span}), {self.games:,} games"

    @property
    def reach(self) -> float:
        """How far the interval, which may end at the best score, reaches from the mean."""
        return max(self.high - self.mean, self.mean - self.low)

    @property
    def partner_label(self) -> str:
        """The partners in words."""
        return "itself" if self.partners == self.policy else self.partners


@dataclass(frozen=True)
class Forfeits:
    """The games of a pairing that a policy forfeited, because it failed in them.

    In competitive games they count as lost, in cooperative games as 0 points for the team.
    """

    policy: str
    opponent: str  #: or partner
    play: Play
    games: int  #: that it forfeited
    deal: int  #: of the first of them
    decision: int  #: at which it failed there, from 1
    error: str  #: how it failed there


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
    forfeits: list[Forfeits] = field(default_factory=list)
    models: list[ModelUse] = field(default_factory=list)  #: of each language model
    judged: list[MoveLoss] = field(default_factory=list)  #: of each policy, if its moves are judged

    @property
    def cooperative(self) -> bool:
        return VARIANTS[self.game].cooperative

    def as_json(self) -> dict[str, Any]:
        """Plain lists and numbers, to six digits."""
        results = [{name: plain(value) for name, value in asdict(r).items()} for r in self.results]
        return {**asdict(self), "results": results}


def plain(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    return np.where(np.isnan(value), None, value.round(6)).tolist()  # type: ignore[call-overload]


# --- Evaluations


def evaluate(
    policies: Given | Sequence[Given],
    game: str,
    games: int = 10_000,
    seed: int = 0,
    *,
    opponents: Given | Sequence[Given] = (),
    play: Play | Literal["both"] | None = None,
    strict: bool = True,
    judge: int = 0,
    out: str | Path | None = None,
    replays: bool = False,
    watch: Watch | None = None,
    batch: int = BATCH,
    mapper: Mapper = map,
    **options: Any,
) -> Evaluation:
    """Let every pair of policies play `games` games, and rank or score all policies.

    With `opponents`, each policy plays against (or with) only these; "all" stands for every other
    rule policy of the game. In cooperative games each policy also plays with itself. `play` is how
    all choose: "sample" from the distributions, "argmax" for the most probable action (ties are
    broken at random), or "both"; None is "sample" in competitive games and "argmax" in cooperative
    ones. A search judges each move in `judge` worlds, 2 at least, see `evaluation.judge`. The
    error of a policy that fails is raised; without `strict` it forfeits the game. With `out`, a
    folder, all that is played is kept in `out`/games, and the same call continues from there. With
    `replays`, the games of pairing i are kept in `out`/replays/i: "0a.json" is the first game
    of deal 0, "0b.json" the one with the seats exchanged. `watch` follows the games. `batch` and
    `mapper` are those of a Plan, `options` those of the game. Raises UserError if an argument
    does not fit, or `out` holds another evaluation.
    """
    variant = make_variant(game, **options)
    policies, opponents = each_of(policies), each_of(opponents)
    plays = chosen_plays(play, variant)
    check_games(games, seed, variant)
    check_judge(judge)
    if whole_number(batch, "batch") < 1:
        raise UserError(f"batch must be 1 or more, not {shown(batch)}")
    out = None if out is None else checked_path(out)
    if replays and not out:
        raise UserError("replays are kept in the folder of the results; name one with out (--out)")
    pairings = pairings_of(policies, opponents, variant, plays)
    start_bots(pairings)
    about = description(variant, *participants(pairings, bool(opponents)), games, seed)
    saved = None
    if out:
        how = conditions([*policies, *opponents], plays, strict, judge, replays)
        results = [out / file for file in FILES]
        saved = SavedParts(out / GAMES_FOLDER, {**about, **how}, results)
        pairings = keeping_games(pairings, out / REPLAYS) if replays else pairings
    plan = Plan(games, seed, batch, mapper, strict, judge, saved, watch or Watch())
    played = list(zip(pairings, play_pairings(pairings, plan), strict=True))
    return evaluated(about, played, bool(opponents) or variant.game.cooperative)


def description(
    variant: Variant, policies: Sequence[str], opponents: Sequence[str], games: int, seed: int
) -> dict[str, Any]:
    """What an evaluation says of itself besides its results; see `Evaluation`."""
    about: dict[str, Any] = {"game": variant.id, "options": dict(variant.options)}
    return about | {"policies": policies, "opponents": opponents, "games": games, "seed": seed}


def conditions(
    players: Sequence[Given], plays: Sequence[Play], strict: bool, judge: int, replays: bool
) -> dict[str, Any]:
    """How games are played and kept, and what changes if the files of a player change."""
    how: dict[str, Any] = {"play": plays, "strict": strict, "files": fingerprints(players)}
    how |= {"judge": judge} if judge else {}
    return how | ({"replays": True} if replays else {})


def evaluated(
    about: Mapping[str, Any], played: Sequence[tuple[Pairing, Part]], one_by_one: bool
) -> Evaluation:
    """The results of all pairings, one by one or as a ranking of all policies."""
    names = about["policies"]
    results = [row_of(*each) for each in played] if one_by_one else cross_plays(names, played)
    forfeits = list(chain.from_iterable(forfeited(*each) for each in played))
    sums = counted(played)
    models = [model_use(name, its) for name, its in sums.items() if its.get("decisions")]
    lost = [move_loss(name, its) for name, its in sums.items() if its.get("judged")]
    return Evaluation(**about, results=results, forfeits=forfeits, models=models, judged=lost)


def chosen_plays(play: str | None, variant: Variant) -> Sequence[Play]:
    usual: Sequence[Play] = PLAYS[::-1] if variant.game.cooperative else PLAYS
    if play is None:
        return (usual[0],)
    return usual if isinstance(play, str) and play == "both" else (checked_play(play),)


def checked_play(play: str) -> Play:
    if not isinstance(play, str) or play not in PLAYS:
        raise UserError(f"play must be sample, argmax or both, not {shown(play)}")
    return play  # type: ignore[return-value]


def check_judge(worlds: int) -> None:
    if whole_number(worlds, "judge") and not FEWEST <= worlds <= SEARCH_WORLDS:
        raise UserError(
            f"judge must be from {FEWEST} to {SEARCH_WORLDS:,} worlds, or 0 for no judge, "
            f"not {shown(worlds)}"
        )


def each_of(given: Given | Sequence[Given]) -> list[Given]:
    """The policies that are given; one alone needs no list."""
    listed = isinstance(given, Iterable) and not isinstance(given, str)
    policies: list[Any] = list(given) if listed else [given]  # type: ignore[arg-type]
    for policy in policies:
        if not isinstance(policy, Given) and not callable(policy):
            raise UserError(
                f"a policy is a name, a path, a Policy or a function, not {shown(policy)}"
            )
    return policies


def pairings_of(
    policies: Sequence[Given],
    opponents: Sequence[Given],
    variant: Variant,
    plays: Sequence[Play],
) -> list[Pairing]:
    """Every policy against each opponent, or every two if none is given; UserError if none meet."""
    pairings = (
        pairings_against(policies, opponents, variant, plays)
        if opponents
        else pairings_of_all(policies, variant, plays)
    )
    if not pairings:
        raise UserError("name at least one policy, and an opponent other than itself")
    return pairings


def pairings_of_all(
    policies: Sequence[Given], variant: Variant, plays: Sequence[Play]
) -> list[Pairing]:
    """Every two policies; in a cooperative game also each with copies of itself."""
    cooperative = variant.game.cooperative
    if len(policies) < 2 and not cooperative:
        raise UserError("name at least two policies to let them play each other, or --against all")
    players = loaded(policies, variant)
    everybody = zip(players, labels(policies, players), strict=True)
    pairs = list((combinations_with_replacement if cooperative else combinations)(everybody, 2))
    return [Pairing((p, q), (a, b), variant, play) for play in plays for (p, a), (q, b) in pairs]


def pairings_against(
    policies: Sequence[Given],
    opponents: Sequence[Given],
    variant: Variant,
    plays: Sequence[Play],
) -> list[Pairing]:
    """Every policy against each opponent; in a cooperative game with itself and each partner."""
    known: dict[Any, str] = {}
    each = (
        meetings(policy, opponents_of(opponents, policy, variant), variant, plays, known)
        for policy in dict.fromkeys(policies)
    )
    return list(chain.from_iterable(each))


def meetings(
    policy: Given,
    others: Sequence[Given],
    variant: Variant,
    plays: Sequence[Play],
    known: dict[Any, str] | None = None,
) -> list[Pairing]:
    """One policy against each of the others; in a cooperative game with itself first.

    `known` are the names of policies that have met before.
    """
    given = [policy, *others]
    players, known = loaded(given, variant), {} if known is None else known
    names = [label(*each, known) for each in zip(given, players, strict=True)]
    first = 0 if variant.game.cooperative else 1
    met = dict(zip(names[first:], players[first:], strict=True))  # who is named again meets once
    return [
        Pairing((players[0], other), (names[0], name), variant, play)
        for name, other in met.items()
        for play in plays
    ]


def opponents_of(opponents: Sequence[Given], policy: Given, variant: Variant) -> list[Given]:
    """The opponents of a policy, each once; "all" leaves out the policy itself."""
    every = [name for name in rule_policies_for(variant) if name != policy]
    return list(dict.fromkeys(chain.from_iterable(every if o == ALL else [o] for o in opponents)))


def participants(pairings: Sequence[Pairing], against: bool) -> tuple[list[str], list[str]]:
    """The names of the policies, and of their opponents or partners if these are others."""
    first, second = zip(*(pairing.names for pairing in pairings), strict=True)
    if against:
        return list(dict.fromkeys(first)), list(dict.fromkeys(second))
    return list(dict.fromkeys(chain(first, second))), []


def loaded(policies: Sequence[Given], variant: Variant) -> list[Policy]:
    """The policies themselves, each able to play this game."""
    players = [
        load_policy(str(p), variant) if isinstance(p, str | Path) else as_policy(p, variant)
        for p in policies
    ]
    for player in players:
        if not player.variant.understands(variant):
            raise cannot_play(player.name, player.variant, variant)
        memory_of(player, FEWEST_GAMES)  # a policy without one would fail at its first decision
    return players


def start_bots(pairings: Sequence[Pairing]) -> None:
    """Start all bots before the first game; UserError if one does not become ready."""
    for player in chain.from_iterable(pairing.players for pairing in pairings):
        if isinstance(player, ProcessPolicy):
            player.start()


def label(given: Given, player: Policy, known: dict[Any, str]) -> str:
    """The name of a policy among those that are `known`, to which a new one is added."""
    key = str(given) if isinstance(given, str | Path) else id(given)
    if key not in known:
        known[key] = unused(name_given(given, player), known.values())
    return known[key]


def labels(given: Sequence[Given], players: Sequence[Policy]) -> list[str]:
    """A name for each policy, also for one that is given twice."""
    names: list[str] = []
    for each, player in zip(given, players, strict=True):
        names.append(unused(name_given(each, player), names))
    return names


def name_given(given: Given, player: Policy) -> str:
    return str(given) if isinstance(given, str | Path) else player.name


def unused(name: str, taken: Collection[str]) -> str:
    """The name, with a number if it is taken."""
    numbered = (f"{name} ({n})" for n in count(2))
    return next(each for each in chain([name], numbered) if each not in taken)


# --- One policy


def results_of(
    policy: Given,
    others: Given | Sequence[Given],
    game: str,
    games: int = 10_000,
    seed: int = 0,
    *,
    plays: Sequence[Play] | None = None,
    batch: int = BATCH,
    mapper: Mapper = map,
    **options: Any,
) -> list[Any]:
    """The Rows of one policy against each of the others, for each way of play in `plays`.

    In a cooperative game these are TeamScores: with itself first, then with each of the others. The
    error of a policy that fails is raised.
    """
    variant = make_variant(game, **options)
    pairings = meetings(policy, each_of(others), variant, plays or chosen_plays("both", variant))
    parts = play_pairings(pairings, Plan(games, seed, batch, mapper))
    return list(map(row_of, pairings, parts))


def match(
    players: tuple[Policy, Policy],
    variant: Variant,
    games: int,
    seed: int,
    *,
    play: Play = "sample",
    batch: int = BATCH,
    mapper: Mapper = map,
) -> Floats:
    """The first policy's score on each deal, (D,): the mean of its two games."""
    pairing = Pairing(players, (players[0].name, players[1].name), variant, play)
    (part,) = play_pairings([pairing], Plan(games, seed, batch, mapper))
    return part.scores


# --- From games to results


def row_of(pairing: Pairing, part: Part) -> Row | TeamScore:
    return (team_score if pairing.variant.game.cooperative else rate_of)(pairing, part)


def rate_of(pairing: Pairing, part: Part) -> Row:
    """The result of the first policy against the second."""
    games = len(part.deals) * pairing.games_a_deal
    rates = map(rounded, (part.scores.mean(), *interval(part.scores)))
    return Row(*pairing.names, pairing.play, games, *rates)


def team_score(pairing: Pairing, part: Part) -> TeamScore:
    """The score of two policies together; they may be the same."""
    games = len(part.deals)
    best_score = pairing.variant.best_score
    low, high = points_interval(part.scores, best_score)
    counts = np.bincount(part.scores.astype(np.int64), minlength=best_score + 1)
    return TeamScore(
        *pairing.names,
        pairing.play,
        games,
        mean=rounded(part.scores.mean()),
        low=rounded(low),
        high=rounded(high),
        perfect=rounded(counts[-1] / games),
        lost=rounded(part.lost.mean()),
        histogram=counts.tolist(),
    )


def cross_plays(names: Sequence[str], played: Sequence[tuple[Pairing, Part]]) -> list[CrossPlay]:
    """The matrix of all pairings that were played, for each way of play."""
    place = {name: i for i, name in enumerate(names)}
    found: dict[Play, list[tuple[tuple[int, int], Floats]]] = {}
    for pairing, part in played:
        first, second = pairing.names
        met = place[first], place[second]
        found.setdefault(pairing.play, []).append((met, part.scores))
    return [
        cross_play(play, names, [pair for pair, _ in its], np.array([row for _, row in its]))
        for play, its in found.items()
    ]


def cross_play(play: Play, names: Sequence[str], pairs: Pairs, scores: Floats) -> CrossPlay:
    """The matrix of these pairings from the scores of the first of each pair, (pairs, D)."""
    rate, low, high = (np.full((len(names), len(names)), np.nan) for _ in range(3))
    for matrix in (rate, low, high):
        np.fill_diagonal(matrix, 0.5)
    least = np.zeros_like(rate)
    for (i, j), row in zip(pairs, scores, strict=True):
        rate[i, j], (low[i, j], high[i, j]) = row.mean(), interval(row)
        rate[j, i], low[j, i], high[j, i] = 1 - rate[i, j], 1 - high[i, j], 1 - low[i, j]
        least[i, j], most = interval(row, at_once(len(pairs)))
        least[j, i] = 1 - most
    ratings, margins = elo(len(names), pairs, scores)
    cyclic, noise = map(rounded, cyclic_share(len(names), pairs, scores))
    cycle = strongest_cycle(names, np.nan_to_num(rate), least)
    return CrossPlay(
        play, rate, low, high, ratings, ratings - margins, ratings + margins, cyclic, noise, cycle
    )


def forfeited(pairing: Pairing, part: Part) -> list[Forfeits]:
    """What each policy forfeited, if anything."""
    found = []
    for name in dict.fromkeys(pairing.names):
        own = [each for each in part.failures if pairing.names[each.side] == name]
        if own:
            first = min(own, key=lambda each: each.deal)
            other = pairing.names[1 - first.side]
            where = first.deal, first.decision, first.error
            found.append(Forfeits(name, other, pairing.play, len(own), *where))
    return found


def rounded(rate: float) -> float:
    return round(float(rate), 6)
