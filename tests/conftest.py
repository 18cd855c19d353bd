"""Fixtures that tests of several packages want."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from scripted_model import Script, ScriptedModel

# What a slow test takes at most, where its mark says nothing else.
USUAL_MINUTES = 4
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
    """Leave a slow test out, and say so, where it would not be done in time."""
    until, slow = os.environ.get("ARENA_SLOW_UNTIL", ""), item.get_closest_marker("slow")
    if slow is None or not until:
        return
    minutes = slow.kwargs.get("minutes", USUAL_MINUTES)
    if time.time() + 60 * minutes > float(until):
        pytest.skip(f"no {minutes} minutes are left for it (ARENA_SLOW_UNTIL)")
