"""`arena node`: one of several machines: is it ready, and like the others?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.arena import in_arena, in_live_arena
from orchestrator.cli.console import Column, Console

if TYPE_CHECKING:
    from orchestrator.runs.node_facts import NodeCheck
    from orchestrator.runs.store.lock import NodeClock

app = typer.Typer(no_args_is_help=True)
_DIGEST_WIDTH = 19  # "sha256:" and twelve digits

Names = Annotated[
    list[str] | None,
    typer.Argument(help="Sites, or `all`; default: all, or those that --like has."),
]
OfSuite = Annotated[str | None, typer.Option(help="The sites that this suite's tasks use.")]
Staged = Annotated[bool, typer.Option("--staged", help="Also the sites' staged live origins.")]
Like = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="What `--write` wrote on another node, or a run's folder: refuse other images.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


@app.command()
def check(
    sites: Names = None,
    suite: OfSuite = None,
    staged: Staged = False,
    like: Like = None,
    write: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write this node's facts, if it is ready.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check that this node can play: engine, Chromium, and the sites' images by digest.

    With --like, images and golden states must be those of another node, or of a run; each
    difference is one line, and the exit code is 14. Other versions or hardware are said only:
    `arena merge` takes them with --allow.

    Example: arena node check --suite demo --write node.json
    """
    console = Console(as_json)
    found = in_arena(
        console,
        lambda arena: arena.nodes.check(
            sites or (), suite=suite, staged=staged, like=like, write=write
        ),
    )
    _show(console, found)
    found.require_good()
    if write is not None:
        console.note(f"written: {write}")


@app.command()
def prepare(
    sites: Names = None,
    suite: OfSuite = None,
    staged: Staged = False,
    images: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Load from this file of `arena images save`, or folder of such."
        ),
    ] = None,
    like: Like = None,
    as_json: AsJson = False,
) -> None:
    """Bring the images that this node lacks: loaded from a file, else built or pulled.

    An image built here has another digest than one built elsewhere: nodes of one run load one
    file. Then checks the node as `arena node check` does.

    Example: arena node prepare --images demo.tar --like node.json
    """
    console = Console(as_json)
    found = in_live_arena(
        console,
        lambda arena: arena.nodes.prepare(
            sites or (), suite=suite, staged=staged, images=images, like=like
        ),
    )
    _show(console, found)
    found.require_good()


@app.command()
def down(
    as_json: Annotated[bool, typer.Option("--json", help="Print the names as JSON.")] = False,
) -> None:
    """Remove every container, volume and network of Arena here, and make sure none is left.

    This ends runs that are under way on this engine. Images and run folders stay.
    """
    console = Console(as_json)
    removed = in_arena(console, lambda arena: arena.nodes.down())
    if as_json:
        console.json({"removed": list(removed)})
        return
    for name in removed:
        console.line(f"removed {name}")
    console.line("nothing of Arena runs on this engine")


def _show(console: Console, found: NodeCheck) -> None:
    facts = found.facts
    if console.as_json:
        console.json(
            {
                "good": found.is_good,
                "facts": facts.model_dump(mode="json"),
                "faults": [
                    {"image": one.image, "why": one.why, "hint": one.hint} for one in found.faults
                ],
                "differences": [
                    {"what": one.what, "here": one.here, "there": one.there, "allow": one.allow}
                    for one in found.differences
                ],
                "clock_there": None
                if found.clock_there is None
                else found.clock_there.model_dump(mode="json"),
            }
        )
        return
    state = dict.fromkeys(facts.images, "ready")
    state |= {one.image: "differs" for one in found.refused if one.image in state}
    state |= {one.image: one.why for one in found.faults}
    rows = [
        (tag, facts.images[tag].id[:_DIGEST_WIDTH] if tag in facts.images else "", state[tag])
        for tag in sorted(state)
    ]
    console.table((Column("image"), Column("digest"), Column("state")), rows, None)
    console.line(
        f"{facts.node}: engine {facts.engine.version} ({facts.engine.storage}), Chromium"
        f" {facts.browser}, {facts.host.cpus} cores, {facts.host.memory_mb} MB,"
        f" {facts.host.platform}"
    )
    console.line(f"clock: {_clock(facts.clock)}")
    if found.clock_there is not None and found.clock_there != facts.clock:
        console.line(f"clock of {found.like}: {_clock(found.clock_there)}")
    for one in found.refused:
        console.line(f"differs: {one}")
    for one in found.differences:
        if one.allow is not None:
            console.note(f"differs, and arena merge wants --allow {one.allow}: {one}")


def _clock(clock: NodeClock) -> str:
    words = {True: "synchronised", False: "not synchronised", None: "unknown to be synchronised"}
    ahead = clock.engine_ahead_s
    engine = "" if ahead is None else f"; the engine's is {ahead:+g} s off"
    return f"{words[clock.synchronised]}{engine if ahead else ''}"
