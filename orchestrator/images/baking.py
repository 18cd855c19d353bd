"""Baking: commands that give an image of somebody else's its host name and its settings."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Final

from arena_core.errors import EngineError, ImageError, SiteGoneError
from orchestrator.engine.containers import Container, Executed
from orchestrator.engine.engine import Engine
from sites.manifest import BakeStep, Site

_AGAIN_S: Final = 1.0  # what a step waits for says nothing when it is there
_LAST_LINES: Final = 10


async def bake(
    engine: Engine, site: Site, container: Container, on_line: Callable[[str], None]
) -> None:
    """Run the manifest's `bake` in a started container, each command until it succeeds.

    Raises:
        ImageError: a command did not succeed in its time, or the container ended; with what it
            wrote last.
    """
    for number, step in enumerate(site.bake, start=1):
        words = [word.replace("{host}", site.host) for word in step.run]
        on_line(f"bake: {number} of {len(site.bake)}: {' '.join(words)[:80]}")
        await _until_done(engine, site, container, words, step)


async def _until_done(
    engine: Engine, site: Site, container: Container, words: Sequence[str], step: BakeStep
) -> None:
    ends = time.monotonic() + step.timeout_s
    last = "nothing"
    while (left := ends - time.monotonic()) > 0:
        try:
            done = await engine.execute(container.id, words, timeout_s=left)
        except SiteGoneError as gone:
            said = await engine.logs(container.id, tail=_LAST_LINES)
            message = f"site '{site.name}': the container ended while it was baked: {said.strip()}"
            raise ImageError(message, hint="see `container` in its site.yaml") from gone
        except EngineError as slow:
            last = slow.message
            continue
        if done.exit_code == 0:
            return
        last = f"exit code {done.exit_code}: {_tail(done)}"
        await asyncio.sleep(min(_AGAIN_S, max(0.0, ends - time.monotonic())))
    message = (
        f"site '{site.name}': `{' '.join(words)[:200]}` did not succeed in {step.timeout_s:g} s"
    )
    message = f"{message}; last: {last}"
    raise ImageError(message, hint="correct `bake` in its site.yaml")


def _tail(done: Executed) -> str:
    written = (done.stdout + done.stderr).decode(errors="replace").split("\n")
    return " | ".join(line.strip() for line in written if line.strip())[-400:] or "no output"
