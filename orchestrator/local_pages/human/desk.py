"""The control page, and the person behind it: consent, Start, the clock, the answer."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from enum import StrEnum
from hashlib import sha256
from importlib.resources import files
from typing import Annotated, Any, Final, Self

from aiohttp import web
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from orchestrator.episode.external.episode import Finish, Status
from orchestrator.episode.person.agent import Card, Consent
from orchestrator.episode.person.stopwatch import Stopwatch
from orchestrator.local_pages.serving import serve_page
from orchestrator.runs.events import EpisodeEnded, EpisodesPlanned

_CONSENT_VERSION: Final = 1
_HEARTBEAT_S: Final = 15.0
_PACKAGE: Final = "orchestrator.local_pages.human"
_MOST_BYTES: Final = 64 * 1024
_MOST_ANSWER: Final = 10_000
_MOST_REASON: Final = 2_000
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def consent_text() -> str:
    """Return the text that a person agrees to; a run goes on with the one that it began with."""
    return (files(_PACKAGE) / "consent.txt").read_text(encoding="utf-8")


def consent() -> Consent:
    """Return which text a lock says was agreed to."""
    digest = sha256(consent_text().encode()).hexdigest()
    return Consent(version=_CONSENT_VERSION, sha256=digest)


def _plain(text: str) -> str:
    """Return text as a person writes it: no control characters but tabs and line breaks."""
    return _CONTROL.sub("", text.replace("\r\n", "\n"))


class Kind(StrEnum):
    """What a person may say."""

    AGREE = "agree"
    REFUSE = "refuse"
    START = "start"
    LATER = "later"
    PAUSE = "pause"
    GO_ON = "go_on"
    DONE = "done"
    CANNOT = "cannot"
    GIVE_UP = "give_up"
    STOP = "stop"


class Said(BaseModel):
    """One thing that the person said on the control page.

    Attributes:
        turn: which question it answers: a page that is behind says nothing of a later one.
        answer: with `done`.
        reason: with `cannot`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    kind: Annotated[Kind, Field(strict=False)]
    turn: int
    answer: Annotated[str, Field(max_length=_MOST_ANSWER), AfterValidator(_plain)] = ""
    reason: Annotated[str, Field(max_length=_MOST_REASON), AfterValidator(_plain)] = ""

    @property
    def finish(self) -> Finish:
        """The end of an episode that it stands for."""
        reason = self.reason.strip() or None
        match self.kind:
            case Kind.CANNOT:
                return Finish(status=Status.INFEASIBLE, because=reason)
            case Kind.GIVE_UP:
                return Finish(status=Status.GAVE_UP)
            case _:
                return Finish(answer=self.answer.strip() or None)


class Phase(StrEnum):
    """What the person is asked."""

    CONSENT = "consent"
    WAITING = "waiting"
    INVITED = "invited"
    OPENING = "opening"
    RUNNING = "running"
    OVER = "over"


_ALLOWED: Final[Mapping[Phase, frozenset[Kind]]] = {
    Phase.CONSENT: frozenset({Kind.AGREE, Kind.REFUSE}),
    Phase.WAITING: frozenset({Kind.STOP}),
    Phase.INVITED: frozenset({Kind.START, Kind.LATER, Kind.STOP}),
    Phase.OPENING: frozenset({Kind.STOP}),
    Phase.RUNNING: frozenset(
        {Kind.PAUSE, Kind.GO_ON, Kind.DONE, Kind.CANNOT, Kind.GIVE_UP, Kind.STOP}
    ),
    Phase.OVER: frozenset(),
}


