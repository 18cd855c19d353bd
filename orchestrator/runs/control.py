"""Orders to a run that is played: a Unix socket of its process, and who asks there.

The socket lies in a folder of the user alone, under a name that follows from the run's folder: a
run's path may be longer than a socket's may be, and a copy of the run has none. Nobody polls: the
run does nothing for it until an order comes.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import socket
import stat
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import ExitStack, aclosing, asynccontextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from pydantic import ConfigDict, Field, FiniteFloat, ValidationError, model_validator
from pydantic.dataclasses import dataclass

from arena_core.errors import ArenaError, StoreError, UsageError
from sites.fields import Strict

Do = Literal["status", "show", "film", "pause", "go", "stop", "requeue", "workers", "limit"]

_PATIENCE_S: Final = 10.0
_MOST_BYTES: Final = 2**20
_MOST_SHOWN: Final = 2**26
_RUN_FILES: Final = ("lock.json", "registration.json")


class Order(Strict):
    """What a run is asked to do now.

    Attributes:
        episode: of `stop` and `show`; `workers`: of `workers`.
        seen: of `show`: how many steps of it whoever asks has seen.
        max_usd, max_tokens: of `limit`; where omitted, as it is.
    """

    do: Do = "status"
    episode: str | None = None
    seen: int = 0
    workers: int | None = Field(default=None, ge=1)
    max_usd: FiniteFloat | None = Field(default=None, gt=0)
    max_tokens: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _says_what_it_needs(self) -> Order:
        given = {name for name in ("episode", "workers") if getattr(self, name) is not None}
        if self.max_usd is not None or self.max_tokens is not None:
            given.add("limit")
        needs = {"stop": "episode", "show": "episode", "workers": "workers", "limit": "limit"}
        needed = needs.get(self.do)
        if given != ({needed} if needed else set()):
            what = {"episode": "an episode", "workers": "a number", "limit": "a limit"}
            takes = what[needed] if needed else "nothing else"
            raise ValueError(f"`{self.do}` takes {takes}")
        return self

    def __str__(self) -> str:
        limits = (("max_usd", "$"), ("max_tokens", "tokens "))
        said = [f"{sign}{value:g}" for name, sign in limits if (value := getattr(self, name))]
        more = self.episode or (str(self.workers) if self.workers else " and ".join(said))
        return f"{self.do} {more}".strip()


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class PlayingEpisode:
    """An episode that is played now.

    Attributes:
        run: of several that are played side by side, the folder of its run.
        seconds: since it began.
        is_stopping: it ends after the step under way.
    """

    episode: str
    run: str
    seconds: float
    is_stopping: bool


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class RunState:
    """How a run that is played stands.

    Attributes:
        workers: how many episodes of a world may be played side by side.
        usd: what was spent on models; None where a price is unknown.
        said: what the order did, in words; empty for `status`.
    """

    is_paused: bool
    workers: int
    done: int
    total: int
    usd: float | None
    tokens: int
    playing: tuple[PlayingEpisode, ...]
    said: str = ""

    def document(self) -> dict[str, Any]:
        """Return it as a JSON document."""
        return asdict(self)


class Shown(Strict):
    """An episode that is played now, as far as it is.

    Attributes:
        steps: how many it has.
        evidence: its evidence as JSON; empty where there is no new step.
        picture: the screenshot of the last of them, in base64; empty where there is none.
    """

    steps: int = 0
    evidence: str = ""
    picture: str = ""


class Filmed(Strict):
    """What an episode that is played shows now; `picture` is a JPEG in base64."""

    episode: str
    picture: str


class _Reply(Strict):
    state: RunState | None = None
    shown: Shown | None = None
    refused: str = ""
    hint: str = ""


class Obeys(Protocol):
    """What obeys the orders of a run."""

    def obey(self, order: Order) -> RunState:
        """Do what is asked, and return how the run stands then."""

    def show(self, order: Order) -> Shown:
        """Return an episode that is played now."""

    def film(self) -> AsyncGenerator[tuple[str, str], None]:
        """Yield names and pictures of what is played, and empty ones where nothing moves."""


def read_order(**given: object) -> Order:
    """Return an order; refuses one that makes no sense."""
    try:
        return Order.model_validate({name: one for name, one in given.items() if one is not None})
    except ValidationError as wrong:
        first = wrong.errors()[0]
        said = first["msg"].removeprefix("Value error, ")
        where = ".".join(map(str, first["loc"]))
        raise UsageError(f"{where}: {said}" if where else said) from wrong


def socket_of(folder: Path) -> Path:
    """Return where the process that plays a run or a study takes orders."""
    name = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:24]
    return Path(tempfile.gettempdir()) / f"arena-{os.getuid()}" / f"{name}.sock"


@asynccontextmanager
async def takes_orders(
    folder: Path, obeys: Obeys, note: Callable[[str], None]
) -> AsyncIterator[None]:
    """Obey the orders that the user of this process gives while a run is played.

    A machine on which that cannot be is no reason not to play: then a note says so.

    Args:
        folder: of the run or the study, which this process alone writes.
        obeys: does what is asked.
        note: tells the user.
    """
    path = socket_of(folder)
    try:
        listener = _listening(path)
    except OSError as cause:
        note(f"the run takes no orders from `arena ctl`: {path}: {cause.strerror or cause}")
        yield
        return
    films: set[asyncio.Task[None]] = set()
    server = await asyncio.start_unix_server(
        partial(_answer, obeys, films), sock=listener, limit=_MOST_BYTES
    )
    try:
        yield
    finally:
        server.close()
        for film_under_way in films:  # it has no end of its own
            film_under_way.cancel()
        await asyncio.gather(*films, return_exceptions=True)
        path.unlink(missing_ok=True)


def _listening(path: Path) -> socket.socket:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    _require_private(path.parent)
    path.unlink(missing_ok=True)  # of a process that was killed: the run has one writer at a time
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        path.chmod(0o600)
    except OSError:
        listener.close()
        raise
    return listener


def _require_private(folder: Path) -> None:
    """Refuse a folder that somebody else made, or may write to."""
    found = folder.lstat()
    is_private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
    if not is_private or found.st_uid != os.getuid():
        raise PermissionError(None, "its folder is not this user's alone")


async def _answer(
    obeys: Obeys,
    films: set[asyncio.Task[None]],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    try:
        async with asyncio.timeout(_PATIENCE_S):
            line = await reader.readline()
            reply, is_film = _reply_to(line, obeys)
            writer.write(reply.model_dump_json().encode() + b"\n")
            await writer.drain()
        if is_film:
            filming = asyncio.create_task(_show_film(obeys, writer))
            films.add(filming)
            filming.add_done_callback(films.discard)
            await filming
    except (ValueError, TimeoutError, OSError):
        return  # too long a line, or nobody there any more
    finally:
        writer.close()


async def _show_film(obeys: Obeys, writer: asyncio.StreamWriter) -> None:
    """Send pictures until nobody is there; each waits until the one before it was taken."""
    async with aclosing(obeys.film()) as pictures:
        async for episode, picture in pictures:
            filmed = Filmed(episode=episode, picture=picture)
            writer.write(filmed.model_dump_json().encode() + b"\n")
            await writer.drain()


def _reply_to(line: bytes, obeys: Obeys) -> tuple[_Reply, bool]:
    """Return the reply, and whether a film follows it."""
    try:
        order = Order.model_validate_json(line)
        if order.do == "show":
            return _Reply(shown=obeys.show(order)), False
        if order.do == "film":
            return _Reply(), True
        return _Reply(state=obeys.obey(order)), False
    except ValidationError:
        return _Reply(refused="this is no order"), False
    except ArenaError as refusal:
        return _Reply(refused=refusal.message, hint=refusal.hint), False


async def look(folder: Path, episode: str, seen: int = 0) -> Shown:
    """Return an episode that is played now; errors are those of `give_order`."""
    order = Order(do="show", episode=episode, seen=seen)
    return (await _ask(folder, order)).shown or Shown()


async def give_order(folder: Path, order: Order) -> RunState:
    """Give an order to the process that plays a run or a study, and return how that stands then.

    Raises:
        StoreError: the folder is of no run or study, or nobody plays it now.
        UsageError: the run refuses the order.
    """
    state = (await _ask(folder, order)).state
    if state is None:
        raise UsageError(f"`{order.do}` is no order that changes a run")
    return state


async def film(folder: Path) -> AsyncGenerator[Filmed, None]:
    """Yield what the episodes that are played show, as it changes.

    Errors are those of `give_order`. Only the newest picture of each is sent, and nothing is taken
    of a browser that nobody asks for.
    """
    async with _asked(folder, Order(do="film")) as (reader, _):
        while line := await reader.readline():
            yield Filmed.model_validate_json(line)


async def _ask(folder: Path, order: Order) -> _Reply:
    async with _asked(folder, order) as (_, reply):
        return reply


@asynccontextmanager
async def _asked(folder: Path, order: Order) -> AsyncIterator[tuple[asyncio.StreamReader, _Reply]]:
    if not any((folder / name).is_file() for name in _RUN_FILES):
        raise StoreError(f"{folder}: is neither a run's folder nor a study's")
    with ExitStack() as stack:
        path = socket_of(folder)
        try:
            _require_private(path.parent)
            async with asyncio.timeout(_PATIENCE_S):
                reader, writer = await asyncio.open_unix_connection(path, limit=_MOST_SHOWN)
                stack.callback(writer.close)
                writer.write(order.model_dump_json().encode() + b"\n")
                reply = _Reply.model_validate_json(await reader.readline())
        except (OSError, TimeoutError, ValueError) as cause:
            message = f"{folder}: no process of this user plays it now"
            hint = "one whose TMPDIR is another one is not found"
            raise StoreError(message, hint=hint) from cause
        if reply.refused:
            raise UsageError(reply.refused, hint=reply.hint)
        yield reader, reply
