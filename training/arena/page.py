"""The page of a tournament: ladder, matrix, forfeits, and every game as a file to replay."""

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from hanamachi.policies.external.bot import seconds_in_words
from hanamachi.storage.files import utf8, write_whole
from hanamachi.training.arena.sheet import as_csv
from hanamachi.training.arena.tournament import Round, Tournament, results_in
from hanamachi.training.evaluation.deals import REPLAYS, DealResults, Pairing, Played, replay_name
from hanamachi.training.evaluation.json_results import write_json
from hanamachi.training.evaluation.page import WIDTH, rankings_part
from hanamachi.training.evaluation.results import Evaluation, Forfeits, TeamScore, row_of
from hanamachi.training.web_page import page, table

HOW_TO_OPEN = """\
<p>A match opens to the files of its games, named by their deals; {seats}. \
<code>hanamachi replay FILE</code> steps through a file in the terminal, and with \
<code>--web</code> at the table in the browser. A game that was forfeited ends where its player \
failed.</p>"""
NAMED = 3  # opponents of a bot that fails against more
TOGETHER = "the player named first sits first in even deals, the other one in odd deals"
AGAINST = "the player named first is player 0 in game a of a deal, and player 1 in game b"


def write(tournament: Tournament, out: Path | str) -> list[Path]:
    """Write `index.html`, `evaluation.json` and `players.csv`; returns their paths."""
    site, data, sheet = results_in(out)
    write_whole(site, utf8(tournament_page(tournament)))
    write_json(tournament.evaluation.as_json(), data)
    write_whole(sheet, utf8(as_csv(tournament)))
    return [site, data, sheet]


def tournament_page(tournament: Tournament) -> str:
    evaluation = tournament.evaluation
    how_to_open = HOW_TO_OPEN.format(seats=TOGETHER if evaluation.cooperative else AGAINST)
    parts = [*rankings_part(evaluation), *forfeits_part(evaluation)]
    parts += ["<h2>Matches</h2>", how_to_open, *matches_part(tournament.rounds)]
    parts.append(f"<p>{escape(rules(tournament))}</p>")
    rounds = len(tournament.rounds)
    title = f"{evaluation.game}: {len(evaluation.policies)} players, "
    title += f"{rounds} Swiss rounds, " if rounds > 1 else ""
    title += f"{evaluation.games:,} games a match"
    return page(title, "\n".join(parts), WIDTH)


def forfeits_part(evaluation: Evaluation) -> Iterator[str]:
    """How often each bot failed, for each way in which it failed first in a match."""
    if not evaluation.forfeits:
        return
    same: dict[tuple[str, str], list[Forfeits]] = {}
    for each in sorted(evaluation.forfeits, key=lambda each: each.policy):
        same.setdefault((each.policy, each.error), []).append(each)
    facing = "with" if evaluation.cooperative else "against"
    rows = [
        [
            player,
            how,
            some_of([each.opponent for each in matches]),
            f"{sum(each.games for each in matches):,}",
            f"{matches[0].deal}, {matches[0].decision}",
        ]
        for (player, how), matches in same.items()
    ]
    yield "<h2>Forfeited games</h2>"
    numbers = ["games", "first in deal, decision"]
    yield table(["player", "how it failed first in a match", facing], numbers, rows)


def some_of(names: Sequence[str]) -> str:
    """All of a few names, or the first of many, and how many more there are."""
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


def matches_part(rounds: Sequence[Round]) -> Iterator[str]:
    """All matches, under the number of their round if there are several."""
    for number, (matches, bye, not_played) in enumerate(rounds, 1):
        if len(rounds) > 1:
            yield f"<h3>Round {number}</h3>"
        yield from map(match_part, matches)
        if not_played:
            pairs = [" and ".join(pairing.names) for pairing, _ in not_played]
            yield f"<p>Not played, as neither bot starts: {escape('; '.join(pairs))}.</p>"
        if bye is not None:
            yield f"<p>{escape(bye)} had a bye.</p>"


def match_part(match: Played) -> str:
    """A line for a match, which opens to links to its games."""
    pairing, part = match
    games = [f'<a href="{path}">{label}</a>' for label, path in games_of(pairing, part)]
    links = " ".join(games) or "There are no files of games."
    return f"<details><summary>{escape(summary(pairing, part))}</summary><p>{links}</p></details>"


def summary(pairing: Pairing, part: DealResults) -> str:
    first, second = pairing.names
    result = row_of(pairing, part)
    if isinstance(result, TeamScore):
        return f"{first} with {result.other}: {result.mean:.2f} points"
    won = pairing.games_a_deal * part.scores.sum()
    games = pairing.games_a_deal * len(part.deals)
    return f"{first} against {second}: {won:g} to {games - won:g}"


def games_of(pairing: Pairing, part: DealResults) -> Iterator[tuple[str, str]]:
    """The number of each game that was played, and where its file is as seen from the page."""
    assert pairing.replays
    for deal in part.deals.tolist():
        for again in range(pairing.games_a_deal):
            name = replay_name(deal, bool(again))
            if not (pairing.replays / name).exists():  # of a bot that did not start
                continue
            yield name.removesuffix(".json"), f"{REPLAYS}/{pairing.replays.name}/{name}"


def rules(tournament: Tournament) -> str:
    """Under which conditions the tournament was played."""
    evaluation, limits = tournament.evaluation, tournament.limits
    options = ", ".join(f"{name}={value}" for name, value in evaluation.options.items())
    bounds = [f"{seconds_in_words(limits.seconds)} for each decision"]
    bounds += [f"{seconds_in_words(limits.clock)} for each game"] if limits.clock else []
    bounds += [f"{limits.memory} MB of memory of each process"] if limits.memory else []
    if limits.cpu:
        bounds.append(f"{seconds_in_words(limits.cpu)} of processor time of each process")
    words = (
        f"{', '.join(bounds)}. Seed {evaluation.seed}; {options}. All intervals are 95% intervals."
    )
    if tournament.passed_over:
        words += f" In the folder, but no bots: {', '.join(tournament.passed_over)}."
    return words
