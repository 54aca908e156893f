"""What can be wrong before the server begins ends in a sentence that says what to do."""

import os
from pathlib import Path

import pytest

from hanamachi.errors import UserError
from hanamachi.training.serve.app import bound
from hanamachi.training.serve.offers import Offers
from hanamachi.training.serve.store import FILE, Store


def test_a_file_that_holds_no_tables_can_be_moved_away(tmp_path: Path) -> None:
    for name in ("garbage", "folder", "cut", "odd"):
        (tmp_path / name).mkdir()
    (tmp_path / "garbage" / FILE).write_text("no tables " * 1000)
    (tmp_path / "folder" / FILE).mkdir()
    Store(tmp_path / "cut").close()
    os.truncate(tmp_path / "cut" / FILE, 5000)
    Store(tmp_path / "odd").close()
    content = (tmp_path / "odd" / FILE).read_bytes()
    odd = content.replace(b"keys (digest", b"keys \xff\xff\xff\xff\xff\xff\xff")
    assert odd != content
    (tmp_path / "odd" / FILE).write_bytes(odd)
    for name in ("garbage", "folder", "cut", "odd"):
        with pytest.raises(UserError, match=r"move tables.sqlite away, .*--data"):
            Store(tmp_path / name)


def test_a_file_is_no_folder_for_tables(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="choose another folder with --data"):
        Store(tmp_path / "file")


@pytest.mark.parametrize("host", ["", "no address", "192.0.2.1"])
def test_a_host_must_be_an_address_of_this_computer(host: str) -> None:
    with pytest.raises(UserError, match="address of this computer"):
        bound(host, 0)


@pytest.mark.skipif(os.name != "posix", reason="bots run on Linux and macOS alone")
def test_a_bot_must_start_in_one_of_the_games(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be started"):
        Offers([f"process:{tmp_path / 'nosuch'}"])
    bot = tmp_path / "bot.sh"
    bot.write_text(
        """#!/bin/sh\nread hello\ncase "$hello" in *hanabi*) echo '{"type":"ready"}';; esac"""
    )
    bot.chmod(0o700)
    assert "bot.sh (policy 1)" in Offers([f"process:{bot}"]).policies("hanabi:2p")
