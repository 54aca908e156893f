"""The grammar of policies' names: what kind of policy a name means, and the parts of a name.

`load_policy` says what users may write; nothing here loads a policy.
"""

import os
import re
from enum import Enum, auto
from pathlib import Path
from typing import Any

from hanamachi.errors import UserError, shown
from hanamachi.games.registry import GAMES
from hanamachi.limits import POLICY_NAME
from hanamachi.policies.agents import names_an_agent
from hanamachi.policies.rules.registry import NAMES
from hanamachi.storage.reading import may_name_a_file

SEARCH, PROCESS, MODEL, DATASET = "search:", "process:", "model:", "dataset:"
ONNX = ".onnx"
DATASET_FILE = "dataset.json"  # which describes the dataset in whose folder it lies
PROGRAMS = (  # ends of the names of files that are bots, or hold a policy's code
    ".py", ".js", ".mjs", ".ts", ".sh", ".exe", ".bat", ".jar", ".rb", ".pl", ".lua", ".cpp", ".rs",
)  # fmt: skip
FACTORY = re.compile(r"\w[\w.]*:\w.*", re.DOTALL)  # what only a factory can be meant by
FACTORY_WITH_SETTINGS = re.compile(r"([\w.]+:\w+):(\w+=.*)", re.DOTALL)
FILE_AND_FACTORY = re.compile(r"(.*[/\\])?(\w+)(\.py)?:([^\W\d]\w*)(:\w+=.*)?", re.DOTALL)


class Kind(Enum):
    """What a name can mean."""

    SEARCH = auto()
    PROCESS = auto()  #: a bot, which is a program of its own
    MODEL = auto()  #: a language model
    DATASET = auto()  #: recorded games, which a policy can imitate, and which play nothing
    RULES = auto()
    AGENT = auto()  #: a checkpoint that comes with the package
    FACTORY = auto()  #: a class or function of the user
    ONNX = auto()
    CHECKPOINT = auto()  #: a folder, which need not exist


PREFIXES = {
    SEARCH: Kind.SEARCH,
    PROCESS: Kind.PROCESS,
    MODEL: Kind.MODEL,
    DATASET: Kind.DATASET,
}


def kind_of(name: str) -> Kind | None:
    """What a name means; None if it is none that a policy can have."""
    for prefix, kind in PREFIXES.items():
        if name.startswith(prefix):
            return kind
    if name in NAMES:
        return Kind.RULES
    if names_an_agent(name):
        return Kind.AGENT
    names_a_game = name.partition(":")[0] in GAMES
    if FACTORY_WITH_SETTINGS.fullmatch(name) and not names_a_game:  # its settings may hold a path
        return Kind.FACTORY
    if name.endswith(ONNX):
        return Kind.ONNX
    if is_path(name) or os.path.exists(name):
        return Kind.CHECKPOINT
    return Kind.FACTORY if FACTORY.fullmatch(name) and not names_a_game else None


def is_path(name: str) -> bool:
    """Whether a name has the separators of a path."""
    return os.sep in name or "/" in name


def is_checkpoint(name: str) -> bool:
    """Whether a name means weights: an agent's, or those of a folder, which need not exist.

    An ONNX file is not a checkpoint: it plays but cannot be trained further or exported.
    """
    return kind_of(name) in (Kind.AGENT, Kind.CHECKPOINT)


def is_bare_folder(name: str) -> bool:
    """Whether a name, not a path, means a checkpoint, as the current folder has such a folder."""
    return kind_of(name) == Kind.CHECKPOINT and not is_path(name)


def is_dataset_folder(name: str) -> bool:
    """Whether a name is the folder of a dataset, which lacks its prefix."""
    return os.path.isfile(os.path.join(name, DATASET_FILE))


def knows_its_game(name: str) -> bool:
    """Whether a policy plays the variant that it was made for, so that no game need be named."""
    if name.startswith(SEARCH):
        return knows_its_game(search_parts(name)[1])
    return is_checkpoint(name) or kind_of(name) == Kind.ONNX


def search_parts(name: str) -> tuple[str, str, str]:
    """The kind, the blueprint and the settings in the name of a search; the last two may be empty.

    Settings are `name=value`, separated by commas.
    """
    kind, _, rest = name.removeprefix(SEARCH).partition(":")
    blueprint, _, settings = rest.rpartition(":")
    name, is_setting, _ = settings.partition("=")
    if settings and (not is_setting or is_path(name if blueprint else settings)):
        return kind, rest, ""  # "=" may be in the path of a blueprint
    return kind, blueprint, settings


# --- Names that mean nothing


def checked_name(name: Any) -> str:
    """The name of a policy; UserError if no file and no module could have it."""
    name = os.fspath(name) if isinstance(name, os.PathLike) else name
    if not isinstance(name, str):
        raise UserError(f"a policy's name must be a text or a path, not {shown(name)}")
    if len(name) > POLICY_NAME:
        raise UserError(f"a policy's name has at most {POLICY_NAME} characters, not {len(name)}")
    if not may_name_a_file(name):
        raise UserError(f"{name} has characters that no policy's name can have")
    return name


def refuse_file_of_a_module(name: str) -> None:
    """UserError, which says how to name it, if a factory is named by the file of its module."""
    found = FILE_AND_FACTORY.fullmatch(name)
    if found and (found[1] or found[3]) and not os.path.exists(name):
        raise UserError(
            f"{name} is no checkpoint; your own policy is named module:factory, without a folder "
            f"and without .py: go to the folder of the file, and name {found[2]}:{found[4]}"
        )


def refuse_missing_program(name: str) -> None:
    """UserError if only a file of code can be meant, and there is none."""
    if name.lower().endswith(PROGRAMS) and not os.path.exists(name):
        raise UserError(
            f"there is no file {name}; a bot is named process:FILE, and a function of your own "
            "MODULE:NAME"
        )


def refuse_other_than_checkpoint(name: str) -> None:
    """UserError, which says how to name it, if something else stands in a checkpoint's place."""
    if os.path.isfile(name):
        raise UserError(
            f"{name} is a file, not the folder of a checkpoint: for a function write "
            f'{module_of(name)}:NAME, for a bot "process:{name}"'
        )
    if is_dataset_folder(name):
        raise UserError(
            f"{name} is the folder of a dataset, which plays nothing: training clones it with "
            f"init_from: {DATASET}{name}"
        )


def module_of(file: str) -> str:
    return Path(file).stem if file.endswith(".py") else "MODULE"
