"""What is read from outside is a regular file of a bounded size, and JSON of a bounded depth."""

import os

import pytest
from messages import assert_one_sentence

from hanamachi.errors import UserError
from hanamachi.limits import DIGITS, NESTING, VALUES
from hanamachi.storage.reading import checked_path, parse_json, read_bounded

pytestmark = pytest.mark.uncompiled


def test_a_file_is_read_up_to_its_bound_and_refused_beyond(tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    assert read_bounded(tmp_path / "file", 5) == b"12345"
    with pytest.raises(UserError, match="file"):
        read_bounded(tmp_path / "file", 4)


@pytest.mark.skipif(os.name != "posix", reason="Windows does not say that it is a folder")
def test_a_folder_is_told_from_a_file(tmp_path):
    with pytest.raises(UserError, match="folder") as refused:
        read_bounded(tmp_path, 100)
    assert_one_sentence(refused.value, str(tmp_path))


@pytest.mark.skipif(os.name != "posix", reason="other systems fill the file")
def test_a_file_larger_than_any_memory_is_refused(tmp_path):
    with (tmp_path / "file").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(UserError):
        read_bounded(tmp_path / "file", 100)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such device")
def test_a_device_without_an_end_is_refused():
    with pytest.raises(UserError, match="/dev/zero"):
        read_bounded("/dev/zero", 100)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no such pipes")
def test_a_pipe_that_nobody_writes_to_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="pipe"):
        read_bounded(tmp_path / "pipe", 100)


@pytest.mark.parametrize("name", ["", "missing", "a\0b", "\ud800", "x" * 5_000, "loop", "."])
def test_what_cannot_be_opened_is_refused_in_a_sentence(name, tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(UserError) as error:
        read_bounded(f"{tmp_path}/{name}", 100)
    assert_one_sentence(error.value)


@pytest.mark.parametrize("path", [None, 5, True, b"file", ""], ids=str)
def test_only_texts_and_paths_name_a_file(path):
    for use in checked_path, lambda path: read_bounded(path, 100):
        with pytest.raises(UserError, match="path"):
            use(path)


def test_an_open_file_is_neither_read_nor_closed(tmp_path):
    with open(tmp_path / "file", "w+b") as file:
        with pytest.raises(UserError):
            read_bounded(file.fileno(), 100)
        file.write(b"still open")


def nested(levels):
    return b"[" * levels + b"]" * levels


def test_json_is_read_down_to_the_deepest_level_and_refused_below():
    assert parse_json(nested(NESTING))
    for levels in (NESTING + 1, 600, 100_000):
        with pytest.raises(UserError):
            parse_json(nested(levels))


@pytest.mark.parametrize("value", [b"1", b"[]", b"{}", b'"a"', b'{"a":1}'])
def test_json_of_very_many_values_is_refused_before_they_take_memory(value, monkeypatch):
    monkeypatch.delattr("json.loads")
    with pytest.raises(UserError, match="values"):
        parse_json(b"[" + (value + b",") * VALUES + value + b"]")


def test_whole_numbers_are_read_up_to_their_digits():
    assert parse_json(b"9" * DIGITS) == 10**DIGITS - 1
    assert parse_json(b"0." + b"9" * (DIGITS + 1)) == 1  # others may be written at any length
    for digits in (DIGITS + 1, 5_000):
        with pytest.raises(UserError):
            parse_json(b"9" * digits)


@pytest.mark.parametrize("text", [b"", b"{", b"\xff", b'{"a": 1, "a": 1}', b"1 2"])
def test_what_is_no_json_or_repeats_a_key_is_refused(text):
    with pytest.raises(UserError):
        parse_json(text)
