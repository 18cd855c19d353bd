"""Playing a suite to prove it, from the command line."""

from __future__ import annotations

from orchestrator.cli.console import Console
from orchestrator.cli.progress import as_line
from orchestrator.engine.engine import Engine
from orchestrator.proof.prover import Prover
from sites.atlas import Atlas
from tasks.findings import Finding
from tasks.schema import Task
from tasks.sources import SuiteSource


async def prove(
    source: SuiteSource, tasks: tuple[Task, ...], atlas: Atlas, console: Console, workers: int
) -> tuple[Finding, ...]:
    """Play the references of tasks, and return what that showed to be wrong."""
    engine = await Engine.connect()
    try:
        prover = Prover(
            atlas=atlas,
            engine=engine,
            on_event=lambda event: console.note(as_line(event)),
            workers=workers,
        )
        return await prover.prove(source, tasks)
    finally:
        await engine.close()
