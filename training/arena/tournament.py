"""Play a tournament: who meets whom, in how many processes, and what is kept.

Every two bots play a match of duplicate deals, or in Swiss rounds those that are paired. Each match
has processes of bots of its own. One that was stopped goes on with the deals that it has not
played. A match has the same number and the same deals whenever it is played, so what was played
counts in more Swiss rounds, and with more bots, too.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, as_completed
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hanamachi.engine.game import Variant
from hanamachi.engine.threads import processors
from hanamachi.errors import UserError, shortened, shown
from hanamachi.limits import RESULTS_BYTES, WORKERS
from hanamachi.policies.external.bot import Limits
from hanamachi.policies.external.process import ProcessPolicy
from hanamachi.policies.policy import Policy
from hanamachi.sessions.arguments import checked_variant, whole_number
from hanamachi.storage.reading import checked_path, read_object
from hanamachi.training.arena.bots import bots_in, command, digest
from hanamachi.training.arena.swiss import Shares, Standings, check_rounds
from hanamachi.training.defaults import (
    DECISION_SECONDS,
    MATCH_GAMES,
    MEGABYTES,
    PROCESSOR_SECONDS,
)
from hanamachi.training.evaluation.deals import (
    REPLAYS,
    DealResults,
    Pairing,
    Played,
    joined,
    keeping_games,
)
from hanamachi.training.evaluation.fingerprints import fingerprints
from hanamachi.training.evaluation.matches import (
    GAMES_FOLDER,
    RESULTS,
    chosen_plays,
    description,
    evaluated,
)
from hanamachi.training.evaluation.pairings import loaded, pairings_of_all
from hanamachi.training.evaluation.plan import (
    Plan,
    Watch,
    check_games,
    missing_deals,
    play_pairing,
)
from hanamachi.training.evaluation.playing import Deals
from hanamachi.training.evaluation.referee import Failure
from hanamachi.training.evaluation.results import Evaluation
from hanamachi.training.evaluation.saved_parts import ABOUT, saved_parts
from hanamachi.training.failures import process_killed
from hanamachi.training.workers import in_worker, worker_pool

LIMITS = Limits(DECISION_SECONDS, MEGABYTES, waits=True, cpu=PROCESSOR_SECONDS)

NUMBERED = "by the later of the two players"  # the matches; an older version numbered otherwise

Job = tuple[int, Pairing, Plan]  # a match with its number, and how it is played


class Round(NamedTuple):
    """Matches that were paired at the same time."""

    matches: list[Played]
    bye: str | None = None  # who did not play
    not_played: Sequence[Played] = ()  # matches of two bots that did not start


@dataclass(frozen=True)
class Tournament:
    """What was played: the evaluation, and every match with its games."""

    evaluation: Evaluation
    rounds: list[Round]  # one, if all met all
    limits: Limits
    passed_over: list[str]  # of the folder, because they are no bots


def play_tournament(
    folder: Path | str,
    variant: Variant,
    out: Path | str,
    games: int = MATCH_GAMES,
    seed: int = 0,
    *,
    limits: Limits = LIMITS,
    others: Sequence[str] = (),
    swiss: int | None = None,
    processes: int | None = None,
    watch: Watch | None = None,
) -> Tournament:
    """Let all bots of a folder, and the policies `others`, play each other.

    All meet all, or `swiss` rounds are paired by the scores so far. Each match has `games` games,
    and `processes` matches are played at once, by default as many as there are processors. What is
    played is kept in `out`, and the same call continues from there, also with more bots. UserError
    if there are too few players, if no bot starts, or if `out` holds another tournament.
    """
    out, variant = place_of(out, folder), checked_variant(variant)
    if not isinstance(limits, Limits):
        raise UserError(f"limits must be Limits, such as Limits(seconds=5), not {shown(limits)}")
    if processes is not None and not 1 <= whole_number(processes, "processes") <= WORKERS:
        raise UserError(f"processes must be from 1 to {WORKERS}, not {shown(processes)}")
    programs, passed_over = bots_in(folder)
    players = entrants(programs, others, variant, limits)
    players = in_order_of_entry(players, out / GAMES_FOLDER / ABOUT)
    check_games(games, seed, variant)
    check_players(len(players), variant, swiss)
    names = [player.name for player in players]
    matches = keeping_games(numbered(players, variant), out / REPLAYS)
    about = description(variant, names, [], games, seed)
    how = {"numbered": NUMBERED, **limits_and_files(folder, programs, others, limits)}
    with saved_parts(out / GAMES_FOLDER, {**about, **how}, results_in(out), may_grow=True) as saved:
        plan = Plan(games, seed, strict=False, saved=saved)
        match_player = MatchPlayer(matches, plan, processes or processors(), watch or Watch())
        rounds = (
            [match_player.all_meet_all()]
            if swiss is None
            else match_player.swiss_rounds(swiss, names)
        )
    played = list(chain.from_iterable(each.matches for each in rounds))
    if not played:
        raise UserError(f"no bot starts: {rounds[0].not_played[0][1].failures[0].error}")
    evaluation = evaluated(about, played, one_by_one=variant.game.cooperative)
    return Tournament(evaluation, rounds, limits, passed_over)


def place_of(out: Path | str, folder: Path | str) -> Path:
    """The folder of a tournament; UserError if it is the bots' own, whose files are bots."""
    out = checked_path(out)
    if os.path.realpath(out) == os.path.realpath(folder):
        raise UserError(f"{out} is the folder of the bots: name another one for the games (--out)")
    return out


