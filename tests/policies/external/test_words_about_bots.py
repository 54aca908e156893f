"""What is said of a bot that answers wrongly reads as a sentence after its name."""

from pathlib import Path

import numpy as np
import pytest

from hanamachi.errors import UserError
from hanamachi.policies.external.bot import started
from hanamachi.policies.external.process import checked
from hanamachi.policies.external.protocol import READY, object_in


def test_wrong_probabilities_are_told_without_a_second_subject() -> None:
    with pytest.raises(UserError, match=r"^gives probabilities"):
        checked(np.zeros(3, np.float32), {0: "a", 1: "b"})


def test_an_empty_answer_is_told_as_such() -> None:
    with pytest.raises(UserError, match="said nothing"):
        object_in(b"", READY)


def test_a_program_in_the_current_folder_is_named_as_it_must_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my-own-bot").touch()
    with pytest.raises(UserError, match=r"process:\./my-own-bot"):
        started(["my-own-bot"])
    with pytest.raises(UserError, match="cannot be started") as missing:
        started(["another-bot"])
    assert "folder" not in str(missing.value)
