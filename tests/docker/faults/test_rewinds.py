"""Rewinds that overlap: with each other, and with requests that are under way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlsplit

import pytest
import requests
from mutations.golden import Golden
from mutations.shop import CUSTOMER, product_page
from mutations.subject import Accounts, Subject
from mutations.visitor import Visitor
from quick_cases import SLOW
from sabotage.engine_cli import start_inside
from sabotage.inside import processes_inside

from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.logins import read_page
from orchestrator.sandbox.reset.ladder import reset_replica
from orchestrator.sandbox.reset.replica import Replica
from orchestrator.sandbox.reset.watch import Watch

pytestmark = pytest.mark.docker

Prove = Callable[[Replica], Awaitable[None]]

MARK: Final = "zqfault"
MANY: Final = 20
# More than the shop has threads: the last ones wait in front of its application.
REQUESTS: Final = 24
_LOCKED: Final = "LOCK TABLES reviews_productreview WRITE; SELECT 'locked'; DO SLEEP(60)"
_WAITING: Final = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE LIKE '%lock%'"
_MARKS: Final = (
    f"SELECT COUNT(*) FROM reviews_productreview WHERE body = '{MARK}' OR title = '{MARK}'"  # noqa: S608
)


@SLOW
async def test_many_rewinds_at_once_end_in_one_golden_state(
    engine: Engine, watch: Watch, spoil: Prove, require_golden: Prove
) -> None:
    container = watch.replica.container.id
    fresh = processes_inside(container)
    await spoil(watch.replica)
    supervision = await watch.supervision()
    await watch.restored()
    async with asyncio.TaskGroup() as group:
        for _ in range(MANY):
            group.create_task(engine.signal(container, "USR1"))
    # What was asked for while one was under way is one more, not one each.
    done = await reset_replica(engine, watch, wrote=True)
    assert (done.receipt.strategy, done.receipt.fallbacks) == ("rewind", ())
    assert done.replica.container.id == container
    assert 2 <= supervision.generation <= MANY + 2
    await require_golden(done.replica)
    assert processes_inside(container) == fresh


async def test_a_rewind_that_somebody_else_asked_for_is_waited_for(
    engine: Engine, watch: Watch, spoil: Prove, require_golden: Prove
) -> None:
    """The signal of another is under way: its generation is not taken for ours and then spoilt."""
    for _ in range(3):
        await spoil(watch.replica)
        await watch.restored()
        await engine.signal(watch.replica.container.id, "USR1")
        done = await reset_replica(engine, watch, wrote=True)
        assert (done.receipt.strategy, done.receipt.fallbacks) == ("rewind", ())
        await require_golden(done.replica)


def review(visitor: Visitor) -> bytes:
    """Return the whole request that would write a review with a mark."""
    path = f"{product_page(54)}reviews/add/"
    page = visitor.open(path)
    form = {"title": MARK, "score": "4", "body": MARK, **_hidden(page.text)}
    asked = requests.Request("POST", page.url, data=form, headers={"Referer": page.url})
    ready = visitor.session.prepare_request(asked)
    lines = [f"{name}: {value}" for name, value in ready.headers.items()]
    host = urlsplit(visitor.client.origin).netloc
    head = "\r\n".join([f"POST {ready.path_url} HTTP/1.1", f"Host: {host}", *lines])
    return f"{head}\r\n\r\n{ready.body!s}".encode()


def _hidden(page: str) -> dict[str, str]:
    [form] = [form for form in read_page(page).forms if form.id == "add_review_form"]
    return {name: value for name, value in form.fields.items() if name.startswith("csrf")}


@asynccontextmanager
async def locked(container_id: str) -> AsyncIterator[None]:
    """Keep the shop from writing reviews for as long as its database lives."""
    argv = ("mariadb", "--defaults-file=/srv/shop/my.cnf", "--user=arena", "--skip-column-names")
    process = start_inside(container_id, *argv, "--unbuffered", "shop", "--execute", _LOCKED)
    assert process.stdout is not None
    with process.stdout as lines:
        assert await asyncio.to_thread(lines.readline) == "locked\n"
        yield
        await asyncio.to_thread(process.wait, 30)


async def until_waiting(subject: Subject) -> None:
    """Wait until a request has come to the locked table."""
    async with asyncio.timeout(30):
        while await subject.value(_WAITING) == "0":  # noqa: ASYNC110  the database has no event
            await asyncio.sleep(0.05)


async def answer(reader: asyncio.StreamReader) -> bytes:
    """Read whatever a connection still brings until it ends."""
    try:
        async with asyncio.timeout(30):
            return await reader.read()
    except ConnectionError:
        return b""


@SLOW
async def test_requests_under_way_end_with_their_generation(
    engine: Engine, watch: Watch, golden: Golden, accounts: Accounts
) -> None:
    """Some wait for the database, some for a free thread; of one the last byte is not sent yet."""
    subject = Subject(engine, watch.replica, accounts)
    request = await subject.http(CUSTOMER, review)
    where = watch.replica.endpoint
    async with locked(subject.replica.container.id):
        lines = [await asyncio.open_connection(where.host, where.port) for _ in range(REQUESTS)]
        (_, slow), *others = lines
        slow.write(request[:-1])
        for _, writer in others:
            writer.write(request)
        await until_waiting(subject)
        done = await reset_replica(engine, watch, wrote=True)
    slow.write(request[-1:])
    answers = await asyncio.gather(*(answer(reader) for reader, _ in lines))
    for _, writer in lines:
        writer.close()
    assert (done.receipt.strategy, done.receipt.fallbacks) == ("rewind", ())
    assert [head for head in answers if head.startswith((b"HTTP/1.1 2", b"HTTP/1.1 3"))] == []
    assert await subject.value(_MARKS) == "0"
    await golden.holds(subject)
    # The very same request is a good one: sent now, it writes.
    reader, writer = await asyncio.open_connection(where.host, where.port)
    writer.write(request)
    assert (await reader.readline()).startswith(b"HTTP/1.1 302")
    writer.close()
    assert await subject.value(_MARKS) == "1"
