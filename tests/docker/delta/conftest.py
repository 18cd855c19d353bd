"""The kiosk, one replica of it, and ways to change that."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from mutations.subject import Accounts, Subject
from support.sites.kiosk_site import engine, kiosk, registry, replica

from orchestrator.sandbox.delta import delta
from orchestrator.sandbox.delta.delta import Delta, delta_of
from orchestrator.sandbox.delta.present_rows import pack_rows
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.reset.fingerprint import Fingerprint, take_fingerprint
from orchestrator.sandbox.reset.replica import Replica

__all__ = ["engine", "kiosk", "registry", "replica"]

Difference = Callable[[str, str], Awaitable[Delta]]


@dataclass(frozen=True, slots=True)
class MadeGolden:
    """A golden state that a test made."""

    state: Fingerprint

    @property
    def digest(self) -> str:
        return self.state.digest

    async def parts(self) -> Fingerprint:
        return self.state


@pytest.fixture
def subject(engine: Engine, replica: Replica) -> Subject:
    return Subject(engine, replica, Accounts())


@pytest.fixture
def between(
    engine: Engine,
    replica: Replica,
    subject: Subject,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Difference:
    """What differs after some SQL from the state that other SQL made golden."""

    async def difference(golden: str, change: str) -> Delta:
        await subject.sql(golden)
        file = tmp_path / "rows"
        file.unlink(missing_ok=True)
        assert await pack_rows(engine, replica.site, replica.container, file)
        state = await take_fingerprint(engine, replica.site, replica.container)

        async def the_file(*_: object) -> Path:
            return file

        monkeypatch.setattr(delta, "golden_rows", the_file)
        placement = replace(replica.placement, golden=MadeGolden(state))
        await subject.sql(change)
        return await delta_of(engine, replace(replica, placement=placement))

    return difference
