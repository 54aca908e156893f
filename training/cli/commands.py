"""The commands of `hanamachi`, with their options and help texts.

A command imports what it needs when it runs, so that `--help` answers at once.
"""

import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from inspect import signature
from pathlib import Path
from shlex import quote
from shutil import get_terminal_size
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

import typer
from rich.console import Console
from rich.text import Text

from hanamachi.errors import UserError, missing_extra, shown
from hanamachi.limits import LINE, MOVE_SECONDS, WORKERS
from hanamachi.training.cli.notes import note
from hanamachi.training.failures import missing_package

if TYPE_CHECKING:
    from hanamachi.engine.game import Variant
    from hanamachi.policies.policy import Policy
    from hanamachi.sessions.saved_games import Record
    from hanamachi.training.config import Config
    from hanamachi.training.exploitation import Exploitation

app = typer.Typer(
    help="Card games with hidden information: train policies, evaluate them, play against them.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
console = Console()

LONGEST_LINE = 100 * LINE  # characters that are passed over to find the end of a line

GameId = Annotated[str, typer.Argument(metavar="GAME", help="Id of a game; see hanamachi games.")]
GameOption = Annotated[
    str | None,
    typer.Option("--game", help="Id of a game; checkpoints and agents that ship know theirs."),
]
GameOptions = Annotated[
    list[str] | None, typer.Option("--set", help="An option of the game, such as max_rounds=3.")
]
FORMS = (
    "A name such as expert, the folder of a checkpoint, FILE.onnx, module:function, "
    "process:PROGRAM, model:NAME?url=URL or search:KIND:POLICY:SETTINGS"
)
Seed = Annotated[int, typer.Option(min=0, help="Seed of the deals and of all other chance.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="A setting to change, such as ppo.learning_rate=1e-3."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]
OnRay = Annotated[bool, typer.Option("--ray", help="Use all processors of a Ray cluster.")]


@app.command()
def train(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="YAML file of the run.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder of the run; runs/NAME for NAME.yaml by default.")
    ] = None,
    settings: Settings = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume the run in OUT.")] = False,
    on_ray: Annotated[
        bool, typer.Option("--ray", help="Run the rollouts on a Ray cluster.")
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=WORKERS,
            help="Number of workers; by default one for each processor, if each opponent has "
            "enough games, or as many as the run that is resumed has.",
        ),
    ] = None,
) -> None:
    """Train a policy by self-play, evaluate it, and export it to OUT/policy (extra: train)."""
    from hanamachi.training.config import Config
    from hanamachi.training.curve import CURVE, REPORT
    from hanamachi.training.resume import saved_workers
    from hanamachi.training.run import train

    if workers and not on_ray:
        raise UserError("--workers is the number of workers on a Ray cluster: add --ray")
    run = Config.load(config, settings or ())
    out = out or Path("runs", config.stem)
    if on_ray:
        workers = workers or (saved_workers(out) if resume else None) or usual_workers(run)
    policy = train(run, out, resume=resume, workers=workers or 0)
    written(policy, out / REPORT, out / CURVE)


@app.command()
def sweep(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="YAML file with ranges.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder of the trials; runs/NAME for NAME.yaml by default.")
    ] = None,
    settings: Settings = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume the sweep in OUT.")] = False,
    as_json: AsJson = False,
) -> None:
    """Search for settings on a Ray cluster; writes OUT/best.yaml (extras: train, ray)."""
    from hanamachi.training import sweep

    best, trials = sweep.sweep(config, out or Path("runs", config.stem), resume, settings or ())
    show(trials, sweep.table(trials), as_json)
    written(best)


