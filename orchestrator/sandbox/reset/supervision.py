"""One kept connection to a replica's supervisor: which generation its state is, and its files."""

from __future__ import annotations

import asyncio
import base64
import json
from collections import deque
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from arena_core.errors import ArenaError, ImageError, SiteError, SiteGoneError, StateError
from orchestrator.sandbox.reset.state import FileState

if TYPE_CHECKING:
    from orchestrator.sandbox.engine.containers import Endpoint

_OPEN_S: Final = 10.0
_STAMP_S: Final = 5.0
_FILES_S: Final = 60.0
_STATE_S: Final = 30.0
_LONGEST_LINE: Final = 1 << 27
_READY: Final = "ready"
_CLOSED: Final = "closed"
_UNKNOWN: Final = "no such question"


class _Line(BaseModel):
    """Any line of the supervisor: a line that answers no question has no `ask`."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    ask: str | None = None
    error: str | None = None
    generation: int = 0
    state: str = ""
    folder: str = ""
    stamp: str = ""
    clock: AwareDatetime | None = None
    trusted: bool = False
    taken: str = ""
    frozen_seconds: float = 0.0
    restored: str = ""
    files: tuple[FileState, ...] = ()


class Taken(NamedTuple):
    """What a supervisor took: the state, the site's time, how long all processes stood still."""

    packed: bytes
    clock: datetime | None
    frozen_s: float


