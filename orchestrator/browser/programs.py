"""Which other programs the browser may start: none.

A page needs one line for Chromium to hand an address over, headless as well: `mailto:` starts the
desktop's mail program, which is bound to no gateway and to no namespace.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

# How Chromium asks a desktop to open something.
_ASKED: Final = ("xdg-open", "xdg-email")
_NOT_FOUND: Final = 3  # what these say where there is no program for an address


def script(path: Path, line: str) -> Path:
    """Write a program of one line, and return its path."""
    path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    path.chmod(0o700)
    return path


def closed_in(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return the environment for a browser that starts no other program.

    Args:
        environment: what it would have otherwise.
        folder: an empty one, for what stands in the way; it must last as long as the browser.
    """
    for name in _ASKED:
        script(folder / name, f"exit {_NOT_FOUND}")
    before = environment.get("PATH", "/usr/local/bin:/usr/bin:/bin")
    # The desktop's bus, which may be a Unix socket on a path, could be asked for the same.
    return {
        **environment,
        "PATH": f"{folder}:{before}",
        "DBUS_SESSION_BUS_ADDRESS": "disabled:",
    }
