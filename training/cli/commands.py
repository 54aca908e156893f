"""The commands of `hanamachi`. What a command needs is imported when it runs, so that all of them
answer at once."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hanamachi.engine.game import Game
from hanamachi.errors import UserError

app = typer.Typer(
    help="Card games of hidden hands: train policies, judge them, play them.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
console = Console()

GameId = Annotated[str, typer.Argument(metavar="GAME", help="Id of a game; see hanamachi games.")]
GameOption = Annotated[str, typer.Option("--game", help="Id of a game; see hanamachi games.")]
GameOptions = Annotated[
    list[str] | None, typer.Option("--set", help="An option of the game, such as max_rounds=3.")
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the deals and of every choice.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="A setting to change, such as ppo.learning_rate=1e-3."),
]
OnRay = Annotated[bool, typer.Option("--ray", help="Use the processors of a Ray cluster.")]


@app.command()
def train(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="YAML file of the run.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder of the run; by default runs/NAME for NAME.yaml.")
    ] = None,
    settings: Settings = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in OUT.")] = False,
    on_ray: Annotated[
        bool, typer.Option("--ray", help="Let actors of a Ray cluster play.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="How many actors; by default all processors.")
    ] = None,
) -> None:
    """Train a policy by self-play, evaluate it, and export it to OUT/policy."""
    from hanamachi.training.config import Config
    from hanamachi.training.run import train

    if workers and not on_ray:
        raise UserError("--workers are actors of a Ray cluster: add --ray")
    run = Config.load(config, settings or ())
    crew = 0
    if on_ray:
        from hanamachi.training.cluster import processors

        crew = workers or processors()
    train(run, out or Path("runs", config.stem), resume=resume, workers=crew)


@app.command()
def sweep(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="YAML file with ranges.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder of the trials; by default runs/NAME for NAME.yaml.")
    ] = None,
    settings: Settings = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the sweep in OUT.")] = False,
) -> None:
    """Try settings by Ray Tune, and write the best of them to OUT/best.yaml."""
    from hanamachi.training import sweep

    best, trials = sweep.sweep(config, out or Path("runs", config.stem), resume, settings or ())
    console.print(sweep.table(trials))
    console.print(f"written: {best}", highlight=False)


@app.command()
def evaluate(
    policies: Annotated[
        list[str],
        typer.Argument(
            metavar="POLICY...",
            help="Names or checkpoints; at least two, or one if all win together, or --against.",
        ),
    ],
    game: GameOption,
    against: Annotated[
        list[str] | None,
        typer.Option(
            help="A policy that each POLICY meets, instead of the others; or several, or all, "
            "which stands for every rule policy of the game.",
        ),
    ] = None,
    games: Annotated[int, typer.Option(help="Games of each pairing.")] = 10_000,
    seed: Seed = 0,
    play: Annotated[str, typer.Option(help="sample, argmax or both.")] = "both",
    out: Annotated[
        Path | None, typer.Option(help="Folder for evaluation.json and evaluation.png.")
    ] = None,
    options: GameOptions = None,
    on_ray: OnRay = False,
) -> None:
    """Let policies play on the same deals: rank rivals, score partners."""
    from hanamachi.training.evaluation import report
    from hanamachi.training.evaluation.matches import evaluate

    with console.status(f"{games:,} games a pairing"):
        how: dict[str, Any] = {"opponents": against or (), "play": play}  # checked by evaluate
        if on_ray:
            from hanamachi.training.cluster.map_on_cluster import batch_size, map_on_cluster

            how |= {"mapper": map_on_cluster, "batch": batch_size(games)}
        evaluation = evaluate(policies, game, games, seed, **how, **assignments(options))
    console.print(report.tables(evaluation))
    if out:
        for path in report.write(evaluation, out):
            console.print(f"written: {path}", highlight=False)


@app.command()
def export(
    policy: Annotated[
        str, typer.Argument(metavar="POLICY", help="A checkpoint, or the id of a game's agent.")
    ],
    onnx: Annotated[bool, typer.Option("--onnx", help="As an ONNX file (extra: onnx).")] = False,
    out: Annotated[
        Path | None, typer.Option(help="The file; by default NAME.onnx for a POLICY called NAME.")
    ] = None,
) -> None:
    """Write a checkpoint for other programs; without PyTorch, hanamachi plays it, too."""
    if not onnx:
        raise UserError("say what to export it as: --onnx")
    from hanamachi.policies.export import export

    console.print(f"written: {export(policy, out)}", highlight=False)


@app.command()
def exploit(
    policy: Annotated[str, typer.Argument(metavar="POLICY", help="Name of it, or a checkpoint.")],
    exact: Annotated[
        bool, typer.Option("--exact", help="Walk the whole tree, which must be small.")
    ] = False,
    steps: Annotated[
        int | None,
        typer.Option(help="Train best responses; decisions that the first learns from."),
    ] = None,
    seeds: Annotated[int, typer.Option(help="Best responses to train.")] = 3,
    config: Annotated[
        Path | None, typer.Option(help="YAML file that says how the responses learn.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of exact.json, or of exploit.json and the runs.")
    ] = None,
    game: Annotated[
        str | None, typer.Option(help="Id of a game; a checkpoint knows its own.")
    ] = None,
    options: GameOptions = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the runs in OUT.")] = False,
    on_ray: OnRay = False,
) -> None:
    """Say how far a policy is from equilibrium, by the best responses to it."""
    if exact == (steps is not None):
        raise UserError("say how to look for best responses: --exact, or --steps to train them")
    if steps is None:
        from hanamachi.training.exact import report as exactly

        with console.status("the whole tree is walked"):
            found = exactly.exact_exploitability(policy, game, **assignments(options))
        console.print(exactly.tables(found), highlight=False)
        if out:
            console.print(f"written: {exactly.write(found, out)}", highlight=False)
        return
    if out is None:
        raise UserError("best responses are runs of their own: name a folder for them with --out")
    from hanamachi.training.best_responses import exploit, table
    from hanamachi.training.config import Config

    settings = Config.load(config) if config else None
    how: dict[str, Any] = {"game": game, "config": settings, "resume": resume}
    if on_ray:
        from hanamachi.training.cluster.map_on_cluster import map_on_cluster

        how["mapper"] = map_on_cluster
    console.print(table(exploit(policy, out, steps, seeds, **how, **assignments(options))))


@app.command()
def play(
    game: GameId,
    opponent: Annotated[
        str | None,
        typer.Option(
            help="Name of a policy, or a checkpoint; else the agent that ships, or expert."
        ),
    ] = None,
    seat: Annotated[int, typer.Option(help="Your seat.")] = 0,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the game.")] = None,
    record: Annotated[Path | None, typer.Option(help="File to save the game in.")] = None,
    thoughts: Annotated[
        bool, typer.Option("--thoughts", help="Show what it thinks, which may betray its hand.")
    ] = False,
    options: GameOptions = None,
) -> None:
    """Play a game with a policy in all other seats."""
    from hanamachi.games.registry import variant as make_variant
    from hanamachi.policies import load_policy
    from hanamachi.policies.search.search import Search
    from hanamachi.sessions.record import record_of, save
    from hanamachi.training.cli.play import Contest, play, usual_opponent

    variant = make_variant(game, **assignments(options))
    with console.status("the first game ever takes a minute to compile"):
        policy = (
            usual_opponent(variant)
            if opponent is None
            else load_policy(opponent, variant.id, **variant.options)
        )
        contest = Contest(variant, policy, seat, seed)
        if not isinstance(policy, Search):  # which would think for as long as it always does
            contest.hint()  # compiles what the policy thinks with: it answers at once
    say(f"{policy.name} plays in all other seats.")
    try:
        play(contest, ask, say, thoughts)
    finally:
        if record:
            save(record_of(contest.session), record)
            say(f"The game is saved; hanamachi replay {record} shows it again.")


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A saved game.")],
    whole: Annotated[bool, typer.Option("--all", help="Print all of it at once.")] = False,
) -> None:
    """Step through a saved game, all hands open."""
    from hanamachi.sessions.record import load, positions
    from hanamachi.training.cli.play import round_end

    record = load(file)
    variant, before = record.variant, None
    for number, (position, words) in enumerate(positions(record)):
        prompt = f"[{number}/{len(record.actions)}] Enter goes on, q ends "
        if number and not whole and left(prompt):
            break
        ended = (
            "" if before is None else round_end(variant, before, record.actions[number - 1], None)
        )
        table = variant.game.render().text(variant, position, None)
        say("\n\n".join(part for part in (words, ended, table) if part))
        before = position


@app.command()
def games() -> None:
    """List the games, their variants and their options, and which variants have an agent."""
    from hanamachi.games.registry import GAMES
    from hanamachi.policies.load import PLAYED_BY, agents

    have_one = {*agents(), *PLAYED_BY}
    for game in GAMES.values():
        ids = ", ".join(id + "*" * (id in have_one) for id in game.variants)
        console.print(f"[bold]{game.title}[/bold]: {ids}", highlight=False)
        console.print(options_table(game))
    console.print("* an agent ships with the package")


@app.command()
def benchmark(
    kinds: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KIND]...",
            help="engine, faces, training, evaluation, scale, memory, start, search, cluster; "
            "all if none.",
        ),
    ] = None,
    games: Annotated[
        list[str] | None,
        typer.Option("--game", help="Id of a game, or several; hanamikoji if none is named."),
    ] = None,
    peers: Annotated[
        bool, typer.Option("--peers", help="Measure other libraries as well (extra: bench).")
    ] = False,
    rounds: Annotated[int, typer.Option(min=1, help="Times to measure, all in turn.")] = 5,
    seconds: Annotated[float, typer.Option(min=0, help="Of each side in a round, at least.")] = 0.5,
    most: Annotated[
        int, typer.Option(min=2, help="Games at once that evaluation, scale, memory go up to.")
    ] = 1_000_000,
    out: Annotated[
        Path | None, typer.Option(help="Folder for benchmark.json and benchmark.png.")
    ] = None,
    keep: Annotated[Path | None, typer.Option(help="File to write the peers' ratios to.")] = None,
    against: Annotated[
        Path | None,
        typer.Option(help="File of ratios; fail if one is lost by a quarter, three times running."),
    ] = None,
) -> None:
    """Measure speed beside others, as ratios found in one run."""
    from hanamachi.training.benchmark import KINDS, ratios, run

    effort: dict[str, Any] = {"peers": peers, "rounds": rounds, "seconds": seconds, "most": most}
    measure = partial(run, kinds or KINDS, games or ["hanamikoji"], **effort)
    if against:
        lost = ratios.losses(lambda: shown(measure, out).ratios, ratios.kept(against))
        for words in lost:
            say(f"slower than before: {words}")
        raise typer.Exit(bool(lost))
    report = shown(measure, out)
    if keep:
        ratios.keep(report.ratios, keep)


# --- What the commands share


def shown(measure: Callable[[], Any], out: Path | None) -> Any:
    """The benchmark's report, once it is printed and written."""
    from hanamachi.training.benchmark.report import tables, write

    with console.status("the first game ever takes a minute to compile"):
        report = measure()
    console.print(tables(report), highlight=False)
    for path in write(report, out) if out else ():
        console.print(f"written: {path}", highlight=False)
    return report


