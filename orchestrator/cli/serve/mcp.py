"""`arena mcp`: one episode as an MCP server, for clients such as coding agents."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_core.errors import UsageError
from orchestrator.cli.asynchronous import interrupts, run
from orchestrator.cli.console import Console, Json
from orchestrator.cli.runs import options as of

if TYPE_CHECKING:
    from orchestrator.serve.messages import CreateEpisode
    from orchestrator.serve.results import EpisodeResult

app = typer.Typer()


@app.command()
def mcp(
    task: Annotated[str, typer.Option(help="The task to play: SUITE/TASK.")],
    world: Annotated[str, typer.Option(help="offline or online.")] = "offline",
    stdio: Annotated[
        bool,
        typer.Option("--stdio", help="Serve the client that started this command, over its pipes."),
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="On 127.0.0.1; default: a free one."),
    ] = None,
    idle: Annotated[
        float | None,
        typer.Option(
            min=1,
            help="Give up on a client that is silent for so many seconds; default: 300, and never"
            " with --stdio.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the episode as a run to this folder.")
    ] = None,
    staged: Annotated[
        bool, typer.Option("--staged", help="Stage the live origins on this machine.")
    ] = False,
    browser: of.Browser = None,
    browser_declared: of.BrowserDeclared = None,
    headed: of.Headed = False,
) -> None:
    """Serve one episode to an MCP client, until it is over or Ctrl-C.

    Prints the client's configuration as JSON ({"mcpServers": ...}), with URL and token. The tools
    have the names and shapes of Playwright MCP's (browser_navigate, browser_snapshot,
    browser_click, ...); submit_answer ends the episode. The score is shown at the end, on stderr.
    The client brings its own model: Arena neither measures nor limits its spending.

    With --stdio, a client starts this command itself ({"command": "arena", "args": ["mcp",
    "--task", ..., "--stdio"]}): no port, no token, and Arena notices at once when the client exits.
    """
    if stdio and port is not None:
        raise UsageError("--port has no effect with --stdio: nothing listens")
    named = of.browser_entry(browser, browser_declared, headed=headed)
    played = _Played(task=task, world=world, out=out, staged=staged, browser=named)
    if stdio:
        run(_by_pipes(Console(), played, inf if idle is None else idle))
    else:
        run(_by_http(Console(), played, port or 0, 300.0 if idle is None else idle))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Played:
    """What is played, and where its evidence goes."""

    task: str
    world: str
    out: Path | None
    staged: bool
    browser: Mapping[str, str] | str | None

    @property
    def asked(self) -> CreateEpisode:
        from arena_core.worlds import read_world
        from orchestrator.serve.messages import MCP_OBSERVED, CreateEpisode

        world = read_world(self.world)
        return CreateEpisode(task=self.task, world=world, observe=MCP_OBSERVED, agent="mcp")


async def _by_pipes(console: Console, played: _Played, idle: float) -> None:
    from orchestrator.api.arena import Arena
    from orchestrator.cli.progress import show_event
    from orchestrator.serve.host import EpisodeHost
    from orchestrator.serve.mcp_server import serve_stdio

    async with (
        Arena(on_event=lambda event: show_event(event, console)) as arena,
        interrupts() as interrupted,
    ):
        host = EpisodeHost(
            arena,
            slots=1,
            idle_s=idle,
            out=played.out,
            staged=played.staged,
            browser=played.browser,
        )
        try:
            hosted = await host.begin(played.asked)
            console.note("until the client is gone")
            await _first_of(serve_stdio(host, hosted), interrupted.wait())
        finally:
            await host.close()
        _show(console, hosted.session.result)


async def _by_http(console: Console, played: _Played, port: int, idle: float) -> None:
    from orchestrator.api.arena import Arena
    from orchestrator.cli.progress import show_event
    from orchestrator.serve.server import serve

    async with (
        Arena(on_event=lambda event: show_event(event, console)) as arena,
        serve(
            arena,
            slots=1,
            port=port,
            idle_s=idle,
            out=played.out,
            staged=played.staged,
            browser=played.browser,
        ) as served,
        interrupts() as interrupted,
    ):
        hosted = await served.host.begin(played.asked)
        url = f"{served.url}/episodes/{hosted.id}/mcp"
        headers = {"Authorization": f"Bearer {served.token}"}
        server: Json = {"type": "http", "url": url, "headers": headers}
        console.json({"mcpServers": {"arena": server}})
        sys.stdout.flush()  # whoever reads it through a pipe is not to wait for the end
        console.note("until the episode is over, or Ctrl-C")
        await _first_of(served.host.ended(hosted), interrupted.wait())
        _show(console, hosted.session.result)


async def _first_of(*works: Coroutine[Any, Any, object]) -> None:
    """Wait until one of them is done, break the others off, and raise what it raised."""
    tasks = [asyncio.create_task(one) for one in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for one in done:
            one.result()
    finally:
        for one in tasks:
            one.cancel()
        await asyncio.wait(tasks)


def _show(console: Console, result: EpisodeResult | None) -> None:
    if result is not None:
        console.note(f"{result.outcome}: {result.because}")
        if result.folder:
            console.note(f"evidence: {result.folder}")
