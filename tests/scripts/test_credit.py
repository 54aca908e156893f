"""Whoever stops the comparison of credits loses no training that was done."""

import json
import runpy
import sys

import pytest
from root import ROOT


def test_each_result_is_written_as_soon_as_it_is_there(monkeypatch, tmp_path):
    def measure(credit, game, steps, seed, games):
        if seed:
            raise KeyboardInterrupt
        return {"credit": credit}

    main, out = (
        runpy.run_path(str(ROOT / "scripts" / "credit.py"))["main"],
        tmp_path / "credit.json",
    )
    monkeypatch.setitem(main.__globals__, "measure", measure)
    monkeypatch.setattr(sys, "argv", ["credit.py", "--out", str(out)])
    with pytest.raises(KeyboardInterrupt):
        main()
    assert json.loads(out.read_text()) == [{"credit": "mover-signed"}, {"credit": "unsigned"}]
