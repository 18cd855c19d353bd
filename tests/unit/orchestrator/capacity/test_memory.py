from __future__ import annotations

import pytest

from orchestrator.capacity.memory import used_bytes


@pytest.mark.parametrize(
    ("printed", "used"),
    [
        ("900\nanon 500\ninactive_file 300\n", 600),
        ("900\ncache 1\ninactive_file 1\ntotal_inactive_file 400\n", 500),
        ("900\n", 900),
        ("100\ninactive_file 300\n", 0),
        ("", None),
        ("anon 500\ninactive_file 300\n", None),
    ],
)
def test_memory_is_usage_without_the_cache_that_can_be_given_back(
    printed: str, used: int | None
) -> None:
    assert used_bytes(printed) == used
