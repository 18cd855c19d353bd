"""Plays references and agents to make tapes, and to say which tasks a tape carries."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import requests

from arena_core.errors import InputError, SiteError, UsageError
from arena_core.worlds import World
from evaluators.verdicts import OutcomeKind
from orchestrator.api.opened import OpenArena
from orchestrator.api.playing import play, play_new
from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.browser.session.tape_recorder import TapeRecorder
from orchestrator.episode.environment import AttemptSpec
from orchestrator.episode.episode import Episode
from orchestrator.gateway.tapes.exchange import Robots
from orchestrator.gateway.tapes.named import Fidelity, keep_fidelity
from orchestrator.gateway.tapes.wacz import TapeNotes
from orchestrator.gateway.tapes.writing import write_tape
from orchestrator.runs.agent_choice import AgentChoice
from orchestrator.runs.environments import Environments
from orchestrator.runs.events import ProgressNote
from orchestrator.runs.open_world import OriginLogins, WorldSize, open_world
from orchestrator.runs.spec import RunSpec
from orchestrator.runs.tapes import file_digest
from orchestrator.sandbox.engine.origin_client import OriginClient, fetch
from sites.upstreams import LiveUpstream, StagedUpstream, Upstreams
from tasks.loader import Selection, load_source, select_tasks
from tasks.schema import Task

_ROBOTS_S: Final = 10.0
_MOST_BECAUSE: Final = 300


@dataclass(slots=True)
class _Made:
    """The recorder of a recording, once its world is open, and what robots.txt said."""

    site: str
    ignores_robots: bool
    recorder: TapeRecorder | None = None
    robots: list[Robots] = field(default_factory=list)

    async def record(self, logins: OriginLogins, upstreams: Upstreams) -> TapeRecorder:
        upstream = upstreams.of(self.site)
        if not isinstance(upstream, LiveUpstream | StagedUpstream):
            raise UsageError(f"site '{self.site}' has no live origin to record")
        found = await asyncio.to_thread(_robots_of, logins.client(upstream))
        self.robots.append(found)
        is_allowed = (lambda _: True) if self.ignores_robots else found.allows
        self.recorder = TapeRecorder(upstream.live.host, is_allowed)
        return self.recorder


def _robots_of(client: OriginClient) -> Robots:
    try:
        answer = fetch(client, "/robots.txt", timeout_s=_ROBOTS_S)
    except requests.RequestException as cause:
        message = f"{client.origin}/robots.txt cannot be read: {cause}"
        raise InputError(message, hint="--ignore-robots records without it") from cause
    return Robots.read(client.origin, answer.status, answer.text)


async def record_tape(
    opened: OpenArena,
    site: str,
    out: Path,
    agent: AgentChoice,
    *,
    ignores_robots: bool,
    window: BrowserOptions | None,
    stop: asyncio.Event | None,
    **asked: object,
) -> None:
    """Record a tape; arguments and errors are those of `Tapes.record`.

    Args:
        opened: where it is recorded.
        site: whose live origin is.
        out: the tape.
        agent: plays, where no `window` is opened for a person.
        ignores_robots: see `Tapes.record`.
        window: that a person browses in.
        stop: ends the recording.
        asked: suite, patterns of tasks and how live hosts are found, as `RunSpec` has them.
    """
    if await asyncio.to_thread(out.exists):
        raise InputError(f"{out}: is there already", hint="name another file, or remove it")
    named = agent if isinstance(agent, str) else "a Python object"
    spec = RunSpec.of(agent=named, worlds=(World.ONLINE,), screenshots=False, **asked)
    tasks = _tasks_of(spec.suite, spec.tasks, site, World.ONLINE)
    spec = spec.model_copy(update={"tasks": tasks})
    made = _Made(site, ignores_robots)
    if window is not None:
        await _browse(opened, spec, made, window, stop or asyncio.Event())
    else:
        with TemporaryDirectory(prefix="arena-tape-run-") as folder:
            await play_new(
                opened,
                spec,
                agent,
                partial(play, record=made.record),
                out=Path(folder) / "run",
                headless=True,
                yes=False,
                stop=stop,
            )
    recorder = made.recorder
    if recorder is None:
        raise InputError(f"{out}: nothing was played, so nothing was recorded")
    notes = TapeNotes(
        by="record",
        lost=recorder.lost,
        robots=tuple(one.in_words for one in made.robots),
        passed_over=recorder.passed_over + recorder.secret,
    )
    title = f"{site}: {', '.join(tasks)}"[:400]
    await asyncio.to_thread(partial(write_tape, out, recorder.exchanges, title=title, notes=notes))


async def _browse(
    opened: OpenArena, spec: RunSpec, made: _Made, window: BrowserOptions, stop: asyncio.Event
) -> None:
    """Open the start pages of the first task in a window, and record until `stop` is set."""
    task = next(one for one in load_source(spec.suite).suite.tasks if one.id == spec.tasks[0])
    who = AttemptSpec(suite=spec.suite, task=task, repeat=0, attempt=1, agent="person")
    async with (
        open_world(
            await opened.engine(),
            opened.registry,
            opened.registry.upstreams(task.sites, World.ONLINE, staged=spec.staged),
            f"tape-{secrets.token_hex(4)}",
            size=WorldSize(),
            on_event=opened.on_event,
            resolves=spec.resolves,
            browser=window,
            record=made.record,
        ) as world,
        Environments.of(world, opened.on_event) as environments,
        environments.of_task(task) as environment,
        Episode(replace(who, screenshots=False), environment) as episode,
    ):
        await episode.reset()
        fault = episode.evidence().fault
        if fault is not None:
            raise SiteError(f"site '{made.site}': {fault.because}")
        opened.on_event(ProgressNote(f"recording {made.site} in the window, until Ctrl-C"))
        await stop.wait()


async def verify_tape(
    opened: OpenArena,
    site: str,
    tape: Path,
    *,
    suite: str,
    patterns: tuple[str, ...],
    stop: asyncio.Event | None,
) -> Fidelity:
    """Play references on a tape; arguments and errors are those of `Tapes.verify`."""
    tasks = _tasks_of(suite, patterns, site, World.OFFLINE)
    spec = RunSpec.of(
        agent="oracle", suite=suite, tasks=tasks, tape=(f"{site}={tape}",), screenshots=False
    )
    digest = await asyncio.to_thread(file_digest, tape)
    with TemporaryDirectory(prefix="arena-tape-run-") as folder:
        report = await play_new(
            opened,
            spec,
            "oracle",
            play,
            out=Path(folder) / "run",
            headless=True,
            yes=False,
            stop=stop,
        )
        outcomes = {
            row.task.id: (one.score.outcome, one.score.because)
            for row in report.rows
            for one in row.episodes.get(World.OFFLINE, ())
        }
    found = Fidelity(
        suite=suite,
        suite_hash=report.lock.suite_hash,  # of the suite as it is played on tapes
        tape_sha256=digest,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        played=tuple(
            task for task, (one, _) in outcomes.items() if one.kind is OutcomeKind.SUCCESS
        ),
        failed={
            task: f"{one}: {because}"[:_MOST_BECAUSE]
            for task, (one, because) in outcomes.items()
            if one.kind is not OutcomeKind.SUCCESS
        },
    )
    keep_fidelity(tape, found)
    return found


def _tasks_of(suite: str, patterns: tuple[str, ...], site: str, world: World) -> tuple[str, ...]:
    """Return the ids of the tasks that visit a site in a world and need no login or state there."""
    found = load_source(suite).suite
    chosen = select_tasks(found, Selection(ids=patterns))
    fit = tuple(task.id for task in chosen if _fits(task, site, world))
    if not fit:
        message = f"no chosen task of {suite} visits {site} {world} and can do without a login"
        raise UsageError(message, hint="name other tasks, or another suite by --suite")
    return fit


def _fits(task: Task, site: str, world: World) -> bool:
    visits = world in task.worlds and site in task.sites and task.recorded is None
    return visits and site not in task.roles and site not in task.given
