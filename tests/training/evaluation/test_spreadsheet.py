"""What is opened in a spreadsheet shows what was written, and calculates nothing."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hanamachi.training.evaluation.spreadsheet import csv_of

pytestmark = pytest.mark.uncompiled
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"))


@given(st.lists(NAMES | NAMES.map("=".__add__) | NAMES.map("-".__add__), min_size=2))
def test_no_name_is_a_formula_and_none_is_lost(names):
    (row,) = csv.reader([csv_of([names])])
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in row)
    assert [cell.removeprefix("'") for cell in row] == [name.removeprefix("'") for name in names]


def test_negative_numbers_stay_numbers():
    assert csv_of([["a", -1.5, 2]]) == "a,-1.5,2\n"