class ControlDesk:
    """Asks one person, on a page of their own browser. It fills `Desk`.

    Attributes:
        stop: set when the person stops for today; it ends the run.
        was_stopped: whether it was they who set it.
        url: of the control page, with its token.
    """

    def __init__(self, stop: asyncio.Event) -> None:
        self.stop = stop
        self.was_stopped = False
        self.url = ""
        self._phase = Phase.WAITING
        self._turn = 0
        self._card: Card | None = None
        self._clock: Stopwatch | None = None
        self._note = ""
        self._done: tuple[int, int] | None = None
        self._said: asyncio.Future[Said] | None = None
        self._changed = asyncio.Event()
        self._is_closed = False

    @classmethod
    @asynccontextmanager
    async def open(cls, stop: asyncio.Event, port: int = 0) -> AsyncIterator[Self]:
        """Serve the control page until the block ends."""
        desk = cls(stop)
        routes = (web.get("/events", desk._serve_events), web.post("/say", desk._hear))
        page = serve_page(
            "orchestrator.local_pages.human", routes, port=port, most_bytes=_MOST_BYTES
        )
        async with page as desk.url:
            try:
                yield desk
            finally:
                desk._show(Phase.OVER)
                desk._is_closed = True
                desk._publish()

    async def agrees(self) -> bool:
        """Show the consent text, and return whether the person agrees to it."""
        said = await self._ask(Phase.CONSENT)
        self._show(Phase.WAITING)
        return said is not None and said.kind is Kind.AGREE

    async def invite(self, card: Card) -> bool:
        """Return whether the person starts the task; False where they leave it for later."""
        self._card, self._clock = card, None
        said = await self._ask(Phase.INVITED)
        starts = said is not None and said.kind is Kind.START
        self._note = ""
        self._show(Phase.OPENING if starts else Phase.WAITING)
        return starts

    async def play(self, card: Card, clock: Stopwatch) -> Finish:
        """Show that the clock runs, and return how the person says that they ended."""
        self._card, self._clock = card, clock
        clock.changed = self._publish
        try:
            while (said := await self._ask(Phase.RUNNING)) is None:
                await asyncio.Event().wait()  # they stop for today, which ends the episode first
            return said.finish
        finally:
            self._show(Phase.WAITING)

    def tell(self, text: str) -> None:
        """Tell the person how a task ended that they did not end."""
        self._note = text
        self._publish()

    def heard(self, event: object) -> None:
        """Count the tasks that are done; how they ended is nothing to tell in a session."""
        if isinstance(event, EpisodesPlanned | EpisodeEnded):
            self._done = (event.done, event.total)
            self._publish()

    async def _ask(self, phase: Phase) -> Said | None:
        """Ask the person; None where they stop, or the run does."""
        self._turn += 1
        said = self._said = asyncio.get_running_loop().create_future()
        self._show(phase)
        stopped = asyncio.create_task(self.stop.wait())
        waited: list[asyncio.Future[Any]] = [said, stopped]
        try:
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            return said.result() if said.done() else None
        finally:
            stopped.cancel()
            self._said = None

    def _show(self, phase: Phase) -> None:
        self._phase = phase
        self._publish()

    def _publish(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    @property
    def state(self) -> dict[str, Any]:
        """What the control page shows now."""
        card, clock = self._card, self._clock
        is_shown = self._phase in {Phase.INVITED, Phase.OPENING, Phase.RUNNING}
        return {
            "phase": self._phase.value,
            "turn": self._turn,
            "consent": consent_text() if self._phase is Phase.CONSENT else None,
            "task": card.task if card and is_shown else None,
            "intent": card.intent if card and is_shown else None,
            "limit_s": card.limit_s if card and is_shown else None,
            "seconds": clock.seconds if clock and self._phase is Phase.RUNNING else None,
            "paused": clock is not None and clock.is_paused,
            "done": None if self._done is None else self._done[0],
            "total": None if self._done is None else self._done[1],
            "note": self._note,
            "stopping": self.stop.is_set(),
        }

    async def _serve_events(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        response.content_type = "text/event-stream"
        await response.prepare(request)
        try:
            while True:
                changed = self._changed
                await response.write(f"data: {json.dumps(self.state)}\n\n".encode())
                if self._is_closed:
                    return response
                try:
                    await asyncio.wait_for(changed.wait(), _HEARTBEAT_S)
                except TimeoutError:
                    await response.write(b": still here\n\n")
        except ConnectionError:
            return response  # the page was closed; it may be opened again

    async def _hear(self, request: web.Request) -> web.Response:
        said = Said.model_validate_json(await request.read())
        if said.turn != self._turn or said.kind not in _ALLOWED[self._phase]:
            raise web.HTTPConflict(text=f"'{said.kind}' answers nothing that is asked now")
        self._take(said)
        return web.json_response(self.state)

    def _take(self, said: Said) -> None:
        match said.kind:
            case Kind.STOP:
                self.was_stopped = True
                self.stop.set()
                self._publish()
            case Kind.PAUSE | Kind.GO_ON:
                if self._clock is not None:
                    (self._clock.pause if said.kind is Kind.PAUSE else self._clock.go_on)()
            case _:
                if self._said is None or self._said.done():
                    raise web.HTTPConflict(text=f"'{said.kind}' was said already")
                if self._clock is not None and self._phase is Phase.RUNNING:
                    self._clock.stop()
                self._said.set_result(said)
