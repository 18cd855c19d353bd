"""Playing a suite to prove it, from the command line."""

from __future__ import annotations

from orchestrator.cli.console import Console
from orchestrator.cli.progress import as_line
from orchestrator.engine.engine import Engine
from orchestrator.linting.proof import prove_suite
from sites.atlas import Atlas
from tasks.findings import Finding
from tasks.schema import Suite, Task


async def prove(
    suite: Suite, tasks: tuple[Task, ...], atlas: Atlas, console: Console
) -> tuple[Finding, ...]:
    """Play tasks with the oracle and with idle, and return what that showed to be wrong."""
    engine = await Engine.connect()
    try:
        return await prove_suite(
            suite, tasks, atlas, engine, lambda event: console.note(as_line(event))
        )
    finally:
        await engine.close()
