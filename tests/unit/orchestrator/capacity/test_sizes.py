from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_core.errors import UsageError
from orchestrator.capacity.sizes import GIB, MIB, format_size, parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [("4GiB", 4 * GIB), ("512m", 512 * MIB), ("1.5 GB", 1_500_000_000), ("2048KiB", 2 * MIB)],
)
def test_an_amount_is_read_with_its_unit(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "4", "GiB", "-4GiB", "0GiB", "4 potatoes", "4GiBB", "٤GiB"])
def test_what_is_no_amount_is_quoted(text: str) -> None:
    with pytest.raises(UsageError, match=f"'{text}' is no amount of memory"):
        parse_size(text)


@given(st.integers(MIB, 1 << 50))
def test_what_is_written_is_read_again_roughly(size: int) -> None:
    assert parse_size(format_size(size)) == pytest.approx(size, rel=0.06, abs=MIB)
