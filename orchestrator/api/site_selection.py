"""Which sites a command is about: those named, those that a suite needs, or all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from arena_core.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from sites.atlas import Atlas
    from sites.manifest import Site

ALL: Final = "all"
DEMO: Final = "demo"


def choose_sites(
    atlas: Atlas, names: Sequence[str], suite: str | None, *, otherwise: str | None
) -> tuple[Site, ...]:
    """Return the sites that are meant, those of a suite in the order of their names.

    Args:
        atlas: the known sites.
        names: as given on the command line; `all` stands alone.
        suite: the suite whose sites are meant, where one was named.
        otherwise: the suite that counts where nothing was given; None for all sites.

    Raises:
        UsageError: `all` beside names, or a suite beside names.
        UnknownNameError: no such site or suite; names those there are.
        TaskError: the suite cannot be read.
    """
    if ALL in names and len(set(names)) > 1:
        others = " ".join(name for name in names if name != ALL)
        message = f"'all' and names together ({others}): which are meant?"
        raise UsageError(message, hint="say either `all` or the sites' names")
    if names and suite is not None:
        message = f"sites ({' '.join(names)}) and the suite {suite} together: which are meant?"
        raise UsageError(message, hint="give either the sites' names or a suite")
    if ALL in names:
        return atlas.select(())
    if names:
        return _named(atlas, names)
    wanted = suite or otherwise
    return atlas.select(()) if wanted is None else atlas.select(_sites_of(wanted))


def _named(atlas: Atlas, names: Sequence[str]) -> tuple[Site, ...]:
    from tasks.loader import suite_names

    for name in names:
        if name not in atlas.sites and name in suite_names():
            message = f"unknown site '{name}': it is a suite"
            hint = f"--suite {name}, in Python suite='{name}'"
            raise UnknownNameError(message, hint=hint)
    return atlas.select(names)


def _sites_of(suite: str) -> tuple[str, ...]:
    from tasks.loader import load_suite

    return tuple(sorted({name for task in load_suite(suite).tasks for name in task.sites}))
