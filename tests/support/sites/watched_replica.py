"""A watch over a golden replica whose supervisor is a small real server, scripted by the test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import cast

from orchestrator.sandbox.engine.containers import Container
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.reset.replica import Placement, Replica
from orchestrator.sandbox.reset.state import Fingerprint
from orchestrator.sandbox.reset.watch import Watch
from sites.manifest import Clock, Site
from support.sites.supervisor_server import Question, SupervisorServer, TokenEngine, supervisor

BEGINS = "2026-10-01T09:00:00Z"
SITE = {
    "name": "shelf",
    "title": "Shelf",
    "summary": "files only",
    "host": "shelf.arena.test",
    "stateful": True,
    "image": {"tag": "arena-test/shelf:1", "published": "unused"},
    "port": 8000,
    "health": {"path": "/", "contains": "ready"},
    "resources": {"memory_mb": 64, "cpus": 1.0, "pids": 16},
    "state": {"folder": "/f", "port": 9009},
    "fingerprint": {"files": ["/f/media"]},
}
NO_ENGINE = cast("Engine", TokenEngine())


class Sealed:
    digest = Fingerprint().digest

    async def parts(self) -> Fingerprint:
        return Fingerprint()


@asynccontextmanager
async def watched(
    asked: list[str],
    *,
    clock: Clock,
    shown: object,
    stamp: Callable[[], str] = lambda: "s1",
    by_twos: Callable[[], bool] = lambda: False,
) -> AsyncIterator[Watch]:
    """Watch a golden replica whose supervisor answers the question for the clock with `shown`.

    Args:
        asked: gets what the supervisor is asked.
        stamp: what it answers to the question for it.
        by_twos: whether it answers a question only when it has got the next.
    """
    held: list[object] = []

    def answer(question: Question) -> object:
        asked.append(str(question["ask"]))
        none: object = {"files": []}
        said = {"stamp": {"stamp": stamp()}, "files": none, "scratch": none, "clock": shown}
        said["take"] = {"taken": "c3RhdGU="}
        said["close"], said["restore"] = {}, {"restored": "r"}
        if asked[-1] == "close":
            server.tell(1, "closed")
        if asked[-1] == "restore":
            server.tell(2, restored="r")
        reply = {"ask": question["ask"], **cast("dict[str, object]", said[asked[-1]])}
        if by_twos() and not held:
            held.append(reply)
            return None
        for late in held:
            server.say(server.lines[0], late)
        held.clear()
        return reply

    server: SupervisorServer
    async with supervisor(answer) as server:
        site = Site.model_validate({**SITE, "clock": clock})
        replica = Replica(
            placement=Placement(site=site, image_id="i", golden=Sealed(), owner="test"),
            container=Container(
                id="c",
                name="shelf",
                image_id="i",
                labels={},
                state="running",
                exit_code=None,
                ports={8000: server.endpoint, 9009: server.endpoint},
            ),
            endpoint=server.endpoint,
            database=None,
            supervisor=server.endpoint,
        )
        watch = Watch.over(NO_ENGINE, replica, new=True)
        try:
            yield watch
        finally:
            await watch.close()
