"""Episodes over HTTP that begin at the file of a checkpoint, and files that are none."""

from __future__ import annotations

import asyncio
import io
import json
import tempfile
import zipfile
from collections.abc import AsyncIterator, Callable
from typing import IO, Any
from urllib.parse import quote

import httpx
import pytest
from quick_cases import SLOW
from support.worlds.fake_world import FakeWorld
from support.worlds.worldless_service import Service, Serving

from arena_core.errors import StateError
from orchestrator import load_checkpoint
from orchestrator.sandbox.states import archive
from orchestrator.serve import app

BRUGES = {"kind": "goto", "url": "http://wiki.arena.test/wiki/A/Bruges"}


async def at_bruges(service: Service) -> bytes:
    """Return the file of a checkpoint after the task's key node; its episode is over."""
    name = await service.begun()
    await service.step(name, action=BRUGES)
    await service.checkpoint(name, "bruges")
    file = await service.kept(name, "bruges")
    await service.finish(name, answer="47")
    return file


async def assert_refused(service: Service, answer: httpx.Response, status: int, why: str) -> None:
    said = answer.json()
    assert answer.status_code == status, said
    assert why in said["error"]
    assert "\n" not in said["error"]
    assert await service.free() == service.served.host.slots


def forged(file: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    """Return the file with another manifest."""
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(file)) as old, zipfile.ZipFile(changed, "w") as new:
        for part in old.namelist():
            content = old.read(part)
            if part == "checkpoint.json":
                told = json.loads(content)
                change(told)
                content = json.dumps(told).encode()
            new.writestr(part, content)
    return changed.getvalue()


@SLOW
async def test_an_episode_begins_at_a_file_as_a_branch_of_its_root(serving: Serving) -> None:
    async with serving() as service:
        file = await at_bruges(service)
        root = load_checkpoint(io.BytesIO(file)).root
        answer = await service.go_on(file, agent="mine")
        assert answer.status_code == 201
        begun = answer.json()
        assert begun["goal"].startswith("How many bells")
        assert begun["start_urls"] == [BRUGES["url"]]
        assert (begun["observation"]["url"], begun["observation"]["step"]) == (BRUGES["url"], 1)
        assert await service.free() == 0
        hosted = service.served.host.find(begun["episode"])
        assert (await service.restore(begun["episode"], "bruges")).status_code == 200
        ended = (await service.finish(begun["episode"], answer="47")).json()
        assert (ended["reward"], ended["key_nodes"]) == (1.0, {"met": 1, "of": 1})
        told = hosted.session.evidence()
        assert told.branch is not None
        assert (told.branch.root, told.branch.checkpoint, told.branch.step) == (root, "bruges", 1)
        assert told.agent == "mine"
        assert await service.free() == 1


@SLOW
async def test_another_service_of_the_same_task_goes_on_too(serving: Serving) -> None:
    async with serving() as service:
        file = await at_bruges(service)
    async with serving() as another:
        assert (await another.go_on(file)).status_code == 201


