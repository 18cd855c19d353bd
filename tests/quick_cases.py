"""Which cases of a test `make test` plays; `make test-all` plays every one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import pytest

SLOW: Final = pytest.mark.slow(minutes=1)


def quick_first(cases: Iterable[Any]) -> list[Any]:
    """Return a parametrisation's cases: the first is quick, the others are for `make test-all`."""
    first, *others = cases
    return [
        first,
        *(pytest.param(*(one if isinstance(one, tuple) else (one,)), marks=SLOW) for one in others),
    ]
