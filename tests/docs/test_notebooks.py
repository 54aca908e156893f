"""The notebooks run as they stand, and are kept with what they show.

Where the tests are to be quick, the code of the first one runs without Jupyter; `make verify` runs
all of them as a user does.
"""

import runpy

import commands
import nbformat
import pytest
from root import ROOT
from samples import WHOLE

SCRIPT = runpy.run_path(str(ROOT / "scripts" / "notebooks.py"))
NOTEBOOKS = sorted(SCRIPT["NOTEBOOKS"].glob("*.ipynb"))
QUICK = ROOT / "notebooks" / "play.ipynb"

each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def code_of(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def forms(cell):
    """Whether a cell shows a picture, HTML, or text; not how often, as with lines of progress."""
    return {form for output in cell.outputs for form in output.get("data", {"text/plain": ""})}


def printed(cell):
    """The text that a cell shows."""
    texts = (output.get("text") or output.data.get("text/plain", "") for output in cell.outputs)
    return "".join(texts)


@each
def test_it_is_valid_and_kept_with_what_it_shows(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = code_of(notebook)
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert any("image" in form for cell in code for form in forms(cell))
    assert not [cell for cell in code if "Warning" in printed(cell)]
    assert path.stat().st_size <= SCRIPT["LARGEST"]


def test_the_code_of_the_first_one_runs(tmp_path):
    code = code_of(nbformat.read(QUICK, as_version=4))
    assert "gift" in commands.python("\n".join(cell.source for cell in code), tmp_path)
    assert (tmp_path / "game.svg").exists()


@pytest.mark.skipif(not WHOLE, reason="in make verify: training takes minutes")
@each
def test_it_shows_the_same_kinds_of_things_when_it_runs_again(path, tmp_path):
    kept, made = nbformat.read(path, as_version=4), SCRIPT["executed"](path, tmp_path)
    assert list(map(forms, code_of(made))) == list(map(forms, code_of(kept)))
    assert not [cell for cell in code_of(made) if "Warning" in printed(cell)]


def test_a_notebook_that_shows_too_much_is_refused(tmp_path):
    notebook = nbformat.read(QUICK, as_version=4)
    notebook.cells[0].source = "x" * SCRIPT["LARGEST"]
    with pytest.raises(SystemExit, match="show less"):
        SCRIPT["keep"](notebook, tmp_path / "large.ipynb")
    assert not list(tmp_path.iterdir())
