"""The part of `Arena` about published task sets: import them as suites of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.api.opened import OpenArena

if TYPE_CHECKING:
    from tasks.imports.importing import ImportedSuite


class ImportOperations(OpenArena):
    """Imports published task sets."""

    def import_tasks(
        self,
        format_name: str,
        files: Sequence[Path],
        *,
        out: Path | None = None,
        site_map: Path | None = None,
        new_sites: Path | None = None,
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

        Raises:
            UnknownNameError: there is no such format; names what there is.
            UsageError: no file is named, or `out` cannot be written or is a file of yours.
            TaskError: a published file or the map is wrong: one line with file, place and field.
        """
        from tasks.imports.importing import import_suite
        from tasks.imports.new_sites import write_new_sites
        from tasks.imports.site_map import Installed
        from tasks.imports.suite_file import suite_name, suite_text, write_suite

        name = None if out is None else suite_name(out)
        installed = Installed.of(self.atlas.sites.values())
        imported = import_suite(format_name, files, site_map, installed=installed, name=name)
        if out is not None:
            write_suite(suite_text(imported), out)
        if new_sites is not None:
            write_new_sites(imported.new_sites, new_sites)
        return imported
