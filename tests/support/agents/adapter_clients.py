"""The adapters that a contract test plays through, each with a real client of its kind."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from math import isnan
from pathlib import Path
from typing import Any, Protocol

import httpx
import httpx2
import mcp
from mcp.client.streamable_http import streamable_http_client
from playwright.async_api import async_playwright

from arena_core.actions import Action, Stop
from orchestrator import Arena, Observation, OpenEpisode
from orchestrator.serve.gym import ArenaEnv
from orchestrator.serve.server import serve
from support.agents.foreign_adapters import (
    MakeClient,
    in_browsergym,
    in_inspect,
    in_nemo_gym,
    in_openenv,
    in_verifiers,
)
from support.agents.playwright_client import PlaywrightClient, verdict_of
from support.agents.reference_player import Client, Seen, Verdict, tool_call
from support.harbor.sessions import in_harbor

_ANSWER_S = 300.0


class Adapter(Protocol):
    """A way into Arena, open for so many agents side by side."""

    def __call__(self, workers: int, folder: Path) -> AbstractAsyncContextManager[MakeClient]: ...


# The Python API, in process.


@dataclass
class PythonClient:
    """Calls the Python API."""

    arena: Arena
    episode: OpenEpisode | None = None

    async def begin(self, task: str) -> Seen:
        self.episode = self.arena.episode(task)
        return _seen(await self.episode.reset())

    async def act(self, action: Action) -> Seen | Verdict:
        done = await self._playing.step(action)
        return verdict_of(await self._playing.score()) if done.is_over else _seen(done.observation)

    async def finish(self, answer: str | None) -> Verdict:
        await self._playing.step(Stop(answer=answer))
        return verdict_of(await self._playing.score())

    @property
    def _playing(self) -> OpenEpisode:
        assert self.episode is not None
        return self.episode


@asynccontextmanager
async def in_process(workers: int, folder: Path) -> AsyncIterator[MakeClient]:
    """Open the Python API."""
    async with Arena(workers=workers) as arena:

        @asynccontextmanager
        async def connect() -> AsyncIterator[Client]:
            client = PythonClient(arena)
            try:
                yield client
            finally:
                if client.episode is not None:
                    await client.episode.close()

        yield connect


def _seen(observation: Observation) -> Seen:
    return Seen(
        step=observation.step,
        url=observation.url,
        text=observation.text,
        error=observation.last_error,
    )


# HTTP.


@dataclass
class HttpClient:
    """Sends actions as Arena's JSON."""

    http: httpx.AsyncClient
    name: str = ""
    seen: list[str] = field(default_factory=list)

    async def begin(self, task: str) -> Seen:
        answer = await self._post("/episodes", {"task": task})
        self.name = answer["episode"]
        return _seen_in(answer["observation"])

    async def act(self, action: Action) -> Seen | Verdict:
        done = await self._post(
            f"/episodes/{self.name}/step", {"action": action.model_dump(mode="json")}
        )
        result = done["result"]
        return _seen_in(done["observation"]) if result is None else verdict_in(result)

    async def finish(self, answer: str | None) -> Verdict:
        return verdict_in(await self._post(f"/episodes/{self.name}/finish", {"answer": answer}))

    async def _post(self, path: str, asked: dict[str, Any]) -> dict[str, Any]:
        answer = await self.http.post(path, json=asked)
        assert answer.is_success, answer.text
        found: dict[str, Any] = answer.json()
        return found


@asynccontextmanager
async def over_http(workers: int, folder: Path) -> AsyncIterator[MakeClient]:
    """Serve HTTP on loopback."""
    async with (
        Arena(workers=workers) as arena,
        serve(arena, slots=workers, port=0, token_path=folder / "token") as served,
    ):

        @asynccontextmanager
        async def connect() -> AsyncIterator[Client]:
            headers = {"Authorization": f"Bearer {served.token}"}
            async with httpx.AsyncClient(
                base_url=served.url, headers=headers, timeout=_ANSWER_S
            ) as http:
                client = HttpClient(http)
                yield client
                if client.name:
                    await http.delete(f"/episodes/{client.name}")

        yield connect


def _seen_in(observation: dict[str, Any]) -> Seen:
    return Seen(
        step=observation["step"],
        url=observation["url"],
        text=observation["parts"]["axtree"],
        error=observation["last_error"],
    )


def verdict_in(result: dict[str, Any]) -> Verdict:
    """Return the verdict of a result as the adapters write it."""
    return Verdict(outcome=result["outcome"], reason=result["reason"], reward=result["reward"])


# Gymnasium.


