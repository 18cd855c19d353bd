"""Fixtures that tests of several packages want."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from scripted_model import Script, ScriptedModel

StartModel = Callable[[Script], ScriptedModel]


@pytest.fixture
def scripted_model() -> Iterator[StartModel]:
    """Start model endpoints that answer by script; they are closed when the test is over."""
    with ExitStack() as open_models:
        yield lambda script: open_models.enter_context(ScriptedModel(script))
