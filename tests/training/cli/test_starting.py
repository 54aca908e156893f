"""What stops the command while it imports the package ends in one sentence, too."""

import os
import sys
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any

import pytest
from root import ROOT


@pytest.fixture
def command() -> Any:
    """The module of the console script."""
    file = ROOT / "training" / "cli" / "hanamachi_command" / "__init__.py"
    spec = spec_from_file_location("hanamachi_command", file)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Interrupted(ModuleType):
    """A module during whose import Ctrl-C is pressed."""

    def __getattr__(self, name: str) -> None:
        raise KeyboardInterrupt


def test_ctrl_c_during_the_imports_ends_in_one_line(
    command: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "hanamachi.training.cli.main"
    monkeypatch.setitem(sys.modules, name, Interrupted(name))
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "hanamachi: interrupted\n"


def test_a_current_folder_that_was_deleted_is_told(
    command: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def gone() -> str:
        raise FileNotFoundError

    monkeypatch.setattr(os, "getcwd", gone)
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "deleted" in said
    assert said.count("\n") == 1


def test_the_console_script_calls_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"] == {"hanamachi": "hanamachi_command:main"}
