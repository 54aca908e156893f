"""YAML from outside: plain data of a bounded size and depth, or an error of one sentence."""

import re
from typing import Any

import yaml

from hanamachi.errors import UserError
from hanamachi.limits import DIGITS, NESTING, SETTINGS_BYTES


def parse_yaml(text: str, source: str) -> Any:
    """The value that YAML spells; UserError if it is none, or no plain data."""
    if len(text) > SETTINGS_BYTES:
        raise UserError(f"{source} is longer than {SETTINGS_BYTES:,} characters")
    try:
        return yaml.load(text, Loader=Yaml)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise UserError(f"{source}{where} is not YAML: {first_line(error)}") from error
    except ValueError as error:
        raise UserError(f"{source} is not YAML: {first_line(error)}") from error


def parse_settings(text: str, source: str) -> dict[str, Any]:
    """The values of "name=value,name=value"; each is YAML, so lists may hold commas.

    UserError, which begins with `source`, if a part is no setting.
    """
    settings: dict[str, Any] = {}
    for setting in re.split(r",(?=\w+=)", text):
        name, equals, value = setting.partition("=")
        if not equals or name in settings:
            raise UserError(f"{source}: settings must be name=value, each name once, with commas")
        settings[name] = parse_yaml(value, f"{source}: {name}")
    return settings


def first_line(error: Exception) -> str:
    problem = getattr(error, "problem", None) or str(error) or type(error).__name__
    return problem.splitlines()[0]


NUMBERS = {"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"}
PLAIN = NUMBERS | {"tag:yaml.org,2002:bool", "tag:yaml.org,2002:null"}


class Yaml(yaml.SafeLoader):
    """Plain data only: no aliases, tags, dates or merges, no key twice, and nothing huge.

    1e-3 is a number and 1:30 is none, as in YAML 1.2, and None is null, as messages and tables
    spell it.
    """

    yaml_implicit_resolvers = {  # noqa: RUF012
        first: [(tag, pattern) for tag, pattern in resolvers if tag in PLAIN]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    level = 0  # of lists and mappings around the next node

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None):
            raise refused("aliases and tags are not allowed", event)
        if self.level > NESTING:
            raise refused("lists and mappings are nested too deep", event)
        self.level += 1
        node: Any = super().compose_node(parent, index)
        self.level -= 1
        if node.tag in NUMBERS and len(node.value) > DIGITS:
            raise refused(f"a number has more than {DIGITS} digits", event)
        return node

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        tag: Any = super().resolve(kind, value, implicit)  # type: ignore[no-untyped-call]
        return self.DEFAULT_SCALAR_TAG if tag in NUMBERS and ":" in value else tag

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        given: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in given:
                    raise refused(f"{key.value} is given twice", key)
                given.add(key.value)
        return super().construct_mapping(node, deep)


def refused(problem: str, place: Any) -> yaml.MarkedYAMLError:
    """The error for a node or an event of a YAML file that makes no setting."""
    return yaml.MarkedYAMLError(problem=problem, problem_mark=place.start_mark)


Yaml.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?\d+(\.\d*)?[eE][-+]?\d+$"),
    list("-+0123456789"),
)
Yaml.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^None$"), ["N"])