async def test_nobody_goes_on_where_the_service_does_not_say_so(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is the file read: who may not go on writes nothing on this machine."""
    async with serving() as service:
        file = await at_bruges(service)
    received = []
    monkeypatch.setattr(app, "TemporaryFile", lambda: received.append(1))
    async with serving(checkpoints=False) as service:
        await assert_refused(service, await service.go_on(file), 422, "lets no client go back")
    assert received == []


async def test_a_file_that_is_none_or_damaged_or_forged_is_refused(serving: Serving) -> None:
    async with serving() as service:
        file = await at_bruges(service)
        refuse = "the checkpoint's file is"
        name, cut_short = f"{refuse} damaged", file[: len(file) // 2]
        flipped = bytearray(file)
        flipped[file.index(b"record.json") + 40] ^= 0xFF
        for content, why in (
            (b"", name),
            (b'{"task": "demo/one"}', name),
            (cut_short, name),
            (bytes(flipped), name),
            (forged(file, lambda told: told.update(root="x; rm")), f"{refuse} not the file of"),
            (forged(file, lambda told: told.update(extra=1)), f"{refuse} not the file of"),
            (forged(file, lambda told: told.update(document_step=9)), "of a later step"),
            (forged(file, lambda told: told.update(version=2)), "version 2"),
        ):
            await assert_refused(service, await service.go_on(content), 422, why)


@SLOW
async def test_a_file_with_a_list_of_parts_without_end_is_not_read(serving: Serving) -> None:
    """Its names alone would take more memory than the file has bytes."""
    names = io.BytesIO()
    with zipfile.ZipFile(names, "w") as file:
        for number in range(60_000):
            file.writestr(f"{number:040}", b"")
    async with serving() as service:
        answer = await service.go_on(names.getvalue())
        await assert_refused(service, answer, 422, "its list of parts is too long")
        large = await at_bruges(service)
        answer = await service.go_on(large[:-22] + b"PK\x06\x07" + bytes(16) + large[-22:])
        await assert_refused(service, answer, 422, "its list of parts is too long")


async def test_a_file_of_another_task_or_other_terms_is_refused(serving: Serving) -> None:
    async with serving() as service:
        file = await at_bruges(service)
        suite = service.task.rpartition("/")[0]
        two = await service.go_on(file, task=f"{suite}/two")
        await assert_refused(service, two, 422, "is of 'one' offline, and the episode of 'two'")
        none = await service.go_on(file, task=f"{suite}/none")
        await assert_refused(service, none, 404, "none")
        longer = forged(file, lambda told: told["limits"].update(steps=500))
        await assert_refused(service, await service.go_on(longer), 422, "another definition")
        online = forged(file, lambda told: told.update(world="online"))
        assert (await service.go_on(online)).status_code == 422
        await assert_refused(service, await service.go_on(file, seed=1), 422, "seed")
        missing = await service.client.post("/episodes/from-checkpoint", content=file)
        await assert_refused(service, missing, 422, "task")


async def test_a_file_of_another_image_is_refused(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving() as service:
        file = await at_bruges(service)

        async def begin(*_: object) -> None:
            raise StateError("site 'wiki': the checkpoint 'bruges' is of image 1", hint="anew")

        monkeypatch.setattr(service.arena._episodes, "begin", begin)
        answer = await service.go_on(file, key="a")
        assert answer.json()["hint"] == "anew"
        await assert_refused(service, answer, 422, "is of image 1")


async def test_a_page_that_does_not_come_back_equal_begins_no_episode(serving: Serving) -> None:
    async with serving() as service:
        file = await at_bruges(service)
        service.arena.prepared = [FakeWorld(title="Another"), FakeWorld(title="Another")]
        answer = await service.go_on(file)
        assert answer.json()["result"]["reason"] == "fork"
        await assert_refused(service, answer, 503, "the page is not equal")


@SLOW
@pytest.mark.parametrize("is_announced", [True, False])
async def test_a_file_that_is_too_long_is_refused_and_not_kept(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, *, is_announced: bool
) -> None:
    async with serving() as service:
        file = await at_bruges(service)
        most = 3 * 2**20
        monkeypatch.setattr(archive, "MOST_BYTES", most)
        kept: list[IO[bytes]] = []

        def spied() -> IO[bytes]:
            kept.append(tempfile.TemporaryFile())  # noqa: SIM115  the service closes it
            return kept[-1]

        monkeypatch.setattr(app, "TemporaryFile", spied)

        async def without_end() -> AsyncIterator[bytes]:
            for _ in range(64):
                yield b"x" * 2**20

        content = b"x" * (most + 1) if is_announced else without_end()
        answer = await service.go_on(content)
        await assert_refused(service, answer, 413, f"at most {most} bytes")
        assert all(one.closed for one in kept)
        assert len(kept) == (0 if is_announced else 1)
        wrong = await service.client.post("/episodes", content=b"x" * (2**20 + 1))
        assert wrong.status_code == 413
        longer = file + b"x" * 2**21  # more than other requests may have
        await assert_refused(service, await service.go_on(longer), 422, "damaged")


async def test_the_same_key_is_the_same_file(serving: Serving) -> None:
    async with serving(slots=2) as service:
        file = await at_bruges(service)
        other = await at_bruges(service)
        first = (await service.go_on(file, key="a")).json()
        assert (await service.go_on(file, key="a")).json() == first
        assert (await service.go_on(other, key="a")).status_code == 409
        assert (await service.create(key="a")).status_code == 409
        assert await service.free() == 1


async def test_who_has_no_slot_left_is_told_to_wait(serving: Serving) -> None:
    async with serving() as service:
        file = await at_bruges(service)
        name = await service.begun()
        assert (await service.go_on(file)).status_code == 429
        await service.finish(name)
        assert (await service.go_on(file)).status_code == 201


@SLOW
async def test_a_file_that_does_not_arrive_is_given_up_and_others_go_on(serving: Serving) -> None:
    async with serving(idle_s=1.0) as service:
        file = await at_bruges(service)
        host, port = service.served.url.removeprefix("http://").split(":")
        reading, writing = await asyncio.open_connection(host, int(port))
        lines = [
            f"POST /episodes/from-checkpoint?task={quote(service.task)} HTTP/1.1",
            f"Host: {host}:{port}",
            f"Authorization: Bearer {service.served.token}",
            f"Content-Length: {len(file)}",
        ]
        writing.write("\r\n".join([*lines, "", ""]).encode() + file[:100])
        late = asyncio.create_task(reading.readuntil(b"in time"))
        await asyncio.wait([late])
        assert b"408" in late.result()
        writing.close()
        assert (await service.go_on(file)).status_code == 201
