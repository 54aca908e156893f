"""A save is whole or not there: whatever cuts it short, it or the one before can be read."""

import os
import resource
import signal
import sys
from contextlib import contextmanager
from itertools import count

import pytest

from hanamachi.errors import UserError
from hanamachi.storage.files import (
    creating,
    read_folder,
    remove_leftovers,
    replacing,
    replacing_folder,
    restore_folder,
    write_whole,
)

pytestmark = pytest.mark.uncompiled

ROOM = 10_000  # bytes


def write_file(path, content, then=lambda: None):
    with replacing(path) as file:
        file.write(content)
        file.flush()
        then()


def write_folder(path, content, then=lambda: None):
    with replacing_folder(path) as folder:
        (folder / "one").write_bytes(content)
        then()
        (folder / "two").write_bytes(content)


def read_file(path):
    return path.read_bytes()


def read_whole_folder(path):
    restore_folder(path)
    (one, content), (two, same) = sorted((file.name, file.read_bytes()) for file in path.iterdir())
    assert (one, two, content) == ("one", "two", same)
    return content


KINDS = [(write_file, read_file), (write_folder, read_whole_folder)]


@pytest.fixture(params=KINDS, ids=["file", "folder"])
def kind(request):
    """How something is saved, and how it is read again."""
    return request.param


def test_a_save_takes_the_place_of_the_one_before_only_when_it_is_whole(kind, tmp_path):
    write, read = kind
    path = tmp_path / "run" / "saved"
    write(path, b"first")
    assert read(path) == b"first"
    seen = []
    write(path, b"second", then=lambda: seen.append(read(path)))
    assert seen == [b"first"]
    assert read(path) == b"second"
    assert list(path.parent.iterdir()) == [path]


def test_an_interrupted_save_leaves_the_one_before(kind, tmp_path):
    def interrupt():
        raise KeyboardInterrupt

    write, read = kind
    path = tmp_path / "saved"
    write(path, b"first")
    with pytest.raises(KeyboardInterrupt):
        write(path, b"second", then=interrupt)
    assert read(path) == b"first"
    assert list(tmp_path.iterdir()) == [path]


