"""A small real TCP server that speaks the supervisor's protocol, as a test wants it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from orchestrator.sandbox.engine.containers import LOOPBACK, Endpoint

TOKEN = "0123456789abcdef"
Question = dict[str, object]
Answer = Callable[[Question], object]


@dataclass
class SupervisorServer:
    """Tells what it is told to tell, and answers with `answer` (None: says nothing)."""

    answer: Answer = lambda question: {"ask": question["ask"], "stamp": "s1"}
    first: dict[str, object] | None = None
    endpoint: Endpoint = field(init=False)
    lines: list[asyncio.StreamWriter] = field(default_factory=list)
    called: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, generation: int, state: str = "ready", **more: str) -> None:
        now = {"generation": generation, "state": state, "folder": "/f", "seconds": 0, **more}
        for line in self.lines:
            self.say(line, now)

    def say(self, line: asyncio.StreamWriter, what: object) -> None:
        line.write(json.dumps(what).encode() + b"\n")

    def hang_up(self) -> None:
        for line in self.lines:
            line.close()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.lines.append(writer)
        if self.first is not None:
            self.say(writer, self.first)
        self.called.set()
        while line := await reader.readline():
            question = json.loads(line)
            shown = {"ask": "trust", "token": TOKEN}
            answer = (
                {"ask": "trust", "trusted": True} if question == shown else self.answer(question)
            )
            if answer is not None:
                self.say(writer, answer)
        writer.close()


class TokenEngine:
    """All that a watch over files alone asks of an engine."""

    async def states_token(self, _: str) -> str:
        return TOKEN


READY: dict[str, object] = {"generation": 1, "state": "ready", "folder": "/f", "seconds": 0.1}


@asynccontextmanager
async def supervisor(
    answer: Answer | None = None, first: dict[str, object] | None = READY
) -> AsyncIterator[SupervisorServer]:
    made = SupervisorServer(first=first)
    if answer is not None:
        made.answer = answer
    server = await asyncio.start_server(made.serve, LOOPBACK, 0)
    host, port = server.sockets[0].getsockname()
    made.endpoint = Endpoint(host, port)
    try:
        yield made
    finally:
        made.hang_up()
        server.close()
        await server.wait_closed()
