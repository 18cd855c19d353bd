"""`arena down`: of everything, of some sites, of an owner, of a slot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from quick_cases import ONE_QUICK
from support.agents.arena_process import Ended

from arena_core.errors import UnknownNameError
from orchestrator.api.opened import OpenArena
from orchestrator.sandbox.engine.containers import Labels
from orchestrator.sandbox.pool.slot_pool import UP

Call = Callable[..., Ended]


def container(name: str, site: str, owner: str = UP, slot: str = "0") -> Any:
    labels = {Labels.SITE: site, Labels.OWNER: owner, Labels.SLOT: slot}
    return SimpleNamespace(id=name, name=name, labels=labels)


class Containers:
    """An engine with some containers, of which it lists those that have the labels."""

    def __init__(self, *there: Any) -> None:
        self.there = {one.id: one for one in there}

    async def containers(self, labels: Mapping[str, str | None]) -> list[Any]:
        return [
            one
            for one in self.there.values()
            if all(value in {None, one.labels[name]} for name, value in labels.items())
        ]

    async def remove(self, name: str) -> None:
        del self.there[name]

    async def sweep(self, owner: str | None) -> tuple[str, ...]:
        found = await self.containers({Labels.OWNER: owner})
        for one in found:
            await self.remove(one.id)
        return tuple(one.name for one in found)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Containers:
    made = Containers(
        container("shop-0", "shop"),
        container("shop-1", "shop", slot="1"),
        container("wiki", "wiki"),
        container("run-shop", "shop", owner="run-1"),
    )

    async def connected(_: OpenArena) -> Containers:
        return made

    monkeypatch.setattr(OpenArena, "engine", connected)
    return made


@ONE_QUICK
@pytest.mark.parametrize(
    ("words", "left"),
    [
        (("shop",), {"wiki", "run-shop"}),
        (("shop", "wiki"), {"run-shop"}),
        (("shop", "--slot", "1"), {"shop-0", "wiki", "run-shop"}),
        (("shop", "--owner", "run-1"), {"shop-0", "shop-1", "wiki"}),
        (("--owner", "run-1"), {"shop-0", "shop-1", "wiki"}),
        ((), set()),
    ],
)
def test_only_what_is_named_is_removed(
    call: Call, engine: Containers, words: tuple[str, ...], left: set[str]
) -> None:
    assert call("down", *words).code == 0
    assert engine.there.keys() == left


def test_a_site_that_there_is_not_removes_nothing(call: Call, engine: Containers) -> None:
    ended = call("down", "shpo")
    assert ended.code == UnknownNameError.exit_code
    assert "did you mean 'shop'?" in ended.err
    assert len(engine.there) == 4
