"""Whether policies are still the same: digests of their weights, their code and their settings.

What cannot be seen: the modules that a policy's own file imports, global variables, and the lists,
dictionaries and objects that a policy of one's own or a function uses. Of these, only modules of
PyTorch and learners of stable-baselines3 are seen, by their weights.
"""

import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from importlib.util import find_spec
from os.path import isfile
from pathlib import Path
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from hanamachi.policies.agents import agent_folder
from hanamachi.policies.external.process import ProcessPolicy
from hanamachi.policies.names import PROCESS, Kind, kind_of, search_parts
from hanamachi.policies.networks.checkpoint import CONFIG
from hanamachi.policies.networks.compiled_policy import CompiledPolicy
from hanamachi.policies.policy import Policy
from hanamachi.policies.search.search import Search
from hanamachi.policies.tabular import TabularPolicy
from hanamachi.policies.user_functions import Chosen
from hanamachi.sessions.policy_checks import name_of

DIGITS = 12  # of a digest, which a message can show
PORTION = 1 << 20  # bytes of a file that are read at once
PLAIN = int, float, str, bytes, type(None), np.generic
CONSTANT = *PLAIN, tuple, np.ndarray, Policy, FunctionType, MethodType, partial


def fingerprints(policies: Sequence[Any]) -> dict[str, str]:
    """What changes if the weights or the code of these policies change, where that can be seen.

    By name; a policy that is no name has its number, too.
    """
    found = {}
    for number, policy in enumerate(policies):
        if isinstance(policy, str | Path):
            found[str(policy)] = fingerprint(str(policy))
        else:
            found[f"{number}: {name_of(policy)}"] = digest_of_object(policy)
    return {name: digest for name, digest in found.items() if digest}


# --- Policies that are objects


def digest_of_object(policy: Any) -> str:
    """A digest of what a policy plays with, and of the file that its code is in."""
    content = sha256()
    for part in parts(policy):
        content.update(len(part).to_bytes(8, "big") + part)
    return content.hexdigest()[:DIGITS]


def parts(thing: Any, within: tuple[Any, ...] = ()) -> Iterator[bytes]:
    """What tells a thing from others: its type and its content, as far as it can be seen."""
    kind = type(thing)
    yield f"{kind.__module__}.{kind.__qualname__}".encode()
    if isinstance(thing, PLAIN):
        yield repr(thing).encode()
    elif isinstance(thing, np.ndarray) and not thing.dtype.hasobject:
        yield repr((thing.dtype, thing.shape)).encode() + thing.tobytes()
    elif kind.__module__.startswith("torch") and hasattr(thing, "detach"):  # a tensor
        yield from parts(thing.detach().cpu().double().numpy())
    elif not any(thing is each for each in within):  # as a function that calls itself
        for each in made_of(thing):
            yield from parts(each, (*within, thing))


def made_of(thing: Any) -> Iterator[Any]:
    """What a thing consists of, part by part."""
    if isinstance(thing, dict):
        yield from thing.items()
    elif isinstance(thing, tuple | list):
        yield from thing
    elif isinstance(thing, frozenset | set):  # in an order that is another in each process
        yield from sorted(map(repr, thing))
    elif isinstance(thing, CodeType):
        yield from (thing.co_code, thing.co_names, thing.co_consts)
    elif isinstance(thing, CellType):
        with suppress(ValueError):  # it is empty
            yield from constants([thing.cell_contents])
    else:
        module = getattr(thing, "__module__", None) or type(thing).__module__
        file = file_of_module(module)
        yield digest_of([file]) if file and file.is_file() else ""
        if weights := weights_of(thing):
            yield weights()
        else:
            yield from settings_of(thing) if isinstance(thing, Policy) else inside(thing)


def weights_of(thing: Any) -> Callable[[], Any] | None:
    """What gives the weights of a module of PyTorch or a learner of stable-baselines3, if it is."""
    for name in ("state_dict", "get_parameters"):
        if not isinstance(thing, type) and callable(weights := getattr(thing, name, None)):
            return weights
    return None


