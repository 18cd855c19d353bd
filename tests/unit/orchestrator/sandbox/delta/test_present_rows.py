"""When rows that are read after a state was taken are that state's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.sites.watched_replica import NO_ENGINE, watched

from arena_core.errors import StateError
from orchestrator.sandbox.delta import present_rows
from orchestrator.sandbox.delta.present_rows import take_state_with_rows
from orchestrator.sandbox.reset import taking
from orchestrator.sandbox.reset.fingerprint import Fingerprint, TableState
from orchestrator.sandbox.reset.watch import Watch
from sites.manifest import Clock

ORDERS = TableState(name="orders", rows=1, content="a", auto_increment=2, definition="d")


class Site:
    """A site whose orders differ from golden, and which may be written to while they are read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[str] = []
        self.stamp = "s1"
        self.orders = ORDERS
        self.stamp_after = self.stamp
        self.orders_after = ORDERS
        self.read = 0

        async def nothing(*_: object) -> None:
            """Find nothing that a state cannot hold."""

        async def fingerprint(*_: object, **__: object) -> Fingerprint:
            self.read += 1
            return Fingerprint(tables=(self.orders,))

        async def pack(*asked: object) -> bool:
            path, tables = asked[3:]
            assert isinstance(path, Path)
            path.write_bytes(b"rows")
            assert tables == {"orders"}
            self.stamp, self.orders = self.stamp_after, self.orders_after
            return True

        async def survives(*_: object) -> bool:
            return True

        monkeypatch.setattr(taking, "_survives_a_crash", survives)
        monkeypatch.setattr(taking, "_require_serving", nothing)
        monkeypatch.setattr("orchestrator.sandbox.reset.watch.take_fingerprint", fingerprint)
        monkeypatch.setattr(present_rows, "pack_rows", pack)

    async def take(self) -> bytes | None:
        async with watched(
            self.asked, clock=Clock(), shown=None, stamp=lambda: self.stamp
        ) as watch:
            return await _rows(watch)


async def _rows(watch: Watch) -> bytes | None:
    return (await take_state_with_rows(NO_ENGINE, watch)).rows


async def test_where_nothing_moves_the_state_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(monkeypatch)
    assert await site.take() == b"rows"
    assert site.read == 1


async def test_rows_of_a_site_that_moved_and_is_the_same_are_the_states(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site = Site(monkeypatch)
    site.stamp_after = "s2"
    assert await site.take() == b"rows"
    assert site.read > 1


async def test_rows_of_a_site_that_was_written_to_meanwhile_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site = Site(monkeypatch)
    site.stamp_after, site.orders_after = "s2", replace(ORDERS, content="b")
    with pytest.raises(StateError, match="was written to while its rows were read"):
        await site.take()
