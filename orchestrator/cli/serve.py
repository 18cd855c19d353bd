"""`arena serve`: episodes over HTTP, for agents and trainers that run on this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.asynchronous import interrupts, run
from orchestrator.cli.console import Console

app = typer.Typer()


@app.command()
def serve(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="On 127.0.0.1; 0 for a free one.")
    ] = 8642,
    workers: Annotated[
        int, typer.Option(min=1, help="Slots: how many episodes may be played side by side.")
    ] = 1,
    idle: Annotated[
        float,
        typer.Option(min=1, help="Take an episode back that had no request for so many seconds."),
    ] = 300.0,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the evidence: each episode becomes a run of one there."),
    ] = None,
    staged: Annotated[
        bool, typer.Option("--staged", help="Online, live origins are staged on this machine.")
    ] = False,
    memory: Annotated[
        str | None, typer.Option(help="Budget for all replicas, such as 4GiB; default: most of it.")
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(help="Where the token is written; default: in Arena's cache folder."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print URL and token file as one JSON document.")
    ] = False,
) -> None:
    """Serve episodes over HTTP, until Ctrl-C.

    Tasks, episodes, steps, finish and delete as JSON; /openapi.json describes
    them. It listens on 127.0.0.1 alone, and answers who sends the token of the
    printed file (Authorization: Bearer TOKEN). An episode whose client is gone
    is taken back after --idle seconds, and counts for nothing. At Ctrl-C the
    episodes are closed, and the replicas are gone. Clients bring models of their
    own, which Arena does not see: there is no budget here as of arena eval
    (--max-usd), only what a client says at the end that it spent.
    """
    run(_serve(Console(as_json), port, workers, idle, out, memory, token_file, staged=staged))


async def _serve(
    console: Console,
    port: int,
    workers: int,
    idle: float,
    out: Path | None,
    memory: str | None,
    token_file: Path | None,
    *,
    staged: bool,
) -> None:
    from orchestrator.api.arena import Arena
    from orchestrator.cli.progress import show_event
    from orchestrator.serving.server import serve as serving

    async with (
        Arena(
            workers=workers, memory=memory, on_event=lambda event: show_event(event, console)
        ) as arena,
        serving(
            arena,
            slots=workers,
            port=port,
            idle_s=idle,
            out=out,
            staged=staged,
            token_path=token_file,
        ) as served,
        interrupts() as interrupted,
    ):
        if console.as_json:
            console.json({"url": served.url, "token_file": str(served.token_file)})
        else:
            console.line(f"{served.url} serves {workers} episode{'s' * (workers > 1)} at a time")
            console.line(f"token: {served.token_file}")
        sys.stdout.flush()  # whoever reads it through a pipe is not to wait for the end
        console.note("until Ctrl-C")
        await interrupted.wait()
        console.note("closing the episodes")
