"""Matches: how well policies play, against each other or, in cooperative games, together.

In competitive games each pair of policies plays the same deals. Each deal is played twice with the
seats exchanged, so that neither policy has the better cards or the better seat; a draw counts half.
In cooperative games two policies take alternate seats, play each deal once, and their score counts.
The batch size does not change a result, and a policy that plays itself scores exactly one half.

Notation: D deals, K policies.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, combinations_with_replacement, count
from pathlib import Path
from types import MethodType
from typing import Any, Literal

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, shown
from hanamachi.games.registry import variant as make_variant
from hanamachi.limits import SEARCH_WORLDS
from hanamachi.policies.external.process import ProcessPolicy
from hanamachi.policies.load import load_policy
from hanamachi.policies.policy import Policy
from hanamachi.policies.rules.registry import rule_policies_for
from hanamachi.policies.search.regret import FEWEST
from hanamachi.policies.user_functions import as_policy
from hanamachi.sessions.arguments import whole_number
from hanamachi.sessions.opponent_protocol import cannot_play
from hanamachi.sessions.policy_checks import memory_of
from hanamachi.storage.reading import checked_path
from hanamachi.training.defaults import EVALUATION_GAMES
from hanamachi.training.evaluation.deals import REPLAYS, Pairing, Part, keeping_games
from hanamachi.training.evaluation.fingerprints import fingerprints
from hanamachi.training.evaluation.models import model_uses
from hanamachi.training.evaluation.pairings import (
    BATCH,
    FEWEST_GAMES,
    Mapper,
    Plan,
    Watch,
    check_games,
    play_pairings,
)
from hanamachi.training.evaluation.playing import Play, own_play
from hanamachi.training.evaluation.results import (
    Evaluation,
    cross_plays,
    differences_of,
    forfeited,
    move_losses,
    row_of,
)
from hanamachi.training.evaluation.saved_parts import saved_parts
from hanamachi.training.evaluation.statistics import (
    Float64s,
)

PLAYS: tuple[Play, ...] = ("sample", "argmax")
Given = str | Path | Policy  # a policy, as a caller names it

ALL = "all"  # among opponents: every rule policy of the game
GAMES_FOLDER = "games"  # the folder in which an evaluation keeps what is played
FILES = tuple(f"evaluation.{kind}" for kind in ("json", "csv", "html", "png"))  # beside it
RESULTS = FILES[0]


# --- Evaluations


def evaluate(
    policies: Given | Sequence[Given],
    game: str,
    games: int = EVALUATION_GAMES,
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

    With `opponents`, each policy plays against (or with) only these, and `differences` compares
    each policy with the first one; "all" stands for every other rule policy of the game. In
    cooperative games each policy also plays with itself. `play` is how all choose: "sample" from
    the distributions, "argmax" for the most probable action (ties are broken at random), or "both";
    None is "sample" in competitive games and "argmax" in cooperative ones. A search judges each
    move in `judge` worlds, 2 at least, see `evaluation.judge`. The error of a policy that fails is
    raised; without `strict` it forfeits the game. With `out`, a folder, all that is played is kept
    in `out`/games, and the same call continues from there. With `replays`, the games of pairing i
    are kept in `out`/replays/i: "0a.json" is the first game of deal 0, "0b.json" the one with the
    seats exchanged. `watch` follows the games. `batch` and `mapper` are those of a Plan, `options`
    those of the game. Raises UserError if an argument does not fit, or `out` holds another
    evaluation.
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
    how = conditions([*policies, *opponents], plays, strict, judge, replays) if out else {}
    pairings = keeping_games(pairings, out / REPLAYS) if out and replays else pairings
    plan = Plan(games, seed, batch, mapper, strict, judge, watch=watch or Watch())
    played = list(zip(pairings, parts_in(out, {**about, **how}, pairings, plan), strict=True))
    return evaluated(about, played, bool(opponents) or variant.game.cooperative)


def parts_in(
    out: Path | None, about: Mapping[str, Any], pairings: Sequence[Pairing], plan: Plan
) -> list[Part]:
    """What came out of every pairing, which a folder keeps if one is given."""
    if out is None:
        return play_pairings(pairings, plan)
    with saved_parts(out / GAMES_FOLDER, about, [out / file for file in FILES]) as saved:
        return play_pairings(pairings, replace(plan, saved=saved))


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
    return Evaluation(
        **about,
        results=results,
        forfeits=forfeits,
        models=model_uses(played),
        judged=move_losses(played),
        differences=differences_of(played) if about["opponents"] else [],
    )


def chosen_plays(play: str | None, variant: Variant) -> Sequence[Play]:
    own = own_play(variant)
    if play is None:
        return (own,)
    if isinstance(play, str) and play == "both":
        return PLAYS if own == PLAYS[0] else PLAYS[::-1]
    return (checked_play(play),)


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
        raise UserError(
            "name at least two policies to let them play each other, or --against all (in Python "
            "opponents='all')"
        )
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
    met = [(policy, opponents_of(opponents, policy, variant)) for policy in each_once(policies)]
    everybody = each_once([*policies, *chain.from_iterable(others for _, others in met)])
    players = loaded(everybody, variant)
    named = zip(labels(everybody, players), players, strict=True)
    known = dict(zip(map(identity, everybody), named, strict=True))
    pairings: list[Pairing] = []
    for policy, others in met:
        against = dict(known[identity(other)] for other in others)
        pairings += pairings_of_one(*known[identity(policy)], against, variant, plays)
    return pairings


def pairings_of_one(
    name: str,
    player: Policy,
    others: Mapping[str, Policy],
    variant: Variant,
    plays: Sequence[Play],
) -> list[Pairing]:
    """One policy against each of the others; in a cooperative game with itself first."""
    itself = {name: player} if variant.game.cooperative else {}
    return [
        Pairing((player, opponent), (name, opponent_name), variant, play)
        for opponent_name, opponent in {**itself, **others}.items()
        for play in plays
    ]


def opponents_of(opponents: Sequence[Given], policy: Given, variant: Variant) -> list[Given]:
    """The opponents of a policy, each once; "all" leaves out the policy itself."""
    every = [name for name in rule_policies_for(variant) if name != policy]
    return each_once(chain.from_iterable(every if o == ALL else [o] for o in opponents))


def participants(pairings: Sequence[Pairing], against: bool) -> tuple[list[str], list[str]]:
    """The names of the policies, and of their opponents or partners if these are others."""
    first, second = zip(*(pairing.names for pairing in pairings), strict=True)
    if against:
        met = [pairing.names for pairing in pairings if not is_one_team(pairing)]
        return list(dict.fromkeys(first)), list(dict.fromkeys(other for _, other in met))
    return list(dict.fromkeys(chain(first, second))), []


def is_one_team(pairing: Pairing) -> bool:
    """Whether a policy plays with copies of itself."""
    return pairing.variant.game.cooperative and pairing.names[0] == pairing.names[1]


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


def each_once(given: Iterable[Given]) -> list[Given]:
    """The policies in their order, without those that are named or given again."""
    return list({identity(each): each for each in given}.values())


def identity(given: Given) -> str | int | tuple[int, str]:
    """What two policies share only if they are one; an object need not be hashable."""
    if isinstance(given, MethodType):  # each time that it is asked for, it is a new object
        return id(given.__self__), given.__name__
    return str(given) if isinstance(given, str | Path) else id(given)


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
    games: int = EVALUATION_GAMES,
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
    plays = [checked_play(play) for play in plays or chosen_plays("both", variant)]
    pairings = pairings_against([policy], each_of(others), variant, plays)
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
) -> Float64s:
    """The first policy's score on each deal, (D,): the mean of both games, or a team's points."""
    pairing = Pairing(players, (players[0].name, players[1].name), variant, play)
    (part,) = play_pairings([pairing], Plan(games, seed, batch, mapper))
    return part.scores
