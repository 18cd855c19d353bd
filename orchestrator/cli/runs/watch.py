"""`arena watch`: a run or a study while it is played, on a local page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.arena import arena_for
from orchestrator.cli.asynchronous import interrupts
from orchestrator.cli.asynchronous import run as run_async
from orchestrator.cli.console import Console

app = typer.Typer()


@app.command()
def watch(
    run: Annotated[Path, typer.Argument(help="The folder of a run or a study.")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for a free one.")] = 0,
) -> None:
    """Show a run or a study while it is played, on a page for you alone.

    The page shows each episode under way with its last picture, its steps and
    checks, the queue, cost and time left, and opens those that ended. Its
    buttons do what arena ctl does. It is served on loopback, behind the token in
    the printed address, until Ctrl-C.

    Example: arena watch arena-runs/RUN
    """
    run_async(_watch(Console(), run, port))


async def _watch(console: Console, run: Path, port: int) -> None:
    async with arena_for(console).runs.watch(run, port=port) as url, interrupts() as pressed:
        console.line(f"watch: {url}")
        console.note("until Ctrl-C")
        sys.stdout.flush()  # whoever reads it through a pipe is not to wait for the end
        await pressed.wait()
