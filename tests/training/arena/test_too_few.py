"""A tournament needs two players, and says how to add one."""

from pathlib import Path

import pytest

from hanamachi.errors import UserError
from hanamachi.games.registry import variant
from hanamachi.training.arena.tournament import play_tournament


def test_a_single_player_has_nobody_to_meet(tmp_path: Path) -> None:
    bots = tmp_path / "bots"
    bots.mkdir()
    with pytest.raises(UserError, match="--with"):
        play_tournament(bots, variant("hanamikoji"), tmp_path / "out", others=["greedy"])
