"""Run the notebooks, and keep what their cells show.

    python scripts/notebooks.py                      # all of them, in their place
    python scripts/notebooks.py notebooks/play.ipynb

Each runs in an empty folder. The outputs are those that people see on GitHub and on the site, so a
notebook whose cells show more than LARGEST bytes is refused.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient

from hanamachi.storage.files import replacing

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
LARGEST = 300_000  # bytes of a file


def executed(path: Path, folder: Path) -> nbformat.NotebookNode:
    """The notebook as it is after all of its cells have run in this folder."""
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=None, resources=where, record_timing=False).execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":  # stderr says what only the first run does: compile
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    return notebook


def keep(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Write the notebook with what it shows; SystemExit if that is too large."""
    notebook.metadata.language_info = {"name": "python"}  # not the version that ran it
    text = nbformat.writes(notebook) + "\n"
    if len(text.encode()) > LARGEST:
        raise SystemExit(f"{path} would have more than {LARGEST:,} bytes: let its cells show less")
    with replacing(path) as file:
        file.write(text.encode())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    everything = sorted(NOTEBOOKS.glob("*.ipynb"))
    parser.add_argument("notebooks", nargs="*", type=Path, default=everything)
    for path in parser.parse_args().notebooks:
        with TemporaryDirectory() as folder:
            keep(executed(path, Path(folder)), path)
        print(path)


if __name__ == "__main__":
    main()
