"""`arena record`: a person does a task, and it is written as a task with checks."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_core.errors import InputError, UsageError
from orchestrator.cli.asynchronous import interrupts, run
from orchestrator.cli.console import Console

if TYPE_CHECKING:
    from orchestrator.api.recordings import DeskAsked, RecordingAsked

app = typer.Typer()

_FOLDER = Path("arena-recordings")


@app.command()
def record(
    where: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SITE|URL]...",
            help="Where to begin, a tab each: sites, URLs, or logical URLs such as shop:/basket.",
        ),
    ] = None,
    role: Annotated[
        list[str] | None,
        typer.Option(help="Log in: ROLE of the first site, or SITE=ROLE; repeat it for others."),
    ] = None,
    site: Annotated[
        list[str] | None, typer.Option(help="A further site that may be visited; repeatable.")
    ] = None,
    given: Annotated[
        Path | None,
        typer.Option(help="YAML of what is done to the sites before, as a task's `given`."),
    ] = None,
    name: Annotated[str, typer.Option(help="The task's name.")] = "recorded-task",
    out: Annotated[
        Path | None, typer.Option(help="The task's file; default: NAME.yaml in this folder.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(help=f"The recording's new folder; default: one in {_FOLDER}/."),
    ] = None,
    reopen: Annotated[
        Path | None,
        typer.Option("--open", metavar="FOLDER", help="Edit the task of a recording."),
    ] = None,
    imported: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Take the steps from a recording of Playwright codegen or Chrome DevTools.",
        ),
    ] = None,
    sibling: Annotated[
        list[Path] | None,
        typer.Option(help="Folder of a recording that must not pass; repeatable."),
    ] = None,
    terminal: Annotated[
        bool, typer.Option("--terminal", help="Show no window: read one action a line.")
    ] = False,
    intent: Annotated[
        str | None, typer.Option(help="With --terminal: what an agent is asked to do.")
    ] = None,
    port: Annotated[
        int,
        typer.Option(min=0, max=65535, help="The page's port on 127.0.0.1; default: a free one."),
    ] = 0,
    only_print: Annotated[
        bool, typer.Option("--print", help="Print the page's address and open no browser for it.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was saved as JSON.")] = False,
) -> None:
    """Record a task: do it in a browser window, and choose its checks on a page.

    Every click, text, choice and visit becomes a step with a picture, and with the rows that it
    changed. The page, on 127.0.0.1, shows them while you go on: leave steps out, mark key nodes,
    choose what must hold at the end. Each check is tried at once. Stop by closing the window, by
    Ctrl-C, or on the page; a second Ctrl-C ends the page. Passwords are kept nowhere.

    Example: arena record shop:/basket --role customer --name shop-checkout
    """
    from orchestrator.api.recordings import DeskAsked

    console = Console(as_json)
    file = out or Path(f"{name}.yaml")
    asked = DeskAsked(out=file, siblings=tuple(sibling or ()), port=port)
    if reopen is not None:
        _refuse_beside("--open", where, role, site, given, folder, imported, terminal)
        run(_reopened(console, asked, reopen, only_print=only_print))
        return
    if imported is not None and terminal:
        raise UsageError("--from and --terminal: the steps come from one of them")
    if intent is not None and not terminal:
        raise UsageError("--intent has no effect without --terminal: the page asks for it")
    recording = _asked(where, role, site, given, name, folder, is_hidden=terminal)
    if terminal:
        run(_typed(console, asked, recording, intent))
    elif imported is not None:
        run(_taken_over(console, asked, recording, imported, only_print=only_print))
    else:
        run(_recorded(console, asked, recording, only_print=only_print))


def _refuse_beside(option: str, *others: object) -> None:
    if any(others):
        raise UsageError(f"{option} reads a recording: it takes only --out, --sibling and --port")


def _asked(
    where: list[str] | None,
    role: list[str] | None,
    site: list[str] | None,
    given: Path | None,
    name: str,
    folder: Path | None,
    *,
    is_hidden: bool,
) -> RecordingAsked:
    from orchestrator.api.recordings import RecordingAsked

    if not where:
        raise UsageError("record where?", hint="arena record shop, or the URL of a page")
    first = where[0].partition(":")[0]
    pairs = [one.rpartition("=") for one in role or ()]
    moment = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    return RecordingAsked(
        name=name,
        start=tuple(where),
        sites=tuple(site or ()),
        roles={of or first: what for of, _, what in pairs},
        given={} if given is None else _given(given),
        folder=folder or _FOLDER / f"{name}-{moment}",
        headless=is_hidden,
    )


def _given(path: Path) -> dict[str, Any]:
    import yaml

    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as cause:
        raise InputError(f"{path}: cannot be read: {str(cause).partition(chr(10))[0]}") from cause
    if not isinstance(found, dict):
        raise InputError(f"{path}: is no mapping of sites to steps")
    return found


async def _recorded(
    console: Console, desk: DeskAsked, asked: RecordingAsked, *, only_print: bool
) -> None:
    from orchestrator.api.recordings import open_desk, open_recorder
    from orchestrator.cli.progress import show_event

    async with AsyncExitStack() as stack:
        recorder = await stack.enter_async_context(
            open_recorder(asked, on_event=lambda event: show_event(event, console))
        )
        saved = _Saved(console, desk)
        _, url = await stack.enter_async_context(open_desk(desk, recorder, on_saved=saved))
        pressed = await stack.enter_async_context(interrupts())
        _show(console, url, only_print=only_print)
        console.note(f"recording into {asked.folder}; Ctrl-C stops it")
        await recorder.follow_until(pressed)
        console.note("stopped: reading what was changed")
        await recorder.finish()
        console.note("choose the checks on the page, and save the task there; Ctrl-C ends the page")
        pressed.clear()
        await pressed.wait()


async def _reopened(console: Console, asked: DeskAsked, folder: Path, *, only_print: bool) -> None:
    from orchestrator.api.recordings import open_desk

    saved = _Saved(console, asked)
    async with open_desk(asked, folder, on_saved=saved) as (_, url), interrupts() as pressed:
        _show(console, url, only_print=only_print)
        console.note("Ctrl-C ends the page")
        await pressed.wait()


async def _taken_over(
    console: Console, desk: DeskAsked, asked: RecordingAsked, file: Path, *, only_print: bool
) -> None:
    from dataclasses import replace

    from orchestrator.api.recordings import open_recorder
    from orchestrator.authoring.recorder.imports import import_steps, play_steps
    from orchestrator.cli.progress import show_event

    steps = import_steps(file)
    for one in steps.left_out:
        console.warn(f"arena: {file}: {one}")
    if not steps.actions:
        raise InputError(f"{file}: holds no step that can be taken over")
    async with open_recorder(
        replace(asked, headless=True), on_event=lambda event: show_event(event, console)
    ) as recorder:
        following = asyncio.create_task(recorder.capture.follow())
        failed = await play_steps(recorder.capture, steps)
        recorder.capture.stopped.set()
        await following
        await recorder.finish()
    if failed is not None:
        console.warn(f"arena: {file}: {failed}")
    await _reopened(console, desk, asked.folder, only_print=only_print)


async def _typed(
    console: Console, desk: DeskAsked, asked: RecordingAsked, intent: str | None
) -> None:
    from orchestrator.api.recordings import open_recorder, save_likely
    from orchestrator.authoring.recorder.terminal import GRAMMAR, do_line
    from orchestrator.cli.progress import show_event

    answer: str | None = None
    async with open_recorder(asked, on_event=lambda event: show_event(event, console)) as recorder:
        capture = recorder.capture
        following = asyncio.create_task(capture.follow())
        console.note(GRAMMAR)
        while not capture.stopped.is_set():
            if capture.seen is not None:
                console.note(f"{capture.seen.url}\n{capture.seen.text}")
            line = await asyncio.to_thread(sys.stdin.readline)
            if not line:
                break
            done = await do_line(capture, line)
            if done.error is not None:
                console.warn(f"arena: {done.error}")
            if done.is_stop:
                answer = done.answer
                break
        capture.stopped.set()
        await following
        await recorder.finish()
    if intent is None:
        console.note("What is an agent asked to do? One line:")
        intent = (await asyncio.to_thread(sys.stdin.readline)).strip()
    saved = await save_likely(asked.folder, desk.out, asked.name, intent, answer)
    _Saved(console, desk)()
    for label in saved:
        console.note(f"checks {label}")


class _Saved:
    """Says where the task is, and what is next."""

    def __init__(self, console: Console, asked: DeskAsked) -> None:
        self._console = console
        self._path = asked.out

    def __call__(self) -> None:
        following = f"arena tasks lint {self._path} --prove"
        if self._console.as_json:
            self._console.json({"task": str(self._path), "next": following})
        else:
            self._console.line(f"saved: {self._path}")
            self._console.note(f"next: {following}")
        sys.stdout.flush()


def _show(console: Console, url: str, *, only_print: bool) -> None:
    import webbrowser

    if console.as_json:
        console.note(url)
    else:
        console.line(url)
    sys.stdout.flush()  # whoever reads it through a pipe is not to wait for the end
    if not only_print and not webbrowser.open(url):
        console.note("no browser could be opened here: use the URL above")