def limits_and_files(
    folder: Path | str, programs: Iterable[str], others: Sequence[str], limits: Limits
) -> dict[str, Any]:
    """The limits of the bots, and what changes if the files of a player change."""
    files = {name: digest(Path(folder, name)) for name in programs} | fingerprints(others)
    how = {name: getattr(limits, name) for name in ("seconds", "clock", "memory", "cpu")}
    return {**how, "files": files}


def results_in(out: Path | str) -> list[Path]:
    """The page of a tournament, its results as JSON, and its players as a table."""
    return [checked_path(out) / name for name in ("index.html", RESULTS, "players.csv")]


def check_players(players: int, variant: Variant, swiss: int | None) -> None:
    """UserError unless this many players can meet, in `swiss` rounds if there are any."""
    if players == 1 and not variant.game.cooperative:
        raise UserError("one player only: add a bot, or a policy with --with")
    if swiss is None:
        return
    if variant.game.cooperative:
        raise UserError(
            f"{variant.id} is played together and has no Swiss rounds: leave out --swiss"
        )
    check_rounds(swiss, players)


def entrants(
    programs: dict[str, Path], others: Sequence[str], variant: Variant, limits: Limits
) -> list[Policy]:
    """All who play, each with a name of its own."""
    bots = [
        ProcessPolicy(variant, command(program), limits, name) for name, program in programs.items()
    ]
    policies = [policy_named(spec, variant) for spec in others]
    names = Counter(player.name for player in (*bots, *policies))
    if twice := [name for name, count in names.items() if count > 1]:
        raise UserError(
            f"two players are called {twice[0]}: rename the bot, or name the policy once"
        )
    if not names:
        raise UserError("the folder has no bots; add some, or a policy with --with")
    return [*bots, *policies]


def in_order_of_entry(players: Sequence[Policy], about: Path) -> list[Policy]:
    """Those first who played in this tournament before, as its file says, in the same order."""
    before = (read_object(about, RESULTS_BYTES) or {}).get("policies")
    known = before if isinstance(before, list) else []
    entries = {str(name): place for place, name in enumerate(known)}
    return sorted(players, key=lambda player: entries.get(player.name, len(entries)))


def numbered(players: Sequence[Policy], variant: Variant) -> list[Pairing]:
    """All matches by their numbers, which stay the same if players are added at the end."""
    places = {player.name: place for place, player in enumerate(players)}
    matches = pairings_of_all(players, variant, chosen_plays(None, variant))
    return sorted(matches, key=lambda match: [places[name] for name in reversed(match.names)])


def policy_named(spec: str, variant: Variant) -> Policy:
    """The policy of this name, which it keeps."""
    (policy,) = loaded([spec], variant)
    policy.name = spec
    return policy


# --- In several processes