@app.command()
def evaluate(
    context: typer.Context,
    policies: Annotated[
        list[str],
        typer.Argument(
            metavar="POLICY...",
            help=f"{FORMS}. At least two, or one with --against or if the game is cooperative.",
        ),
    ],
    game: GameOption = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            help="A policy that each POLICY plays, instead of the other POLICYs. Repeat it for "
            "several; all means every rule policy of the game.",
        ),
    ] = None,
    games: Annotated[
        int, typer.Option(help="Games of each pairing; with a language model, say how many.")
    ] = 10_000,
    seed: Seed = 0,
    play: Annotated[str, typer.Option(help="sample, argmax or both.")] = "both",
    matrix: Annotated[
        bool, typer.Option("--matrix", help="Print every pairing, also of more than 5 policies.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop when a policy fails; else it forfeits the game.")
    ] = False,
    judge: Annotated[
        int,
        typer.Option(
            help="Let a search estimate what moves lose, in this many worlds, 2 or more; slow."
        ),
    ] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of evaluation.json, .csv, .html and .png, and of the games played: the "
            "same command resumes from there."
        ),
    ] = None,
    replays: Annotated[
        bool, typer.Option("--replays", help="Keep each game in the folder, too, to replay it.")
    ] = False,
    options: GameOptions = None,
    on_ray: OnRay = False,
    as_json: AsJson = False,
) -> None:
    """Play policies against each other on identical deals; report win rates or mean scores."""
    from hanamachi.training.evaluation import report
    from hanamachi.training.evaluation.matches import GAMES_FOLDER, evaluate
    from hanamachi.training.evaluation.progress import ShowGames
    from hanamachi.training.evaluation.ranking import forfeit_notes

    if out:  # which needs an extra: better missed before the games than after them
        from hanamachi.training.evaluation.files import write
    how: dict[str, Any] = {"opponents": against or (), "play": play}  # checked by evaluate
    ask_for_games(context, [*policies, *how["opponents"]])
    how |= in_batches(games) if on_ray else {}
    id, own = (game, {}) if game else known_game([*policies, *how["opponents"]])
    how |= own | options_of(evaluate, options)
    with ShowGames() as watch:
        how |= {"strict": strict, "judge": judge, "out": out, "replays": replays, "watch": watch}
        evaluation = evaluate(policies, id, games, seed, **how)
    show(evaluation.as_json(), report.tables(evaluation, matrix), as_json)
    for words in forfeit_notes(evaluation) if as_json else ():
        note(words)
    if out:
        if watch.ended_before:
            note(f"these games were played before; to play them again, delete {out / GAMES_FOLDER}")
        written(*write(evaluation, out))


@app.command()
def dataset(
    game: GameId,
    policies: Annotated[
        list[str],
        typer.Option("--policy", help="Who plays; repeat it for two that exchange their seats."),
    ],
    out: Annotated[
        Path,
        typer.Option(help="Folder of the dataset; the same command continues one that stopped."),
    ],
    games: Annotated[int, typer.Option(min=1, help="Number of games.")] = 1_000,
    seed: Seed = 0,
    play: Annotated[Literal["sample", "argmax"], typer.Option(help="How they choose.")] = "sample",
    judge: Annotated[
        str | None,
        typer.Option(
            help="A search that gives each action a value: search:improve:expert:worlds=64."
        ),
    ] = None,
    processes: Annotated[int, typer.Option(min=1, help="Processes that play.")] = 1,
    options: GameOptions = None,
) -> None:
    """Write games as Parquet files, one row for each decision (extra: data)."""
    from hanamachi.training.dataset import make
    from hanamachi.training.evaluation.progress import GamesBar

    own = options_of(make, options)
    with GamesBar() as watch:
        how: dict[str, Any] = {"play": play, "judge": judge, "processes": processes}
        figures = make(game, policies, games, out, seed, watch=watch, **how, **own)
    if watch.ended_before:
        note(f"these games were played before; to play them again, delete {out}")
    say(figures.in_words(policies))
    written(out)


