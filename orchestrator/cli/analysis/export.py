"""`arena export`: write runs for other programs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from arena_core.errors import UsageError
from arena_core.names import counted
from orchestrator.cli.arena import arena_for
from orchestrator.cli.console import Console, Json

if TYPE_CHECKING:
    from orchestrator.analysis.run_report.extension_points import LeftOut
    from orchestrator.export.exporting import Exported

app = typer.Typer()

_DEFAULT: Final = "jsonl"
_NAMED: Final = 3


@app.command()
def export(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="FORM RUN...",
            help="An exporter (arena plugins lists them), and folders of runs or studies.",
        ),
    ],
    form: Annotated[
        str | None, typer.Option("--as", help="The exporter, where it is not the first word.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The file or folder; default: in the folder of the one run or study."),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(help="key=value, an option of the exporter; repeat for more."),
    ] = None,
    split: Annotated[
        Path | None,
        typer.Option(help="Of training data: a file whose test tasks are kept out; option split."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Write runs or studies for other programs: tables, logs, packs, training data.

    Prints how many episodes were written, and which were left out and why. Passwords, keys and what
    was typed into password fields are redacted; pictures are not searched.

    Example: arena export parquet arena-runs/A arena-runs/B --out tables
    """
    from orchestrator.agents.options import parse_options

    console = Console(as_json)
    chosen, runs = _read(words, form)
    options = parse_options(option or (), "--option")
    if split is not None:
        if "split" in options:
            raise UsageError("--split and --option split name two splits")
        options["split"] = str(split)
    written = arena_for(console).runs.export(
        [Path(run) for run in runs], chosen, out, options=options
    )
    if as_json:
        console.json(_document(written))
    else:
        console.line(str(written.path))
    for line in (*written.notes, *_left_out(written.left_out)):
        console.warn(line)
    wrote = f"{counted(written.episodes, 'episode')} of {counted(written.runs, 'run')} written"
    console.note(f"{wrote} as {written.form}, {len(written.left_out)} left out")


def _read(words: Sequence[str], form: str | None) -> tuple[str, Sequence[str]]:
    """Tell the exporter from the runs."""
    from orchestrator.analysis.run_report.extension_points import EXPORTERS

    if form is not None:
        return form, words
    first, *rest = words
    if first not in EXPORTERS.names() and Path(first).is_dir():
        return _DEFAULT, words
    EXPORTERS.find(first)
    if not rest:
        raise UsageError(f"arena export {first}: of which run?", hint=f"arena export {first} RUN")
    return first, rest


def _left_out(left_out: Sequence[LeftOut]) -> Iterable[str]:
    """Say what was left out, one line a reason."""
    by_reason: defaultdict[str, list[str]] = defaultdict(list)
    for one in left_out:
        by_reason[one.why].append(f"{one.run.name}/{one.what}")
    for why, found in by_reason.items():
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        yield f"left out: {', '.join(found[:_NAMED])}{more}: {why}"


def _document(written: Exported) -> Json:
    return {
        "form": written.form,
        "path": str(written.path),
        "runs": written.runs,
        "episodes": written.episodes,
        "left_out": [
            {"run": str(one.run), "what": one.what, "why": one.why} for one in written.left_out
        ],
        "notes": list(written.notes),
    }
