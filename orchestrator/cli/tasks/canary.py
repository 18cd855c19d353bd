"""`arena canary`: play references again and again, and say which tasks still hold."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from arena_core.errors import ArenaError, InternalError, NothingScoredError, TaskError, UsageError
from arena_core.names import counted
from orchestrator.cli.arena import arena_for
from orchestrator.cli.asynchronous import run
from orchestrator.cli.console import Column, Console
from orchestrator.cli.runs import options as of

if TYPE_CHECKING:
    from orchestrator.api.arena import Arena
    from orchestrator.authoring.canary.findings import TaskFinding
    from orchestrator.authoring.canary.looking import CanaryReport, LookedTask

app = typer.Typer(no_args_is_help=True)


@app.command("play")
def play(
    suite: Annotated[str, typer.Argument(help="A suite's name, or the path of its file.")],
    tasks: of.Tasks = None,
    offline: Annotated[bool, typer.Option("--offline", help="Look at the replicas.")] = False,
    online: Annotated[
        bool, typer.Option("--online", help="Look at the live origins (default).")
    ] = False,
    staged: of.Staged = False,
    resolve: of.Resolve = None,
    workers: Annotated[
        int, typer.Option(min=1, help="References to play side by side; default: 1.")
    ] = 1,
    browser: of.Browser = None,
    browser_declared: of.BrowserDeclared = None,
    headed: of.Headed = False,
    every: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Look again and again, such as every 30m, 6h or 1d, until Ctrl-C."
        ),
    ] = None,
    as_json: of.AsJson = False,
) -> None:
    """Play each task's reference without any model, and say which tasks still hold.

    A task is valid, drifted (which step, what was expected, what is there now), blocked (bot wall,
    consent wall, login wall, rate limit, geo), unreachable or unknown. What would turn bad is
    played twice. The word `play` may be left out.

    Example: arena canary play demo 'wiki-*' --online --staged
    """
    from orchestrator.cli.runs.run_setup import played
    from orchestrator.cli.tasks.canary_watch import read_interval

    if offline and online:
        message = "--offline and --online: a look is at one world"
        raise UsageError(message, hint="look twice: what is found is kept apart by world")
    console = Console(as_json)
    chosen = of.browser_entry(browser, browser_declared, headed=headed)

    def in_world(arena: Arena, stop: asyncio.Event) -> Awaitable[CanaryReport]:
        return arena.canary(
            suite,
            tasks or (),
            world="offline" if offline else "online",
            staged=staged,
            resolve=resolve or (),
            workers=workers,
            browser=chosen,
            stop=stop,
        )

    look = partial(played, in_world, console)
    if every is not None:
        run(_look_every(look, read_interval(every), console))
        return
    report = run(look())
    show(report, console)
    require_valid(report)


async def _look_every(
    look: Callable[[], Awaitable[CanaryReport]], every_s: float, console: Console
) -> None:
    from orchestrator.authoring.canary.looking import pause_s
    from orchestrator.cli.tasks.canary_watch import keep_looking, until_interrupted

    async def look_once() -> float:
        found = await look()
        show(found, console)
        try:
            require_valid(found)
        except ArenaError as wrong:
            console.warn(f"arena: {wrong.message}")
        return pause_s([one.finding for one in found.tasks], datetime.now(UTC))

    await keep_looking(look_once, every_s, console, until_interrupted)


def show(report: CanaryReport, console: Console) -> None:
    """Print what a look found: a line a task, and what is wrong with those that do not hold."""
    from orchestrator.authoring.canary.findings import CanaryStatus
    from orchestrator.authoring.canary.looking import report_document

    document = report_document(report)
    console.table(
        (Column("task"), Column("status"), Column("since"), Column("key nodes"), Column("why")),
        [
            (
                one.finding.task,
                f"{one.finding.status}{' (flaky)' if one.is_flaky else ''}",
                one.since,
                _nodes(one.finding),
                "" if one.finding.status is CanaryStatus.VALID else one.finding.because,
            )
            for one in report.tasks
        ],
        document,
    )
    if not console.as_json:
        for one in report.tasks:
            for line in _details(one):
                console.line(line)
    for played_run in report.runs:
        console.note(f"plays: {played_run}")
    if report.not_there:
        console.note(f"not looked at, for they do not run there: {', '.join(report.not_there)}")
    unseen = [one.finding.task for one in report.tasks if one.finding.answer_seen is False]
    if unseen:
        message = "no page that was visited says their answer, so nothing shows that it still holds"
        console.note(f"{message}: {', '.join(unseen)}")


def _nodes(finding: TaskFinding) -> str:
    met = sum(one.status == "met" for one in finding.nodes)
    return f"{met}/{len(finding.nodes)}" if finding.nodes else "-"


def _details(looked: LookedTask) -> Iterator[str]:
    """Yield what a person needs to repair a task."""
    finding = looked.finding
    if finding.drift is None and finding.wall is None:
        return
    yield f"\n{finding.task}: {finding.status}"
    if (drift := finding.drift) is not None:
        yield f"  at        {drift.at}"
        yield f"  expected  {drift.expected}"
        yield f"  found     {drift.found}"
        for one in drift.nearest:
            yield f"  nearest   {one}{' in ' + ' > '.join(one.path) if one.path else ''}"
    if (wall := finding.wall) is not None:
        yield f"  {wall.kind}: {wall.sign}"
    for node in finding.nodes:
        if node.status != "met":
            yield f"  check     '{node.check}' {node.status}: {node.expected}; {node.found}"
    yield f"  now       {finding.url}  {finding.screenshot or ''}".rstrip()
    if looked.screenshot_then is not None:
        yield f"  then      {looked.screenshot_then}"


def require_valid(report: CanaryReport) -> None:
    """Raise the error whose exit code says what a look found; none where all that counts is valid.

    Raises:
        InternalError: a bug of Arena's broke a play off.
        TaskError: a task is drifted, blocked or unreachable.
        NothingScoredError: nothing is known of any task.
    """
    from orchestrator.authoring.canary.findings import CanaryStatus

    bugs = [one.finding for one in report.tasks if one.finding.is_bug]
    if bugs:
        message = f"a bug of Arena's: {bugs[0].task}: {bugs[0].because}"
        raise InternalError(message, hint="please report it; its evidence is kept")
    counts = {status: report.count(status) for status in CanaryStatus}
    said = ", ".join(f"{number} {status}" for status, number in counts.items() if number)
    if any(number for status, number in counts.items() if status.is_bad):
        raise TaskError(f"suite '{report.suite}': {said}", hint="arena canary report")
    if report.tasks and not counts[CanaryStatus.VALID]:
        message = f"suite '{report.suite}': {said}: nothing shows that a task holds"
        raise NothingScoredError(message)
    Console().note(
        f"suite '{report.suite}': {counted(len(report.tasks), 'task')}: {said or 'none'}"
    )


@app.command("report")
def report(
    suite: Annotated[
        str | None, typer.Argument(help="A suite's name; default: all that were looked at.")
    ] = None,
    as_json: of.AsJson = False,
) -> None:
    """Show what the canary found until now: validity over time, half-life, what dies first.

    Replicas, live, staged and resolved origins are reported apart, and so is each browser. The
    half-life is that of a constant hazard, with an exact interval; tasks that still hold are
    censored.

    Example: arena canary report demo
    """
    from orchestrator.cli.tasks.canary_report import show_lives

    console = Console(as_json)
    show_lives(arena_for(console).canary_life(suite), console)
