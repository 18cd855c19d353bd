"""The adapters of other projects, each with a client of theirs in an environment of their own."""

from __future__ import annotations

import asyncio
import json
import os
import queue
import re
import shutil
import signal
import socket
import sys
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, Protocol

import httpx

from arena_core.actions import Action, Stop
from support.agents.browsergym_beside import agentlab_python
from support.agents.browsergym_oracle import Typed, calls_of
from support.agents.foreign_clients import ROOT, Beside, beside, python_312, python_with
from support.agents.reference_player import Client, Seen, Verdict, tool_call
from support.agents.scripted_model import Calls, ChatRequest, Says, ScriptedModel, ScriptedReply

_VERIFIERS: Final = (
    "verifiers==0.4.0",
    "uv==0.13.9",
)  # its harnesses are scripts, which uv installs
_OPENENV: Final = "openenv-core==0.3.0"
_NEMO_GYM: Final = "nemo-gym==0.4.0"
_ANSWER_S: Final = 300.0


class MakeClient(Protocol):
    """Connects one more agent."""

    def __call__(self) -> AbstractAsyncContextManager[Client]: ...


def verifiers_python() -> Path:
    return python_with(_VERIFIERS[0], _VERIFIERS, given="ARENA_VERIFIERS_PYTHON")


def openenv_python() -> Path:
    return python_with(_OPENENV, [_OPENENV], given="ARENA_OPENENV_PYTHON")


def nemo_gym_python() -> Path:
    return python_with(_NEMO_GYM, [_NEMO_GYM], given="ARENA_NEMO_GYM_PYTHON", base=python_312)


def seen_in(text: str, step: int) -> Seen:
    """Return what an answer of Playwright MCP's tools shows."""
    url = re.search(r"^- Page URL: (.*)$", text, re.MULTILINE)
    error = re.match(r"### Error\n(.*)", text)
    return Seen(step=step, url=url[1] if url else "", text=text, error=error[1] if error else None)


class ToolClient(ABC):
    """A client that decides which of Arena's tools an agent calls."""

    steps: int

    async def act(self, action: Action) -> Seen | Verdict:
        self.steps += 1
        return await self._called(*tool_call(action))

    async def finish(self, answer: str | None) -> Verdict:
        ended = await self._called("submit_answer", {"answer": answer})
        assert isinstance(ended, Verdict)
        return ended

    @abstractmethod
    async def _called(self, tool: str, arguments: dict[str, Any]) -> Seen | Verdict:
        """Let the agent call a tool, and return what it is shown or how it ended."""


# verifiers: `vf-eval` plays one rollout for each client, and the client is its model.


@dataclass
class VerifiersClient(ToolClient):
    """Answers as the model of a rollout: what the harness sends it is what it sees."""

    on: Beside
    folder: Path
    replies: queue.Queue[ScriptedReply] = field(default_factory=queue.Queue)
    prompts: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    running: asyncio.subprocess.Process | None = None
    steps: int = 0

    async def begin(self, task: str) -> Seen:
        suite, _, name = task.rpartition("/")
        loop = asyncio.get_running_loop()

        def model(asked: ChatRequest) -> ScriptedReply:
            loop.call_soon_threadsafe(self.prompts.put_nowait, asked.messages[-1].content)
            return self.replies.get(timeout=_ANSWER_S)

        self.model = ScriptedModel(model)
        self.model.__enter__()
        with (self.folder / "log").open("wb") as log:
            self.running = await self.on.start(
                *("vf-eval", "arena-verifiers", "-m", "scripted", "-o", str(self.folder)),
                *("--client.base-url", self.model.url, "--client.api-key-var", "SCRIPTED_KEY"),
                *("--env.agent.harness.id", "null", "--env.agent.runtime.type", "subprocess"),
                *("--env.taskset.suite", suite, "--env.taskset.tasks", name),
                *("--no-push", "--no-rich"),
                log=log,
                SCRIPTED_KEY="none",
            )
        await self._prompted()
        seen = await self._called("browser_snapshot", {})
        assert isinstance(seen, Seen)
        return seen

    async def close(self) -> None:
        if self.running is None:
            return
        if self.running.returncode is None:
            os.killpg(self.running.pid, signal.SIGKILL)
        await self.running.wait()
        self.replies.put(Says("nobody is there"))
        self.model.__exit__(None, None, None)

    async def _called(self, tool: str, arguments: dict[str, Any]) -> Seen | Verdict:
        self.replies.put(Calls.one(tool, **arguments))
        said = await self._prompted()
        return self._verdict() if said is None else seen_in(said, self.steps)

    async def _prompted(self) -> str | None:
        """Return what the model is asked next; None where the evaluation ended."""
        assert self.running is not None
        asked = asyncio.create_task(self.prompts.get())
        ended = asyncio.create_task(self.running.wait())
        async with asyncio.timeout(_ANSWER_S):
            await asyncio.wait([asked, ended], return_when=asyncio.FIRST_COMPLETED)
        ended.cancel()
        if asked.done():
            return asked.result()
        asked.cancel()
        return None

    def _verdict(self) -> Verdict:
        [traces] = self.folder.rglob("traces.jsonl")
        [trace] = json.loads(traces.read_text(encoding="utf-8"))["traces"]
        found = trace["info"]["arena"]
        outcome = trace["rewards"].get("outcome")
        reward = None if outcome is None else outcome["score"]
        return Verdict(outcome=found["outcome"], reason=found["reason"], reward=reward)