@app.command()
def arena(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the bots.")],
    game: Annotated[str | None, typer.Option("--game", help="Id of a game.")] = None,
    grade: Annotated[
        str | None,
        typer.Option(
            help="Instead of a tournament, measure how exploitable each bot is in this small "
            "version of a game, such as hanamikoji-gifts."
        ),
    ] = None,
    games: Annotated[int, typer.Option(help="Games of each match.")] = 20,
    swiss: Annotated[
        int | None,
        typer.Option(
            metavar="ROUNDS",
            help="Number of rounds, paired by the scores so far; otherwise all meet all.",
        ),
    ] = None,
    seconds: Annotated[float, typer.Option(min=0.01, help="Time for each decision.")] = 1.0,
    clock: Annotated[
        float | None,
        typer.Option(
            min=0.01, help="Seconds for all decisions of a bot in a game; no limit by default."
        ),
    ] = None,
    memory: Annotated[int, typer.Option(min=16, help="Megabytes of each process (Linux).")] = 1024,
    cpu: Annotated[
        int, typer.Option(min=1, help="Seconds of processor time of each process.")
    ] = 3600,
    others: Annotated[
        list[str] | None,
        typer.Option("--with", help=f"A policy that plays too; may be repeated. {FORMS}."),
    ] = None,
    seed: Seed = 0,
    processes: Annotated[
        int | None,
        typer.Option(
            min=1, max=WORKERS, help="Matches played at once; one for each processor by default."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of index.html and of the games played; runs/NAME for a FOLDER called NAME "
            "by default. The same command resumes from there."
        ),
    ] = None,
    options: GameOptions = None,
    as_json: AsJson = False,
) -> None:
    """Let all bots of a folder play each other; write a page with ladder and games."""
    from hanamachi.games.registry import variant
    from hanamachi.policies.external.bot import Limits
    from hanamachi.training.arena.page import write
    from hanamachi.training.arena.tournament import play_tournament
    from hanamachi.training.evaluation import report
    from hanamachi.training.evaluation.progress import ShowGames

    if game and grade:
        raise UserError(f"give --game or --grade, not both: {grade} already names its game")
    if game is None and grade is None:
        raise UserError("name the game of a tournament with --game, or a small one with --grade")
    if grade:
        tournament = {"--set", "--games", "--swiss", "--seed", "--processes"}
        refuse_unused(context, tournament, "--grade plays no games")
    place = out or Path("runs", Path(os.path.abspath(folder)).name)
    limits = Limits(seconds, memory, waits=True, clock=clock, cpu=cpu)
    how: dict[str, Any] = {"limits": limits, "others": others or ()}
    if game is None:
        grade_bots(folder, str(grade), place, how, as_json)
        return
    how |= {"processes": processes, "swiss": swiss}
    chosen = variant(game, **assignments(options))
    with ShowGames() as watch:
        played = play_tournament(folder, chosen, place, games, seed, watch=watch, **how)
    show(played.evaluation.as_json(), report.tables(played.evaluation), as_json)
    for name in played.passed_over:
        note(f"{name} is no bot: no executable, no .py or .js file, no folder with a program run")
    written(*write(played, place))


