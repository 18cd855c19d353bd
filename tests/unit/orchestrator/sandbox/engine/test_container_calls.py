"""How a command inside a container ended, where the engine tells it late."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

import pytest
from docker import APIClient

from arena_core.errors import EngineError
from orchestrator.sandbox.engine.container_calls import _exit_code

# A clock that was set forward since then says that this was years ago.
ENDED_AT = 1_500_000_000


class LateEngine:
    """An engine that has not noted the code yet, and then tells of two commands that ended."""

    def __init__(self, *ended: tuple[str, int]) -> None:
        self._ended = ended

    def exec_inspect(self, command_id: str) -> Mapping[str, object]:
        return {"ID": command_id, "ExitCode": None}

    def events(self, *, since: int, **_: object) -> Iterator[Mapping[str, object]]:
        if since > ENDED_AT:
            pytest.fail("an engine waits for ever for an event that it is not asked to repeat")
        for command_id, code in self._ended:
            yield {"Actor": {"Attributes": {"execID": command_id, "exitCode": str(code)}}}


def test_a_code_that_is_not_noted_yet_is_taken_from_its_own_event() -> None:
    engine = cast("APIClient", LateEngine(("other", 0), ("ours", 7)))
    assert _exit_code(engine, "container", "ours") == 7


def test_a_command_without_an_exit_code_did_not_succeed() -> None:
    engine = cast("APIClient", LateEngine(("other", 0)))
    with pytest.raises(EngineError, match="does not say"):
        _exit_code(engine, "container", "ours")
