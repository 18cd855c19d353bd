"""The sites that a command knows, and what is wrong with those that it cannot use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.cli.console import Console

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from sites.atlas import Atlas


def known_sites(folders: Iterable[Path] | None = None) -> Atlas:
    """Return all sites that can be used; those that cannot are named on stderr.

    Args:
        folders: of sites of one's own; those of ARENA_SITES or ./arena-sites where omitted.

    Raises:
        ManifestError: see `load_atlas`.
    """
    from sites.atlas import load_atlas

    atlas = load_atlas(folders)
    for name, error in sorted(atlas.broken.items()):
        Console().warn(f"arena: site '{name}' of your own is left out: {error.message}")
    return atlas