@app.command()
def export(
    policy: Annotated[
        str, typer.Argument(metavar="POLICY", help="A checkpoint, or the id of a game's agent.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="The file; NAME.onnx for a POLICY called NAME by default.")
    ] = None,
) -> None:
    """Write a checkpoint as an ONNX file. Playing it needs the extra onnx, but not PyTorch."""
    from hanamachi.policies.export import export

    written(export(policy, out))


@app.command()
def exploit(
    context: typer.Context,
    policy: Annotated[
        str,
        typer.Argument(
            metavar="POLICY",
            help=f"{FORMS}; a bot (process:) only with --exact.",
        ),
    ],
    exact: Annotated[
        bool, typer.Option("--exact", help="Walk the whole game tree, which must be small.")
    ] = False,
    search: Annotated[
        str | None,
        typer.Option(help="Attack by a search with this budget: seconds=0.1, or worlds=32."),
    ] = None,
    games: Annotated[int, typer.Option(help="Number of games in which the search attacks.")] = 2000,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the search's games, without --steps.")
    ] = 0,
    steps: Annotated[
        int | None,
        typer.Option(help="Train best responses; the first learns from this many decisions."),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(
            help="Number of best responses to train. Against a rule policy all start from random "
            "weights; against a network the second starts from its weights, and the third from a "
            "clone of the search."
        ),
    ] = 3,
    config: Annotated[
        Path | None,
        typer.Option(
            help="YAML file with settings of the best responses. Name only what is to differ from "
            "their own defaults: a run's config.yaml names everything."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of exact.json, or of exploit.json, exploit.png and the runs."),
    ] = None,
    game: GameOption = None,
    options: GameOptions = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume the runs in OUT.")] = False,
    on_ray: OnRay = False,
    as_json: AsJson = False,
) -> None:
    """Measure a policy's exploitability: exactly, by search, or by training (extra: train)."""
    attacked = search is not None or steps is not None
    if exact == attacked:
        raise UserError(
            "choose what to find: --exact for the exact value in a small game; or attackers, with "
            "--search seconds=0.1 to search, --steps to train best responses, or both"
        )
    of_training = {"--seeds", "--config", "--resume"}
    if exact:
        others = {"--games", "--seed", "--ray", *of_training}
        refuse_unused(context, others, "--exact plays and trains nothing")
        exploit_exactly(policy, out, game, options, as_json)
        return
    if steps is None:
        refuse_unused(context, of_training, "without --steps nothing is trained")
    else:
        refuse_unused(context, {"--seed"}, "with --steps the seed is that of --config")
    if search is None:
        refuse_unused(context, {"--games"}, "without --search no search attacks")
    from hanamachi.training.evaluation.progress import ShowGames
    from hanamachi.training.exploitation import exploit_by_search, table

    how: dict[str, Any] = {"game": game, **(on_cluster() if on_ray else {})}
    with ShowGames() as watch:
        how["watch"] = watch
        if steps is None:
            how |= {"out": out, **options_of(exploit_by_search, options)}
            found = exploit_by_search(policy, str(search), games, seed, **how)
        else:
            how |= {"search": search, "search_games": games, "resume": resume}
            found = exploit_by_training(policy, out, steps, seeds, config, how, options)
    show(found.as_json(), table(found), as_json)


@app.command()
def play(
    game: GameId,
    opponent: Annotated[
        str | None,
        typer.Option(
            help=f"{FORMS}; by default the game's agent, in Hanabi its :partner, or expert."
        ),
    ] = None,
    seat: Annotated[int, typer.Option(help="Your seat.")] = 0,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the game.")] = None,
    record: Annotated[Path | None, typer.Option(help="File to save the game in.")] = None,
    thoughts: Annotated[
        bool,
        typer.Option("--thoughts", help="Show its probabilities, which may reveal its hand."),
    ] = False,
    options: GameOptions = None,
) -> None:
    """Play a game against a policy, or with it, in the terminal."""
    from hanamachi.games.registry import variant as make_variant
    from hanamachi.policies.external.process import ProcessPolicy
    from hanamachi.policies.search.search import Search
    from hanamachi.policies.view_policy import ViewPolicy
    from hanamachi.sessions.saved_games import record_of, save
    from hanamachi.storage.files import refuse_existing
    from hanamachi.training.cli.colours import CardColours
    from hanamachi.training.cli.play import Contest, play

    if record:
        refuse_existing(record)
    variant = make_variant(game, **assignments(options))
    policy = opponent_for(variant, opponent)
    contest = Contest(variant, policy, seat, seed)
    if isinstance(policy, ProcessPolicy):
        policy.start()  # fails now if it would fail in the game
    if not isinstance(policy, Search | ViewPolicy):  # whose hints take seconds
        contest.hint()  # compiles the policy's code before the first move
    if record:
        save(record_of(contest.session), record)  # fails now if it would fail after the game
    note_if_narrow()
    say(f"{policy.name} plays in all other seats.")
    coloured = CardColours(variant)
    try:
        play(contest, ask, lambda words: say(coloured(words)), thoughts)
    finally:
        if record:
            save(record_of(contest.session), record)
            say(f"The game is saved; hanamachi replay {quote(str(record))} shows it again.")


@app.command()
def serve(
    policies: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[POLICY]...", help="Names or checkpoints that may be chosen in the browser."
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen at; 0.0.0.0 lets other computers connect.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 8020,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder that keeps the games; by default in your user data."),
    ] = None,
    browse: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Play, watch and review games in the browser (extra: serve)."""
    serve_table(policies or [], host, port, data, "Serving", browse)


def serve_table(
    policies: list[str],
    host: str,
    port: int,
    data: Path | None,
    what: str,
    browse: bool,
    record: "Record | None" = None,
) -> None:
    """Serve until stopped; say what is to be found where, and open it in a browser if wanted."""
    try:
        from hanamachi.training.serve import app as server
    except ModuleNotFoundError as error:
        raise missing_extra(missing_package(error), "serve") from None

    def ready(address: str) -> None:
        say(f"{what} at {address}. Press Ctrl-C to stop.")
        if browse:
            typer.launch(address)

    server.serve(policies, host, port, data, ready, record)


@app.command()
def replay(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A saved game, notation, or JSON of hanab.live."),
    ],
    whole: Annotated[bool, typer.Option("--all", help="Print all of it at once.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write a file instead: an animation as NAME.svg or NAME.gif (extra: render), the "
            "game as NAME.txt (notation), NAME.json or NAME.hanab.json (hanab.live)."
        ),
    ] = None,
    seconds: Annotated[
        float, typer.Option(min=0.1, max=MOVE_SECONDS, help="Time for each move in OUT.")
    ] = 1.0,
    web: Annotated[
        bool, typer.Option("--web", help="Open it in the browser, to review it (extra: serve).")
    ] = False,
) -> None:
    """Step through a game, with all hands visible, or write it as an animation or as text."""
    from hanamachi.rendering.parts import render_part
    from hanamachi.sessions.notation import load_game, write_game
    from hanamachi.sessions.saved_games import positions
    from hanamachi.storage.files import refuse_existing

    if web:
        refuse_unused(context, {"--out", "--seconds", "--all"}, "--web opens the browser")
    elif out:
        refuse_unused(context, {"--all"}, "--out writes a file and prints nothing")
        refuse_existing(out)
    else:
        refuse_unused(context, {"--seconds"}, "only a file written with --out takes time")
    record = load_game(file)
    if web:
        with TemporaryDirectory(prefix="hanamachi-") as folder:
            serve_table([], "127.0.0.1", 0, Path(folder), "Review this game", True, record)
        return
    if out:
        from hanamachi.sessions.animation import KINDS, animate

        if out.suffix.lower() in KINDS:
            animate(record, out, seconds)
        else:
            write_game(record, out)
        written(out)
        return
    note_if_narrow()
    variant, before = record.variant, None
    text, round_end = render_part(variant, "text"), render_part(variant, "round_end")
    for number, (position, words) in enumerate(positions(record)):
        prompt = f"[{number}/{len(record.actions)}] Enter continues, q quits "
        if number and not whole and left(prompt):
            break
        ended = "" if before is None else round_end(variant, before, record.actions[number - 1])
        table = text(variant, position)
        say("\n\n".join(part for part in (words, ended, table) if part))
        before = position


@app.command()
def games(
    wanted: Annotated[
        str | None,
        typer.Argument(metavar="[GAME]", help="A game or a variant; all games by default."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the games with their variants, options and agents."""
    from hanamachi.training.cli import listing

    variants = listing.variants(wanted)
    show(listing.as_json(variants), listing.tables(variants), as_json)


@app.command()
def warmup(
    games: Annotated[
        list[str] | None, typer.Argument(metavar="[GAME]...", help="Names of games; all by default")
    ] = None,
) -> None:
    """Compile all that games need on this computer ahead of time, which takes minutes."""
    from hanamachi.training.cli import warmup

    for name, part, use in warmup.parts(games or None):
        with console.status(f"{name}: {part}"):
            use()
        say(f"{name}: {part} compiled")


@app.command()
def benchmark(
    kinds: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KIND]...",
            help="engine, adapters, training, evaluation, scale, memory, start, search, cluster; "
            "all by default.",
        ),
    ] = None,
    games: Annotated[
        list[str] | None,
        typer.Option("--game", help="Id of a game; repeat it for several. hanamikoji by default."),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often each is measured.")] = 5,
    seconds: Annotated[float, typer.Option(min=0, help="Shortest time of a round.")] = 0.5,
    most: Annotated[
        int, typer.Option(min=2, help="Most games at once in evaluation, scale and memory.")
    ] = 1_000_000,
    device: Annotated[
        Literal["cpu", "cuda", "mps"], typer.Option(help="Device of the network in training.")
    ] = "cpu",
    out: Annotated[
        Path | None, typer.Option(help="Folder for benchmark.json and benchmark.png.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure how fast the engine, its adapters and training run here (extra: train)."""
    from hanamachi.training.benchmark import KINDS, run
    from hanamachi.training.benchmark.report import check_place, tables, write

    effort: dict[str, Any] = {"rounds": rounds, "seconds": seconds, "most": most, "device": device}
    if out:
        check_place(out)  # before minutes of work
    report = run(kinds or KINDS, games or ["hanamikoji"], **effort)
    show(report.as_json(), tables(report), as_json)
    written(*(write(report, out) if out else ()))


# --- Parts of the commands


def opponent_for(variant: "Variant", opponent: str | None) -> "Policy":
    """The policy that plays in the other seats."""
    from hanamachi.policies import load_policy
    from hanamachi.training.cli.play import usual_opponent

    if opponent is None:
        return usual_opponent(variant)
    return load_policy(opponent, variant.id, **variant.options)


def known_game(policies: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """The variant's id and options that the first policy with a game of its own plays."""
    from hanamachi.policies.load import knows_its_game, load_policy

    for policy in filter(knows_its_game, policies):
        variant = load_policy(policy).variant
        return variant.id, dict(variant.options)
    raise UserError("none of these policies has a game of its own: name one with --game")


def exploit_by_training(
    policy: str,
    out: Path | None,
    steps: int,
    seeds: int,
    config: Path | None,
    how: dict[str, Any],
    options: list[str] | None,
) -> "Exploitation":
    if out is None:
        raise UserError("trained best responses are runs: name a folder for them with --out")
    from hanamachi.training.best_responses import exploit
    from hanamachi.training.config import Config

    how |= {"config": Config.load(config) if config else None, **options_of(exploit, options)}
    return exploit(policy, out, steps, seeds, **how)


def exploit_exactly(
    policy: str, out: Path | None, game: str | None, options: Any, as_json: bool
) -> None:
    from hanamachi.training.exact import report

    own = options_of(report.exact_exploitability, options)
    if out:
        report.check_place(out, policy, game, **own)
    with console.status("the whole game tree is walked"):
        found = report.exact_exploitability(policy, game, **own)
    show(found.as_json(), report.tables(found), as_json)
    if out:
        written(report.write(found, out))


def refuse_unused(context: typer.Context, unused: set[str], reason: str) -> None:
    """UserError if one of these options, which the command would ignore, was given."""
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if option.opts[0] in unused and source and source.name == "COMMANDLINE":
            raise UserError(f"{reason}: leave out {option.opts[0]}")


def ask_for_games(context: typer.Context, policies: Sequence[str]) -> None:
    """UserError if language models, which are slow or paid for, would play the default number."""
    from hanamachi.policies.load import MODEL

    source = context.get_parameter_source("games")
    chosen = source and source.name == "COMMANDLINE"
    if not chosen and any(policy.startswith(MODEL) for policy in policies):
        raise UserError(
            "a language model takes long: say how many games it plays, as with --games 20; add "
            "--play sample, else they are played twice"
        )


def grade_bots(folder: Path, small: str, out: Path, how: dict[str, Any], as_json: bool) -> None:
    from hanamachi.training.arena.grade import check_place, grade, tables, write

    check_place(out, folder, small, **how)
    with console.status("the bots are asked about every position"):
        grades = grade(folder, small, **how)
    show(grades.as_json(), tables(grades), as_json)
    written(*write(grades, out))


def usual_workers(run: "Config") -> int:
    """One for each processor of the cluster, as long as each opponent has a game for each."""
    from hanamachi.training.build import games_of_each
    from hanamachi.training.cluster import processors

    return min(processors(), *games_of_each(run).values())


def on_cluster() -> dict[str, Any]:
    """Arguments that run independent work on a Ray cluster."""
    from hanamachi.training.cluster.map_on_cluster import map_on_cluster

    return {"mapper": map_on_cluster}


def in_batches(games: int) -> dict[str, Any]:
    """Arguments that play an evaluation on a Ray cluster."""
    from hanamachi.training.cluster.map_on_cluster import batch_size

    return on_cluster() | {"batch": batch_size(games)}


def written(*paths: Path) -> None:
    """Say which files were written."""
    for path in paths:
        note(f"written: {path}")


def note_if_narrow() -> None:
    """Say that the lines of a table are longer than those of this terminal, if they are."""
    from hanamachi.training.cli.play import WIDTH

    columns = get_terminal_size().columns
    if columns < WIDTH:
        note(f"tables have up to {WIDTH} columns, and this terminal has {columns}: make it wider")


def assignments(texts: Sequence[str] | None) -> dict[str, Any]:
    """Texts of the form `name=value` as options; values are read as YAML."""
    from hanamachi.storage.plain_yaml import parse_yaml

    options = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise UserError(f"--set takes name=value, such as max_rounds=3, not {shown(text)}")
        options[name.strip()] = parse_yaml(value, f"--set {name}")
    return options


def options_of(call: Callable[..., Any], texts: Sequence[str] | None) -> dict[str, Any]:
    """The options that `call` passes to the game; UserError for names of its own arguments."""
    options, own = assignments(texts), signature(call).parameters
    for name in options:
        if name in own:
            raise UserError(f"--set is for the options of the game, and {name} is none of them")
    return options


def show(content: Any, tables: Any, as_json: bool) -> None:
    """Print results: as tables, or as JSON."""
    if as_json:
        print(json.dumps(content, indent=2))
    else:
        console.print(tables, highlight=False)


def say(text: str | Text) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def ask(prompt: str) -> str:
    """A line from the terminal, with a history of lines if the platform has one."""
    with suppress(ImportError):
        import readline  # noqa: F401
    try:
        return input(prompt) if sys.stdin and sys.stdin.isatty() else line_of(sys.stdin, prompt)
    except (EOFError, KeyboardInterrupt):
        say("")  # the next output begins a new line
        raise


def line_of(stream: TextIO | None, prompt: str) -> str:
    """A line of a file; EOFError after its last, or where a line seems to have no end.

    One that is too long is passed over: UserError.
    """
    print(prompt, end="", flush=True)
    line = stream.readline(LINE + 1) if stream else ""
    if stream and len(line) > LINE and not line.endswith("\n"):
        if stream.readline(LONGEST_LINE).endswith("\n"):
            raise UserError(f"a line has at most {LINE:,} characters")
        raise EOFError
    if not line:
        raise EOFError
    return line.removesuffix("\n")


def left(prompt: str) -> bool:
    """Wait for Enter; returns whether the user quits."""
    try:
        return ask(prompt).strip().lower() in ("q", "quit")
    except EOFError:
        return True