class Supervision:
    """What a supervisor reports, and the answers to questions about its folder.

    `open` makes one; `close` ends it.
    """

    def __init__(
        self, name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._name = name
        self._reader = reader
        self._writer = writer
        self._told = _Line()
        self._is_trusted = False
        self._lost: SiteError | None = None
        self._changed = asyncio.Event()
        self._asked: deque[asyncio.Future[_Line]] = deque()
        self._listening = asyncio.create_task(self._listen(), name=f"supervision of {name}")

    @classmethod
    async def open(
        cls, endpoint: Endpoint, folder: str | None = None, token: str | None = None
    ) -> Supervision:
        """Connect, and wait for the first generation that it reports.

        Args:
            folder: the one that the manifest says it restores; None for any.
            token: what it asks of whoever asks questions; None just to hear its generation.
        """
        name = f"the supervisor at {endpoint}"
        try:
            async with asyncio.timeout(_OPEN_S):
                streams = await asyncio.open_connection(
                    endpoint.host, endpoint.port, limit=_LONGEST_LINE
                )
        except (OSError, TimeoutError) as cause:
            raise SiteGoneError(f"{name} cannot be reached") from cause
        supervision = cls(name, *streams)
        try:
            await supervision.generation_after(0, _OPEN_S)
            if folder is not None:
                supervision.require_folder(folder)
            if token is not None:
                await supervision._ask(_STAMP_S, ask="trust", token=token)
                supervision._is_trusted = True
        except BaseException:
            await supervision.close()
            raise
        return supervision

    def require_folder(self, folder: str) -> None:
        """Make sure that what it restores and describes is what the manifest means."""
        if self._told.folder != folder:
            message = f"{self._name} restores {self._told.folder}; the manifest says {folder}"
            raise ImageError(message, hint="arena build --force")

    @property
    def generation(self) -> int:
        """How often the state was made since the container started; 1 is the first start."""
        return self._told.generation

    @property
    def is_ready(self) -> bool:
        """Whether the state is whole and everything serves: not while it is rewound."""
        return self._told.state == _READY

    @property
    def restored(self) -> str:
        """The name of the state that it went to last; empty where that was the pristine copy."""
        return self._told.restored

    @property
    def is_trusted(self) -> bool:
        """Whether it has shown the token: states may be taken and restored over it."""
        return self._is_trusted

    @property
    def is_lost(self) -> bool:
        return self._lost is not None

    async def generation_after(self, generation: int, deadline_s: float) -> int:
        """Wait until a later generation than that is ready; return which one is."""
        try:
            await self._until(lambda: self.is_ready and self.generation > generation, deadline_s)
        except TimeoutError as cause:
            raise SiteError(
                f"{self._name} reports no generation after {generation} within {deadline_s:g} s:"
                f" it is at {self.generation}, {self._told.state or 'it said nothing'}"
            ) from cause
        return self.generation

    async def _until(self, has_come: Callable[[], bool], deadline_s: float) -> None:
        """Wait for a report. Raises TimeoutError, and SiteGoneError where the connection ends."""
        async with asyncio.timeout(deadline_s):
            while not has_come():
                self._require()
                self._changed.clear()
                await self._changed.wait()

    async def stamp(self) -> str:
        """Return what changes whenever a stateful or scratch file does, counted parts left out."""
        return (await self._ask(_STAMP_S, ask="stamp")).stamp

    async def files(self, folders: tuple[str, ...]) -> tuple[FileState, ...]:
        """Return every entry of folders, with owner, mode and content; errors as of `stamp`."""
        answer = await self._ask(_FILES_S, ask="files", folders=folders)
        return tuple(sorted(answer.files, key=lambda entry: entry.path))

    async def put_clock_back(self) -> datetime:
        """Put the site's clock back to the moment of its image; return the site's time after it."""
        answer = await self._ask(_STAMP_S, ask="clock")
        if answer.clock is None:
            raise SiteError(f"{self._name} does not say what its clock shows")
        return answer.clock

    async def take_state(self) -> Taken:
        """Take the present state while everything stands still."""
        answer = await self._ask(_STATE_S, ask="take", refusal=StateError)
        return Taken(base64.b64decode(answer.taken), answer.clock, answer.frozen_seconds)

    async def close_services(self, deadline_s: float) -> None:
        """Make the site's services end; `restore_state`, or a rewind, lets them begin anew."""
        await self._ask(_STATE_S, ask="close", refusal=StateError)
        try:
            await self._until(lambda: self._told.state == _CLOSED, deadline_s)
        except TimeoutError as cause:
            message = f"{self._name} did not end the services within {deadline_s:g} s"
            raise SiteError(message) from cause

    async def restore_state(self, packed: bytes, deadline_s: float) -> None:
        """Make the supervisor go to a state that was taken, and wait until it reports it."""
        before = self.generation
        taken = base64.b64encode(packed).decode()
        answer = await self._ask(_STATE_S, ask="restore", taken=taken, refusal=StateError)
        await self.generation_after(before, deadline_s)
        if self._told.restored != answer.restored:
            raise SiteError(f"{self._name} went to another state: somebody else asked for it")

    async def scratch(self) -> tuple[FileState, ...]:
        """Return every entry below the scratch folders; errors as of `stamp`."""
        answer = await self._ask(_FILES_S, ask="scratch")
        return tuple(sorted(answer.files, key=lambda entry: entry.path))

    async def close(self) -> None:
        self._listening.cancel()
        await asyncio.wait([self._listening])
        self._writer.close()

    async def _ask(
        self, deadline_s: float, *, refusal: type[ArenaError] = SiteError, **question: object
    ) -> _Line:
        self._require()
        answer: asyncio.Future[_Line] = asyncio.get_running_loop().create_future()
        self._asked.append(answer)
        self._writer.write(json.dumps(question).encode() + b"\n")
        try:
            async with asyncio.timeout(deadline_s):
                found = await answer
        except TimeoutError as cause:
            message = f"{self._name} does not answer `{question['ask']}` within {deadline_s:g} s"
            raise SiteError(message) from cause
        if found.error == _UNKNOWN:
            message = f"{self._name} is of an older Arena: it knows no question `{question['ask']}`"
            raise ImageError(message, hint="arena build")
        if found.error is not None or found.ask != question["ask"]:
            raise refusal(f"{self._name} cannot answer `{question['ask']}`: {found.error}")
        return found

    async def _listen(self) -> None:
        """Take in what comes until the connection ends."""
        ended = SiteGoneError(f"{self._name} closed the connection")
        try:
            while raw := await self._reader.readline():
                self._take(_Line.model_validate_json(raw))
        except (OSError, ValueError) as cause:  # a line that is too long is a ValueError as well
            what = "says what cannot be read" if isinstance(cause, ValidationError) else "broke off"
            ended = SiteGoneError(f"{self._name} {what}: {cause}".splitlines()[0])
        finally:
            self._lost = ended
            self._changed.set()
            for answer in self._asked:
                if not answer.done():
                    answer.set_exception(ended)

    def _take(self, line: _Line) -> None:
        """Note a report; or give the oldest question, which may wait no more, its answer."""
        if "ask" not in line.model_fields_set:
            self._told = line
            self._changed.set()
        elif self._asked:
            answer = self._asked.popleft()
            if not answer.done():
                answer.set_result(line)

    def _require(self) -> None:
        if self._lost is not None:
            raise self._lost
