"""The page of settings: it lists those that there are, as they are explained in the code."""

from inspect import getdoc
from typing import Literal, get_args, get_origin

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python
from root import ROOT

from hanamachi.training.config import Config

PAGE = ROOT / "docs" / "settings.md"


def table(model: type[BaseModel]) -> str:
    """A row for each setting that is no group of others."""
    rows = ["| setting | default | what it is |", "|---|---|---|"]
    for name, field in model.model_fields.items():
        if not is_group(field.annotation):
            default = "" if field.is_required() else f"`{in_yaml(field.default)}`"
            rows.append(f"| `{name}` | {default} | {explained(field)} |")
    return "\n".join(rows)


def explained(field: FieldInfo) -> str:
    """What it is, and the words that it may be."""
    words = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
    listed = [f"One of {', '.join(f'`{word}`' for word in words)}."] if words else []
    return " ".join([*(field.description or "").split(), *listed])


def is_group(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def in_yaml(value: object) -> str:
    text = yaml.safe_dump(to_jsonable_python(value), default_flow_style=True)
    return " ".join(text.removesuffix("...\n").split())


def printed() -> str:
    """All settings, group by group."""
    parts = [table(Config)]
    for name, field in Config.model_fields.items():
        if is_group(field.annotation):
            parts += [f"### `{name}`", getdoc(field.annotation) or "", table(field.annotation)]
    return "\n\n".join(parts)


def test_the_printed_settings_are_those_in_use() -> None:
    page = PAGE.read_text(encoding="utf-8")
    _, rest = page.split("<!-- settings -->\n")
    shown, _ = rest.split("\n<!-- end of settings -->")
    assert shown == printed()


if __name__ == "__main__":
    print(printed())
