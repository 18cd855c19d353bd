"""What the Gymnasium environment refuses before anything is played."""

from __future__ import annotations

from typing import Any

import pytest

from arena_core.errors import UsageError
from orchestrator.serve.gym.environment import ArenaEnv


@pytest.mark.parametrize("action", [None, 3, b"noop()", ["noop()"]])
def test_an_action_that_is_no_text_is_said_to_be_none(action: Any) -> None:
    with pytest.raises(UsageError, match="an action is text, and not") as refused:
        ArenaEnv("demo/wiki-bells-of-bruges").step(action)
    assert "env.step" in (refused.value.hint or "")
