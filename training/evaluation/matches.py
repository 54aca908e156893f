"""Matches: how well policies play, against each other or, in cooperative games, together.

In competitive games each pair of policies plays the same deals. Each deal is played twice with the
seats exchanged, so that neither policy has the better cards or the better seat; a draw counts half.
In cooperative games two policies take alternate seats, play each deal once, and their score counts.
The batch size does not change a result, and a policy that plays itself scores exactly one half.

Notation: D deals, K policies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, shown
from hanamachi.games.registry import variant as make_variant
from hanamachi.limits import SEARCH_WORLDS
from hanamachi.policies.policy import Policy
from hanamachi.policies.search.regret import FEWEST
from hanamachi.sessions.arguments import whole_number
from hanamachi.storage.reading import checked_path
from hanamachi.training.defaults import EVALUATION_GAMES
from hanamachi.training.evaluation.deals import REPLAYS, DealResults, Pairing, Played, keeping_games
from hanamachi.training.evaluation.fingerprints import fingerprints
from hanamachi.training.evaluation.models import model_uses
from hanamachi.training.evaluation.pairings import (
    Given,
    each_of,
    pairings_against,
    pairings_of,
    participants,
    start_bots,
)
from hanamachi.training.evaluation.plan import (
    BATCH,
    Mapper,
    Plan,
    Watch,
    check_games,
    play_pairings,
)
from hanamachi.training.evaluation.playing import Play, own_play
from hanamachi.training.evaluation.results import (
    Evaluation,
    differences_of,
    forfeited,
    move_losses,
    row_of,
    win_rates,
)
from hanamachi.training.evaluation.saved_parts import saved_parts
from hanamachi.training.evaluation.statistics import (
    Float64s,
)

PLAYS: tuple[Play, ...] = ("sample", "argmax")
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

    In cooperative games each policy also plays with itself.

    - `opponents`: each policy plays against (or with) these alone, and `differences` compares each
      policy with the first one. "all" stands for every other rule policy of the game.
    - `play`: how all choose. "sample" draws from the distributions, "argmax" takes the most
      probable action (ties are broken at random), "both" plays all games in both ways. None is
      "sample" in competitive games and "argmax" in cooperative ones.
    - `strict`: raise the error of a policy that fails; without, the policy forfeits the game.
    - `judge`: a search judges each move in this many worlds, 2 at least, see `evaluation.judge`.
    - `out`: a folder. All that is played is kept in `out`/games, and the same call continues from
      there. The policies must be the same, with the same weights, as far as `fingerprints` sees.
    - `replays`: keep the games of pairing i in `out`/replays/i. "0a.json" is the first game of deal
      0, "0b.json" the one with the seats exchanged.
    - `watch` follows the games, `batch` and `mapper` are those of a Plan, `options` those of the
      game.

    Raises UserError if an argument does not fit, or `out` holds another evaluation.
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
) -> list[DealResults]:
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


def evaluated(about: Mapping[str, Any], played: Sequence[Played], one_by_one: bool) -> Evaluation:
    """The results of all pairings, one by one or as a ranking of all policies."""
    names = about["policies"]
    results = [row_of(*each) for each in played] if one_by_one else win_rates(names, played)
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
