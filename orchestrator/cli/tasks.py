"""`arena tasks`: list, show and lint tasks."""

from __future__ import annotations

from typing import Annotated

import typer

from arena_core.errors import TaskError, UsageError
from orchestrator.cli.console import Column, Console

app = typer.Typer(no_args_is_help=True)

SuiteArgument = Annotated[
    str, typer.Argument(help="A suite's name, or the path of its file or folder.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


@app.command("list")
def list_tasks(suite: SuiteArgument = "demo", as_json: JsonOption = False) -> None:
    """List the tasks of a suite."""
    from sites.atlas import own_site_folders
    from tasks.loader import load_suite

    own_site_folders()  # a variable that names no folder is told here as everywhere
    loaded = load_suite(suite)
    Console(as_json).table(
        (
            Column("task"),
            Column("family"),
            Column("sites"),
            Column("worlds"),
            Column("template"),
            Column("intent"),
        ),
        [
            (
                task.id,
                task.family,
                " ".join(task.sites),
                " ".join(task.worlds),
                task.template or "",
                task.intent,
            )
            for task in loaded.tasks
        ],
        [task.model_dump(mode="json", include=_SHOWN) for task in loaded.tasks],
    )


@app.command("show")
def show_task(
    task: Annotated[str, typer.Argument(help="The task's id.")],
    suite: Annotated[str, typer.Option(help="The suite it is in.")] = "demo",
    as_json: JsonOption = False,
) -> None:
    """Show one task whole: intent, checks and reference actions."""
    import yaml

    from sites.atlas import own_site_folders
    from tasks.loader import load_suite
    from tasks.select import Selection, select_tasks

    console = Console(as_json)
    own_site_folders()
    found, *others = select_tasks(load_suite(suite), Selection(ids=(task,)))
    if others:
        names = ", ".join(one.id for one in (found, *others))
        message = f"'{task}' fits {len(others) + 1} tasks: {names}"
        raise UsageError(message, hint="name one of them")
    document = found.model_dump(mode="json", exclude_unset=True)
    if as_json:
        console.json(document)
    else:
        console.line(
            yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100).rstrip()
        )


@app.command("lint")
def lint(
    suite: SuiteArgument = "demo",
    prove_it: Annotated[
        bool,
        typer.Option(
            "--prove",
            help="Also play each reference: it must pass, and nothing less may (needs Docker).",
        ),
    ] = False,
    tasks: Annotated[
        list[str] | None, typer.Option("--task", help="Only these tasks (ids or patterns).")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, help="With --prove: references of a world played side by side; default: 2."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check a suite for mistakes; with --prove, play it: solvable, and by nothing less."""
    from orchestrator.cli.asynchronous import run
    from orchestrator.cli.known_sites import known_sites
    from orchestrator.cli.proof_run import prove
    from orchestrator.proof.tables import known_tables
    from tasks.lint import lint_suite
    from tasks.loader import load_source
    from tasks.select import Selection, select_tasks

    if workers is not None and not prove_it:
        message = "--workers has no effect without --prove: nothing is played"
        raise UsageError(message)
    console = Console(as_json)
    source, atlas = load_source(suite), known_sites()
    loaded = source.suite
    tables = run(known_tables(loaded.tasks, atlas))
    chosen = select_tasks(loaded, Selection(ids=tuple(tasks or ())))
    ids = {task.id for task in chosen}
    findings = [one for one in lint_suite(loaded, atlas, source, tables) if one.task in ids]
    if prove_it and not any(one.is_error for one in findings):
        findings += run(prove(source, chosen, atlas, console, workers or 2))
    console.table(
        (Column("severity"), Column("task"), Column("where"), Column("message")),
        [(one.severity, one.task, one.where, one.message) for one in findings],
        [
            {
                "severity": one.severity.value,
                "task": one.task,
                "where": one.where,
                "message": one.message,
            }
            for one in findings
        ],
    )
    wrong = sum(one.is_error for one in findings)
    if wrong:
        message = f"suite '{loaded.suite}': {wrong} of {len(findings)} findings are errors"
        raise TaskError(message)
    console.note(f"suite '{loaded.suite}': {len(chosen)} tasks, no errors")


_SHOWN = {"id", "family", "intent", "sites", "worlds", "roles", "template"}