@contextmanager
def full_disk():
    """No file may grow beyond ROOM, as on a disk that has no more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_leaves_the_save_before(kind, tmp_path):
    write, read = kind
    path = tmp_path / "saved"
    write(path, b"first")
    with full_disk(), pytest.raises(OSError, match="too large"):
        write(path, bytes(2 * ROOM))
    assert read(path) == b"first"
    assert list(tmp_path.iterdir()) == [path]


def is_killed(step, write, path):
    """Save in a process of its own that is killed at this step; says whether it came so far.

    The steps are what Python reports to an auditor: a file opened, renamed, removed and the like.
    """
    child = os.fork()
    if child == 0:
        steps = count()
        sys.addaudithook(lambda *_: next(steps) == step and os.kill(os.getpid(), signal.SIGKILL))
        try:
            write(path, b"second")
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def test_killed_at_any_step_a_save_or_the_one_before_is_whole_and_the_next_succeeds(kind, tmp_path):
    write, read = kind
    path = tmp_path / "saved"
    found = []
    write(path, b"first")
    while is_killed(len(found), write, path):
        found.append(read(path))
        write(path, b"first")
        remove_leftovers(tmp_path)
        assert list(tmp_path.iterdir()) == [path]
    assert set(found) == {b"first", b"second"}
    assert read(path) == b"second"


def test_leftovers_are_removed_and_nothing_else(tmp_path):
    mine = [".policy.new", ".x.0123456.new", ".new", "run.json", "y.01234567.new", ".z.old"]
    for name in [*mine, ".x.01234567.new"]:
        (tmp_path / name).write_text("")
    (tmp_path / ".policy.fedcba98.new").mkdir()
    remove_leftovers(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(mine)
    remove_leftovers(tmp_path / "missing")


def test_what_is_saved_has_the_permissions_of_any_new_file(kind, tmp_path):
    write, _ = kind
    path, plain = tmp_path / "saved", tmp_path / "plain"
    write(path, b"first")
    plain.mkdir() if path.is_dir() else plain.write_bytes(b"")
    assert path.stat().st_mode == plain.stat().st_mode


@pytest.mark.skipif(os.name != "posix", reason="other systems have other permissions")
def test_a_file_keeps_its_permissions_when_it_is_replaced(tmp_path):
    path = tmp_path / "saved"
    path.touch(0o600)
    write_file(path, b"second")
    assert (path.stat().st_mode & 0o777, path.read_bytes()) == (0o600, b"second")


# --- What stands in the place of a save


@pytest.mark.parametrize("there", [True, False])
def test_a_link_to_a_file_stays_one_and_its_file_is_written(there, tmp_path):
    real, link = tmp_path / "real", tmp_path / "elsewhere" / "link"
    if there:
        real.write_bytes(b"first")
    link.parent.mkdir()
    link.symlink_to(real)
    write_file(link, b"second")
    assert (link.is_symlink(), real.read_bytes()) == (True, b"second")
    assert [*link.parent.iterdir()] == [link]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no such pipes")
def test_a_pipe_in_the_place_of_a_file_is_named_and_kept(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(UserError, match="regular file"):
        write_whole(path, b"content")
    assert path.is_fifo()


def test_a_link_to_a_folder_stays_one_and_its_folder_is_replaced_again_and_again(tmp_path):
    real, link = tmp_path / "large disk" / "policy", tmp_path / "run" / "policy"
    write_folder(real, b"first")
    link.parent.mkdir()
    link.symlink_to(real, target_is_directory=True)
    for content in (b"second", b"third"):
        write_folder(link, content)
        assert read_whole_folder(real) == read_whole_folder(link) == content
    assert link.is_symlink()
    assert [*real.parent.iterdir(), *link.parent.iterdir()] == [real, link]


def test_a_save_through_a_link_that_was_cut_between_its_renames_is_put_back(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    write_folder(real, b"first")
    link.symlink_to(real, target_is_directory=True)
    real.rename(tmp_path / ".real.old")
    assert read_folder(link, lambda there: (there / "one").read_bytes()) == b"first"
    assert read_whole_folder(link) == b"first"
    assert sorted(tmp_path.iterdir()) == [link, real]


@pytest.mark.parametrize("below", [".", "deeper", "deeper/still"])
def test_a_file_in_the_place_of_a_folder_is_named_and_kept(below, tmp_path):
    theirs = tmp_path / "theirs"
    theirs.write_bytes(b"theirs")
    with pytest.raises(UserError, match=r"theirs is a file"):
        write_folder(theirs / below, b"mine")
    for write in (write_file, write_whole):
        with pytest.raises(UserError, match=r"theirs is a file"):
            write(theirs / below / "mine", b"mine")
    assert theirs.read_bytes() == b"theirs"
    assert list(tmp_path.iterdir()) == [theirs]


def test_a_folder_in_the_place_of_a_file_is_named_and_kept(tmp_path):
    (tmp_path / "theirs").mkdir()
    for write in (write_file, write_whole):
        with pytest.raises(UserError, match="theirs is a folder"):
            write(tmp_path / "theirs", b"mine")
    assert list(tmp_path.iterdir()) == [tmp_path / "theirs"]


def test_an_error_names_the_file_that_was_to_be_written(tmp_path):
    path = tmp_path / ("long" * 62)  # a name that leaves no room for what is added while saving
    with pytest.raises(OSError, match="too long") as error:
        write_file(path, b"mine")
    assert error.value.filename == str(path)


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_another_creates_meanwhile_is_left(links, tmp_path, monkeypatch):
    def no_links(*names):
        raise PermissionError

    if not links:
        monkeypatch.setattr(os, "link", no_links)
    path = tmp_path / "claimed"
    mine, theirs = creating(path), creating(path)
    mine.__enter__().write(b"mine")
    with theirs as file:
        file.write(b"theirs")
    with pytest.raises(FileExistsError):
        mine.__exit__(None, None, None)
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"theirs"]


def forked(work):
    """Do this in a process of its own; returns its number."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return child


def test_of_two_writers_one_wins_and_their_files_are_never_mixed(tmp_path):
    path, contents = tmp_path / "saved", [bytes([n]) * 5_000 for n in range(3)]
    writers = [
        forked(lambda content=content: [write_file(path, content) for _ in range(30)])
        for content in contents
    ]
    seen = set()
    while writers:
        if path.exists():
            seen.add(read_file(path))
        if os.waitpid(writers[-1], os.WNOHANG)[0]:
            writers.pop()
    assert seen <= set(contents)
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_replaced_while_it_is_read_is_the_old_one_or_the_new_one(tmp_path):
    def read(there):
        one, two = (there / "one").read_bytes(), (there / "two").read_bytes()
        if one != two:
            raise ValueError("these files come from two saves")
        return one

    path = tmp_path / "saved"
    write_folder(path, b"0")
    writer = forked(lambda: [write_folder(path, str(n).encode()) for n in range(1, 200)])
    seen = []
    while not os.waitpid(writer, os.WNOHANG)[0]:
        seen.append(int(read_folder(path, read)))
    assert seen == sorted(seen)
    assert read_folder(path, read) == b"199"
    (path / "two").unlink()
    with pytest.raises(FileNotFoundError):
        read_folder(path, read)
