"""`arena open`: a page of a running site, or the world of a checkpoint, for a person."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from arena_core.errors import StateError, UsageError
from orchestrator.cli.arena import arena_for, in_arena
from orchestrator.cli.asynchronous import interrupts, run
from orchestrator.cli.console import Console

if TYPE_CHECKING:
    from orchestrator import Checkpoint

app = typer.Typer()

_DIGEST_WIDTH = 12


@app.command("open")
def open_site(
    site: Annotated[
        str,
        typer.Argument(
            metavar="SITE|FILE",
            help="The site, which must be up, a logical URL such as shop:/, or the file of a"
            " checkpoint.",
        ),
    ],
    path: Annotated[
        str | None, typer.Argument(help="A path of the site, for example /basket/; default: /.")
    ] = None,
    slot: Annotated[int, typer.Option(min=0, help="The slot, if `arena up` started several.")] = 0,
    only_print: Annotated[
        bool, typer.Option("--print", help="Print the URL, or what the file holds; open nothing.")
    ] = False,
    suite: Annotated[
        str | None,
        typer.Option(help="The suite of a checkpoint's task, if its name is not enough: a file."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what the file holds as JSON; open nothing.")
    ] = False,
) -> None:
    """Open a page of a running site in your own browser, or the world of a checkpoint.

    The URL is on 127.0.0.1 with the replica's port. Links, forms and logins work there as they do
    under the site's own host. All sites on 127.0.0.1 share one cookie jar in your browser, and
    links from one site to another do not work: `arena browse` gives each site its own name.

    With a FILE that `save_checkpoint` wrote, Arena starts replicas in the saved states, proves
    them, and opens the pages at that step in a browser window, until Ctrl-C; nothing stays behind.
    It refuses a file that is damaged or of other images.
    """
    console = Console(as_json)
    if _is_file(site):
        if path is not None or slot:
            raise UsageError(f"a path or slot has no effect beside the file {site}")
        _open_file(console, site, suite, only_print=only_print or as_json)
        return
    if suite is not None or as_json:
        raise UsageError("--suite and --json are for the file of a checkpoint")
    if ":" in site and path is not None:
        message = f"'{site}' names a page already, and '{path}' another one"
        raise UsageError(message, hint="give SITE PATH, or SITE:/PATH")
    import webbrowser

    url = in_arena(console, lambda arena: arena.sites.url(site, path or "/", slot=slot))
    console.line(url)
    if not only_print and not webbrowser.open(url):
        console.note("no browser could be opened here: use the URL above")


def _is_file(name: str) -> bool:
    """Whether a name cannot be a site's, nor a logical URL."""
    return name.endswith(".arena-checkpoint") or not {".", "/"}.isdisjoint(name.partition(":")[0])


def _open_file(console: Console, file: str, suite: str | None, *, only_print: bool) -> None:
    from orchestrator import load_checkpoint

    mark = load_checkpoint(file)
    _show(console, mark)
    if not only_print:
        run(_open_world(console, mark, suite or mark.suite))


async def _open_world(console: Console, mark: Checkpoint, suite: str) -> None:
    from orchestrator.browser.process.chromium import has_display

    headless = not has_display(os.environ)
    async with (
        arena_for(console) as arena,
        arena.episode(
            f"{suite}/{mark.task}", world=mark.world, checkpoint=mark, headless=headless
        ) as episode,
    ):
        seen = await episode.reset()
        if episode.is_over:
            fault = episode.evidence().fault
            why = "its episode is over" if fault is None else fault.message
            raise StateError(f"the world of '{mark.name}' does not come back: {why}")
        console.line(f"open: {_plain(seen.url)}")
        sys.stdout.flush()  # whoever reads it through a pipe is not to wait for the end
        if headless:
            console.note("no window can be shown here: the pages are open in a headless browser")
        console.note("until Ctrl-C")
        async with interrupts() as interrupted:
            await interrupted.wait()


def _show(console: Console, mark: Checkpoint) -> None:
    task = f"{mark.suite}/{mark.task}"
    states = {name: mark.sites[name].digest if name in mark.sites else None for name in mark.images}
    if console.as_json:
        sites = {
            name: {"state": state, "image_id": mark.images[name]} for name, state in states.items()
        }
        tabs = [asdict(tab) for tab in mark.seen.tabs]
        told = {"checkpoint": mark.name, "task": task, "world": str(mark.world), "root": mark.root}
        console.json({**told, "step": mark.step, "sites": sites, "tabs": tabs})
        return
    console.line(_plain(f"checkpoint '{mark.name}' of {task}, {mark.world}"))
    console.line(f"after step {mark.step} of the episode {mark.root}")
    for name, state in states.items():
        image = mark.images[name].removeprefix("sha256:")[:_DIGEST_WIDTH]
        console.line(f"{name}: state {(state or 'golden')[:_DIGEST_WIDTH]}, image {image}")
    for tab in mark.seen.tabs:
        current = " (current)" if tab.is_current else ""
        console.line(_plain(f'tab {tab.index}: {tab.url} "{tab.title}"{current}'))


def _plain(text: str) -> str:
    """Return what a file says without what would steer a terminal."""
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text)
