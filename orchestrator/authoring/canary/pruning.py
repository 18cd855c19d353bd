"""Old plays of the canary are removed, but for those that what is known now rests on."""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

KEPT_FOR: Final = timedelta(days=30)
MOST_KEPT: Final = 500
# A look may be under way that long, or a run whose canary it is: none of its plays is removed.
_UNTOUCHED: Final = timedelta(days=1)
_NAMED: Final = re.compile(r"(\d{8}-\d{6})-[0-9a-f]{6}", re.ASCII)
_LOG = logging.getLogger(__name__)


def prune(plays: Path, kept: Collection[str], now: datetime) -> tuple[Path, ...]:
    """Remove runs of plays that are older than a month or beyond the latest 500; return them.

    Only folders with a name and a lock as the canary writes them are touched, and never through a
    link. What cannot be removed stays.

    Args:
        plays: the folder of the runs.
        kept: paths in runs that stay however old they are.
    """
    root = plays.resolve()
    held = {Path(one).relative_to(root).parts[0] for one in kept if Path(one).is_relative_to(root)}
    runs = sorted(_runs(root), reverse=True)
    removed: list[Path] = []
    for number, (made, path) in enumerate(runs):
        is_old = now - made > KEPT_FOR or number >= MOST_KEPT
        if not is_old or now - made <= _UNTOUCHED or path.name in held:
            continue
        try:
            shutil.rmtree(path)
        except OSError as why:
            _LOG.info("%s is left: %s", path, why.strerror)
        else:
            removed.append(path)
    if removed:
        _LOG.info("removed %d old plays of the canary", len(removed))
    return tuple(removed)


def _runs(root: Path) -> Iterator[tuple[datetime, Path]]:
    """Yield the runs in a folder, each with when it was made."""
    for path in root.iterdir() if root.is_dir() else ():
        named = _NAMED.fullmatch(path.name)
        if named is None or path.is_symlink() or not (path / "lock.json").is_file():
            continue
        try:
            yield datetime.strptime(named[1], "%Y%m%d-%H%M%S").replace(tzinfo=UTC), path
        except ValueError:  # digits that are no date: somebody else's
            continue
