"""`arena tape`: record live sites, import archives, look at tapes, say which tasks they carry."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena_core.errors import UsageError
from orchestrator.cli.arena import arena_for
from orchestrator.cli.asynchronous import interrupts, run
from orchestrator.cli.console import Console
from orchestrator.cli.runs import options as of

if TYPE_CHECKING:
    from orchestrator import Fidelity
    from orchestrator.api.tapes import TapeSummary

app = typer.Typer(no_args_is_help=True)

Site = Annotated[str, typer.Argument(help="The site whose live origin is meant.")]
Tape = Annotated[Path, typer.Argument(metavar="TAPE", help="A WACZ file.")]
Out = Annotated[Path, typer.Option(help="The tape to write, a .wacz file that does not exist.")]
SHOWN_PAGES = 20


@app.command("record")
def record(
    site: Site,
    out: Out,
    tasks: of.Tasks = None,
    suite: of.Suite = "demo",
    agent: of.Agent = "oracle",
    staged: of.Staged = False,
    resolve: of.Resolve = None,
    ignore_robots: Annotated[
        bool,
        typer.Option("--ignore-robots", help="Also record what the site's robots.txt forbids."),
    ] = False,
    by_hand: Annotated[
        bool,
        typer.Option("--by-hand", help="Browse yourself, in a window, until Ctrl-C."),
    ] = False,
    as_json: of.AsJson = False,
) -> None:
    """Record a live site while an agent plays tasks there, or while you browse.

    Bodies come from the browser, and TLS is never intercepted. Cookies, authorisation, requests
    that carry a password, and what robots.txt forbids are left out.

    Example: arena tape record wiki 'wiki-*' --staged --out wiki.wacz
    """
    from orchestrator.browser.process.chromium import has_display

    console = Console(as_json)
    if by_hand and not has_display(os.environ):
        raise UsageError("--by-hand needs a display, and there is none")

    async def recorded() -> TapeSummary:
        async with arena_for(console) as arena, interrupts() as stop:
            return await arena.tapes.record(
                site,
                out,
                suite=suite,
                patterns=tuple(tasks or ()),
                agent=agent,
                staged=staged,
                resolve=tuple(resolve or ()),
                ignore_robots=ignore_robots,
                by_hand=by_hand,
                headless=not has_display(os.environ),
                stop=stop,
            )

    _show(run(recorded()), console)


@app.command("import")
def import_(
    archives: Annotated[
        list[Path], typer.Argument(metavar="ARCHIVE…", help=".warc, .warc.gz or .wacz files.")
    ],
    out: Out,
    as_json: of.AsJson = False,
) -> None:
    """Make a tape of archives by ArchiveWeb.page, Browsertrix, wget and others.

    Cookies and authorisation are left out.

    Example: arena tape import kettles.warc.gz --out kettles.wacz
    """
    console = Console(as_json)
    _show(arena_for(console).tapes.import_archives(archives, out), console)


@app.command("show")
def show(tape: Tape, as_json: of.AsJson = False) -> None:
    """Check a tape whole, and show what is on it."""
    console = Console(as_json)
    _show(arena_for(console).tapes.show(tape), console)


@app.command("verify")
def verify(
    site: Site,
    tape: Tape,
    tasks: of.Tasks = None,
    suite: of.Suite = "demo",
    as_json: of.AsJson = False,
) -> None:
    """Play the references of tasks on a tape, and say which it carries: its fidelity.

    What is found is kept beside the tape (TAPE.verified.json), and stands in the lock and report of
    every run on it.

    Example: arena tape verify wiki wiki.wacz 'wiki-*'
    """
    console = Console(as_json)

    async def verified() -> Fidelity:
        async with arena_for(console) as arena, interrupts() as stop:
            return await arena.tapes.verify(
                site, tape, suite=suite, patterns=tuple(tasks or ()), stop=stop
            )

    found = run(verified())
    if console.as_json:
        console.json({**found.model_dump(mode="json"), "share": found.share})
        return
    for task in found.played:
        console.line(f"{task}: plays")
    for task, why in found.failed.items():
        console.line(f"{task}: {why}")
    console.line(f"fidelity: {found.in_words}")


def _show(found: TapeSummary, console: Console) -> None:
    if console.as_json:
        console.json({**asdict(found), "path": str(found.path)})
        return
    console.line(f"{found.path}: {found.exchanges} answers, {len(found.pages)} pages")
    console.line(f"sha256 {found.sha256}")
    console.line(f"of {', '.join(found.origins)}")
    for line in found.robots:
        console.line(line)
    if found.passed_over:
        console.line(f"{found.passed_over} requests left out: robots.txt, or a secret in them")
    if found.lost:
        console.line(f"{found.lost} answers lost: not recorded whole, or kept in another archive")
    if found.packed:
        console.line(
            f"{found.packed} answers packed in br or zstd: for browsers that take it alone"
        )
    for page in found.pages[:SHOWN_PAGES]:
        console.line(f"  {page}")
    if len(found.pages) > SHOWN_PAGES:
        console.line(f"  and {len(found.pages) - SHOWN_PAGES} more")
