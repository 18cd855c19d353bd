"""`arena tasks`: list, show, write and lint tasks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena_core.errors import TaskError, UsageError
from arena_core.names import counted
from orchestrator.cli.arena import arena_for, in_live_arena
from orchestrator.cli.console import Column, Console
from orchestrator.cli.runs import options as of
from orchestrator.cli.tasks.attack import attack

if TYPE_CHECKING:
    from orchestrator.analysis.stats.difficulty import FittedDifficulty
    from orchestrator.api.suites import LintReport

app = typer.Typer(no_args_is_help=True)
app.command("attack")(attack)

SuiteArgument = Annotated[
    str, typer.Argument(help="A suite's name, or the path of its file or folder.")
]
TaskOption = Annotated[
    list[str] | None, typer.Option("--task", help="Only these tasks (ids or patterns).")
]


@app.command("list")
def list_tasks(
    suite: Annotated[
        str | None,
        typer.Argument(help="A suite's name, or the path of its file or folder; default: demo."),
    ] = None,
    named: Annotated[
        str | None,
        typer.Option("--suite", help="The same, spelled as in other commands."),
    ] = None,
    as_json: of.AsJson = False,
) -> None:
    """List the tasks of a suite."""
    if suite is not None and named is not None:
        message = f"two suites are named: {suite} and --suite {named}"
        raise UsageError(message, hint="name one of them")
    console = Console(as_json)
    found = arena_for(console).suites.tasks(suite or named or "demo")
    console.table(
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
            for task in found
        ],
        [task.model_dump(mode="json", include=_SHOWN) for task in found],
    )


@app.command("show")
def show_task(
    task: Annotated[str, typer.Argument(help="The task's id.")],
    suite: Annotated[str, typer.Option(help="The suite it is in.")] = "demo",
    as_json: of.AsJson = False,
) -> None:
    """Show one task whole: intent, checks and reference actions."""
    import yaml

    console = Console(as_json)
    found = arena_for(console).suites.task(f"{suite}/{task}")
    document = found.model_dump(mode="json", exclude_unset=True)
    if as_json:
        console.json(document)
    else:
        console.line(
            yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100).rstrip()
        )


@app.command("new")
def new_suite(
    file: Annotated[Path, typer.Argument(help="The new file, for example my-suite.yaml.")],
) -> None:
    """Write a suite of your own: a header and one task for you to change.

    It passes `arena tasks lint --prove` as it is (run `arena build wiki` first). Its comments say
    what each part is for.

    Example: arena tasks new my-suite.yaml
    """
    console = Console()
    written = arena_for(console).suites.new(file)
    console.line(str(written))
    console.note(f"next: arena tasks lint {written} --prove")


@app.command("lint")
def lint(
    suite: SuiteArgument = "demo",
    prove_it: Annotated[
        bool,
        typer.Option(
            "--prove",
            help="Also play each reference: it must pass, and less must fail (needs Docker).",
        ),
    ] = False,
    tasks: TaskOption = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="With --prove: how many references to play in parallel in each world; default: 2.",
        ),
    ] = None,
    vary: of.Vary = None,
    unproved: Annotated[
        bool,
        typer.Option(
            "--unproved",
            help="Also name the tasks of which a proof shows less than it could.",
        ),
    ] = False,
    as_json: of.AsJson = False,
) -> None:
    """Check a suite for mistakes; with --prove, play it: only full solutions may pass.

    Counts the tasks without a reference (which cannot be proved), without a second right path,
    without a written detour, or impossible without a `requires`; --json and --unproved name them.

    Example: arena tasks lint my-suite.yaml --prove --task 'shop-*'
    """
    console = Console(as_json)
    report = in_live_arena(
        console,
        lambda arena: arena.suites.lint(
            suite, tasks or (), prove=prove_it, workers=workers, vary=vary or ()
        ),
    )
    findings = report.findings
    named = (*findings, *report.notes) if as_json or unproved else findings
    console.table(
        (Column("severity"), Column("task"), Column("where"), Column("message")),
        [(one.severity, one.task, one.where, one.message) for one in named],
        [
            {
                "severity": one.severity.value,
                "task": one.task,
                "where": one.where,
                "message": one.message,
            }
            for one in named
        ],
    )
    for line in _unproved(report):
        console.note(f"suite '{report.suite}': {line}")
    if report.errors:
        verb = "is an error" if len(report.errors) == 1 else "are errors"
        count = f"{len(report.errors)} of {counted(len(findings), 'finding')} {verb}"
        raise TaskError(f"suite '{report.suite}': {count}")
    arm = f" in the arm {report.arm} (that nothing less passes is proven without --vary)"
    told = f"{counted(len(report.tasks), 'task')}, no errors{arm if report.arm else ''}"
    console.note(f"suite '{report.suite}': {told}")


@app.command("repair")
def repair(
    suite: SuiteArgument,
    tasks: TaskOption = None,
    origins: Annotated[
        str, typer.Option(help="What the canary looked at: live, staged, resolved or replica.")
    ] = "live",
    accept: Annotated[
        bool, typer.Option("--accept", help="Write what is proposed into the suite's files.")
    ] = False,
    as_json: of.AsJson = False,
) -> None:
    """Propose new names and values for tasks that `arena canary` found drifted, as a diff.

    Nothing is changed without --accept. With it, the revision of each changed task and the
    version of the suite go up by one.

    Example: arena tasks repair my-suite.yaml --task 'shop-*' --accept
    """
    console = Console(as_json)
    found = arena_for(console).suites.repair(suite, tasks or (), origins=origins, accept=accept)
    if as_json:
        console.json(found.document())
    else:
        for line in found.diff.splitlines():
            console.line(line)
    for one in found.by_hand:
        console.note(f"by hand: {one.task}: {one.by_hand} ({one.because})")
    if found.is_written:
        console.note(f"{counted(len(found.proposed), 'task')} changed; next: arena canary {suite}")
    elif found.proposed:
        console.note("nothing was changed; --accept writes this")
    else:
        console.note("nothing to propose")


@app.command("instantiate")
def instantiate(
    suite: SuiteArgument,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Draws other tasks.")],
    out: Annotated[
        Path | None, typer.Option(help="The suite to write; default: SUITE-sSEED.yaml.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Worlds that are asked in parallel; default: 2.")
    ] = None,
    as_json: of.AsJson = False,
) -> None:
    """Write out the tasks that a seed draws from a suite's templates.

    A check whose value is {computed} gets what its `computed` finds once the task's world is set
    up (this needs Docker and Chromium).

    Example: arena tasks instantiate my-suite.yaml --seed 7
    """
    console = Console(as_json)
    written = out or Path(f"{Path(suite).stem}-s{seed}.yaml")
    found = in_live_arena(
        console,
        lambda arena: arena.suites.instantiate(suite, seed=seed, out=written, workers=workers),
    )
    console.table(
        (Column("task"), Column("intent")),
        [(task.id, task.intent) for task in found.tasks],
        {"suite": found.suite, "file": str(written), "tasks": [task.id for task in found.tasks]},
    )
    console.note(f"{written}: {counted(len(found.tasks), 'task')}")
    console.note(f"next: arena tasks lint {written} --prove")


@app.command("seal")
def seal(
    suite: Annotated[Path, typer.Argument(help="The suite's file.")],
    out: Annotated[
        Path | None, typer.Option(help="The sealed file; default: SUITE.sealed.")
    ] = None,
    as_json: of.AsJson = False,
) -> None:
    """Encrypt a suite's file by the key in ARENA_SUITE_KEY, to keep a split private.

    With that variable set, every command takes the sealed file as a suite.

    Example: ARENA_SUITE_KEY=… arena tasks seal my-suite-s7.yaml
    """
    console = Console(as_json)
    written = arena_for(console).suites.seal(suite, out or suite.with_suffix(".sealed"))
    console.table((Column("sealed"),), [(str(written),)], {"file": str(written)})


@app.command("difficulty")
def difficulty(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Folders of runs.")],
    as_json: of.AsJson = False,
) -> None:
    """Say how often agents solved each template, how hard that makes it, and which are spent.

    Spent is what an agent solved in five of five episodes, or in all of more: it no longer tells
    agents apart. Difficulty is in logits, with its 95 % interval; 0 is the mean template.
    Reference agents and people do not count.

    Example: arena tasks difficulty arena-runs/mine arena-runs/yours
    """
    console = Console(as_json)
    found = arena_for(console).suites.difficulty(runs)
    console.table(
        tuple(map(Column, ("template", "agent", "solved", "of", "spent", "difficulty"))),
        [
            (
                one.template,
                one.agent,
                str(one.solved),
                str(one.scored),
                "yes" * one.is_spent,
                _in_logits(one.difficulty),
            )
            for one in found
        ],
        [{**asdict(one), "is_spent": one.is_spent} for one in found],
    )
    spent = {one.template for one in found if one.is_spent}
    templates = counted(len({one.template for one in found}), "template")
    console.note(f"{templates}, of which {len(spent)} are spent")


def _in_logits(difficulty: FittedDifficulty | None) -> str:
    if difficulty is None:
        return ""
    return f"{difficulty.logit:+.1f} ({difficulty.low:+.1f} to {difficulty.high:+.1f})"


@app.command("import")
def import_tasks(
    format_name: Annotated[
        str, typer.Argument(metavar="FORMAT", help="The published set: one of the formats above.")
    ],
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="Its files.")],
    out: Annotated[
        Path | None, typer.Option(help="The suite to write; default: FORMAT.yaml.")
    ] = None,
    site_map: Annotated[
        Path | None,
        typer.Option("--map", help="A file that maps the set's sites to sites here."),
    ] = None,
    new_sites: Annotated[
        Path | None,
        typer.Option(help="Write a manifest there for each live host that no site here has."),
    ] = None,
    errata: Annotated[
        bool,
        typer.Option("--errata", help="Correct golds that are known to be wrong (tasks errata)."),
    ] = False,
    as_json: of.AsJson = False,
) -> None:
    """Convert a published task set into a suite; each task keeps its original record.

    Formats: webarena, visualwebarena, webarena-verified, mind2web-live, autowebbench, webharbor,
    and those of installed plug-ins.

    Example: arena tasks import webarena test.raw.json --out webarena.yaml
    """
    console = Console(as_json)
    written = out or Path(f"{format_name}.yaml")
    found = arena_for(console).suites.import_tasks(
        format_name, files, out=written, site_map=site_map, new_sites=new_sites, errata=errata
    )
    missing = found.untranslated
    whole = len(found.tasks) - len({task for task, _ in missing})
    reasons = Counter(re.sub(r"\[\d+\]", "[]", line) for _, line in missing)
    console.table(
        (Column("times", right=True), Column("not translated, so no success of the strict score")),
        [(count, reason) for reason, count in reasons.most_common()],
        {
            "suite": found.name,
            "file": str(written),
            "format": found.format_name,
            "tasks": len(found.tasks),
            "whole": whole,
            "new_sites": dict(found.new_sites),
            "untranslated": [{"task": task, "what": line} for task, line in missing],
            "errata": [{"task": task, "what": line} for task, line in found.corrected],
        },
    )
    tasks = counted(len(found.tasks), "task")
    console.note(f"{written}: {tasks}, {whole} of them translated whole")
    if errata:
        console.note(f"{counted(len({task for task, _ in found.corrected}), 'gold')} corrected")
    if found.new_sites and new_sites is None:
        hosts = counted(len(found.new_sites), "live host is", "live hosts are")
        console.note(f"{hosts} no site here: name them in --map, or")
        console.note("let --new-sites FOLDER write their manifests")


@app.command("errata")
def errata(
    format_name: Annotated[
        str | None, typer.Argument(metavar="[FORMAT]", help="One published set; default: all.")
    ] = None,
    as_json: of.AsJson = False,
) -> None:
    """List golds of published task sets that are wrong, with reason, evidence and correction.

    Example: arena tasks errata webarena
    """
    console = Console(as_json)
    found = arena_for(console).suites.errata(format_name)
    console.table(
        (Column("set"), Column("task"), Column("effect"), Column("correction"), Column("reason")),
        [
            (
                name,
                one.task,
                one.effect,
                "none" if one.published is None else f"{one.published} → {one.corrected}",
                one.reason,
            )
            for name, errata in found.items()
            for one in errata
        ],
        {
            name: [one.model_dump(mode="json", exclude_none=True) for one in errata]
            for name, errata in found.items()
        },
    )


@app.command("export")
def export_tasks(
    form: Annotated[str, typer.Argument(metavar="FORM", help="harbor.")],
    suite: SuiteArgument,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder.")],
    tasks: TaskOption = None,
    world: Annotated[str, typer.Option(help="offline or online.")] = "offline",
    image: Annotated[
        str | None,
        typer.Option(
            help="What the containers are built from; it needs Python 3.8 or later. Default:"
            " python:3.12-slim-bookworm."
        ),
    ] = None,
    arena: Annotated[
        str | None,
        typer.Option(
            metavar="IMAGE",
            help="An image with Arena in it: each trial has sites of its own; no arena serve.",
        ),
    ] = None,
    as_json: of.AsJson = False,
) -> None:
    """Write a suite as tasks of another harness: a folder for each, without golds.

    Harbor plays them on a running arena serve --socket FILE, or with --arena on sites of their own.
    (arena export writes finished runs.)

    Example: arena tasks export harbor demo harbor-demo
    """
    if form != "harbor":
        raise UsageError(f"tasks are not exported as '{form}'", hint="harbor")
    console = Console(as_json)
    written = arena_for(console).suites.export_harbor(
        suite, folder, tasks or (), world=world, image=image, arena_image=arena
    )
    console.table(
        (Column("folder"),),
        [(str(one),) for one in written.folders],
        {
            "folders": [str(one) for one in written.folders],
            "left_out": [{"task": task, "why": why} for task, why in written.left_out],
        },
    )
    for why, count in Counter(why for _, why in written.left_out).items():
        console.warn(f"left out: {counted(count, 'task')}: {why}")
    console.note(f"{folder}: {counted(len(written.folders), 'task')}")


def _unproved(report: LintReport) -> Iterable[str]:
    """Say how many tasks a proof says less of, or nothing."""
    tasks = counted(len(report.tasks), "task")
    if report.without_reference:
        count = len(report.without_reference)
        they = "it" if count == 1 else "they"
        verb = "has" if count == 1 else "have"
        yield f"{count} of {tasks} {verb} no reference: {they} cannot be proved"
    for message, count in Counter(one.message for one in report.notes).items():
        yield f"{count} of {tasks} {'has' if count == 1 else 'have'} {message}"


_SHOWN = {"id", "family", "intent", "sites", "worlds", "roles", "template"}
