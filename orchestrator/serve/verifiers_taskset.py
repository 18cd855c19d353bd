"""A suite as a taskset of verifiers, whose models play it on a running `arena serve`.

It runs in verifiers' environment, whose pins of openai and mcp exclude Arena's: it imports the
standard library, `arena_core.errors`, `orchestrator.serve.client`, and what verifiers brings.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Self, cast

import httpx2
import verifiers.v1 as vf
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import CallToolResult, Tool
from pydantic import Field

from arena_core.errors import UsageError
from orchestrator.serve.client import Episode, EpisodeUnscored, Record, Service

__all__ = ["ArenaEnv", "ArenaTaskset", "arena"]

# Without sessions, whose ends Arena would take for the end of the model.
_PROTOCOL: Final = "2026-07-28"
_ANSWER_S: Final = 300.0
_RESULT: Final = "arena"
_START: Final = "arena_start"  # SHA-256 of the file that a rollout began at
_HOW: Final = (
    "You act in a web browser through tools. It is open already: look at it with browser_snapshot."
    " When you are done, call submit_answer, with the answer where one is asked for."
)


class ArenaTaskConfig(vf.TaskConfig):  # type: ignore[misc]
    """How tasks are played.

    Attributes:
        world: `offline` or `online`.
        max_steps: in place of the tasks' own limit.
        starts: a folder with files of checkpoints, `TASK.arena-checkpoint`. Each rollout of a
            task's group begins at its file, and only tasks that have one are played.
        partial_credit: what a failure earns that met every key node of its task, and its share of
            that where it met some; 0 for none. It stands as a reward of its own.
        url: where `arena serve` is; else ARENA_URL says so.
        token_file: the file with its token; else ARENA_TOKEN_FILE says so.
    """

    world: str = "offline"
    max_steps: int | None = None
    starts: Path | None = None
    partial_credit: float = Field(0.0, ge=0, lt=1)
    url: str | None = None
    token_file: str | None = None


class ArenaConfig(vf.TasksetConfig):  # type: ignore[misc]
    """Which tasks.

    Attributes:
        suite: a suite that the service has.
        tasks: ids or patterns, with commas between.
        split: only tasks that the suite puts into it, such as `train`.
    """

    suite: str = "demo"
    tasks: str = "*"
    split: str | None = None
    tools: vf.SharedToolsetConfig = vf.SharedToolsetConfig()
    task: ArenaTaskConfig = ArenaTaskConfig()


class ArenaData(vf.TaskData):  # type: ignore[misc]
    """What is known of a task before it is played; traces keep it."""

    arena_task: str


class ArenaState(vf.State):  # type: ignore[misc]
    """What the tools of a rollout need; no trace keeps it, and no model sees it."""

    mcp_url: str = ""
    token_file: str = ""
    is_over: bool = False


class ArenaToolset(vf.Toolset[vf.SharedToolsetConfig, ArenaState]):  # type: ignore[misc]
    """Passes each rollout's tool calls on to its episode, with the token that models never see."""

    TOOL_PREFIX = None

    def register(self, mcp: MCPServer) -> None:
        # As verifiers' own NeMo Gym taskset does it: the server's handlers call these two.
        server = cast("Any", mcp)
        server.list_tools = self._with_state(self.list_tools)
        server.call_tool = self._with_state(self.call_tool)

    async def list_tools(self) -> list[Tool]:
        async with _connected(self.state) as client:
            return list((await client.list_tools()).tools)

    async def call_tool(
        self,
        name: str,
        arguments: Record,
        context: Context[Any, Any] | None = None,  # noqa: ARG002  the server gives it
    ) -> CallToolResult:
        async with _connected(self.state) as client:
            called = await client.call_tool(name, arguments)
        self.state.is_over = self.state.is_over or called.structured_content is not None
        return called


