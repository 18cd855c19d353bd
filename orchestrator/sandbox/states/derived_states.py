"""The states that tasks set up, kept on this machine: found again by image and steps."""

from __future__ import annotations

import hashlib
import logging
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from arena_core.errors import StateError
from arena_core.user_cache import user_cache
from orchestrator.sandbox.reset.state import TakenState
from orchestrator.sandbox.states.state_file import SavedState, read_state, write_state

_LOG = logging.getLogger(__name__)

_VERSION: Final = 1  # of the way in which steps are done
_MOST_BYTES: Final = 1 << 29


def starts_folder() -> Path:
    """Return the folder of the files; whatever is removed there is made again."""
    return user_cache() / "starts"


def find(site: str, image_id: str, steps: str) -> TakenState | None:
    """Return the state that some steps led to on an image; None where none is kept."""
    path = _path(image_id, steps)
    try:
        found = read_state(path).sites.get(site)
        os.utime(path)
    except (StateError, OSError) as fault:
        if path.exists():
            _LOG.warning("a start that was kept cannot be read, and is made anew: %s", fault)
        return None
    return found if found is not None and found.image_id == image_id else None


def keep(taken: TakenState, steps: str) -> None:
    """Keep a state, and remove those used longest ago beyond 512 MiB."""
    path = _path(taken.image_id, steps)
    write_state(SavedState(datetime.now(UTC), {taken.site: taken}), path)
    _tidy(path)


def _path(image_id: str, steps: str) -> Path:
    key = f"{_VERSION}\n{image_id}\n{steps}"
    return starts_folder() / f"{hashlib.sha256(key.encode()).hexdigest()}.arena-state"


def _tidy(kept: Path) -> None:
    files = []
    for path in starts_folder().iterdir():
        with suppress(FileNotFoundError):  # another process tidies too
            found = path.stat()
            files.append((path != kept, -found.st_mtime, path, found.st_size))
    total = 0
    for _, _, path, size in sorted(files):
        total += size
        if total > _MOST_BYTES:
            path.unlink(missing_ok=True)
