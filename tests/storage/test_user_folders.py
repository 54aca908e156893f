"""Where files of the user go; a user without a home folder reads what to set."""

from pathlib import Path

import pytest

from hanamachi.errors import UserError
from hanamachi.storage.user_folders import cache_folder, data_folder

pytestmark = pytest.mark.uncompiled


def test_a_user_without_a_home_folder_is_told_to_set_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for variable in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(Path, "home", unknown)
    for folder in (data_folder, cache_folder):
        with pytest.raises(UserError, match="set HOME"):
            folder()
