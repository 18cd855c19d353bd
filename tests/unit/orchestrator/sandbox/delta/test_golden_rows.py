from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from arena_core.errors import ImageError
from orchestrator.sandbox.delta.golden_rows import GoldenRows


def test_rows_of_another_version_are_refused_with_what_mends_it(tmp_path: Path) -> None:
    file = tmp_path / "rows"
    with closing(sqlite3.connect(file)) as made:
        made.execute("PRAGMA user_version = 99")
        made.commit()
    with (
        pytest.raises(ImageError, match="have version 99, not") as refused,
        GoldenRows.opened(file),
    ):
        pass
    assert "arena build" in refused.value.hint


@pytest.mark.parametrize("content", [b"no database" * 200, None], ids=["spoilt", "gone"])
def test_rows_that_cannot_be_read_are_an_error_of_the_image(
    tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "a #?%20 name"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ImageError, match="cannot be read"), GoldenRows.opened(file):
        pass
    assert file.exists() == (content is not None)
