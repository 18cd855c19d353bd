"""A run is filmed while somebody looks, through its real socket, and never otherwise."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from orchestrator.runs import film as filming
from orchestrator.runs.control import Filmed, film, takes_orders
from orchestrator.runs.orders import Orders

LARGE = 200_000


@dataclass(eq=False)
class Filmable:
    """An episode whose pictures the test takes."""

    pictures: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    cameras: int = 0

    async def film(self) -> AsyncIterator[str]:
        self.cameras += 1
        try:
            while True:
                yield await self.pictures.get()
        finally:
            self.cameras -= 1


@dataclass
class Played:
    """A run's folder, and what is played in it now."""

    folder: Path
    under_way: list[Any] = field(default_factory=list)

    def begin(self, name: str) -> Filmable:
        episode = Filmable()
        job = SimpleNamespace(key=SimpleNamespace(name=name), run=SimpleNamespace(name="run"))
        self.under_way.append(SimpleNamespace(episode=episode, job=job))
        return episode


@pytest.fixture
async def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Played]:
    monkeypatch.setattr(filming, "_LOOK_S", 0.01)
    (tmp_path / "lock.json").touch()
    run = Played(tmp_path)
    orders = Orders(cast("Any", run), (), lambda _: None)
    async with takes_orders(tmp_path, orders, lambda _: None):
        yield run


async def next_picture(pictures: AsyncIterator[Filmed]) -> tuple[str, str]:
    async with asyncio.timeout(5):
        return await anext((one.episode, one.picture) async for one in pictures if one.episode)


async def until_cameras(episode: Filmable, count: int) -> None:
    async with asyncio.timeout(5):
        while episode.cameras != count:  # noqa: ASYNC110  nobody tells
            await asyncio.sleep(0.005)


async def test_nothing_is_filmed_but_while_somebody_looks(played: Played) -> None:
    one = played.begin("one")
    one.pictures.put_nowait("first")
    await asyncio.sleep(0.05)
    assert one.cameras == 0
    async with aclosing(film(played.folder)) as pictures:
        assert await next_picture(pictures) == ("run/one", "first")
        two = played.begin("two")  # begins later, and is seen as well
        two.pictures.put_nowait("second")
        assert await next_picture(pictures) == ("run/two", "second")
        played.under_way.pop()
        await until_cameras(two, 0)
        assert one.cameras == 1
    await until_cameras(one, 0)


async def test_who_reads_slowly_gets_the_newest_and_misses_others(played: Played) -> None:
    one = played.begin("one")
    async with aclosing(film(played.folder)) as pictures:
        one.pictures.put_nowait("first")
        assert await next_picture(pictures) == ("run/one", "first")
        for number in range(300):
            one.pictures.put_nowait(f"{number}".rjust(LARGE))
            await asyncio.sleep(0)
        while not one.pictures.empty():  # noqa: ASYNC110  nobody tells
            await asyncio.sleep(0.005)
        got = [(await next_picture(pictures))[1]]
        while got[-1] != "299".rjust(LARGE):
            got.append((await next_picture(pictures))[1])
    assert len(got) < 200


async def test_the_end_of_the_run_is_the_end_of_the_film(tmp_path: Path) -> None:
    (tmp_path / "lock.json").touch()
    run = Played(tmp_path)
    orders = Orders(cast("Any", run), (), lambda _: None)
    one = run.begin("one")
    one.pictures.put_nowait("first")
    async with aclosing(film(tmp_path)) as pictures:
        async with takes_orders(tmp_path, orders, lambda _: None):
            assert await next_picture(pictures) == ("run/one", "first")
        assert one.cameras == 0
        async with asyncio.timeout(5):
            assert [one async for one in pictures if one.episode] == []
