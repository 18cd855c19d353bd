"""The way from a command to the Python API: an Arena that is open for one piece of work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from orchestrator.cli.asynchronous import run
from orchestrator.cli.console import Console

if TYPE_CHECKING:
    from orchestrator.api.arena import Arena

Result = TypeVar("Result")


def arena_for(console: Console) -> Arena:
    """Return an Arena whose progress is lines on a console."""
    from orchestrator.api.arena import Arena
    from orchestrator.cli.progress import show_event

    return Arena(on_event=lambda event: show_event(event, console))


def in_arena(console: Console, work: Callable[[Arena], Awaitable[Result]]) -> Result:
    """Do what needs an open Arena; its progress is lines on the console."""

    async def done() -> Result:
        async with arena_for(console) as arena:
            return await work(arena)

    return run(done())


def in_live_arena(
    console: Console,
    work: Callable[[Arena], Awaitable[Result]],
    sites: Sequence[Path] | None = None,
) -> Result:
    """Do what takes long in an open Arena: a terminal has a live display; `sites` as of `Arena`."""
    from orchestrator.api.arena import Arena
    from orchestrator.cli.live import progress_on

    async def done() -> Result:
        with progress_on(console) as on_event:
            async with Arena(sites=sites, on_event=on_event) as arena:
                return await work(arena)

    return run(done())
