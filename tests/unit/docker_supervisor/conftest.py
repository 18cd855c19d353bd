from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from supervised import MEMORY, Supervised, supervised
from supervised.folders import fill


@pytest.fixture(scope="module", params=["on disk", "in memory"])
def running(request: pytest.FixtureRequest) -> Iterator[Supervised]:
    memory = request.param == "in memory"
    with (
        tempfile.TemporaryDirectory() as place,
        tempfile.TemporaryDirectory(dir=MEMORY if memory else None) as live,
    ):
        (Path(place) / "pristine").mkdir()
        fill(Path(place) / "pristine")
        with supervised(Path(place), state=Path(live) / "state") as running:
            yield running
