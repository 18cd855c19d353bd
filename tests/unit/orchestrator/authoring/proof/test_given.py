"""A world that is set up once more gets more than one try, where the machine breaks it off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

import pytest
from support.canary.plays import make_task

from arena_core.errors import ArenaError, EngineError, GivenError, SiteGoneError
from orchestrator.authoring.proof.given import ATTEMPTS, _differences
from orchestrator.runs.environments import Environments
from orchestrator.runs.events import ProgressNote, RunEvent

FOUND = {"wiki": ("a page more",)}


class Worlds:
    """Environments in which setting up breaks off so often before it is done."""

    def __init__(self, *errors: ArenaError) -> None:
        self._errors: Iterator[ArenaError] = iter(errors)

    async def start_differences(self, _: object) -> Mapping[str, tuple[str, ...]]:
        for error in self._errors:
            raise error
        return FOUND


async def differences(*errors: ArenaError) -> tuple[Mapping[str, tuple[str, ...]], list[RunEvent]]:
    said: list[RunEvent] = []
    worlds = cast("Environments", Worlds(*errors))
    return await _differences(worlds, make_task(), said.append), said


async def test_what_the_engine_or_a_container_breaks_off_is_tried_again_and_said() -> None:
    found, said = await differences(EngineError("no answer"), SiteGoneError("it is gone"))
    assert found == FOUND
    assert [type(one) for one in said] == [ProgressNote, ProgressNote]
    assert "no answer" in str(said[0])


async def test_what_never_works_ends_the_proof() -> None:
    with pytest.raises(EngineError, match="no answer"):
        await differences(*(EngineError("no answer") for _ in range(ATTEMPTS)))


async def test_what_cannot_be_set_up_at_all_is_not_tried_again() -> None:
    assert await differences(GivenError("no such column")) == ({}, [])
