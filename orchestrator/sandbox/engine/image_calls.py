"""What the engine does with images."""

from __future__ import annotations

import io
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena_core.errors import ArenaError, ImageError, InputError
from orchestrator.sandbox.engine import creation
from orchestrator.sandbox.engine.calls import Calls, broken_off, on_loop
from orchestrator.sandbox.engine.containers import ImageInfo
from orchestrator.sandbox.engine.creation import present

if TYPE_CHECKING:
    from docker import APIClient

LAST_LINES = 20
_LOADED = re.compile(r"^Loaded image(?: ID)?: (\S+)$", re.MULTILINE)
_CHUNK_BYTES = 4 * 2**20
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


def build_image(
    api: APIClient,
    *,
    tag: str,
    context: bytes,
    dockerfile: str,
    labels: Mapping[str, str],
    cached: bool,
    on_line: Callable[[str], None],
) -> None:
    """Build an image and hand each line of output over; breaks off when the connection is cut."""
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


def pull_image(api: APIClient, reference: str, on_line: Callable[[str], None]) -> None:
    from docker.errors import APIError  # noqa: PLC0415
    from docker.utils import parse_repository_tag  # noqa: PLC0415

    repository, tag = parse_repository_tag(reference)
    try:
        events = api.pull(repository, tag=tag or "latest", stream=True, decode=True)
        _follow(events, f"pulling {reference}", on_line)
    except APIError as error:
        known = broken_off(str(error.explanation), f"pulling {reference}")
        raise known or ImageError(f"pulling {reference}: {error.explanation}") from error


def save_images(
    api: APIClient, tags: Sequence[str], archive: Path, on_bytes: Callable[[int], None]
) -> None:
    """Write images to a file, shared layers once."""
    from requests.exceptions import RequestException  # noqa: PLC0415  loads with the SDK

    # The SDK's own call takes one image only.
    url = f"{api.base_url}/v{api.api_version}/images/get"
    answer = api.get(url, params={"names": list(tags)}, stream=True, timeout=None)
    if answer.status_code != HTTPStatus.OK:
        raise ImageError(f"saving images: the Docker engine refused: {answer.text.strip()}")
    size = 0
    try:
        with archive.open("wb") as file:
            for chunk in answer.iter_content(_CHUNK_BYTES):
                file.write(chunk)
                size += len(chunk)
                on_bytes(size)
    except RequestException:  # an OSError, and the engine's
        raise
    except OSError as cause:
        raise InputError(f"{archive}: cannot be written: {cause.strerror or cause}") from cause


def load_images(api: APIClient, archive: Path) -> list[str]:
    """Load all images of a file that `docker save` wrote; return their names."""
    from docker.errors import APIError  # noqa: PLC0415

    try:
        with archive.open("rb") as file:
            said = "".join(event.get("stream", "") for event in api.load_image(file))
    except OSError as cause:
        raise InputError(f"{archive}: cannot be read: {cause.strerror}") from cause
    except APIError as error:
        known = broken_off(str(error.explanation), f"loading {archive}")
        message = f"{archive}: is no archive of an image: {error.explanation}"
        raise known or InputError(message, hint="`docker save IMAGE` writes one") from error
    return [str(name) for name in _LOADED.findall(said)]


def load_image(api: APIClient, archive: Path) -> str:
    names = load_images(api, archive)
    if len(names) != 1:
        message = f"{archive}: holds {len(names)} images ({', '.join(names) or 'none'}), not one"
        raise ImageError(message, hint="`docker save IMAGE > FILE` with one image")
    return names[0]


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
    shown = "\n".join(f"  {line}" for line in last)
    evidence = f"{doing} failed: {error.strip()}\n{shown}".rstrip()
    return broken_off(evidence, doing) or ImageError(evidence)


_BUILD_S = 7200.0  # one step bakes all data of a site, on whatever else a machine does
_PULL_S = 1800.0
_COMMIT_S = 1800.0  # of images of 100 GB
_LOAD_S = 7200.0