def assignments(texts: Sequence[str] | None) -> dict[str, Any]:
    """`name=value` texts as options; values are read as YAML."""
    from hanamachi.training.config import parse_yaml

    options = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise UserError(f"--set takes name=value, such as max_rounds=3, not {text!r}")
        options[name.strip()] = parse_yaml(value, f"--set {name}")
    return options


def options_table(game: Game) -> Table:
    """Each option with its meaning, its default, and the variants whose default differs."""
    table = Table("option", "default", "meaning")
    for name, meaning in game.options.items():
        defaults = {id: options[name] for id, options in game.variants.items() if name in options}
        usual = next(iter(defaults.values()))
        unusual = [f"{id}: {spelled(v)}" for id, v in defaults.items() if v != usual]
        table.add_row(name, escape("\n".join([spelled(usual), *unusual])), escape(meaning))
    return table


def spelled(value: Any) -> str:
    """A value as `--set` takes it."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(spelled, value))}]"
    return "null" if value is None else str(value)


def say(text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def ask(prompt: str) -> str:
    """A line from the terminal, with its history where the platform has one."""
    with suppress(ImportError):
        import readline  # noqa: F401
    try:
        return input(prompt)
    except (EOFError, KeyboardInterrupt):
        say("")  # what is said next begins a line
        raise


def left(prompt: str) -> bool:
    """Wait for Enter; whether the reader has had enough."""
    try:
        return ask(prompt).strip().lower() in ("q", "quit")
    except EOFError:
        return True
