"""An entry point that cannot be imported ends in one sentence."""

import pytest
from messages import assert_one_sentence

from hanamachi.errors import UserError
from hanamachi.policies.entry_point import load_entry_point


@pytest.fixture
def refusal(tmp_path, monkeypatch):
    """What is said of a name in a module with this content."""
    monkeypatch.syspath_prepend(tmp_path)

    def of(module, content, name):
        (tmp_path / f"{module}.py").write_text(content)
        with pytest.raises(UserError) as refused:
            load_entry_point(f"{module}:{name}")
        return assert_one_sentence(refused.value, module, name)

    return of


def test_a_name_that_a_module_lacks_is_met_with_the_nearest_of_its_own(refusal):
    content = "from random import choice\ndef make(): ...\nclass Other: ..."
    assert "mean make" in refusal("entry_point_near", content, "mak")
    offered = refusal("entry_point_far", content, "zzz")
    assert "Other, make" in offered
    assert "choice" not in offered


def test_a_module_without_functions_offers_none(refusal):
    assert "choose" not in refusal("entry_point_empty", "", "make")
