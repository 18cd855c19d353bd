"""An episode whose agent drives the browser by itself, over the CDP endpoint."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic import JsonValue, TypeAdapter, ValidationError

from arena_core.actions import AnswerStatus, Confidence
from arena_core.cookie import Cookie
from evaluators.evidence import Ended, UnscoredReason
from evaluators.responses import ending
from orchestrator.agents.model_exchange import Spent
from orchestrator.browser.actions.fields import UploadFiles
from orchestrator.browser.cdp_proxy.proxy import CdpProxy, ProxyOptions
from orchestrator.browser.process.external_browser import ExternalBrowser
from orchestrator.episode.episode import Episode
from orchestrator.episode.external.steps import ExternalSteps
from orchestrator.episode.steps import DecisionRecord

_LOST: Final = "the browser broke off its connection to the agent"
_PIECE: Final = 1 << 16
_SHOWN: Final = 100  # letters of a value that is refused
_CONFIDENCE: Final[TypeAdapter[float]] = TypeAdapter(Confidence)


class Status(StrEnum):
    """How an agent says that it ended."""

    DONE = "done"
    INFEASIBLE = "infeasible"
    NOT_FOUND = "not_found"
    PERMISSION_DENIED = "permission_denied"
    DATA_VALIDATION_ERROR = "data_validation_error"
    UNKNOWN_ERROR = "unknown_error"
    GAVE_UP = "gave_up"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """What an agent ended with.

    Attributes:
        data: what it found, as JSON, in place of an answer in words.
        because: a reason, where it gave one.
        confidence: how likely it says that it did the task right, from 0 to 1.

    Raises:
        ValueError: there is no such confidence, or it stands beside `gave_up`.
    """

    answer: str | None = None
    data: JsonValue = None
    status: Status = Status.DONE
    spent: Spent = field(default_factory=Spent)
    because: str | None = None
    confidence: float | None = None

    def __post_init__(self) -> None:
        if self.confidence is None:
            return
        if self.status is Status.GAVE_UP:
            raise ValueError("`confidence` goes with an ending, and not with `gave_up`")
        try:
            _CONFIDENCE.validate_python(self.confidence)
        except ValidationError as cause:
            shown = repr(self.confidence)[:_SHOWN]
            raise ValueError(f"`confidence` is {shown}, and not a number from 0 to 1") from cause


class ExternalEpisode:
    """A running episode with an address for its agent.

    Attributes:
        files: where each of the task's files lies, by its name: what a page may be handed.
        proxy_url: the gateway, for a browser of the agent's own.
        folder: for this episode's files: `storage_state.json`, `downloads`.
        over: set when the episode ended by itself: a limit, or the world broke.
    """

    def __init__(
        self,
        episode: Episode,
        steps: ExternalSteps,
        front: CdpProxy,
        options: ProxyOptions,
        *,
        proxy_url: str,
        folder: Path,
    ) -> None:
        self.cdp_url = front.url
        self.files = {name: str(path) for name, path in options.files.items()}
        self.proxy_url = proxy_url
        self.folder = folder
        self.over = steps.over
        self._episode = episode
        self._steps = steps
        self._front = front

    @property
    def was_reached(self) -> bool:
        return self._front.was_reached.is_set()

    @property
    def idle_s(self) -> float:
        """How long ago the agent last did anything."""
        return self._steps.idle_s

    async def lost(self) -> None:
        """Return when the browser broke off, whatever the agent does."""
        await self._front.lost.wait()

    async def settle(self) -> None:
        """Take no further command, and write down the last step when its page has settled.

        Clients are let go of before: what they hold, such as a new page, could never settle.
        """
        await self._front.hang_up(self._steps.why_over)
        await self._steps.finish()
        if self._front.lost.is_set():
            self._episode.break_off(UnscoredReason.INFRA, _LOST)

    async def finish(self, finish: Finish) -> None:
        """End the episode as the agent says; one that is over already stays as it is."""
        await self.settle()
        self._episode.spend(finish.spent)
        if self._episode.is_over:
            return
        decided = DecisionRecord(decide_ms=round(self.idle_s * 1000, 1))
        match finish.status:
            case Status.GAVE_UP:
                self._episode.end(Ended.AGENT_GAVE_UP, finish.because or "the agent gave up")
            case status:
                said = AnswerStatus(status)
                action = ending(said, finish.answer, finish.data, finish.because, finish.confidence)
                await self._episode.step(action, decided)

    async def end(self, ended: Ended, because: str) -> None:
        """End the episode for the driver's reason; one that is over already stays as it is."""
        await self.settle()
        if not self._episode.is_over:
            self._episode.end(ended, because)

    def info(self) -> dict[str, Any]:
        assignment = self._episode.assignment
        task = self._episode.task
        return {
            "task": assignment.task,
            "goal": assignment.intent,
            "goal_object": [{"type": "text", "text": assignment.intent}],
            "world": str(assignment.world),
            "start_urls": list(self._steps.start_urls),
            "site_urls": dict(assignment.site_urls),
            "cdp_url": self.cdp_url,
            "proxy_url": self.proxy_url,
            "files": self.files,
            "storage_state": str(self.folder / "storage_state.json"),
            "downloads": str(self.folder / "downloads"),
            "limits": {"steps": task.limits.steps, "seconds": task.limits.seconds},
        }