@dataclass
class GymClient:
    """Sends actions as text, from a thread: environments are synchronous."""

    folder: Path
    env: ArenaEnv | None = None

    async def begin(self, task: str) -> Seen:
        self.env = ArenaEnv(task, observe=("axtree",), unscored="info", out=self.folder)
        observation, _ = await asyncio.to_thread(self.env.reset)
        return _seen_by(observation)

    async def act(self, action: Action) -> Seen | Verdict:
        assert self.env is not None
        said = action.model_dump_json()
        observation, reward, terminated, truncated, info = await asyncio.to_thread(
            self.env.step, said
        )
        if not (terminated or truncated):
            return _seen_by(observation)
        return Verdict(
            outcome=info["outcome"],
            reason=info["reason"] or None,
            reward=None if isnan(reward) else reward,
        )

    async def finish(self, answer: str | None) -> Verdict:
        ended = await self.act(Stop(answer=answer))
        assert isinstance(ended, Verdict)
        return ended


@asynccontextmanager
async def in_gymnasium(workers: int, folder: Path) -> AsyncIterator[MakeClient]:
    """Make an environment for each agent."""

    @asynccontextmanager
    async def connect() -> AsyncIterator[Client]:
        client = GymClient(folder)
        try:
            yield client
        finally:
            if client.env is not None:
                await asyncio.to_thread(client.env.close)

    yield connect


def _seen_by(observation: dict[str, Any]) -> Seen:
    return Seen(
        step=1,  # environments number no steps; the oracle's player asks whether it is the first
        url=observation["url"],
        text=observation["axtree_txt"],
        error=observation["last_action_error"] or None,
    )


# MCP.


@dataclass
class McpClient:
    """Calls tools with the official SDK's client."""

    http: httpx.AsyncClient
    stack: AsyncExitStack
    connected: mcp.Client | None = None
    steps: int = 0

    async def begin(self, task: str) -> Seen:
        created = await self.http.post(
            "/episodes", json={"task": task, "observe": ["aria", "screenshot"]}
        )
        assert created.is_success, created.text
        headers = {"Authorization": self.http.headers["Authorization"]}
        http = await self.stack.enter_async_context(
            httpx2.AsyncClient(headers=headers, timeout=_ANSWER_S)
        )
        transport = streamable_http_client(created.json()["mcp_url"], http_client=http)
        self.connected = await self.stack.enter_async_context(mcp.Client(transport))
        seen = await self._call("browser_snapshot", {})
        assert isinstance(seen, Seen)
        return seen

    async def act(self, action: Action) -> Seen | Verdict:
        self.steps += 1
        return await self._call(*tool_call(action))

    async def finish(self, answer: str | None) -> Verdict:
        ended = await self._call("submit_answer", {"answer": answer})
        assert isinstance(ended, Verdict)
        return ended

    async def _call(self, tool: str, arguments: dict[str, Any]) -> Seen | Verdict:
        assert self.connected is not None
        called = await self.connected.call_tool(tool, arguments)
        if called.structured_content is not None:
            return verdict_in(called.structured_content)
        (part,) = called.content
        assert part.type == "text"
        url = re.search(r"^- Page URL: (.*)$", part.text, re.MULTILINE)
        assert url is not None
        error = re.match(r"### Error\n(.*)", part.text)
        return Seen(step=self.steps, url=url[1], text=part.text, error=error[1] if error else None)


@asynccontextmanager
async def over_mcp(workers: int, folder: Path) -> AsyncIterator[MakeClient]:
    """Serve HTTP on loopback, where each episode has an MCP server."""
    async with (
        Arena(workers=workers) as arena,
        serve(arena, slots=workers, port=0, token_path=folder / "token") as served,
    ):

        @asynccontextmanager
        async def connect() -> AsyncIterator[Client]:
            headers = {"Authorization": f"Bearer {served.token}"}
            async with (
                httpx.AsyncClient(base_url=served.url, headers=headers, timeout=_ANSWER_S) as http,
                AsyncExitStack() as stack,
            ):
                yield McpClient(http, stack)

        yield connect


# CDP.


@asynccontextmanager
async def over_cdp(workers: int, folder: Path) -> AsyncIterator[MakeClient]:
    """Open the Python API, each of whose episodes has an endpoint for a Playwright client."""
    async with Arena(workers=workers) as arena, async_playwright() as playwright:

        @asynccontextmanager
        async def connect() -> AsyncIterator[Client]:
            client = PlaywrightClient(arena, playwright)
            try:
                yield client
            finally:
                if client.episode is not None:
                    await client.episode.close()

        yield connect


OWN_ADAPTERS: dict[str, Adapter] = {
    "python": in_process,
    "http": over_http,
    "gym": in_gymnasium,
    "mcp": over_mcp,
    "cdp": over_cdp,
}
# The agent drives the browser itself, and its own scripts may click.
OVER_CDP = frozenset({"cdp", "browsergym-own"})
FOREIGN_ADAPTERS: dict[str, Adapter] = {
    "verifiers": in_verifiers,
    "openenv": in_openenv,
    "nemo-gym": in_nemo_gym,
    "browsergym": in_browsergym,
    "browsergym-own": partial(in_browsergym, browser="browsergym"),
    "inspect": in_inspect,
    "harbor": in_harbor,
}