class MatchPlayer:
    """Has matches played, some at once; how many at once changes nothing but the time."""

    def __init__(
        self, matches: Sequence[Pairing], plan: Plan, processes: int, watch: Watch
    ) -> None:
        """`matches` are all that can be played, by their numbers."""
        assert plan.saved
        self.matches, self.plan, self.watch = matches, plan, watch
        self.processes = processes
        self.kept = [
            sum(len(part.deals) * match.games_a_deal for part in plan.saved.read(number))
            for number, match in enumerate(matches)
        ]

    def all_meet_all(self) -> Round:
        everything = range(len(self.matches))
        with worker_pool(min(self.processes, len(everything))) as pool:
            self._begin(everything, 0, len(everything))
            return round_of(self._play(everything, pool))

    def swiss_rounds(self, rounds: int, names: Sequence[str]) -> list[Round]:
        """The matches that the standings of the players, who have these names, pair."""
        places = {name: place for place, name in enumerate(names)}
        number_of = {
            tuple(places[name] for name in match.names): number
            for number, match in enumerate(self.matches)
        }
        standings, played = Standings(len(names)), []
        boards = len(names) // 2
        with worker_pool(min(self.processes, boards)) as pool:
            for number in range(rounds):
                pairs, bye = standings.next_round()
                numbers = [number_of[pair] for pair in pairs]
                self._begin(numbers, number * boards, rounds * boards)
                found = self._play(numbers, pool)
                standings.add(pairs, [shares(part) for _, part in found], bye)
                played.append(round_of(found, None if bye is None else names[bye]))
        return played

    def _begin(self, numbers: Sequence[int], before: int, matches: int) -> None:
        """Tell who watches that these of all `matches` are next, after those played `before`.

        Of the games that are kept only those count that this round pairs.
        """
        kept = sum(self.kept[number] for number in numbers)
        self.watch.begin(matches * self.plan.games, before * self.plan.games + kept)

    def _play(self, numbers: Sequence[int], pool: Executor | None) -> list[Played]:
        jobs = [(number, self.matches[number], self.plan) for number in numbers]
        results = played_at_once(pool, jobs) if pool else map(play_match, jobs)
        found: dict[int, DealResults] = {}
        for number, part in results:
            found[number] = part
            games = self.plan.games - self.kept[number]
            self.watch.part_ended(self.matches[number], [part], games)
        return [(self.matches[number], found[number]) for number in numbers]


def round_of(found: Sequence[Played], bye: str | None = None) -> Round:
    """A round, in which some matches were perhaps not played."""
    matches = [match for match in found if len(match[1].deals)]
    return Round(matches, bye, [match for match in found if not len(match[1].deals)])


def shares(part: DealResults) -> Shares:
    """The shares of the games that the two of a match won; none if it was not played."""
    if not len(part.scores):
        return 0.0, 0.0
    first = float(part.scores.mean())
    return first, 1 - first


def played_at_once(pool: Executor, jobs: Sequence[Job]) -> Iterator[tuple[int, DealResults]]:
    """The matches, in the order in which they end; UserError if a process was killed."""
    try:
        for match in as_completed([pool.submit(in_worker, play_match, sent(job)) for job in jobs]):
            yield match.result()
    except BrokenExecutor:
        raise process_killed() from None


class ByName:
    """A policy on its way to another process, which loads it: not every function can be sent."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def __reduce__(self) -> Any:
        return policy_named, (self.policy.name, self.policy.variant)


def sent(job: Job) -> Job:
    """A job for another process: bots as they are, and all other players by their names."""
    number, match, plan = job
    players: Any = tuple(p if isinstance(p, ProcessPolicy) else ByName(p) for p in match.players)
    return number, replace(match, players=players), plan


def play_match(job: Job) -> tuple[int, DealResults]:
    """The number of a match, and what came out of it; afterwards its bots have ended."""
    number, match, plan = job
    assert plan.saved
    try:
        kept = plan.saved.read(number)
        missing = missing_deals(match, kept, plan)
        if len(missing) and (absent := absences(match)):
            parts = [walkover(match, missing, absent)]
            return number, joined(parts if len(absent) > 1 else [*kept, *parts])
        return number, play_pairing(match, number, kept, plan)
    finally:
        for player in match.players:
            put_away(player)


def absences(match: Pairing) -> list[Failure]:
    """Why bots of a match do not start; in a cooperative game that is found as the team plays."""
    found = []
    for side, player in enumerate(() if match.variant.game.cooperative else match.players):
        try:
            if isinstance(player, ProcessPolicy):
                player.start()
        except UserError as error:
            found.append(Failure(side, 0, 1, shortened(str(error)), started=False))
    return found


def walkover(match: Pairing, deals: Deals, absent: Sequence[Failure]) -> DealResults:
    """Deals that are not played: the bot that starts wins all games; if none does, none counts."""
    failure, *others = absent
    counted = deals[: 0 if others else None]
    scores = np.full(len(counted), float(failure.side))  # those of the first
    games = counted.repeat(match.games_a_deal).tolist()
    forfeited = [failure._replace(deal=deal) for deal in games]
    return DealResults(counted, scores, np.zeros(len(counted), np.bool_), forfeited or [*absent])


def put_away(player: Policy) -> None:
    """End the processes of a bot."""
    if isinstance(player, ProcessPolicy):
        player.close()
