"""A variant is shared by all who ask for it: nobody can change it, and copies are equal to it."""

import copy
import pickle

import numpy as np
import pytest

from hanamachi import variant

pytestmark = pytest.mark.uncompiled

IDS = ["hanamikoji", "geishas_road:standard", "hanabi:2p"]
COPIES = [copy.copy, copy.deepcopy, lambda chosen: pickle.loads(pickle.dumps(chosen))]


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize("copied", COPIES, ids=["copy", "deepcopy", "pickle"])
def test_a_copy_is_equal_in_all_that_it_holds(id, copied):
    chosen = variant(id)
    other = copied(chosen)
    assert other == chosen
    assert {chosen: "found"}[other] == "found"
    assert (other.digest, dict(other.options)) == (chosen.digest, dict(chosen.options))
    assert other.understands(chosen)
    for name in chosen.rule_set.dtype.names:
        np.testing.assert_array_equal(other.rule_set[name], chosen.rule_set[name])


def test_variants_differ_in_their_game_or_their_options():
    chosen = variant("hanabi:2p")
    assert chosen == variant("hanabi:2p", max_clues=8)
    assert chosen not in {variant("hanabi:3p"), variant("hanabi:2p", max_clues=7), "hanabi:2p"}
    assert not chosen.understands("hanabi:2p")


@pytest.mark.parametrize("copied", [lambda chosen: chosen, *COPIES])
def test_options_and_tables_cannot_be_changed(copied):
    chosen = copied(variant("hanabi:2p"))
    with pytest.raises(TypeError):
        chosen.options["starter"] = 1
    with pytest.raises(ValueError, match="read-only"):
        chosen.rule_set.max_clues = 1
    with pytest.raises(ValueError, match="read-only"):
        chosen.rule_set.copies[0] = 1
