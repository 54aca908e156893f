"""What stops long work: missing packages, memory that runs out, settings that do not fit."""

from typing import Any

from hanamachi.errors import UserError, shown


def missing_package(error: ModuleNotFoundError) -> str:
    """The package that is not installed; a missing module of ours is a bug, and is raised."""
    package = (error.name or "").partition(".")[0]
    if package in ("", "hanamachi"):
        raise error
    return package


def is_out_of_memory(error: Exception) -> bool:
    """Whether Python, numpy or PyTorch got no memory; some errors of PyTorch's have no type."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    untyped = "can't allocate memory", "CUDA error: out of memory"
    return isinstance(error, RuntimeError) and any(words in str(error) for words in untyped)


def process_killed() -> UserError:
    """The error for a process that ended without a word while it worked for this one."""
    return UserError(
        "a process was killed, perhaps because memory ran out: run the same command again, with "
        "fewer --processes"
    )


def differences(old: Any, new: Any, place: str = "") -> list[str]:
    """Where two settings differ, each with its name and both values."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [
            words
            for name in dict.fromkeys((*old, *new))
            for words in differences(
                old.get(name), new.get(name), f"{place}.{name}" if place else str(name)
            )
        ]
    return [] if old == new else [f"{place} was {shown(old)} and is {shown(new)}"]
