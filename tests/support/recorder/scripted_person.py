"""A person whose hands are the browser's own input events, and who looks before the next one."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from arena_core.actions import Action, Click, Goto, Select, Type
from orchestrator.agents.builtin.elements import with_role_and_name
from orchestrator.api.recordings import Recorder, RecordingAsked, open_recorder
from orchestrator.authoring.recorder.capture import PersonCapture

PATIENCE_S = 60.0


@dataclass(frozen=True)
class ScriptedPerson:
    """Acts on elements by what they are called, and waits until that is written down."""

    capture: PersonCapture

    async def click(self, role: str, name: str, nth: int = 0) -> None:
        await self._do(Click(element=self._find(role, name, nth)))

    async def type(self, role: str, name: str, text: str, *, submit: bool = False) -> None:
        await self._do(Type(element=self._find(role, name, 0), text=text, submit=submit))

    async def select(self, role: str, name: str, option: str) -> None:
        await self._do(Select(element=self._find(role, name, 0), option=option))

    async def goto(self, url: str) -> None:
        await self._do(Goto(url=url))

    def _find(self, role: str, name: str, nth: int) -> int:
        nodes = self.capture.page.nodes
        found = with_role_and_name(nodes, role, name)
        there = [one.name for one in nodes if one.role == role]
        assert len(found) > nth, f"no {role} {name!r}: {there}"
        return found[nth].id

    async def _do(self, action: Action) -> None:
        before = self.capture.recording
        assert await self.capture.act(action) is None
        async with asyncio.timeout(PATIENCE_S):
            await self.capture.wait_for_step(before)


@asynccontextmanager
async def person_at(asked: RecordingAsked) -> AsyncIterator[tuple[Recorder, ScriptedPerson]]:
    """Open a recorder with a person at it, who has stopped at the end of the block."""
    async with open_recorder(asked) as recorder:
        following = asyncio.create_task(recorder.capture.follow())
        try:
            yield recorder, ScriptedPerson(recorder.capture)
        finally:
            recorder.capture.stopped.set()
            await following


@contextmanager
def screen() -> Iterator[str | None]:
    """A screen that nobody sees, by its name; None where there is no Xvfb."""
    program = shutil.which("Xvfb")
    if program is None:
        yield None
        return
    told, tells = os.pipe()
    process = subprocess.Popen(
        [program, "-displayfd", str(tells), "-screen", "0", "1400x900x24", "-nolisten", "tcp"],
        pass_fds=(tells,),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(tells)
    try:
        with os.fdopen(told) as number:
            yield f":{number.readline().strip()}"
    finally:
        process.kill()
        process.wait()
