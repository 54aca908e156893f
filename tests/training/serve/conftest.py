"""What the tests of the server share: one that runs."""

from collections.abc import Iterator

import pytest
from serving import Client, served


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with served(tmp_path_factory.mktemp("data")) as found:
        yield found
