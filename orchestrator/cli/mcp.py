"""`arena mcp`: one episode as an MCP server, for clients such as coding agents."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.asynchronous import interrupts, run
from orchestrator.cli.console import Console, Json

if TYPE_CHECKING:
    from orchestrator.serving.host import EpisodeHost, HostedEpisode
    from orchestrator.serving.results import EpisodeResult

app = typer.Typer()


@app.command()
def mcp(
    task: Annotated[str, typer.Option(help="What is played: SUITE/TASK.")],
    world: Annotated[str, typer.Option(help="offline or online.")] = "offline",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="On 127.0.0.1; 0 for a free one.")
    ] = 0,
    idle: Annotated[
        float, typer.Option(min=1, help="Give up on a client that is silent for so many seconds.")
    ] = 300.0,
    out: Annotated[
        Path | None, typer.Option(help="Folder in which the evidence becomes a run of one.")
    ] = None,
    staged: Annotated[
        bool, typer.Option("--staged", help="Online, live origins are staged on this machine.")
    ] = False,
) -> None:
    """Serve one episode to an MCP client, until it is over or Ctrl-C.

    Prints the client's configuration as JSON ({"mcpServers": ...}), with URL and
    token. The tools are named and shaped as those of Playwright MCP
    (browser_navigate, browser_snapshot, browser_click, ...); submit_answer ends
    the episode. What it is worth is shown at the end, on stderr.
    """
    run(_mcp(Console(), task, world, port, idle, out, staged=staged))


async def _mcp(
    console: Console,
    task: str,
    world: str,
    port: int,
    idle: float,
    out: Path | None,
    *,
    staged: bool,
) -> None:
    from orchestrator.api.arena import Arena
    from orchestrator.api.arguments import read_world
    from orchestrator.cli.progress import show_event
    from orchestrator.serving.requests import MCP_OBSERVED, CreateEpisode
    from orchestrator.serving.server import serve

    asked = CreateEpisode(task=task, world=read_world(world), observe=MCP_OBSERVED, agent="mcp")
    async with (
        Arena(on_event=lambda event: show_event(event, console)) as arena,
        serve(arena, slots=1, port=port, idle_s=idle, out=out, staged=staged) as served,
        interrupts() as interrupted,
    ):
        hosted = await served.host.begin(asked)
        url = f"{served.url}/episodes/{hosted.id}/mcp"
        headers = {"Authorization": f"Bearer {served.token}"}
        server: Json = {"type": "http", "url": url, "headers": headers}
        console.json({"mcpServers": {"arena": server}})
        sys.stdout.flush()  # whoever reads it through a pipe is not to wait for the end
        console.note("until the episode is over, or Ctrl-C")
        result = await _end_of(served.host, hosted, interrupted)
        if result is not None:
            console.note(f"{result.outcome}: {result.because}")
            if result.folder:
                console.note(f"evidence: {result.folder}")


async def _end_of(
    host: EpisodeHost, hosted: HostedEpisode, interrupted: asyncio.Event
) -> EpisodeResult | None:
    """Wait for the end of an episode, or for Ctrl-C; None then."""
    pressed = asyncio.create_task(interrupted.wait())
    ended = asyncio.create_task(host.ended(hosted))
    await asyncio.wait([pressed, ended], return_when=asyncio.FIRST_COMPLETED)
    pressed.cancel()
    ended.cancel()
    return hosted.session.result
