"""How calls of the blocking SDK run beside the event loop, each with a deadline.

Short calls share a bounded pool of threads and connections. Long ones (a build, a wait for a
container's end, a log that is followed) get a thread and a connection of their own, so that they
never starve the short ones, and end at once when cancelled: their socket is shut.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from arena_core.errors import (
    ArenaError,
    DiskFullError,
    EngineError,
    EngineMissingError,
    ImageError,
    PortTakenError,
    SiteGoneError,
)
from orchestrator.sandbox.docker_files import bootstrap_script

if TYPE_CHECKING:
    from docker import APIClient
    from requests import Response


_ADDRESS = re.compile(r"\d+\.\d+\.\d+\.\d+:\d+|0\.0\.0\.0:\d+|\[::\]:\d+")


@contextmanager
def mapped(doing: str) -> Iterator[None]:
    """Run a block that calls the SDK; what it raises leaves as an `ArenaError`.

    Args:
        doing: what is being done to what, for the message: "starting arena-shop-0".
    """
    from docker.errors import DockerException  # noqa: PLC0415  the SDK loads on first use
    from requests.exceptions import RequestException  # noqa: PLC0415

    try:
        yield
    except (DockerException, RequestException) as cause:
        raise _translate(cause, doing) from cause


def engine_missing(cause: Exception) -> EngineMissingError:
    evidence = _innermost(cause)
    if isinstance(evidence, PermissionError):
        message = f"the Docker engine refuses this user: {evidence}"
        return EngineMissingError(message, hint="run as root, or join the group `docker`")
    address = os.environ.get("DOCKER_HOST") or "the local socket"
    told = getattr(evidence, "strerror", None) or str(evidence) or type(evidence).__name__
    message = f"no Docker engine answers at {address}: {told}"
    if address.startswith("ssh://"):
        there = "replicas listen on 127.0.0.1 of the engine's machine, so Arena has to run there"
        return EngineMissingError(message, hint=f"{there}; `arena merge` joins what several play")
    how = f"run {bootstrap_script()} (Debian, Ubuntu) or start Docker"
    return EngineMissingError(message, hint=f"{how}, then `arena doctor`")


def broken_off(text: str, doing: str) -> ArenaError | None:
    """Return the error for a known complaint of the engine, however it was delivered."""
    lowered = text.lower()
    if "no space left on device" in lowered:
        message = f"{doing}: the Docker engine's disk is full: {text}"
        return DiskFullError(message, hint="free space, for example with `docker system prune`")
    if "port is already allocated" in lowered or "address already in use" in lowered:
        address = _ADDRESS.search(text)
        taken = f"port {address.group()}" if address else "a port it publishes"
        message = f"{doing}: {taken} is in use already: {text}"
        return PortTakenError(message, hint="stop what holds it, or choose another port")
    return None


def _translate(cause: Exception, doing: str) -> ArenaError:
    """Choose the leaf of the error tree for one error of the SDK or of its HTTP library."""
    from docker.errors import APIError  # noqa: PLC0415
    from requests.exceptions import ConnectionError as NoConnection  # noqa: PLC0415
    from requests.exceptions import Timeout  # noqa: PLC0415

    if isinstance(cause, APIError):
        return _refused(str(cause.explanation or cause), int(cause.status_code or 0), doing)
    if isinstance(cause, Timeout):
        return EngineError(f"{doing}: the Docker engine did not answer in time")
    if isinstance(cause, NoConnection):
        return engine_missing(cause)
    if "Error while fetching server API version" in str(cause):
        return engine_missing(cause)
    return EngineError(f"{doing}: {cause}")


def _refused(text: str, status: int, doing: str) -> ArenaError:
    """Choose the error for an answer with an error status."""
    known = broken_off(text, doing)
    if known is not None:
        return known
    lowered = text.lower()
    not_found = 404
    if "no such container" in lowered or "is not running" in lowered:
        return SiteGoneError(f"{doing}: the container is gone: {text}")
    if status == not_found and "image" in lowered:
        hint = "`arena build`, `arena pull` or `arena load` brings a site's image"
        return ImageError(f"{doing}: {text}", hint=hint)
    if "is already in use by container" in lowered:
        return EngineError(f"{doing}: {text}", hint="`arena down` removes what Arena started")
    return EngineError(f"{doing}: the Docker engine refused ({status}): {text}")


def _innermost(cause: BaseException) -> BaseException:
    seen: list[BaseException] = [cause]
    while True:
        current = seen[-1]
        inner = [
            found
            for found in (current.__cause__, current.__context__, *current.args)
            if isinstance(found, BaseException) and found not in seen
        ]
        if not inner:
            break
        seen.append(inner[0])
    return next((found for found in reversed(seen) if isinstance(found, OSError)), cause)


_LOG = logging.getLogger(__name__)

Result = TypeVar("Result")
Item = TypeVar("Item")

THREADS = 16
ANSWER_S = 60.0
_UNWIND_S = 5.0


class Calls:
    """The calls of one engine.

    Attributes:
        api: the SDK's client that short calls share.
    """

    def __init__(self, api: APIClient, reconnect: Callable[[float | None], APIClient]) -> None:
        self.api = api
        self._reconnect = reconnect
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="arena-engine")

    async def short(
        self, doing: str, work: Callable[[APIClient], Result], deadline_s: float = ANSWER_S
    ) -> Result:
        """Run `work` in the pool.

        The thread of a call that is cancelled or late goes on until the SDK's own time limit.
        """

        def body() -> Result:
            with mapped(doing):
                return work(self.api)

        loop = asyncio.get_running_loop()
        with _logged(doing):
            try:
                async with asyncio.timeout(deadline_s):
                    return await loop.run_in_executor(self._threads, body)
            except TimeoutError as cause:
                raise _late(doing, deadline_s) from cause

    async def long(
        self, doing: str, work: Callable[[APIClient], Result], deadline_s: float | None
    ) -> Result:
        """Run `work` in a thread and over a connection of its own; cancelling ends it at once.

        Args:
            work: what to call; the client it gets has no time limit of its own.
            deadline_s: None for a wait whose end only the caller knows.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Result] = loop.create_future()
        done.add_done_callback(lambda future: future.cancelled() or future.exception())
        line = _Line()

        def body() -> None:
            try:
                with mapped(doing):
                    result = work(line.open(self._reconnect(None)))
            except BaseException as error:  # noqa: BLE001  carried over to the waiting coroutine
                _settle(loop, done, partial(done.set_exception, error))
            else:
                _settle(loop, done, partial(done.set_result, result))
            finally:
                line.close()

        threading.Thread(target=body, name=f"arena-engine: {doing}", daemon=True).start()
        try:
            with _logged(doing):
                async with asyncio.timeout(deadline_s):
                    return await asyncio.shield(done)
        except TimeoutError as cause:
            raise _late(doing, deadline_s) from cause
        finally:
            if not done.done():
                line.cut()
                await asyncio.wait({done}, timeout=_UNWIND_S)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self.api.close()


