"""`arena compare`: compare runs on the tasks that they share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.arena import arena_for
from orchestrator.cli.console import Console

app = typer.Typer()


@app.command()
def compare(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUN...", help="Run folders; LABEL=RUN names an agent."),
    ],
    html: Annotated[
        Path | None,
        typer.Option(help="Write an HTML page and its episodes to this folder."),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(help="Write figures (SVG, PDF) and tables (LaTeX, Markdown) there."),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Also ask whether the worlds agree within it: 0.05 is 5 points."
        ),
    ] = None,
    alpha: Annotated[float, typer.Option(help="Significance level, after correction.")] = 0.05,
    seed: Annotated[int, typer.Option(help="Of the resampling.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Compare runs on the tasks that they share: agents in each world, and the two worlds.

    For a single run that was played in both worlds, compares its worlds. These questions were not
    registered before the runs were played, and each answer says so; `arena study` registers them.

    Example: arena compare careful=arena-runs/A hasty=arena-runs/B --html compared
    """
    from orchestrator.cli.analysis.terminal_study import show_study

    console = Console(as_json)
    arena = arena_for(console)
    found = arena.runs.compare(_labelled(runs), margin=margin, alpha=alpha, seed=seed)
    show_study(found.analysis, console)
    if figures is not None:
        written = arena.runs.write_figures(found.analysis, figures)
        console.note(f"figures and tables: {len(written)} files in {figures}")
    if html is not None:
        console.note(f"report: {arena.runs.write_comparison(found, html)}")


def _labelled(words: list[str]) -> list[Path | tuple[str, Path]]:
    """Return the runs; what is no path as it stands may be `LABEL=RUN`."""
    found: list[Path | tuple[str, Path]] = []
    for word in words:
        label, sign, path = word.partition("=")
        is_labelled = bool(sign and label.strip() and path) and not Path(word).exists()
        found.append((label.strip(), Path(path)) if is_labelled else Path(word))
    return found
