"""The settings of a YAML file, with those of `--set`, before `Config` checks them."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hanamachi import configs
from hanamachi.errors import UserError
from hanamachi.games.registry import VARIANTS
from hanamachi.limits import NESTING, SETTINGS_BYTES
from hanamachi.storage.plain_yaml import parse_yaml
from hanamachi.storage.reading import checked_path, read_bounded

FOLDER = "configs"  # whose files come with the package
RECIPES = Path(configs.__file__).parent


def recipe(path: Path | str) -> Path:
    """The file of this name; if there is none, the package's, such as configs/hanamikoji.yaml."""
    folder, *names = Path(path).parts or (".",)
    ours = RECIPES.joinpath(*names)
    is_ours = folder == FOLDER and os.pardir not in names and os.path.isfile(ours)
    return ours if is_ours and not os.path.exists(path) else Path(path)


def read_settings(path: Path | str, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """The settings of a YAML file and of `overrides`, unchecked."""
    checked_path(path)
    if str(path) in VARIANTS and not os.path.exists(path):
        file = f"{FOLDER}/{str(path).replace(':', '-')}.yaml"
        raise UserError(f"{path} is a game: training takes a YAML file of settings, such as {file}")
    try:
        content = read_bounded(recipe(path), SETTINGS_BYTES)
        text = content.decode("utf-8-sig")  # which some editors begin so
    except UnicodeDecodeError:
        raise UserError(f"{path} cannot be read: it is not UTF-8") from None
    data = parse_yaml(text, str(path))
    if not isinstance(data, dict):
        raise UserError(f"{path} does not hold a run's settings: it must begin with 'game: ...'")
    given: list[str] = []
    for override in overrides:
        name, equals, value = override.partition("=")
        if not equals or not name:
            raise UserError(f"--set {override} must have the form name=value, as in seed=1")
        source, name = f"--set {override}", name.strip()
        if other := next((one for one in given if overlap(one, name)), None):
            raise UserError(f"{source}: another --set gives {other} already; leave out one of them")
        given.append(name)
        put_setting(data, name, parse_yaml(value, source), source)
    return data


def overlap(one: str, other: str) -> bool:
    """Whether two names are the same, or one setting is a part of the other."""
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")


def put_setting(data: dict[str, Any], name: str, value: Any, source: str) -> None:
    """Put the value of `a.b` into the settings."""
    *path, last = name.split(".")
    if len(path) > NESTING:
        raise UserError(f"{source}: no setting is nested so deep")
    for part in path:
        if data.get(part) is None:  # not there, or a heading with nothing below it
            data[part] = {}
        data = data[part]
        if not isinstance(data, dict):
            raise UserError(f"{source}: {part} has no settings below it")
    data[last] = value