@contextmanager
def _logged(doing: str) -> Iterator[None]:
    if not _LOG.isEnabledFor(logging.DEBUG):
        yield
        return
    began = time.monotonic()
    ended = "failed"
    try:
        yield
        ended = "done"
    finally:
        seconds = round(time.monotonic() - began, 3)
        _LOG.debug("engine: %s: %s", doing, ended, extra={"seconds": seconds})


def on_loop(deliver: Callable[[Item], None]) -> Callable[[Item], None]:
    """Return a function that a thread may call; `deliver` then runs on this event loop."""
    loop = asyncio.get_running_loop()

    def put(item: Item) -> None:
        try:
            loop.call_soon_threadsafe(deliver, item)
        except RuntimeError:
            # The loop is closed: nobody reads any more.
            return

    return put


class _Line:
    """The connection of one long call, which another thread may shut."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._client: APIClient | None = None
        self._responses: list[Response] = []
        self._is_cut = False

    def open(self, client: APIClient) -> APIClient:
        self._client = client
        client.hooks["response"].append(self._remember)
        return client

    def cut(self) -> None:
        with self._lock:
            self._is_cut = True
            under_way = self._responses[-1:]
        for response in under_way:
            _shut(response)

    def close(self) -> None:
        for response in self._responses:
            response.close()
        if self._client is not None:
            self._client.close()

    def _remember(self, response: Response, *_: object, **__: object) -> None:
        with self._lock:
            self._responses.append(response)
            is_cut = self._is_cut
        if is_cut:
            _shut(response)


def _shut(response: Response) -> None:
    """Shut the socket under an answer; the engine then breaks off what it was doing for it."""
    from docker.errors import DockerException  # noqa: PLC0415  the SDK loads on first use
    from docker.types.daemon import CancellableStream  # noqa: PLC0415

    try:
        CancellableStream(iter(()), response).close()
    except (DockerException, OSError, AttributeError):
        # Over SSH nothing can be shut, and a finished answer has no socket left: either way the
        # thread is a daemon and ends with the answer or with the process.
        return


def _settle(
    loop: asyncio.AbstractEventLoop, done: asyncio.Future[Result], deliver: Callable[[], None]
) -> None:
    """Hand a thread's result to the loop, unless nobody waits any more."""

    def unless_done() -> None:
        if not done.done():
            deliver()

    try:
        loop.call_soon_threadsafe(unless_done)
    except RuntimeError:
        # The loop is closed: the process is on its way out.
        return


def _late(doing: str, deadline_s: float | None) -> EngineError:
    return EngineError(f"{doing}: the Docker engine did not finish within {deadline_s:g} s")
