"""Which tests and cases `make unit` and `make test` leave to `make test-all` and `.ci/run`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import pytest

SLOW: Final = pytest.mark.slow(minutes=1)
# Of all cases of a test, the first is quick, whatever they are made of.
ONE_QUICK: Final = pytest.mark.one_quick


def quick_first(cases: Iterable[Any]) -> list[Any]:
    """Return a parametrisation's cases: the first is quick, the others are for `make test-all`."""
    first, *others = cases
    return [
        first,
        *(pytest.param(*(one if isinstance(one, tuple) else (one,)), marks=SLOW) for one in others),
    ]


def mark_all_but_one(items: Iterable[pytest.Item]) -> None:
    """Mark as slow what the tests marked `one_quick` have beside their first case."""
    seen: set[str] = set()
    for item in items:
        if item.get_closest_marker(ONE_QUICK.name) is None:
            continue
        test = item.nodeid.partition("[")[0]
        if test in seen:
            item.add_marker(SLOW)
        seen.add(test)
