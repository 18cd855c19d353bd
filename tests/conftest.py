"""Fixtures that tests of several packages want."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from scripted_model import Script, ScriptedModel

StartModel = Callable[[Script], ScriptedModel]


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> None:
    """Let commands that tests start be interrupted, however these tests were started themselves.

    A shell's background job ignores Ctrl-C, and so would every process that it starts.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def scripted_model() -> Iterator[StartModel]:
    """Start model endpoints that answer by script; they are closed when the test is over."""
    with ExitStack() as open_models:
        yield lambda script: open_models.enter_context(ScriptedModel(script))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave a slow test out, and say so, where there is no time left for it."""
    until = os.environ.get("ARENA_SLOW_UNTIL", "")
    if item.get_closest_marker("slow") and until and time.time() > float(until):
        pytest.skip("no time is left for slow tests (ARENA_SLOW_UNTIL)")
