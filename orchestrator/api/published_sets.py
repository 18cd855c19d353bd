"""Published task sets as suites, and what is known to be wrong with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.api.opened import OpenArena

if TYPE_CHECKING:
    from tasks.imports.errata import Erratum
    from tasks.imports.suite_file import ImportedSuite


class PublishedSets:
    """The part of `arena.suites` that is about published task sets."""

    def __init__(self, opened: OpenArena) -> None:
        self._opened = opened

    def import_tasks(
        self,
        format_name: str,
        files: Sequence[Path],
        *,
        out: Path | None = None,
        site_map: Path | None = None,
        new_sites: Path | None = None,
        errata: bool = False,
    ) -> ImportedSuite:
        """Write the suite of a published task set, with every original record unchanged in it.

        Args:
            format_name: of an installed format: `webarena`, `mind2web-live`.
            files: of the set, in order.
            out: the suite's file, which names the suite; a suite that an import wrote there before
                is replaced. Nothing is written where omitted.
            new_sites: a folder of sites; a manifest is written there for each live host that no
                site here has.
            site_map: a file that says which sites here stand for those of the set.
            errata: check for the golds as they should be where the published ones are wrong.

        Raises:
            UnknownNameError: there is no such format, or no errata of it; names what there is.
            UsageError: no file is named, or `out` cannot be written or is a file of yours.
            TaskError: a published file or the map is wrong: one line with file, place and field.
        """
        from tasks.imports.site_map import Installed, write_new_sites
        from tasks.imports.suite_file import import_suite, suite_name, suite_text, write_suite

        name = None if out is None else suite_name(out)
        installed = Installed.of(self._opened.registry.sites.values())
        imported = import_suite(
            format_name, files, site_map, installed=installed, name=name, errata=errata
        )
        if out is not None:
            write_suite(suite_text(imported), out)
        if new_sites is not None:
            write_new_sites(imported.new_sites, new_sites)
        for name, site in imported.mapped.items():
            if self._has_other_data(name, site):
                message = f"{name} is mapped on '{site}', which holds other data than the set was"
                message += " written for: its pages and golds may not be there"
                self._opened.warn(f"{message} (arena tasks lint counts the golds)")
        return imported

    def errata(self, format_name: str | None = None) -> Mapping[str, tuple[Erratum, ...]]:
        """Return the known mistakes of published task sets, by the set's name.

        Args:
            format_name: of one set; all where omitted.

        Raises:
            UnknownNameError: of that set none are known.
        """
        from tasks.imports.errata import errata_of

        return errata_of(format_name)

    def _has_other_data(self, name: str, site: str) -> bool:
        """Whether a site here is neither a published image nor live at the set's own host."""
        from orchestrator.authoring.scaffold.writer import published_images

        known = self._opened.registry.sites.get(site)
        if known is None:
            return False  # the linter says that there is no such site
        is_live = known.live is not None and known.live.host == name
        sources = {known.image.archive, known.image.published}
        return not is_live and sources.isdisjoint(published_images())