def settings_of(policy: Policy) -> Iterator[Any]:
    """What tells a policy from others of its class."""
    # seldom an object, and slow to import
    from hanamachi.policies.external.model import ModelPolicy
    from hanamachi.policies.networks.onnx_policy import OnnxPolicy

    match policy:
        case Search():
            kept = (int, float, str, tuple)
            yield {n: v for n, v in sorted(vars(policy).items()) if isinstance(v, kept)}
            yield from (vars(policy.budget), policy.blueprint)
        case CompiledPolicy():
            yield dict(sorted(policy.checkpoint.weights.items()))
        case OnnxPolicy():
            yield policy.file
        case TabularPolicy():
            yield from (policy.keys, policy.probabilities)
        case ProcessPolicy():
            yield from (policy.program, digest_of_program(policy.program), vars(policy.limits))
        case ModelPolicy():
            yield from (policy.name, vars(policy.settings))
        case Chosen():
            yield policy.function
        case _:
            own = {name: value for name, value in sorted(vars(policy).items()) if is_seen(value)}
            yield from (list(own), *constants(own.values()))


def inside(function: Any) -> Iterator[Any]:
    """What a function consists of, of any kind; nothing of what it may change as it plays."""
    match function:
        case FunctionType():
            yield from (function.__qualname__, function.__code__, *(function.__closure__ or ()))
            yield from constants(function.__defaults__ or ())
            yield from constants((function.__kwdefaults__ or {}).values())
        case MethodType():
            yield from (function.__func__, function.__self__)
        case partial():
            yield from (function.func, sorted(function.keywords))
            yield from constants([*function.args, *function.keywords.values()])
        case _:
            yield getattr(function, "__wrapped__", None)  # by a decorator


def constants(values: Iterable[Any]) -> Iterator[Any]:
    """The values that can be seen to stay as they are; the types of others."""
    for value in values:
        if isinstance(value, tuple):
            yield list(constants(value))
        else:
            yield value if is_seen(value) else type(value).__qualname__


def is_seen(value: Any) -> bool:
    return isinstance(value, CONSTANT) or weights_of(value) is not None


# --- Policies that are names


def fingerprint(spec: str) -> str:
    """A digest of the file that a policy's name leads to; "" for rule policies and models."""
    kind = kind_of(spec)
    if kind == Kind.SEARCH:
        return fingerprint(search_parts(spec)[1])
    if kind == Kind.PROCESS:
        return digest_of_program(shlex.split(spec.removeprefix(PROCESS)))
    file = file_of(spec, kind)
    return digest_of([file]) if file else ""


def digest_of_program(words: Sequence[str]) -> str:
    """A digest of all files that a bot's command names: its program, and those among arguments."""
    files = [Path(word) for word in words if isfile(word)]  # a word may be no possible name
    return digest_of(files) if files else ""


def digest_of(files: Sequence[Path]) -> str:
    """A digest of these files, one after the other."""
    content = sha256()
    for file in files:
        for portion in portions(file):
            content.update(portion)
    return content.hexdigest()[:DIGITS]


def portions(file: Path) -> Iterator[bytes]:
    """What a file holds, which may be much, piece by piece."""
    with file.open("rb") as opened:
        while portion := opened.read(PORTION):
            yield portion


def file_of(spec: str, kind: Kind | None) -> Path | None:
    """A checkpoint's description, which has a digest of the weights; an ONNX file; a module."""
    match kind:
        case Kind.AGENT:
            return agent_folder(spec) / CONFIG
        case Kind.CHECKPOINT:
            return Path(spec, CONFIG)
        case Kind.ONNX:
            return Path(spec)
        case Kind.FACTORY:
            return file_of_module(spec.partition(":")[0])
        case _:
            return None


def file_of_module(name: str) -> Path | None:
    """Where a module comes from, if it comes from a file; a script is the module __main__."""
    if loaded := sys.modules.get(name):
        file = getattr(loaded, "__file__", None)
        return Path(file) if file else None
    with suppress(ImportError, ValueError):
        found = find_spec(name)
        return Path(found.origin) if found and found.has_location and found.origin else None
    return None
