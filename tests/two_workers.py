"""Which tests keep to one of several workers: those that share replicas, or an owner of containers.

`--dist loadgroup` marks groups in the ids of tests, which pytest 9.2 does not pass on (xdist 3.8);
here groups are read from the ids themselves.
"""

from __future__ import annotations

import re
from typing import Final

from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

# They call `arena up` as a user does: its containers have one owner.
_OF_UP: Final = frozenset(
    {
        "tests/docker/delta/test_diff_command.py",
        "tests/docker/docs/test_code_blocks.py",
        "tests/docker/pool/test_commands.py",
        "tests/docker/sqlite/test_ledger.py",
    }
)
_SITE: Final = re.compile(r"\[(?P<site>[a-z]+)")


def group_of(test: str) -> str:
    """Return what a test shares with others: a site's replica, an owner, its module's fixtures."""
    path, _, name = test.partition("::")
    site = _SITE.search(name)
    if path in _OF_UP:
        return "up"
    if path.startswith("tests/contract/") and site is not None:
        return f"contract of {site['site']}"
    if path.startswith("tests/docker/faults/"):
        return "faults"
    return path


class GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Gives a worker one group after the other, those of most tests first."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)
