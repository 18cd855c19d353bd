"""The adapters that a contract test plays through, each with a real client of its kind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import Any, Protocol

import httpx
from reference_player import Client, Seen, Verdict

from arena_core.actions import Action, Stop
from evaluators.scores import Score
from orchestrator import Arena, Observation, OpenEpisode
from orchestrator.gym import ArenaEnv
from orchestrator.serving.results import reward_of
from orchestrator.serving.server import serve

_ANSWER_S = 300.0


class MakeClient(Protocol):
    """Connects one more agent."""

    def __call__(self) -> AbstractAsyncContextManager[Client]: ...


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
        return _verdict(await self._playing.evaluate()) if done.is_over else _seen(done.observation)

    async def finish(self, answer: str | None) -> Verdict:
        await self._playing.step(Stop(answer=answer))
        return _verdict(await self._playing.evaluate())

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


def _verdict(score: Score) -> Verdict:
    reason = score.outcome.reason
    return Verdict(
        outcome=str(score.outcome.kind),
        reason=None if reason is None else str(reason),
        reward=reward_of(score.outcome.kind),
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


ADAPTERS: dict[str, Adapter] = {"python": in_process, "http": over_http, "gym": in_gymnasium}
