"""`arena serve`: episodes over HTTP, for agents and trainers that run on this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.asynchronous import interrupts, run
from orchestrator.cli.console import Console
from orchestrator.cli.runs import options as of

app = typer.Typer()


@app.command()
def serve(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="On 127.0.0.1; 0 for a free one.")
    ] = 8642,
    workers: Annotated[
        int, typer.Option(min=1, help="How many episodes may run at the same time.")
    ] = 1,
    idle: Annotated[
        float,
        typer.Option(min=1, help="Close an episode after this many seconds without a request."),
    ] = 300.0,
    out: Annotated[
        Path | None,
        typer.Option(help="Write each episode as a run to this folder."),
    ] = None,
    staged: Annotated[
        bool, typer.Option("--staged", help="Stage the live origins on this machine.")
    ] = False,
    checkpoints: Annotated[
        bool,
        typer.Option(
            "--checkpoints",
            help="Let clients go back in episodes and fork them: for harnesses, not for agents.",
        ),
    ] = False,
    references: Annotated[
        bool,
        typer.Option(
            "--references",
            help="Let clients have the oracle play: for harnesses, not for agents.",
        ),
    ] = False,
    browser: of.Browser = None,
    browser_declared: of.BrowserDeclared = None,
    headed: of.Headed = False,
    memory: Annotated[
        str | None,
        typer.Option(
            help="Memory limit for all replicas, such as 4GiB; default: most of the memory."
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(help="Where to write the token; default: Arena's cache folder."),
    ] = None,
    socket: Annotated[
        Path | None,
        typer.Option(help="Also answer on this Unix socket, for containers that it is mounted in."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print URL and token file as one JSON document.")
    ] = False,
) -> None:
    """Serve episodes over HTTP, until Ctrl-C.

    Tasks, episodes, steps, finish and delete as JSON; /openapi.json describes them. Listens on
    127.0.0.1 only, and requires the token from the printed file (Authorization: Bearer TOKEN). An
    episode whose client is silent for --idle seconds is closed and not scored. Ctrl-C closes the
    episodes and removes the replicas. Clients bring their own models, which Arena cannot see: there
    is no budget here (--max-usd of arena eval), only what a client reports at the end.
    """
    from orchestrator.api.arena import Arena
    from orchestrator.cli.progress import show_event
    from orchestrator.serve.server import serve as serving

    console = Console(as_json)
    chosen = of.browser_entry(browser, browser_declared, headed=headed)

    async def served_until_interrupted() -> None:
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
                checkpoints=checkpoints,
                browser=chosen,
                token_path=token_file,
                socket_path=socket,
                references=references,
            ) as served,
            interrupts() as interrupted,
        ):
            if console.as_json:
                console.json({"url": served.url, "token_file": str(served.token_file)})
            else:
                console.line(
                    f"{served.url} serves {workers} episode{'s' * (workers > 1)} at a time"
                )
                console.line(f"token: {served.token_file}")
            sys.stdout.flush()  # whoever reads it through a pipe is not to wait for the end
            console.note("until Ctrl-C")
            await interrupted.wait()
            console.note("closing the episodes")

    run(served_until_interrupted())
