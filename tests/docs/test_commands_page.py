"""The page of commands: it lists those that there are, as they explain themselves."""

from collections.abc import Iterator
from typing import Any

from root import ROOT
from typer.main import get_command

from hanamachi.training.cli.app import app

PAGE = ROOT / "docs" / "commands.md"


def printed() -> str:
    """Every command, with its arguments and options."""
    commands: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]
    return "\n\n".join(part for command in commands.values() for part in parts(command))


def parts(command: Any) -> Iterator[str]:
    shown = [each for each in command.params if not each.hidden and each.name != "help"]
    arguments = [each.metavar for each in shown if each.param_type_name == "argument"]
    yield f"## `{' '.join([command.name, *arguments])}`"
    yield " ".join(command.help.split())
    rows = ["| | default | what it is |", "|---|---|---|"]
    yield "\n".join([*rows, *map(row, shown)])


def row(parameter: Any) -> str:
    """An argument or an option, what it is by default, and what it is for."""
    by_place = parameter.param_type_name == "argument"
    name = parameter.metavar if by_place else ", ".join(parameter.opts)
    name += " ..." if parameter.multiple else ""
    without = parameter.default is None or parameter.default is False
    usual = "" if without else f"`{parameter.default}`"
    return f"| `{name}` | {usual} | {' '.join(parameter.help.split())} |"


def test_the_printed_commands_are_those_that_there_are() -> None:
    _, rest = PAGE.read_text(encoding="utf-8").split("<!-- commands -->\n")
    shown, _ = rest.split("\n<!-- end of commands -->")
    assert shown == printed()


if __name__ == "__main__":
    print(printed())
