"""What cannot fit into the machine's memory is refused before it is taken."""

import pytest

from hanamachi.engine import memory
from hanamachi.errors import UserError

pytestmark = pytest.mark.uncompiled


def test_more_than_the_machine_has_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 1000)
    memory.check_memory(1000, "games")
    with pytest.raises(UserError, match="games"):
        memory.check_memory(1001, "games")


def test_the_memory_of_this_machine_is_known_or_unbounded():
    assert memory.physical_memory() > 1 << 26
