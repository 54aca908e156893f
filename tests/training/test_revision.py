"""The revision of this code is that of its own repository, or none."""

import shutil
import subprocess

import pytest

from hanamachi.training import revision
from hanamachi.training.revision import git_revision

ME = "-c", "user.name=me", "-c", "user.email=me@example.org"


@pytest.fixture
def code(tmp_path, monkeypatch):
    """The code, installed in a folder of a project, which is a repository."""
    file = tmp_path / ".venv" / "revision.py"
    file.parent.mkdir()
    shutil.copy(revision.__file__, file)
    (tmp_path / "theirs.py").write_text("theirs = 1")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "theirs.py")
    git(tmp_path, *ME, "commit", "--quiet", "-m", "theirs")
    monkeypatch.setattr(revision, "__file__", str(file))
    return file


def git(folder, *command):
    asked = subprocess.run(["git", *command], cwd=folder, capture_output=True, check=True)
    return asked.stdout.decode().strip()


def test_code_that_is_installed_in_a_project_has_not_its_revision(code):
    assert git_revision() is None


def test_code_in_a_repository_has_its_revision_and_is_dirty_once_changed(code):
    git(code.parent, "add", code.name)
    git(code.parent, *ME, "commit", "--quiet", "-m", "ours")
    assert git_revision() == git(code.parent, "rev-parse", "HEAD")
    code.write_text("changed = 1")
    assert git_revision() == git(code.parent, "rev-parse", "HEAD") + "-dirty"


def test_code_outside_of_any_repository_has_no_revision(tmp_path, monkeypatch):
    monkeypatch.setattr(revision, "__file__", str(tmp_path / "revision.py"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert git_revision() is None
