"""The one place where the Docker SDK's errors become Arena's."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from arena_core.errors import (
    ArenaError,
    DiskFullError,
    EngineError,
    EngineMissingError,
    ImageError,
    PortTakenError,
    SiteGoneError,
)

_START_ENGINE = "run docker/bootstrap.sh (Debian, Ubuntu) or start Docker, then `arena doctor`"
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
    """Return the error for an engine that does not answer."""
    evidence = _innermost(cause)
    if isinstance(evidence, PermissionError):
        message = f"the Docker engine refuses this user: {evidence}"
        return EngineMissingError(message, hint="run as root, or join the group `docker`")
    address = os.environ.get("DOCKER_HOST") or "the local socket"
    told = str(evidence) or type(evidence).__name__
    message = f"no Docker engine answers at {address}: {told}"
    return EngineMissingError(message, hint=_START_ENGINE)


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
        return ImageError(f"{doing}: {text}", hint="`arena build` makes the sites' images")
    if "is already in use by container" in lowered:
        return EngineError(f"{doing}: {text}", hint="`arena down` removes what Arena started")
    return EngineError(f"{doing}: the Docker engine refused ({status}): {text}")


def _innermost(cause: BaseException) -> BaseException:
    """Follow the chain of causes to the operating system's own error."""
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
