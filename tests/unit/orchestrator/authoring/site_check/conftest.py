"""A web site of a test's own, where a replica would stand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.sites.standing_web import Web


@pytest.fixture
def web() -> Iterator[Web]:
    made = Web()
    yield made
    made.close()