@asynccontextmanager
async def in_verifiers(workers: int, folder: Path) -> AsyncIterator[MakeClient]:
    """Serve episodes for evaluations of verifiers."""
    async with beside(verifiers_python(), folder, slots=workers) as on:
        # As the wheel has it.
        entry = ROOT / "orchestrator" / "serve" / "verifiers_entry.py"
        await asyncio.to_thread(shutil.copy, entry, folder / "arena_verifiers.py")

        @asynccontextmanager
        async def connect() -> AsyncIterator[Client]:
            own = Path(mkdtemp(dir=folder, prefix="rollout-"))
            client = VerifiersClient(on, own)
            try:
                yield client
            finally:
                await client.close()

        yield connect
        await on.until_free(workers)


# The others: a program of theirs keeps the sessions of all clients.


@dataclass
class Sessions:
    """A player of `support.agents` that is asked in lines, for several sessions at once."""

    running: asyncio.subprocess.Process
    waiting: dict[str, asyncio.Future[dict[str, Any]]] = field(default_factory=dict)

    async def ask(self, session: str, **asked: Any) -> dict[str, Any]:
        assert self.running.stdin is not None
        self.waiting[session] = asyncio.get_running_loop().create_future()
        self.running.stdin.write(json.dumps({"session": session, **asked}).encode() + b"\n")
        async with asyncio.timeout(_ANSWER_S):
            return await self.waiting[session]

    async def hear(self) -> None:
        assert self.running.stdout is not None
        async for line in self.running.stdout:
            if line.startswith(b"{"):  # else a server's own words
                said = json.loads(line)
                self.waiting.pop(said["session"]).set_result(said)
        for one in self.waiting.values():
            one.set_exception(EOFError("the player ended"))


@dataclass
class SessionClient:
    """One session of a player; its actions are Arena's JSON."""

    sessions: Sessions
    name: str
    steps: int = 0

    async def begin(self, task: str) -> Seen:
        seen = self._read(await self.sessions.ask(self.name, begin=task))
        assert isinstance(seen, Seen)
        return seen

    async def act(self, action: Action) -> Seen | Verdict:
        self.steps += 1
        return self._read(await self.sessions.ask(self.name, act=action.model_dump_json()))

    async def finish(self, answer: str | None) -> Verdict:
        ended = await self.act(Stop(answer=answer))
        assert isinstance(ended, Verdict)
        return ended

    def _read(self, said: dict[str, Any]) -> Seen | Verdict:
        if (verdict := said.get("verdict")) is not None:
            return Verdict(**verdict)
        return Seen(step=self.steps, url=said["url"], text=said["text"], error=said["error"])


