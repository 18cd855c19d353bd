"""The episodes of a service: by id, by their callers' keys, no more than there are slots."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from arena_core.errors import NothingScoredError, UnknownNameError, UsageError
from arena_core.held import Held
from orchestrator.api.arena import Arena
from orchestrator.runs.request import require_browser
from orchestrator.serve.messages import CreateEpisode, Endpoint, observation_as_json
from orchestrator.serve.results import EpisodeResult
from orchestrator.serve.session import EpisodeSession

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from orchestrator.api.open_episode import OpenEpisode
    from orchestrator.episode.checkpoint import Checkpoint
    from tasks.schema import Task

COMES_BACK_S: Final = 5.0
GONE: Final = f"its MCP client is gone: the stream that it held ended {COMES_BACK_S:g} s ago"
_LOG = logging.getLogger(__name__)
Done = TypeVar("Done")
STOPPED: Final = "the service was stopped"
REMEMBERED: Final = 500  # episodes that are over, for late and repeated requests


class ClientStream:
    """Notices a client that has played, and whose stream ended.

    A client opens the stream once it is connected, and holds it as long as it lives. One that only
    looked at the tools may leave, as programs do that check what they are configured with. One that
    lost its connection has a moment to come back in.

    Args:
        when_gone: called once the moment is over.
    """

    def __init__(self, when_gone: Callable[[], None]) -> None:
        self._when_gone = when_gone
        self._held = 0
        self._has_played = False
        self._timer: asyncio.TimerHandle | None = None

    @contextmanager
    def held(self) -> Iterator[None]:
        self.forget()
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
            if self._has_played and not self._held:
                loop = asyncio.get_running_loop()
                self._timer = loop.call_later(COMES_BACK_S, self._when_gone)

    def is_asked(self) -> None:
        """Note a request: its client is still there."""
        self.forget()

    def is_played(self) -> None:
        self._has_played = True

    def forget(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


@dataclass(frozen=True, slots=True)
class AnsweringTools:
    """What answers the MCP requests of one episode, and the stream that its client holds."""

    manager: StreamableHTTPSessionManager
    stream: ClientStream


class FullError(Exception):
    """Every slot is in use."""


class ConflictError(Exception):
    """The request does not fit what is there: another body under a key, or a call under way."""


class NotBegunError(Exception):
    """The reset failed, and with it the episode."""

    def __init__(self, result: EpisodeResult) -> None:
        super().__init__(result.because)
        self.result = result


@dataclass(slots=True, kw_only=True)
class HostedEpisode:
    """One episode of the service.

    Attributes:
        idle_s: how long it waits for its client's next request.
        tools: what answers MCP requests for it, once there was one.
        watch: notices where an episode that a client of CDP plays ends by itself.
    """

    id: str
    asked: CreateEpisode
    session: EpisodeSession
    idle_s: float
    answer: dict[str, Any] = field(default_factory=dict)
    listeners: list[asyncio.Queue[dict[str, Any]]] = field(default_factory=list)
    idle: asyncio.TimerHandle | None = None
    tools: Held[AnsweringTools] | None = None
    watch: asyncio.Task[None] | None = None
    holds_slot: bool = True

    @property
    def has_tools(self) -> bool:
        return Endpoint.MCP in self.asked.endpoints


class EpisodeHost:
    """Opens episodes for clients, and takes back those whose clients are gone.

    Args:
        arena: an open Arena with as many workers as `slots`.
        slots: how many episodes may be played side by side.
        idle_s: how long an episode waits for its client's next request.
        out: each episode's evidence goes into a folder of its own there; None for nowhere.
        staged: online, live origins are staged on this machine.
        checkpoints: clients may go back in episodes and fork them.
        browser: that all episodes are played in, as in a run's file; no client chooses it.

    Raises:
        UsageError: there is no such browser.
    """

    def __init__(
        self,
        arena: Arena,
        *,
        slots: int,
        idle_s: float,
        out: Path | None = None,
        staged: bool = False,
        checkpoints: bool = False,
        browser: Mapping[str, str] | str | None = None,
    ) -> None:
        require_browser(browser)
        self._browser = browser
        self._arena = arena
        self._slots = slots
        self._idle_s = idle_s
        self._out = out
        self._staged = staged
        self._checkpoints = checkpoints
        self._taken = 0
        self._episodes: OrderedDict[str, HostedEpisode] = OrderedDict()
        self._begun: dict[str, tuple[CreateEpisode, asyncio.Future[HostedEpisode]]] = {}
        self._working: set[asyncio.Task[Any]] = set()
        self._beginning: set[asyncio.Task[HostedEpisode]] = set()
        self._receiving = asyncio.Semaphore(slots)

    @property
    def slots(self) -> int:
        return self._slots

    @property
    def free(self) -> int:
        """How many more may begin right now."""
        return self._slots - self._taken

    @property
    def episodes(self) -> tuple[HostedEpisode, ...]:
        return tuple(self._episodes.values())

    def find(self, name: str) -> HostedEpisode:
        if name not in self._episodes:
            message = f"there is no episode '{name}'"
            raise UnknownNameError(message, hint=f"the last {REMEMBERED} that ended are kept")
        return self._episodes[name]

    @asynccontextmanager
    async def receiving(self) -> AsyncIterator[None]:
        """Let a block receive a file: as many at once as there are slots, each within `idle_s`.

        Raises:
            TimeoutError: it took longer.
        """
        async with self._receiving, asyncio.timeout(self._idle_s):
            yield

    async def create(self, asked: CreateEpisode, mark: Checkpoint | None = None) -> HostedEpisode:
        """Begin an episode, or return the one that was begun under the same key.

        A creation that fails is forgotten: the same key may try again.

        Args:
            asked: what it is to be.
            mark: where it begins, in place of its task's start.
        """
        if asked.idle_seconds is not None and asked.idle_seconds > self._idle_s:
            message = f"idle_seconds: {asked.idle_seconds:g} is more than {self._idle_s:g}"
            raise UsageError(message, hint="start arena serve with a longer --idle")
        if asked.key is not None and asked.key in self._begun:
            first, begun = self._begun[asked.key]
            if first != asked:
                raise ConflictError(f"the key '{asked.key}' belongs to another request")
            return await _of_its_creation(begun)
        if self.free <= 0:
            raise FullError(f"all {self._slots} slots are in use")
        self._taken += 1
        begun = self._kept(self._begin(asked, mark))
        self._beginning.add(begun)
        begun.add_done_callback(self._beginning.discard)
        if asked.key is not None:
            self._begun[asked.key] = (asked, begun)
        return await _of_its_creation(begun)

    async def _begin(self, asked: CreateEpisode, mark: Checkpoint | None) -> HostedEpisode:
        try:
            hosted = await self._begun_anew(asked, mark)
        except BaseException:
            self._taken -= 1
            if asked.key is not None:
                del self._begun[asked.key]
            raise
        self._episodes[hosted.id] = hosted
        self.touch(hosted)
        return hosted

    async def _begun_anew(self, asked: CreateEpisode, mark: Checkpoint | None) -> HostedEpisode:
        name = secrets.token_hex(8)
        folder = None if self._out is None else self._out / name
        # It reads the task's suite, which may take seconds: others are answered meanwhile.
        episode = await asyncio.to_thread(self._opened, asked, mark, folder)
        session = EpisodeSession(episode, folder=folder)
        failed = await session.begin()
        if failed is not None:
            raise NotBegunError(failed)
        hosted = HostedEpisode(
            id=name, asked=asked, session=session, idle_s=asked.idle_seconds or self._idle_s
        )
        if mark is not None:
            session.marks[mark.name] = mark
        hosted.answer = self._created(hosted, episode.task)
        if session.is_over_cdp:
            hosted.watch = self._kept(self._watch(hosted))
        return hosted

    def _opened(
        self, asked: CreateEpisode, mark: Checkpoint | None, folder: Path | None
    ) -> OpenEpisode:
        opened = partial(
            self._arena.episode,
            asked.task,
            world=asked.world,
            staged=self._staged and asked.world == "online",
            agent=asked.agent,
            observations=asked.observe,
            out=folder,
            screenshots=folder is not None,
            browser=self._browser,
        )
        if mark is not None:  # it says the rest
            return opened(checkpoint=mark)
        return opened(
            endpoint="cdp" if Endpoint.CDP in asked.endpoints else None,
            seed=asked.seed,
            max_steps=asked.limits.steps,
            max_seconds=asked.limits.seconds,
            viewport=asked.viewport,
            state=asked.state,
        )

    def require_checkpoints(self) -> None:
        """Raise UsageError where clients may not go back: a client may be the agent itself.

        It could try an answer in a branch, and give it here if it was right.
        """
        if not self._checkpoints:
            message = "this service lets no client go back in an episode, nor fork one"
            raise UsageError(message, hint="arena serve --checkpoints, for harnesses")

    async def fork(self, hosted: HostedEpisode, count: int, name: str) -> tuple[HostedEpisode, ...]:
        """Begin episodes that go on from a checkpoint of another, each in a slot of its own."""
        if self.free < count:
            raise FullError(f"{count} branches need as many slots, and {self.free} are free")
        self._taken += count
        try:
            sessions = await hosted.session.fork(count, name)
        except BaseException:
            self._taken -= count
            raise
        asked = hosted.asked.model_copy(update={"key": None})
        branches = []
        for session in sessions:
            branch = HostedEpisode(
                id=secrets.token_hex(8), asked=asked, session=session, idle_s=hosted.idle_s
            )
            branch.answer = {
                **hosted.answer,
                "episode": branch.id,
                "observation": observation_as_json(session.seen),
            }
            self._episodes[branch.id] = branch
            self.touch(branch)
            branches.append(branch)
        return tuple(branches)

    async def _watch(self, hosted: HostedEpisode) -> None:
        """Score an episode that a client of CDP plays as soon as it has ended by itself."""
        try:
            await hosted.session.ended_by_itself()
        finally:
            self._publish(hosted)
            self.touch(hosted)

    def _created(self, hosted: HostedEpisode, task: Task) -> dict[str, Any]:
        session, assignment = hosted.session, hosted.session.assignment
        return {
            "episode": hosted.id,
            "task": hosted.asked.task,
            "world": str(assignment.world),
            "goal": assignment.intent,
            "goal_object": [{"type": "text", "text": assignment.intent}],
            "start_urls": list(session.start_urls),
            "site_urls": dict(assignment.site_urls),
            "max_steps": task.limits.steps,
            "max_seconds": task.limits.seconds,
            "can_ask": bool(task.user),
            "idle_seconds": hosted.idle_s,
            **(session.endpoint() if session.is_over_cdp else {}),
            "observation": observation_as_json(session.seen),
        }

    async def perform(self, hosted: HostedEpisode, work: Callable[[], Awaitable[Done]]) -> Done:
        """Do something with an episode for its client, and see to what follows from it."""
        if hosted.session.call is not None:
            raise ConflictError(f"a {hosted.session.call} of episode {hosted.id} is under way")
        try:
            return await work()
        finally:
            self._publish(hosted)
            self.touch(hosted)

    async def abandon(self, hosted: HostedEpisode, why: str) -> EpisodeResult:
        """Take an episode back and cut short what is under way; it counts for nothing."""
        try:
            return await hosted.session.abandon(why)
        finally:
            self._publish(hosted)
            self.touch(hosted)

    def take_back(self, hosted: HostedEpisode, why: str) -> None:
        """Abandon an episode in the background; nothing happens to one that is over."""
        if hosted.session.result is None:
            self._kept(self.abandon(hosted, why))

    def touch(self, hosted: HostedEpisode) -> None:
        """Restart the wait for the client's next request; free the slot if the episode is over."""
        if hosted.idle is not None:
            hosted.idle.cancel()
            hosted.idle = None
        if hosted.session.result is None:
            loop = asyncio.get_running_loop()
            hosted.idle = loop.call_later(hosted.idle_s, self._look_after_idle, hosted)
        elif hosted.holds_slot:
            hosted.holds_slot = False
            if hosted.watch is not None:
                hosted.watch.cancel()
            self._taken -= 1
            self._forget_old()

    def _look_after_idle(self, hosted: HostedEpisode) -> None:
        if hosted.session.call is not None:  # its client waits for an answer
            self.touch(hosted)
            return
        if (left := hosted.idle_s - hosted.session.idle_s) > 0:  # its client acted over CDP
            loop = asyncio.get_running_loop()
            hosted.idle = loop.call_later(left, self._look_after_idle, hosted)
            return
        self.take_back(hosted, f"no request came for {hosted.idle_s:g} s: it was taken back")

    async def begin(self, asked: CreateEpisode) -> HostedEpisode:
        """Begin an episode, as `create`; one that could not begin is an error of Arena's."""
        try:
            return await self.create(asked)
        except NotBegunError as error:
            message = f"{error.result.outcome}: {error.result.reason}: {error.result.because}"
            raise NothingScoredError(message) from error

    async def ended(self, hosted: HostedEpisode) -> None:
        async for _ in self.events(hosted):
            pass

    async def events(self, hosted: HostedEpisode) -> AsyncIterator[dict[str, Any]]:
        """Yield what happens to an episode from now on: `step`s, and its `end`."""
        happened: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        hosted.listeners.append(happened)
        try:
            if hosted.session.result is not None:
                yield _event_of(hosted)
                return
            while True:
                event = await happened.get()
                yield event
                if event["event"] == "end":
                    return
        finally:
            hosted.listeners.remove(happened)

    def _publish(self, hosted: HostedEpisode) -> None:
        for listener in hosted.listeners:
            listener.put_nowait(_event_of(hosted))

    def _forget_old(self) -> None:
        """Forget the oldest of those that are over, beyond the number that is remembered."""
        over = [one for one in self.episodes if not one.holds_slot]
        for hosted in over[: max(0, len(over) - REMEMBERED)]:
            del self._episodes[hosted.id]
            if hosted.tools is not None:
                self._kept(hosted.tools.leave())
            if hosted.asked.key is not None:
                self._begun.pop(hosted.asked.key, None)

    def _kept(self, work: Coroutine[Any, Any, Done]) -> asyncio.Task[Done]:
        """Run work in the background to its end, whoever waits for it."""
        task = asyncio.create_task(work)
        self._working.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._working.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _LOG.info("an episode's request failed: %s", error)

    async def close(self) -> None:
        """Take back every episode that is still played, and break off what is being begun."""
        self._taken = self._slots  # nothing begins any more
        for begun in self._beginning:
            begun.cancel()
        while self._working:
            for hosted in self.episodes:
                self.take_back(hosted, STOPPED)
            await asyncio.wait(self._working, return_when=asyncio.FIRST_COMPLETED)
        for hosted in self.episodes:
            if hosted.session.result is None:
                await self.abandon(hosted, STOPPED)

    async def forget(self) -> None:
        """Stop answering MCP requests once none is under way."""
        for hosted in self.episodes:
            if hosted.tools is not None:
                await hosted.tools.leave()


async def _of_its_creation(begun: asyncio.Future[HostedEpisode]) -> HostedEpisode:
    """Wait for an episode that is being begun, which goes on where its client does not wait."""
    try:
        return await asyncio.shield(begun)
    except asyncio.CancelledError:
        if not begun.cancelled():
            raise
        raise FullError(STOPPED) from None


def _event_of(hosted: HostedEpisode) -> dict[str, Any]:
    result, seen = hosted.session.result, hosted.session.seen
    if result is not None:
        return {"event": "end", "result": result.model_dump(mode="json")}
    return {
        "event": "step",
        "step": seen.step,
        "url": seen.url,
        "error": seen.last_error,
    }
