"""Builds and pulls: the engine's streams of progress, read line by line."""

from __future__ import annotations

import io
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena_core.errors import ArenaError, ImageError, InputError
from orchestrator.engine.containers import ImageInfo
from orchestrator.engine.creation import present
from orchestrator.engine.faults import broken_off

if TYPE_CHECKING:
    from docker import APIClient

LAST_LINES = 20
_LOADED = re.compile(r"^Loaded image(?: ID)?: (\S+)$", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_PROXY_VARIABLES = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
)


def image_info(api: APIClient, tag: str) -> ImageInfo | None:
    """Ask the engine for an image; None where it has none of that name."""
    from docker.errors import ImageNotFound, NotFound  # noqa: PLC0415  the SDK loads on first use

    try:
        found: dict[str, Any] = api.inspect_image(tag)
    except (ImageNotFound, NotFound):
        return None
    return ImageInfo(
        id=found["Id"],
        tag=tag,
        labels=present((found["Config"] or {}).get("Labels")),
        size_bytes=int(found["Size"]),
    )


def build(
    api: APIClient,
    *,
    tag: str,
    context: bytes,
    dockerfile: str,
    labels: Mapping[str, str],
    cached: bool,
    on_line: Callable[[str], None],
) -> None:
    """Build an image and hand each line of output over; breaks off when the connection is cut.

    Raises:
        ImageError: a step failed; with the last lines.
        DiskFullError: no space left.
    """
    # The proxies a lab sets for its shells are predefined build arguments: they reach the steps
    # and do not count for the cache.
    proxies = {name: os.environ[name] for name in _PROXY_VARIABLES if os.environ.get(name)}
    events = api.build(
        fileobj=io.BytesIO(context),
        custom_context=True,
        dockerfile=dockerfile,
        tag=tag,
        labels=dict(labels),
        buildargs=proxies,
        nocache=not cached,
        rm=True,
        forcerm=True,
        decode=True,
    )
    _follow(events, f"building {tag}", on_line)


def pull(api: APIClient, reference: str, on_line: Callable[[str], None]) -> None:
    """Pull an image by its full reference.

    Raises:
        ImageError: no registry answers, or it has no such image.
    """
    from docker.errors import APIError  # noqa: PLC0415
    from docker.utils import parse_repository_tag  # noqa: PLC0415

    repository, tag = parse_repository_tag(reference)
    try:
        events = api.pull(repository, tag=tag or "latest", stream=True, decode=True)
        _follow(events, f"pulling {reference}", on_line)
    except APIError as error:
        known = broken_off(str(error.explanation), f"pulling {reference}")
        raise known or ImageError(f"pulling {reference}: {error.explanation}") from error


def load(api: APIClient, archive: Path) -> str:
    """Load the one image of a file that `docker save` wrote; return its id or name.

    Raises:
        InputError: the file cannot be read, or is no such archive.
        ImageError: it holds no image, or several.
    """
    from docker.errors import APIError  # noqa: PLC0415

    try:
        with archive.open("rb") as file:
            said = "".join(event.get("stream", "") for event in api.load_image(file))
    except OSError as cause:
        message = f"{archive}: cannot be read: {cause.strerror}"
        raise InputError(message) from cause
    except APIError as error:
        known = broken_off(str(error.explanation), f"loading {archive}")
        message = f"{archive}: is no archive of an image: {error.explanation}"
        raise known or InputError(message, hint="`docker save IMAGE` writes one") from error
    names = _LOADED.findall(said)
    if len(names) != 1:
        message = f"{archive}: holds {len(names)} images ({', '.join(names) or 'none'}), not one"
        raise ImageError(message, hint="`docker save IMAGE > FILE` with one image")
    return str(names[0])


def _follow(
    events: Iterable[Mapping[str, Any]], doing: str, on_line: Callable[[str], None]
) -> None:
    """Hand over every line of a stream of progress; raise what the stream says went wrong."""
    last: deque[str] = deque(maxlen=LAST_LINES)
    for event in events:
        if "error" in event:
            raise _failed(str(event["error"]), doing, last)
        if event.get("progressDetail"):
            continue
        text = event.get("stream") or _status(event)
        for line in _COLOUR.sub("", text).splitlines():
            if line.strip():
                last.append(line)
                on_line(line)


def _status(event: Mapping[str, Any]) -> str:
    parts = (event.get("id"), event.get("status"))
    return ": ".join(str(part) for part in parts if part)


def _failed(error: str, doing: str, last: Iterable[str]) -> ArenaError:
    """Return the error with the last lines of output under it."""
    shown = "\n".join(f"  {line}" for line in last)
    evidence = f"{doing} failed: {error.strip()}\n{shown}".rstrip()
    return broken_off(evidence, doing) or ImageError(evidence)
