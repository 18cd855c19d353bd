"""What counts as a bug, and where it lies: an exception that no code expected."""

from __future__ import annotations

import errno
import sysconfig
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from arena_core.errors import ArenaError
from arena_core.foreign import whole

DISK_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
# What a machine that ran out of something answers: no other code would fare better there.
_EXHAUSTED: Final = DISK_FULL | {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO}
_ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGES: Final = ("orchestrator", "tasks", "evaluators", "sites", "arena_core")
_STDLIB: Final = sysconfig.get_path("stdlib")
_WIDTH: Final = 300


def is_exhaustion(error: BaseException) -> bool:
    """Whether the machine ran out of disk, memory or files, or its disk fails."""
    return isinstance(error, MemoryError) or (
        isinstance(error, OSError) and error.errno in _EXHAUSTED
    )


def is_bug(error: BaseException) -> bool:
    """Whether nobody expected an exception: it is of no known kind, and not the machine's."""
    return isinstance(error, Exception) and not (
        isinstance(error, ArenaError) or is_exhaustion(error)
    )


def bug_in_words(error: BaseException) -> str:
    """Return an exception's kind and message on one line."""
    try:
        first = whole(str(error)).strip().partition("\n")[0]
    except Exception:  # noqa: BLE001  an error from outside may fail to say what it is
        first = ""
    text = f"{type(error).__name__}: {first}" if first else type(error).__name__
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def place_of(error: BaseException) -> str:
    """Return where a bug lies, as `file:line function`: the innermost place in Arena's own code.

    The innermost of all, where none is in it.
    """
    frames = traceback.extract_tb(error.__traceback__)
    return _shown([frame for frame in frames if _is_own(frame)] or frames)


def place_outside(error: BaseException) -> str:
    """Return the innermost place, as `file:line function`, in code that Arena only calls.

    Where there is no such code, as `place_of`.
    """
    frames = traceback.extract_tb(error.__traceback__)
    outside = [frame for frame in frames if not (_is_own(frame) or _is_of_python(frame))]
    return _shown(outside) if outside else place_of(error)


def runs_outside(error: BaseException) -> bool:
    """Whether an exception passed through code that Arena only calls, Python's own aside."""
    frames = traceback.extract_tb(error.__traceback__)
    return any(not (_is_own(frame) or _is_of_python(frame)) for frame in frames)


def _shown(frames: Sequence[traceback.FrameSummary]) -> str:
    if not frames:
        return "an unknown place"
    frame, path = frames[-1], Path(frames[-1].filename)
    shown = path.relative_to(_ROOT) if _is_own(frame) else Path(*path.parts[-2:])
    return f"{shown}:{frame.lineno} {frame.name}"


def _is_own(frame: traceback.FrameSummary) -> bool:
    return any(Path(frame.filename).is_relative_to(_ROOT / package) for package in PACKAGES)


def _is_of_python(frame: traceback.FrameSummary) -> bool:
    path = Path(frame.filename)
    is_installed = {"site-packages", "dist-packages"} & set(path.parts)
    return path.is_relative_to(_STDLIB) and not is_installed
