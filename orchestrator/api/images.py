"""The images of sites: build, pull and load them, keep them in one file for other machines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.api.opened import OpenArena

if TYPE_CHECKING:
    from orchestrator.sandbox.images.build import BuildResult
    from orchestrator.sandbox.images.image_file import ImageFile


class SiteImages:
    """The part of `arena.sites` that is about images."""

    def __init__(self, opened: OpenArena) -> None:
        self._opened = opened

    async def build(
        self,
        names: Sequence[str] = (),
        *,
        suite: str | None = None,
        force: bool = False,
        staged: bool = False,
    ) -> tuple[BuildResult, ...]:
        """Build the sites' images and seal them as golden; what is unchanged is left alone.

        Args:
            names: of sites; `all`, or nothing, for every site there is.
            suite: instead of names, the sites that this suite's tasks play on.
            force: build what is unchanged too, without cached steps.
            staged: build the sites' staged live origins too.

        Raises:
            UsageError, UnknownNameError: as in `list`.
            NotAllBuiltError: some of several images could not be built or sealed; the others are,
                and its `results` say what became of each.
            ImageError, SiteError: the only image could not be built or sealed.
        """
        from orchestrator.api.starting import choose_sites
        from orchestrator.sandbox.images.build import build_images

        opened = self._opened
        chosen = choose_sites(opened.registry, names, suite, otherwise=None)
        return await build_images(
            await opened.engine(),
            opened.registry,
            chosen,
            staged=staged,
            force=force,
            on_line=opened.note_work,
            on_work=opened.on_event,
        )

    async def load(self, name: str, archive: Path | str) -> BuildResult:
        """Load a site's image from a file that `docker save` wrote, bake it and seal it.

        Args:
            name: of the site.
            archive: the file, packed or not; it holds one image.

        Raises:
            UnknownNameError: no such site.
            InputError: the file cannot be read, or is no such archive.
            ImageError: it holds several images, or the image could not be baked or sealed.
        """
        from orchestrator.sandbox.images.published_images import load_image

        return await load_image(
            await self._opened.engine(),
            self._opened.registry.site(name),
            Path(archive),
            on_line=self._opened.note_work,
            on_work=self._opened.on_event,
        )

    async def pull(
        self, names: Sequence[str] = (), *, staged: bool = False
    ) -> tuple[BuildResult, ...]:
        """Pull the images that their manifests say are published; name those that are built here.

        Args:
            names: of sites; all where none is given.
            staged: the staged live origins too.

        Raises:
            UnknownNameError: no such site.
            ImageError: an image could not be pulled or sealed.
        """
        from orchestrator.sandbox.images.published_images import pull_images

        chosen = self._opened.registry.select(names)
        return await pull_images(
            await self._opened.engine(),
            chosen,
            staged=staged,
            on_line=self._opened.note_work,
            on_work=self._opened.on_event,
        )

    async def save_images(
        self,
        path: Path | str,
        names: Sequence[str] = (),
        *,
        suite: str | None = None,
        staged: bool = False,
    ) -> ImageFile:
        """Write sites' images to one new file, so that another machine need not build them.

        Their bill of materials is written beside it (`FILE.cdx.json`, CycloneDX): each image by
        digest, with the packages of Debian, Python and npm that its layers have.

        Args:
            path: of the file, an OCI archive that `docker load` takes too.
            names: of sites; `all`, or nothing, for every site there is.
            suite: instead of names, the sites that this suite's tasks play on.
            staged: the staged live origins too.

        Raises:
            UsageError, UnknownNameError: as in `list`.
            InputError: one of the files is there already, or cannot be written.
            ImageError: an image is missing, or older than its sources.
        """
        from orchestrator.api.starting import choose_sites
        from orchestrator.sandbox.images.image_file import save_images

        opened = self._opened
        return await save_images(
            await opened.engine(),
            opened.registry,
            choose_sites(opened.registry, names, suite, otherwise=None),
            Path(path),
            staged=staged,
            on_line=opened.note_work,
            on_work=opened.on_event,
        )

    async def load_images(self, path: Path | str, *, sha256: str | None = None) -> ImageFile:
        """Load what `save_images` wrote, sealed as it is; `build` then has nothing to do.

        Args:
            path: of the file, compressed or not. A bill of materials beside it must agree with it.
            sha256: what its digest must be; nothing is loaded if it is another.

        Raises:
            InputError: it is no file of images, is damaged, or has another digest than is asked
                for or than its bill of materials says.
            ImageError: it holds an image of no site here; nothing is loaded then.
        """
        from orchestrator.sandbox.images.image_file import load_images

        opened = self._opened
        return await load_images(
            await opened.engine(),
            opened.registry,
            Path(path),
            sha256=sha256,
            on_line=opened.note_work,
            on_work=opened.on_event,
        )
