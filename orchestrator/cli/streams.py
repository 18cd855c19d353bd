"""What the command line writes to: streams of any encoding, closed early, full, or not there."""

from __future__ import annotations

import codecs
import io
import os
import sys
from contextlib import suppress
from typing import TextIO

from arena_core.bugs import DISK_FULL, is_exhaustion
from arena_core.errors import PrerequisiteError


def prepare() -> None:
    """Let every text be written, whatever stdout and stderr can encode, and where there is none.

    A character that a stream cannot encode is written as Python escapes it.
    """
    for name in ("stdout", "stderr"):
        stream: TextIO | None = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def takes_unicode(stream: TextIO) -> bool:
    """Whether a stream can encode every character; Python's escapes are no JSON."""
    try:
        return codecs.lookup(stream.encoding or "ascii").name.startswith("utf-")
    except LookupError:
        return False


def drop_stdout() -> None:
    """Forget what waits to be written to a stdout that takes nothing more."""
    with suppress(OSError):  # a stdout that is no file needs none of this
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def of_the_machine(failure: OSError) -> PrerequisiteError | None:
    """Return the error for a file, folder or stream that cannot be used.

    Returns:
        None where the failure is not about one: then it is a bug.
    """
    if failure.filename is not None:
        what = os.fsdecode(failure.filename) if not isinstance(failure.filename, int) else "a file"
        return PrerequisiteError(
            f"{what} cannot be used: {failure.strerror}",
            hint="name a file or folder that this user may read and write",
        )
    if failure.errno in DISK_FULL:
        return PrerequisiteError(f"the output could not be written: {failure.strerror}")
    if is_exhaustion(failure):
        return PrerequisiteError(f"this machine has run out: {failure.strerror}")
    return None
