"""The part of `Arena` about one's own: this machine, what is installed, sites that one writes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from arena_core.errors import UsageError
from orchestrator.api.opened import OpenArena

if TYPE_CHECKING:
    from orchestrator.api.doctor import DoctorCheck
    from orchestrator.contract.checkup import Point
    from orchestrator.seams import ExaminedPlugin


class OwnSiteOperations(OpenArena):
    """Says what this machine lacks and has plugged in; writes sites, and checks them."""

    async def doctor(self) -> tuple[DoctorCheck, ...]:
        """Look at everything that Arena needs of this machine: each check has what mends it.

        What cannot be looked at is a check of its own, and hides no other.
        """
        from orchestrator.api.doctor import examine

        return await examine(self._folders)

    def plugins(self) -> tuple[ExaminedPlugin, ...]:
        """Import everything that is plugged in, Arena's own too, and say what cannot be used."""
        from orchestrator.seams import examine_plugins

        return examine_plugins()

    def schema(self, kind: str) -> str:
        """Return a JSON Schema as text, with the locators, matchers and importers installed here.

        Args:
            kind: `suite`, `site` (a manifest), `evidence` or `lock`.

        Raises:
            UsageError: there is no such kind.
        """
        from orchestrator.schemas.documents import schema_text
        from orchestrator.schemas.kinds import SchemaKind

        if kind not in set(SchemaKind):
            message = f"there is no schema '{kind}'"
            raise UsageError(message, hint=f"schemas: {', '.join(SchemaKind)}")
        return schema_text(SchemaKind(kind))

    def new_site(
        self, name: str, *, kind: str = "app", title: str | None = None, folder: Path | None = None
    ) -> tuple[Path, ...]:
        """Write the folder of a new site, which builds and keeps the contract at once.

        Args:
            name: its name, such as `my-shop`.
            kind: `app` (Flask on MariaDB), `php` (PHP and files) or `static` (files alone).
            title: what people call it; from the name where omitted.
            folder: of your own sites; that of ARENA_SITES, else ./arena-sites where omitted.

        Returns:
            The files that were written.

        Raises:
            UsageError: no such kind, the name is taken or will not do, or nothing can be written.
        """
        from orchestrator.scaffold.site_writer import NewSite, SiteKind
        from sites.atlas import OWN_SITES, load_atlas, own_site_folders
        from sites.belongings import RESERVED_NAMES

        if kind not in set(SiteKind):
            message = f"there is no kind of site '{kind}'"
            raise UsageError(message, hint=f"kinds: {', '.join(SiteKind)}")
        home = folder or next(iter(own_site_folders()), Path(OWN_SITES))
        site = NewSite(
            name=name,
            title=title or name.replace("-", " ").capitalize(),
            kind=SiteKind(kind),
            sites=_as_seen_from_here(home),
        )
        if name in {*load_atlas(()).sites, *RESERVED_NAMES}:
            message = f"Arena has a site '{name}' of its own"
            raise UsageError(message, hint="choose another name")
        return site.write()

    def published_sites(self, which: str, *, folder: Path | None = None) -> tuple[Path, ...]:
        """Write the manifests of sites whose images others publish, for `pull` or `load`.

        Args:
            which: `webarena` (the original images) or `webarena-verified` (the slim ones).
            folder: of your own sites; that of ARENA_SITES, else ./arena-sites where omitted.

        Returns:
            The files that were written.

        Raises:
            UsageError: no such set, one of the sites is there already, or nothing can be written.
        """
        from orchestrator.scaffold.site_writer import PublishedSites, write_published
        from sites.atlas import OWN_SITES, own_site_folders

        if which not in set(PublishedSites):
            message = f"Arena has no manifests for '{which}'"
            raise UsageError(message, hint=f"there are: {', '.join(PublishedSites)}")
        home = folder or next(iter(own_site_folders()), Path(OWN_SITES))
        return write_published(PublishedSites(which), _as_seen_from_here(home))

    async def check_site(self, name: str, *, twice: bool = False) -> tuple[Point, ...]:
        """Build a site and hold it to the contract that every site of Arena keeps.

        Args:
            name: of the site, your own or one of Arena's.
            twice: bake its data a second time too, and compare.

        Returns:
            Each point of the contract, with what breaks it.

        Raises:
            UnknownNameError: no such site.
            ImageError: its image could not be built or sealed.
            SiteError: its replica does not start.
        """
        from orchestrator.contract.checkup import check_site
        from orchestrator.delta.packing import pack_rows
        from orchestrator.images import building
        from orchestrator.reset.fingerprint import take_fingerprint

        atlas = self.atlas
        site, engine = atlas.site(name), await self._engine()
        await building.build(
            engine,
            atlas,
            [site],
            take=take_fingerprint,
            take_rows=pack_rows,
            on_line=self._note_work,
            on_work=self._on_event,
        )
        return await check_site(
            engine,
            atlas,
            site,
            f"check-{os.getpid()}",
            lambda point: self._note(f"{'broken' if point.breaches else 'kept':6} {point.title}"),
            on_work=self._on_event,
            twice=twice,
        )


def _as_seen_from_here(folder: Path) -> Path:
    """Return a folder below this one by its short name, as people type it."""
    try:
        here = Path.cwd()
    except OSError as cause:
        message = f"the folder that this runs in cannot be used: {cause.strerror}"
        raise UsageError(message, hint="change to another folder") from cause
    return folder.relative_to(here) if folder.is_relative_to(here) else folder
