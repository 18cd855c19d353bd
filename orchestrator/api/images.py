"""The part of `Arena` about images: build, pull, load them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.api.opened import OpenArena

if TYPE_CHECKING:
    from orchestrator.images.building import BuildResult


class ImageOperations(OpenArena):
    """Builds, pulls and loads the sites' images."""

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
            UsageError, UnknownNameError: as in `sites`.
            ImageError: an image could not be built or sealed.
        """
        from orchestrator.api.site_selection import choose_sites
        from orchestrator.delta.packing import pack_rows
        from orchestrator.images import building
        from orchestrator.reset.fingerprint import take_fingerprint

        chosen = choose_sites(self.atlas, names, suite, otherwise=None)
        return await building.build(
            await self._engine(),
            self.atlas,
            chosen,
            take=take_fingerprint,
            take_rows=pack_rows,
            staged=staged,
            force=force,
            on_line=self._note_work,
            on_work=self._on_event,
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
        from orchestrator.delta.packing import pack_rows
        from orchestrator.images import loading
        from orchestrator.reset.fingerprint import take_fingerprint

        return await loading.load(
            await self._engine(),
            self.atlas.site(name),
            Path(archive),
            take=take_fingerprint,
            take_rows=pack_rows,
            on_line=self._note_work,
            on_work=self._on_event,
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
        from orchestrator.delta.packing import pack_rows
        from orchestrator.images import pulling
        from orchestrator.reset.fingerprint import take_fingerprint

        chosen = self.atlas.select(names)
        return await pulling.pull(
            await self._engine(),
            chosen,
            take=take_fingerprint,
            take_rows=pack_rows,
            staged=staged,
            on_line=self._note_work,
            on_work=self._on_event,
        )
