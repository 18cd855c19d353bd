"""What the engine does with images."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena_core.errors import ImageError
from orchestrator.engine import creation, imaging
from orchestrator.engine.calls import Calls, on_loop
from orchestrator.engine.containers import ImageInfo

if TYPE_CHECKING:
    from docker import APIClient

_BUILD_S = 1800.0
_PULL_S = 1800.0
_COMMIT_S = 1800.0  # of images of 100 GB
_LOAD_S = 7200.0


class ImageCalls:
    """The part of `Engine` that looks for, makes, names and removes images."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def image(self, tag: str) -> ImageInfo | None:
        """Return the local image of that name, or None."""
        return await self._calls.short(
            f"looking for image {tag}", lambda api: imaging.image_info(api, tag)
        )

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
            tag: its name.
            context: a tar of the build context.
            dockerfile: path inside the context.
            labels: put on the image.
            on_line: gets each line of output, on the event loop.
            cached: whether steps may be taken from earlier builds.

        Raises:
            ImageError: a step failed; with the last 20 lines.
        """
        line = on_loop(on_line)
        await self._calls.long(
            f"building {tag}",
            lambda api: imaging.build(
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
        await self._calls.long(doing, lambda api: imaging.pull(api, reference, line), deadline_s)
        if tag != reference:
            await self.tag(reference, tag)
        return await self._the_image(tag)

    async def load(self, archive: Path, tag: str) -> ImageInfo:
        """Load the one image of a file that `docker save` wrote, and name it `tag` here.

        Raises:
            InputError: the file cannot be read, or is no such archive.
            ImageError: it holds no image, or several.
        """
        name = await self._calls.long(
            f"loading {archive}", lambda api: imaging.load(api, archive), _LOAD_S
        )
        await self.tag(name, tag)
        return await self._the_image(tag)

    async def tag(self, source: str, tag: str) -> None:
        """Give an image one more name."""
        repository, _, version = tag.rpartition(":")
        await self._calls.short(
            f"naming {source} {tag}", lambda api: api.tag(source, repository, version, force=True)
        )

    async def commit(
        self, container_id: str, tag: str | None, labels: Mapping[str, str]
    ) -> ImageInfo:
        """Make an image of a container's file system, without the container's own labels.

        Args:
            container_id: running or not.
            tag: the image's name; None for one that has only its id.
            labels: put on the image.
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
            if imaging.image_info(api, tag) is not None:
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
            message = f"the engine has no image {tag} although it just made it"
            raise ImageError(message)
        return found