@asynccontextmanager
async def open_external(
    episode: Episode, browser: ExternalBrowser
) -> AsyncIterator[ExternalEpisode]:
    """Open the CDP endpoint of an episode that is reset; it closes with the block."""
    steps = ExternalSteps(episode)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(steps.close)
        made = stack.enter_context(TemporaryDirectory(prefix="arena-external-"))
        folder = Path(made)
        (folder / "downloads").mkdir()
        state = json.dumps(storage_state(await steps.cookies()))
        (folder / "storage_state.json").write_text(state, encoding="utf-8")
        proxy_url = await stack.enter_async_context(_reached(browser, steps.gateway_url))
        options = ProxyOptions(
            socket_inside=browser.socket_inside,
            port=browser.port,
            downloads=folder / "downloads",
            files=_write_files(episode, stack),
            may_rewrite_requests=not steps.has_read_only_origins,
        )
        front = await stack.enter_async_context(CdpProxy.open(options, steps))
        yield ExternalEpisode(episode, steps, front, options, proxy_url=proxy_url, folder=folder)


def _write_files(episode: Episode, stack: AsyncExitStack) -> Mapping[str, Path]:
    """Write the task's files to disk, out of reach of what the agent downloads."""
    contents = {one.name: one.content for one in episode.task.files}
    files = UploadFiles(contents)
    stack.callback(files.close)
    return {name: Path(path) for name, path in zip(contents, files.paths([*contents]), strict=True)}


def storage_state(cookies: tuple[Cookie, ...]) -> Mapping[str, Any]:
    return {
        "cookies": [
            {
                "name": one.name,
                "value": one.value,
                "domain": one.domain,
                "path": one.path,
                "expires": -1 if one.expires is None else one.expires,
                "httpOnly": one.http_only,
                "secure": one.secure,
                "sameSite": "Lax",
            }
            for one in cookies
        ],
        "origins": [],
    }


@asynccontextmanager
async def _reached(browser: ExternalBrowser, gateway_url: str) -> AsyncIterator[str]:
    """Listen on this machine's loopback for the gateway, which listens in the browser's network."""
    port = urlsplit(gateway_url).port or 0

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inside = await browser.dial(port)
        inner_reader, inner_writer = await asyncio.open_connection(sock=inside)
        pumps = [
            asyncio.create_task(_carry(reader, inner_writer)),
            asyncio.create_task(_carry(inner_reader, writer)),
        ]
        try:
            await asyncio.wait(pumps)
        finally:
            for pump in pumps:
                pump.cancel()
            for end in (writer, inner_writer):
                end.close()

    server = await asyncio.start_server(carry, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def _carry(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    try:
        while piece := await source.read(_PIECE):
            sink.write(piece)
            await sink.drain()
        if sink.can_write_eof():
            sink.write_eof()
    except ConnectionError:
        sink.close()
