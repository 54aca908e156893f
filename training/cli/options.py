"""The options that several commands have, and what is read from them."""

from collections.abc import Callable, Iterable, Sequence
from inspect import signature
from typing import Annotated, Any

import typer

from hanamachi.errors import UserError, shown
from hanamachi.limits import WORKERS

GameId = Annotated[
    str,
    typer.Argument(
        metavar="GAME", help="A variant, or a small version; hanamachi games lists both."
    ),
]
GameOption = Annotated[
    str | None,
    typer.Option(
        "--game", help="A variant, or a small version; checkpoints and agents know theirs."
    ),
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
Processes = Annotated[int, typer.Option(min=1, max=WORKERS, help="Processes that play.")]


def was_given(context: typer.Context, name: str) -> bool:
    """Whether the user gave the parameter of this name, instead of leaving its default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def refuse_unused(context: typer.Context, unused: set[str], reason: str) -> None:
    """UserError if one of these options, which the command would ignore, was given."""
    for option in context.command.params:
        if option.opts[0] in unused and was_given(context, option.name or ""):
            raise UserError(f"{reason}: leave out {option.opts[0]}")


def assignments(texts: Sequence[str] | None) -> dict[str, Any]:
    """Texts of the form `name=value` as options; values are read as YAML."""
    from hanamachi.storage.plain_yaml import parse_yaml

    options = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise UserError(f"--set takes name=value, such as max_rounds=3, not {shown(text)}")
        if (name := name.strip()) in options:
            raise UserError(f"--set gives {shown(name)} twice; leave out one of them")
        options[name] = parse_yaml(value, f"--set {name}")
    return options


def options_of(call: Callable[..., Any], texts: Sequence[str] | None) -> dict[str, Any]:
    """The options that `call` passes to the game; UserError for names of its own arguments."""
    options, own = assignments(texts), signature(call).parameters
    for name in options:
        if name in own:
            raise UserError(f"--set is for the options of the game, and {name} is none of them")
    return options


def mapper(on_ray: bool) -> Callable[..., Iterable[Any]]:
    """How independent work is mapped: in this process, or on a Ray cluster."""
    if not on_ray:
        return map
    from hanamachi.training.cluster.map_on_cluster import map_on_cluster

    return map_on_cluster
