"""What is said of a bot that answers wrongly reads as a sentence after its name."""

import numpy as np
import pytest

from hanamachi.errors import UserError
from hanamachi.policies.external.process import checked
from hanamachi.policies.external.protocol import object_in


def test_wrong_probabilities_are_told_without_a_second_subject() -> None:
    with pytest.raises(UserError, match=r"^gives probabilities"):
        checked(np.zeros(3, np.float32), {0: "a", 1: "b"})


def test_an_empty_answer_is_told_as_such() -> None:
    with pytest.raises(UserError, match="said nothing"):
        object_in(b"")
