"""Manifests of live sites that published tasks name and nobody has described yet."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from arena_core.errors import UsageError

_MANIFEST: Final = """\
# Written by `arena tasks import`: a site of the live web, with no replica. No image of it exists:
# tasks that visit it run online alone.
name: {name}
title: {host}
summary: {host}, as it is on the web
host: {name}.arena.test
stateful: false
image: {{tag: "own/{name}:none", published: "none.invalid/{name}:none"}}
port: 80
health: {{path: /, contains: html}}
resources: {{memory_mb: 16, cpus: 0.1, pids: 8}}
live: {{origin: "{origin}"}}
"""


def write_new_sites(sites: Mapping[str, str], folder: Path) -> tuple[Path, ...]:
    """Write the manifest of each site; one that is there stays as it is.

    Args:
        sites: live origin by name.
        folder: that holds one folder per site.

    Returns:
        The files that were written.

    Raises:
        UsageError: nothing can be written there.
    """
    written: list[Path] = []
    try:
        for name, origin in sites.items():
            path = folder / name / "site.yaml"
            if path.exists():
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            host = origin.partition("://")[2]
            path.write_text(_MANIFEST.format(name=name, host=host, origin=origin))
            written.append(path)
    except OSError as cause:
        message = f"--new-sites: {folder} cannot be written: {cause.strerror}"
        raise UsageError(message) from cause
    return tuple(written)