@dataclass
class BrowserGymClient(SessionClient):
    """One environment of BrowserGym's; its actions are BrowserGym's calls."""

    typed: Typed = field(default_factory=Typed)

    async def act(self, action: Action) -> Seen | Verdict:
        self.steps += 1
        calls = calls_of(action, str, self.typed)
        return self._read(await self.sessions.ask(self.name, act="\n".join(calls)))


async def _player(
    on: Beside, program: str, *words: str, **asked: Any
) -> asyncio.subprocess.Process:
    module = f"support.agents.{program}"
    return await on.start(str(on.python), "-m", module, *words, json.dumps(asked))


@asynccontextmanager
async def _sessions_of(
    running: asyncio.subprocess.Process, client_of: type[SessionClient] = SessionClient
) -> AsyncIterator[MakeClient]:
    assert running.stdin is not None
    sessions = Sessions(running)
    hearing = asyncio.create_task(sessions.hear())
    numbers = count()

    @asynccontextmanager
    async def connect() -> AsyncIterator[Client]:
        client = client_of(sessions, str(next(numbers)))
        yield client
        await sessions.ask(client.name, close=True)

    try:
        yield connect
    finally:
        running.stdin.close()  # the player ends, and tidies up
        with suppress(TimeoutError):
            async with asyncio.timeout(60):
                await running.wait()
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        await running.wait()
        await hearing


@asynccontextmanager
async def in_nemo_gym(workers: int, folder: Path) -> AsyncIterator[MakeClient]:
    """Serve NeMo Gym's three servers."""
    async with beside(nemo_gym_python(), folder, slots=workers) as on:
        asked = {"what": "sessions", "model": "http://127.0.0.1:1/v1"}
        async with _sessions_of(await _player(on, "nemo_gym_player", **asked)) as connect:
            yield connect
        await on.until_free(workers)


@asynccontextmanager
async def in_openenv(workers: int, folder: Path) -> AsyncIterator[MakeClient]:
    """Serve OpenEnv's server."""
    async with (
        openenv_serving(folder, workers) as (on, url),
        _sessions_of(await _player(on, "openenv_player", what="sessions", url=url)) as connect,
    ):
        yield connect


@asynccontextmanager
async def in_browsergym(
    workers: int, folder: Path, browser: str = "arena"
) -> AsyncIterator[MakeClient]:
    """Make environments of Gymnasium's in one program, beside a service."""
    async with beside(agentlab_python(), folder, slots=workers) as on:
        running = await _player(on, "browsergym_player", "sessions", browser=browser)
        async with _sessions_of(running, BrowserGymClient) as connect:
            yield connect
        await on.until_free(workers)


@asynccontextmanager
async def in_inspect(workers: int, folder: Path) -> AsyncIterator[MakeClient]:
    """Run one evaluation of Inspect's, which has as many samples, all of one task."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    running = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "support.agents.inspect_sessions", str(workers)),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, "INSPECT_DISPLAY": "none"},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
        limit=2**26,
    )
    async with _sessions_of(running) as connect:
        yield connect


@asynccontextmanager
async def openenv_serving(
    folder: Path, slots: int = 1, tasks: str = "*"
) -> AsyncIterator[tuple[Beside, str]]:
    """Run OpenEnv's server beside a service, until the block ends; yield its URL too."""
    python = openenv_python()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    async with beside(python, folder, slots=slots) as on:
        with (folder / "log").open("wb") as log:
            words = ("-m", "orchestrator.serve.openenv_server", "--port", str(port))
            server = await on.start(str(python), *words, "--tasks", tasks, log=log)
            url = f"http://127.0.0.1:{port}"
            try:
                await _answers(url, server)
                yield on, url
            finally:
                if server.returncode is None:
                    os.killpg(server.pid, signal.SIGKILL)
                await server.wait()
                await on.until_free(slots)


async def _answers(url: str, server: asyncio.subprocess.Process) -> None:
    async with asyncio.timeout(120), httpx.AsyncClient(trust_env=False) as http:
        while True:
            assert server.returncode is None, "the server ended"
            try:
                health = await http.get(f"{url}/health")
            except httpx.TransportError:
                await asyncio.sleep(0.2)
            else:
                assert health.json() == {"status": "healthy"}
                return