class ArenaTask(vf.Task[ArenaData, ArenaState, ArenaTaskConfig]):  # type: ignore[misc]
    """A task, whose copies are played.

    Attributes:
        episode: what is played; None in the taskset's own, which all rollouts share.
        is_copy: it belongs to one rollout.
    """

    episode: Episode | None = None
    is_copy = False

    @property
    def key(self) -> str:
        return f"{self.data.arena_task}@{self.config.world}"

    def copied(self) -> Self:
        """Return a copy for one rollout, which holds its episode."""
        played = copy.copy(self)
        played.is_copy = True
        return played

    async def setup(self, trace: vf.Trace) -> None:
        """Lease a slot, and reset it; another attempt at the same rollout gets another episode."""
        if not self.is_copy:
            raise UsageError(
                "another environment would keep slots", hint="leave --env.id out: it is ArenaEnv"
            )
        await self.release()
        start = await asyncio.to_thread(self._start)
        if start is not None:
            trace.info[_START] = sha256(start).hexdigest()
        self.episode = await asyncio.to_thread(self._begin, start)
        trace.state.mcp_url = self.episode.created["mcp_url"]
        trace.state.token_file = self.episode.service.token_file

    async def finalize(self, trace: vf.Trace) -> None:
        """Let Arena score what was done; an episode that it cannot score is an error, and no 0."""
        assert self.episode is not None  # noqa: S101  set up before
        cut_off = trace.is_truncated or trace.is_timeout
        said = None if cut_off else trace.last_reply or None
        result = await asyncio.to_thread(self.episode.finish, said)
        trace.info[_RESULT] = result
        if result["reward"] is None:
            raise EpisodeUnscored(result)

    async def release(self) -> None:
        """Give the slot back, whatever became of the rollout."""
        if self.episode is not None:
            await asyncio.to_thread(self.episode.release)

    @vf.stop  # type: ignore[untyped-decorator]
    async def episode_is_over(self, trace: vf.Trace) -> bool:
        return bool(trace.state.is_over)

    @vf.reward  # type: ignore[untyped-decorator]
    async def outcome(self, trace: vf.Trace) -> float:
        """1.0 for success, 0.0 for failure."""
        return float(trace.info[_RESULT]["reward"])

    @vf.reward  # type: ignore[untyped-decorator]
    async def partial_credit(self, trace: vf.Trace) -> dict[str, float]:
        """A failure's share of its key nodes, where the configuration asks for it."""
        credit = self.config.partial_credit * (1 - trace.info[_RESULT]["reward"])
        share = _share(trace)
        return {"partial_credit": credit * share} if self.config.partial_credit else {}

    @vf.metric  # type: ignore[untyped-decorator]
    async def key_nodes(self, trace: vf.Trace) -> float:
        """The share of its task's key nodes that were met."""
        return _share(trace)

    @vf.metric  # type: ignore[untyped-decorator]
    async def steps(self, trace: vf.Trace) -> float:
        return float(trace.info[_RESULT]["steps"])

    def _start(self) -> bytes | None:
        """Return the file that all rollouts of its group begin at; None for the task's start."""
        folder = self.config.starts
        return None if folder is None else _start_in(folder, self.data.arena_task).read_bytes()

    def _begin(self, start: bytes | None) -> Episode:
        service = Service.named(self.config.url, self.config.token_file)
        asked: Record = {"task": self.data.arena_task, "agent": "verifiers"}
        if start is not None:  # it says the rest
            return Episode.begin(service, asked, checkpoint=start)
        asked |= {
            "world": self.config.world,
            "observe": ["aria", "screenshot"],
            "limits": {"steps": self.config.max_steps},
        }
        return Episode.begin(service, asked)


class ArenaEnv(vf.SingleAgentEnv):  # type: ignore[misc]
    """One agent plays one episode, whose slot is free when the rollout ends, however it does."""

    async def run(self, task: ArenaTask, agents: vf.Agents) -> None:
        played = task.copied()
        try:
            await agents.agent.run(played)
        finally:
            await played.release()


class ArenaTaskset(vf.Taskset[ArenaTask, ArenaConfig]):  # type: ignore[misc]
    """The tasks of a suite, as a running `arena serve` has them."""

    @classmethod
    def toolsets(cls, config: ArenaConfig) -> list[vf.Toolset]:
        return [ArenaToolset(config.tools)]

    def load(self) -> Iterator[ArenaTask]:
        config = self.config
        service = Service.named(config.task.url, config.task.token_file)
        found = service.tasks(config.suite, config.tasks, config.split)
        playable = [one for one in found if config.task.world in one["worlds"]]
        among = f"{config.tasks}, split {config.split}, {config.task.world}"
        if (starts := config.task.starts) is not None:
            if config.task.max_steps is not None:
                message = "max_steps would have no effect: the files in starts say the limit"
                raise UsageError(message, hint="take it away")
            playable = [one for one in playable if _start_in(starts, one["id"]).is_file()]
            among += f", with a file in {starts}"
        if not playable:
            raise UsageError(f"no task of '{config.suite}' is played: {among}")
        for one in playable:
            data = ArenaData(
                id=one["id"],
                name=one["id"],
                arena_task=one["id"],
                prompt=one["goal"],
                system_prompt=_HOW,
            )
            yield ArenaTask(data, config.task)


def arena(
    suite: str = "demo",
    split: str | None = None,
    world: str = "offline",
    *,
    tasks: str = "*",
    **task: Any,
) -> ArenaTaskset:
    """Return a suite as a taskset; `task` is what `ArenaTaskConfig` has beside the world."""
    played = ArenaTaskConfig(world=world, **task)
    return ArenaTaskset(ArenaConfig(suite=suite, split=split, tasks=tasks, task=played))


@asynccontextmanager
async def _connected(state: ArenaState) -> AsyncIterator[Client]:
    """Connect to an episode's MCP server for one request."""
    token = Path(state.token_file).read_text(encoding="ascii").strip()  # noqa: ASYNC240  40 bytes
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=_ANSWER_S, trust_env=False) as http,
        Client(streamable_http_client(state.mcp_url, http_client=http), mode=_PROTOCOL) as client,
    ):
        yield client


def _start_in(folder: Path, task: str) -> Path:
    return folder / f"{task.rpartition('/')[2]}.arena-checkpoint"


def _share(trace: vf.Trace) -> float:
    nodes = trace.info[_RESULT]["key_nodes"]
    return nodes["met"] / nodes["of"] if nodes["of"] else 0.0


if __name__ == "__main__":  # verifiers starts a toolset by its module
    ArenaToolset.run()
