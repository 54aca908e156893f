"""Play pairings: how many games, from which seed, in which parts, who watches, what is kept."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from hanamachi.engine.game import Variant
from hanamachi.errors import UserError, shown
from hanamachi.limits import GAMES
from hanamachi.policies.search.search import MANY_GAMES
from hanamachi.sessions.arguments import whole_number
from hanamachi.training.evaluation.deals import (
    TWICE,
    DealResults,
    Pairing,
    divided,
    joined,
    play_part,
)
from hanamachi.training.evaluation.playing import Deals
from hanamachi.training.evaluation.saved_parts import SavedParts

Mapper = Callable[..., Iterable[Any]]  # works like `map`, perhaps on many processors

FEWEST_GAMES = 2  # for an interval
BATCH = 8192  # games played at the same time
PARTS_PER_PROCESSOR = 4  # so that processors finish at about the same time
GAMES_PER_PART = 64  # at least: sending fewer takes longer than playing them
SEEDS = 2**62  # to choose from; the deals of the seeds above are those of datasets
STREAMS = 2**63  # seeds in all, each with two streams of random numbers


class Watch:
    """Follows an evaluation; this one does nothing."""

    def begin(self, games: int, kept: int) -> None:
        """`games` are to be played; `kept` of them were played before.

        Called once, or once for each Swiss round.
        """

    def part_ended(self, pairing: Pairing, so_far: Sequence[DealResults], games: int) -> None:
        """`games` more were played; `so_far` has all parts of the pairing."""

    def pairing_ended(self, pairing: Pairing, whole: DealResults) -> None:
        """All games of a pairing are played."""


@dataclass(frozen=True)
class Plan:
    """How the games of every pairing are played."""

    games: int  #: of each pairing
    seed: int
    batch: int = BATCH  #: games played at the same time, at most; does not change results
    mapper: Mapper = map  #: may play several parts at once; does not change results
    strict: bool = True  #: raise the error of a policy that fails, instead of a forfeit
    judge: int = 0  #: worlds in which each move is judged
    saved: SavedParts | None = None  #: what is played already, and where more is kept
    watch: Watch = field(default_factory=Watch)


def check_games(games: int, seed: int, variant: Variant, seeds: int = SEEDS) -> None:
    """Raise UserError unless these games can be played from this seed, one of `seeds`."""
    games, parts = whole_number(games, "games"), 1 if variant.game.cooperative else TWICE
    if not FEWEST_GAMES <= games <= GAMES or games % parts:
        even = "" if parts == 1 else "even, as every deal is played twice, and "
        raise UserError(f"games must be {even}from {FEWEST_GAMES} to {GAMES:,}, not {shown(games)}")
    if not 0 <= whole_number(seed, "a seed") < seeds:
        raise UserError(f"a seed must be from 0 to {seeds - 1}, not {shown(seed)}")


def batch_size(games: int, processors: int) -> int:
    """How many games make a part if this number of processors play."""
    return min(BATCH, max(GAMES_PER_PART, games // (PARTS_PER_PROCESSOR * processors)))


def play_pairings(pairings: Sequence[Pairing], plan: Plan) -> list[DealResults]:
    """What came out of every pairing; those that are kept are not played again."""
    saved = plan.saved
    kept = [saved.read(number) if saved else [] for number in range(len(pairings))]
    games = sum(
        len(part.deals) * pairing.games_a_deal
        for pairing, parts in zip(pairings, kept, strict=True)
        for part in parts
    )
    plan.watch.begin(len(pairings) * plan.games, games)
    return [
        play_pairing(pairing, number, kept[number], plan) for number, pairing in enumerate(pairings)
    ]


def missing_deals(pairing: Pairing, kept: Sequence[DealResults], plan: Plan) -> Deals:
    """The deals of a pairing that are not kept."""
    deals = np.arange(plan.games // pairing.games_a_deal, dtype=np.uint64)
    return np.setdiff1d(deals, joined(kept).deals) if kept else deals


def play_pairing(pairing: Pairing, number: int, kept: list[DealResults], plan: Plan) -> DealResults:
    """Play all deals of a pairing but those that are kept.

    Deals in which a bot did not start are not kept: the next time it may.
    """
    # the evaluations during a run have hashes as seeds, up to STREAMS
    check_games(plan.games, plan.seed, pairing.variant, STREAMS)
    missing = missing_deals(pairing, kept, plan)
    batch = min(plan.batch, MANY_GAMES if plan.judge else GAMES)  # a judge searches
    most = pairing.games_at_once(batch) // pairing.games_a_deal
    play = partial(play_part, pairing, plan.seed, plan.strict, plan.judge)
    parts = list(kept)
    for part in plan.mapper(play, divided(missing, most)):
        if plan.saved and all(failure.started for failure in part.failures):
            plan.saved.write(number, part)
        parts.append(part)
        plan.watch.part_ended(pairing, parts, len(part.deals) * pairing.games_a_deal)
    whole = joined(parts)
    if len(missing):
        plan.watch.pairing_ended(pairing, whole)
    return whole
