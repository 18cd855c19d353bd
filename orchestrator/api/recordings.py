"""Opens a recorder: a person's browser in an episode's world, and what is made of what they do."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from arena_core.errors import ArenaError, UsageError
from orchestrator.api.begun_episode import Begun
from orchestrator.api.episodes import AskedEpisode, Episodes
from orchestrator.api.opened import OnArenaEvent, OpenArena, ignore_event

if TYPE_CHECKING:
    from evaluators.changes import Change
    from orchestrator.authoring.recorder.capture import PersonCapture
    from orchestrator.authoring.recorder.desk import Desk
    from orchestrator.authoring.recorder.recording import Recording, RecordingEnd, RecordingHead
    from sites.manifest import Site
    from sites.registry import SiteRegistry

_DRAFT: Final = "draft.yaml"
_LATEST_S: Final = 7200
_MOST_STEPS: Final = 500


@dataclass(frozen=True, slots=True)
class Recorder:
    """An open recorder.

    Attributes:
        capture: follows the person; ends by `capture.stopped`.
        finish: reads what was changed in all, once the person has stopped, and writes it down.
    """

    capture: PersonCapture
    finish: Callable[[], Awaitable[Recording]]

    async def follow_until(self, stop: asyncio.Event) -> None:
        """Follow the person until the window is closed, the page says stop, or `stop` is set."""
        following = asyncio.create_task(self.capture.follow())
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait([following, stopping], return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        self.capture.stopped.set()
        await following


@dataclass(frozen=True, slots=True)
class RecordingAsked:
    """Where a person begins.

    Attributes:
        start: logical URLs, or names of sites, which stand for their front pages.
        folder: a new one.
        roles: by site.
        sites: further ones that may be visited.
        given: what is done to the sites before, as a task says it.
        headless: no window is shown, for whoever acts through `PersonCapture.act`.
    """

    name: str
    start: Sequence[str]
    folder: Path
    roles: Mapping[str, str]
    sites: Sequence[str] = ()
    given: Mapping[str, Any] = field(default_factory=dict)
    headless: bool = False


@asynccontextmanager
async def open_recorder(
    asked: RecordingAsked,
    *,
    sites: Iterable[Path] | None = None,
    on_event: OnArenaEvent = ignore_event,
) -> AsyncIterator[Recorder]:
    """Start the sites, open the browser on the start page, and follow what is done there.

    Args:
        asked: where a person begins.
        sites: as in `Arena`.
        on_event: as in `Arena`.

    Raises:
        UsageError: there is no such site or page, or the folder is there already.
        BrowserMissingError: there is no screen to show a window on.
        ArenaError: a replica could not be made ready, or no browser starts.
    """
    from orchestrator.authoring.recorder.capture import PersonCapture
    from orchestrator.authoring.recorder.recording import RecordingFolder

    if not asked.headless:
        _require_display()
    opened = OpenArena(sites=sites, on_event=on_event)
    head = head_of(asked, opened.registry)
    folder = RecordingFolder.create(asked.folder, head)
    suite = asked.folder / _DRAFT
    suite.write_text(_draft(head, opened.registry), encoding="utf-8")
    episodes = Episodes(opened, workers=1, memory=None)
    opened.open()
    try:
        begun = await episodes.begin(_asked(suite, headless=asked.headless), None, None)
        try:
            capture = PersonCapture(begun.episode, begun.held.value, folder)
            await capture.begin(head)

            async def finish() -> Recording:
                end = await _end(opened, begun, capture)
                folder.close(end)
                return folder.recording

            try:
                yield Recorder(capture, finish)
            finally:
                capture.is_closed = True
        finally:
            await begun.end()
    finally:
        suite.unlink(missing_ok=True)
        await episodes.close()
        await opened.close()


def head_of(asked: RecordingAsked, registry: SiteRegistry) -> RecordingHead:
    """Return where a recording begins, every page by its logical URL.

    Raises:
        UsageError: a page is of no site.
        UnknownNameError: there is no such site.
    """
    from orchestrator.authoring.recorder.recording import RecordingHead

    pages = tuple(_page(one, registry) for one in asked.start)
    sites = dict.fromkeys([*(one.partition(":")[0] for one in pages), *asked.sites])
    for site in (*sites, *asked.roles):
        registry.site(site)
    for site, role in asked.roles.items():
        known = registry.site(site).roles
        if site not in sites or role not in known:
            message = f"site '{site}' has no role '{role}' here"
            raise UsageError(message, hint=f"--role: {', '.join(known) or 'it has none'}")
    return RecordingHead(
        name=asked.name,
        sites=tuple(sites),
        start=pages,
        roles=dict(asked.roles),
        given=dict(asked.given),
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _page(named: str, registry: SiteRegistry) -> str:
    if named.startswith(("http://", "https://")):
        logical = registry.logical(named)
        if logical is None:
            hosts = ", ".join(site.host for site in registry.sites.values())
            raise UsageError(f"{named} is a page of no site", hint=f"hosts: {hosts}")
        return logical
    return named if ":" in named else f"{named}:/"


def _require_display() -> None:
    from arena_core.errors import BrowserMissingError
    from orchestrator.browser.process.chromium import has_display

    if not has_display(os.environ):
        message = "there is no screen here to show a browser's window on"
        raise BrowserMissingError(message, hint="arena record SITE --terminal needs none")


def _draft(head: RecordingHead, registry: SiteRegistry) -> str:
    """Return the suite that the recording is played as: its one check shows whatever changes."""
    from tasks.imports.suite_file import suite_yaml

    site = registry.site(head.sites[0])
    check: dict[str, Any] = {
        "name": "left",
        "when": "end",
        "locate": {"by": "url", "site": site.name},
        "match": {"how": "found"},
    }
    task: dict[str, Any] = {
        "id": head.name,
        "family": "navigation",
        "intent": "A person records this task.",
        "sites": list(head.sites),
        "roles": dict(head.roles),
        "start": list(head.start),
        "worlds": ["offline"],
        **({"given": head.given} if head.given else {}),
        "limits": {"steps": _MOST_STEPS, "seconds": _LATEST_S},
        "checks": [check],
    }
    return suite_yaml({"suite": "recording", "version": 1, "title": "Recording", "tasks": [task]})


def _asked(suite: Path, *, headless: bool) -> AskedEpisode:
    from arena_core.worlds import World
    from orchestrator.browser.observation import AXTREE
    from orchestrator.runs.single_episode import EpisodeTerms, WorldChoice
    from orchestrator.runs.spec import RunSettings
    from tasks.loader import load_suite

    settings = RunSettings.of(worlds=(World.OFFLINE,), attempts=1)
    return AskedEpisode(
        suite=str(suite.resolve()),
        task=load_suite(str(suite.resolve())).tasks[0],
        choice=WorldChoice(settings=settings, headless=headless),
        terms=EpisodeTerms(),
        agent="person",
        observations=frozenset({AXTREE}),
        is_shared=True,
    )


async def _end(opened: OpenArena, begun: Begun, capture: PersonCapture) -> RecordingEnd:
    """Read what was changed, site by site, and make the check that asks for exactly that."""
    from orchestrator.authoring.recorder.proposals import is_data, of_end
    from orchestrator.authoring.recorder.recording import RecordingEnd
    from orchestrator.authoring.recorder.trying import Bench, asked_by

    await capture.read_changes()
    idle = capture.recording.head.idle
    deltas: dict[str, dict[str, Any]] = {}
    notes = [f"what changed in {one} is not known: {why}" for one, why in capture.unread.items()]
    for site, changes in capture.recording.changes().items():
        if set(changes) <= set(idle.get(site, ())):
            continue
        opened.note(f"reading what was changed in {site}, and what changes by itself")
        try:
            deltas[site] = await _delta(opened, begun, capture, opened.registry.site(site))
        except ArenaError as error:
            notes.append(f"no check of all changes in {site}: {error.message}")
    looked: dict[str, tuple[str, ...]] = {}
    for check in capture.asked():
        located = await capture.look(check)
        if located is not None and is_data("".join(located.values)):
            looked[asked_by(check)] = located.values
    end = RecordingEnd(deltas=deltas, looked=looked, notes=tuple(notes))
    for one in of_end(replace(capture.recording, end=end), None):
        if Bench(recording=capture.recording).needs_look(one.check):
            located = await capture.look(one.check)
            if located is not None:
                looked[asked_by(one.check)] = located.values
    return end.model_copy(update={"looked": looked})


async def _delta(
    opened: OpenArena, begun: Begun, capture: PersonCapture, site: Site
) -> dict[str, Any]:
    from orchestrator.authoring.site_check.pages import (
        changes_by_visits,
        definitions_of,
    )
    from orchestrator.sandbox.delta.check import ByItself, Moments, check_of
    from orchestrator.sandbox.delta.delta import delta_of

    environment = begun.held.value
    engine, replica = await opened.engine(), environment.replicas[site.name]
    hosts = frozenset(one.host for one in opened.registry.sites.values())
    looked: tuple[Change, ...] = await changes_by_visits(
        engine, site, hosts, f"record-{os.getpid()}"
    )
    by_itself = ByItself.of(looked)
    start = environment.lease.began.get(site.name)
    delta = await delta_of(engine, replica, ignored=by_itself.ignored, start=start)
    moments = Moments.between(capture.began, datetime.now(UTC), site.clock)
    return check_of(delta, by_itself, moments, await definitions_of(engine, replica))


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskAsked:
    """What is made of a recording, and where.

    Attributes:
        out: the suite's file.
        siblings: folders of recordings of other tasks like it.
        port: of the page on 127.0.0.1; 0 for a free one.
    """

    out: Path
    siblings: Sequence[Path] = ()
    port: int = 0


@asynccontextmanager
async def open_desk(
    asked: DeskAsked, recorded: Recorder | Path, *, on_saved: Callable[[], None]
) -> AsyncIterator[tuple[Desk, str]]:
    """Serve the page of a recording until the block ends; yield its address, token included.

    Args:
        asked: what is made of it.
        recorded: an open recorder, or the folder of a recording.
        on_saved: called when the task was saved.

    Raises:
        UsageError: the file of the task is somebody else's, or cannot be written.
        StoreError: a folder holds no recording.
        PortTakenError: the port is in use.
    """
    from orchestrator.authoring.recorder.desk import Desk, serve_desk
    from orchestrator.authoring.recorder.recording import open_recording
    from orchestrator.authoring.recorder.task_text import MARK
    from sites.registry import load_registry
    from tasks.imports.suite_file import require_writable, suite_name

    suite_name(asked.out)
    require_writable(asked.out, MARK)
    siblings = tuple(open_recording(one) for one in asked.siblings)
    if isinstance(recorded, Path):
        kept = open_recording(recorded)
        desk = Desk(lambda: kept, load_registry(), asked.out, siblings=siblings)
    else:
        capture = recorded.capture
        registry = capture.environment.registry
        desk = Desk(lambda: capture.recording, registry, asked.out, capture, siblings)
    desk.on_saved = on_saved
    desk.prepare()
    async with serve_desk(desk, asked.port) as url:
        try:
            yield desk, url
        finally:
            desk.is_over = True


async def record_task(
    opened: OpenArena,
    asked: RecordingAsked,
    desk: DeskAsked,
    on_page: Callable[[str], object],
    stop: asyncio.Event | None,
) -> Path:
    """Let a person record a task; arguments and errors are those of `Arena.record`."""
    saved = asyncio.Event()
    async with (
        open_recorder(asked, sites=opened.folders, on_event=opened.on_event) as recorder,
        open_desk(desk, recorder, on_saved=saved.set) as (_, url),
    ):
        on_page(url)
        await recorder.follow_until(stop or asyncio.Event())
        await recorder.finish()
        await saved.wait()
    return desk.out


async def save_likely(
    folder: Path, out: Path, name: str, intent: str, answer: str | None
) -> tuple[str, ...]:
    """Save a recording with the checks that fit it best, without a page; return what they are.

    Raises:
        TaskError: it is no task: says what is missing.
    """
    from orchestrator.authoring.recorder.desk import Desk, DraftSaid
    from orchestrator.authoring.recorder.recording import open_recording
    from sites.registry import load_registry

    kept = open_recording(folder)
    desk = Desk(lambda: kept, load_registry(), out)
    likely = await desk.likely(answer)
    chosen = tuple(likely)
    await desk.save(DraftSaid(id=name, intent=intent, answer=answer or "", chosen=chosen))
    return tuple(likely.values())
