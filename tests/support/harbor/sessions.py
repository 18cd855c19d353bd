"""One job of Harbor's, whose trials are a test's sessions: each client decides for one agent."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from orchestrator import Arena
from orchestrator.serve.server import serve
from support.agents.foreign_adapters import MakeClient, ToolClient, seen_in
from support.agents.reference_player import Client, Seen, Verdict
from support.harbor.runner import CLIENT, IMAGE, Harbor, build_image, compose_env, harbor_python

_MOST_BYTES: Final = 2**26
_ANSWER_S: Final = 300.0
_JOB_S: Final = 900.0
_IDLE_S: Final = 600.0  # how long a session may wait for the others


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent of Harbor's, as it has called."""

    trial: str
    reads: asyncio.StreamReader
    writes: asyncio.StreamWriter


@dataclass
class Job:
    """A job with a trial for each client, all of one task.

    Attributes:
        over: once it has begun; its result is what Harbor printed.
    """

    harbor: Harbor
    clients: int
    running: subprocess.Popen[str] | None = None
    called: asyncio.Queue[Agent] = field(default_factory=asyncio.Queue)
    over: asyncio.Task[str] | None = None

    async def agent(self, task: str) -> Agent:
        """Return the next agent that Harbor runs."""
        if self.over is None:
            self.over = asyncio.create_task(self._played(task))
        calling = asyncio.create_task(self.called.get())
        await asyncio.wait([calling, self.over], return_when=asyncio.FIRST_COMPLETED)
        assert calling.done(), self.over.result()
        return calling.result()

    async def verdict(self, trial: str) -> Verdict:
        """Wait for the end, and return what Harbor and Arena say of a trial."""
        assert self.over is not None
        said = await asyncio.shield(self.over)  # other clients wait for it too
        [found] = [one for one in self.harbor.trials("sessions") if one.folder.name == trial]
        [kept] = found.folder.rglob("verdict.json")
        result = json.loads(kept.read_text(encoding="utf-8"))
        expected = None if found.reward is not None else "RewardFileNotFoundError"
        assert found.error == expected, said
        return Verdict(outcome=result["outcome"], reason=result["reason"], reward=found.reward)

    async def _played(self, task: str) -> str:
        suite, _, name = task.rpartition("/")
        tasks = self.harbor.folder / "tasks"
        exporting = Arena().suites.export_harbor
        await asyncio.to_thread(exporting, suite, tasks, [name], image=IMAGE)
        return await asyncio.to_thread(self._run, tasks / name)

    def _run(self, task: Path) -> str:
        words = ("--job-name", "sessions", "-p", task, "-k", self.clients, "-n", self.clients)
        agent = ("--agent-import-path", "support.harbor.agents:Asked")
        with self.harbor.job(*map(str, words), *agent) as self.running:
            said, _ = self.running.communicate(timeout=_JOB_S)
        return said

    async def ended(self, *, early: bool) -> None:
        """Wait until Harbor has removed its containers."""
        if early and self.running is not None:
            self.running.send_signal(signal.SIGINT)
        if self.over is not None:
            await self.over

    async def hear(self, reads: asyncio.StreamReader, writes: asyncio.StreamWriter) -> None:
        """Keep an agent that calls for a client."""
        self.called.put_nowait(Agent(json.loads(await reads.readline()), reads, writes))


@dataclass
class HarborClient(ToolClient):
    """Says for one trial which tools its agent calls, from the agent's container."""

    job: Job
    playing: Agent | None = None
    steps: int = 0

    async def begin(self, task: str) -> Seen:
        self.playing = await self.job.agent(task)
        seen = await self._called("browser_snapshot", {})
        assert isinstance(seen, Seen)
        return seen

    def close(self) -> None:
        if self.playing is not None:
            self.playing.writes.close()

    async def _called(self, tool: str, arguments: dict[str, Any]) -> Seen | Verdict:
        assert self.playing is not None
        program = f"{CLIENT}\nprint(json.dumps(call({tool!r}, **{arguments!r})))"
        self.playing.writes.write(json.dumps(program).encode() + b"\n")
        async with asyncio.timeout(_ANSWER_S):
            printed, complaint = json.loads(await self.playing.reads.readline())
        assert printed, complaint
        done = json.loads(printed)
        if "structuredContent" in done:  # the episode is over
            self.close()
            return await self.job.verdict(self.playing.trial)
        [part] = done["content"]
        return seen_in(part["text"], self.steps)


@asynccontextmanager
async def in_harbor(workers: int, folder: Path) -> AsyncIterator[MakeClient]:
    """Serve episodes for one job of Harbor's, with as many trials at once."""
    for one in ("image", "jobs"):
        await asyncio.to_thread((folder / one).mkdir, parents=True)
    await asyncio.to_thread(build_image, folder / "image")
    python, compose = await asyncio.to_thread(harbor_python), await asyncio.to_thread(compose_env)
    own, agents, token = folder / "arena.sock", folder / "agents.sock", folder / "token"
    async with (
        Arena(workers=workers) as arena,
        serve(
            arena, slots=workers, port=0, idle_s=_IDLE_S, token_path=token, socket_path=own
        ) as served,
    ):
        variables = {"ARENA_SOCKET": str(own), "ARENA_TOKEN": served.token}
        harbor = Harbor(
            python, {**compose, **variables, "AGENT_SOCKET": str(agents)}, folder / "jobs"
        )
        job = Job(harbor, workers)

        @asynccontextmanager
        async def connect() -> AsyncIterator[Client]:
            client = HarborClient(job)
            try:
                yield client
            finally:
                client.close()

        async with await asyncio.start_unix_server(job.hear, agents, limit=_MOST_BYTES):
            try:
                yield connect
            except BaseException:
                await job.ended(early=True)
                raise
            await job.ended(early=False)
        assert served.host.free == workers
