"""Throw-away distributions on the import path: what pip leaves behind, without pip."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from arena_core.plugins import Group


def install(
    folder: Path,
    name: str,
    entry_points: Mapping[Group, Mapping[str, str]] | Mapping[str, Mapping[str, str]],
    *,
    modules: Mapping[str, str] | None = None,
    version: str = "1.0",
) -> None:
    """Write a distribution's metadata and modules into a folder that is on the import path."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(
        "\n".join(
            f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in points.items())
            for group, points in entry_points.items()
        )
    )
    for module, source in (modules or {}).items():
        (folder / f"{module}.py").write_text(source)