class ImageCalls:
    """The part of `Engine` that looks for, makes, names and removes images."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def image(self, tag: str) -> ImageInfo | None:
        return await self._calls.short(f"looking for image {tag}", lambda api: image_info(api, tag))

    async def build(
        self,
        tag: str,
        context: bytes,
        dockerfile: str,
        labels: Mapping[str, str],
        on_line: Callable[[str], None],
        *,
        cached: bool = True,
    ) -> ImageInfo:
        """Build an image; cancelling breaks the build off and leaves no container behind.

        Args:
            on_line: gets each line of output, on the event loop.
            cached: whether steps may be taken from earlier builds.
        """
        line = on_loop(on_line)
        await self._calls.long(
            f"building {tag}",
            lambda api: build_image(
                api,
                tag=tag,
                context=context,
                dockerfile=dockerfile,
                labels=labels,
                cached=cached,
                on_line=line,
            ),
            _BUILD_S,
        )
        return await self._the_image(tag)

    async def pull(
        self,
        reference: str,
        tag: str,
        on_line: Callable[[str], None],
        deadline_s: float = _PULL_S,
    ) -> ImageInfo:
        """Pull `reference` and name it `tag` here. Raises ImageError."""
        line = on_loop(on_line)
        doing = f"pulling {reference}"
        await self._calls.long(doing, lambda api: pull_image(api, reference, line), deadline_s)
        if tag != reference:
            await self.tag(reference, tag)
        return await self._the_image(tag)

    async def load(self, archive: Path, tag: str) -> ImageInfo:
        """Load the one image of a file that `docker save` wrote, and name it `tag` here."""
        name = await self._calls.long(
            f"loading {archive}", lambda api: load_image(api, archive), _LOAD_S
        )
        await self.tag(name, tag)
        return await self._the_image(tag)

    async def load_all(self, archive: Path) -> None:
        """Load every image of a file that `docker save` wrote, under the names it has there."""
        await self._calls.long(f"loading {archive}", lambda api: load_images(api, archive), _LOAD_S)

    async def save(
        self, tags: Sequence[str], archive: Path, on_bytes: Callable[[int], None]
    ) -> None:
        """Write images to one file as the engine does; one that is cut short stays for its caller.

        Args:
            on_bytes: gets how many bytes are written so far, on the event loop.
        """
        count = on_loop(on_bytes)
        await self._calls.long(
            f"saving {archive}", lambda api: save_images(api, tags, archive, count), _LOAD_S
        )

    async def tag(self, source: str, tag: str) -> None:
        repository, _, version = tag.rpartition(":")
        await self._calls.short(
            f"naming {source} {tag}", lambda api: api.tag(source, repository, version, force=True)
        )

    async def commit(
        self, container_id: str, tag: str | None, labels: Mapping[str, str]
    ) -> ImageInfo:
        """Make an image of a container's file system, without the container's own labels.

        Args:
            tag: the image's name; None for one that has only its id.
        """
        changes = creation.commit_changes(labels)
        made: dict[str, Any] = await self._calls.long(
            f"committing {container_id[:12]}",
            lambda api: api.commit(container_id, changes=changes),
            _COMMIT_S,
        )
        if tag is not None:
            await self.tag(str(made["Id"]), tag)
        return await self._the_image(tag or str(made["Id"]))

    async def remove_image(self, tag: str) -> None:
        """Take a name away from an image, and the image with its last name; idempotent."""

        def work(api: APIClient) -> None:
            if image_info(api, tag) is not None:
                # Forced: a container that is about to go must not keep the name.
                api.remove_image(tag, noprune=True, force=True)

        await self._calls.short(f"removing image {tag}", work)

    async def remove_unused_image(self, image_id: str) -> bool:
        """Remove an image and the layers only it has, unless something else uses it."""
        from docker.errors import APIError  # noqa: PLC0415  the SDK loads on first use

        def work(api: APIClient) -> bool:
            try:
                api.remove_image(image_id)
            except APIError as error:
                if error.status_code in {HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT}:
                    return False
                raise
            return True

        return await self._calls.short(f"removing image {image_id[:19]}", work)

    async def _the_image(self, tag: str) -> ImageInfo:
        found = await self.image(tag)
        if found is None:
            raise ImageError(f"the engine has no image {tag} although it just made it")
        return found
