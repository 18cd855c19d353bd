"""Several sessions of one program, asked in lines of JSON; it needs the standard library alone."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from typing import Any, Protocol

Said = dict[str, Any]


class LineSession(Protocol):
    """An episode of one client's: what it sees, or `verdict`."""

    async def begin(self, task: str) -> Said: ...

    async def act(self, action: str) -> Said: ...

    async def close(self) -> None: ...


async def asked_in_lines(opened: Callable[[], LineSession]) -> None:
    """Do what each line asks of its session, side by side, until the input ends."""
    sessions: dict[str, LineSession] = {}

    async def do(asked: Said) -> None:
        name = asked["session"]
        session = sessions.setdefault(name, opened())
        if "begin" in asked:
            said = await session.begin(asked["begin"])
        elif "act" in asked:
            said = await session.act(asked["act"])
        else:
            await session.close()
            said = {}
        print(json.dumps({"session": name, **said}), flush=True)  # noqa: T201

    lines = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(lines)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    async with asyncio.TaskGroup() as group:  # what fails in one session ends them all
        while line := await lines.readline():
            group.create_task(do(json.loads(line)))
