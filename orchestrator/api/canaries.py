"""Looks at suites: their references are played as any run is, into the canary's own folder."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from arena_core.errors import (
    InterruptedRunError,
    RepeatedFaultError,
    StoreError,
    UnknownNameError,
)
from arena_core.names import offered
from arena_core.worlds import World
from orchestrator.api.opened import OpenArena
from orchestrator.api.playing import play
from orchestrator.api.suites import refuse_faulty
from orchestrator.authoring.canary.history import (
    CanaryPlace,
    History,
    Origins,
    history_file,
    history_folder,
)
from orchestrator.authoring.canary.lifetimes import CanaryLife, life_of
from orchestrator.authoring.canary.looking import CanaryReport, Looking
from orchestrator.authoring.canary.pruning import prune
from orchestrator.runs.agent_choice import choose_agent
from orchestrator.runs.lock_writer import browser_chosen
from orchestrator.runs.new_run import (
    refuse_offline_origins,
    refuse_without_effect,
    write_down,
)
from orchestrator.runs.request import RunRequest, browser_for
from orchestrator.runs.spec import RunSettings
from orchestrator.runs.store.run_folder import RunFolder
from tasks.loader import Selection, load_source, select_tasks
from tasks.schema import Suite, Task


async def look_at(
    opened: OpenArena,
    suite: str,
    patterns: Sequence[str],
    settings: RunSettings,
    *,
    history: Path | None,
    stop: asyncio.Event | None,
) -> CanaryReport:
    """Look at a suite's tasks once; arguments and errors are those of `Arena.canary`."""
    refuse_offline_origins(settings)
    source = load_source(suite)
    tasks = select_tasks(source.suite, Selection(ids=tuple(patterns)))
    await refuse_faulty(suite, source, tasks, opened.registry)
    request = oracle_request(source.suite, tasks, settings)
    browser_for(request.settings, headless=True)  # refused before anything is started
    refuse_without_effect(request, settings.model_fields_set, opened.registry)
    return await look(opened, request, history=history, stop=stop)


async def look(
    opened: OpenArena,
    request: RunRequest,
    *,
    history: Path | None,
    stop: asyncio.Event | None,
    browser: str | None = None,
) -> CanaryReport:
    """Look at the tasks of an oracle's request in its world.

    Args:
        opened: where they are played.
        request: of the oracle.
        history: as in `Arena.canary`.
        stop: as in `Arena.canary`.
        browser: which one it is, where that is known; else it is started to see.
    """
    await opened.engine()  # said before a browser is started
    named = await browser_chosen(request) if browser is None else browser
    folder = history_folder() if history is None else history
    with History.at(history_file(folder)) as kept:
        plays = folder / "plays"
        report = await Looking(
            suite=request.suite,
            place=CanaryPlace(
                suite=request.suite.suite,
                origins=origins_of(request.settings),
                browser=named,
            ),
            history=kept,
            play=CanaryPlayer(opened, request, plays, stop).play,
            runs=[],
            pause=partial(_paused, opened, stop or asyncio.Event()),
        ).look(request.tasks)
        await asyncio.to_thread(prune, plays, kept.rests_on(), datetime.now(UTC))
        return report


async def _paused(opened: OpenArena, stop: asyncio.Event, seconds: float) -> None:
    """Wait until a site wants to be asked again, or the user wants no more."""
    opened.note(f"canary: asks again in {seconds:.0f} s, as the site wants")
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stop.wait()


def oracle_request(suite: Suite, tasks: tuple[Task, ...], settings: RunSettings) -> RunRequest:
    """Return what is asked of a run that plays references; each is tried once.

    What breaks off is asked again by the look itself.
    """
    oracle = choose_agent("oracle")
    return RunRequest(
        suite=suite,
        tasks=tasks,
        agent=oracle.maker,
        agent_lock=oracle.lock,
        settings=settings.model_copy(update={"attempts": 1, "repeats": 1}),
    )


def origins_of(settings: RunSettings) -> Origins:
    """Return what answers for the sites of a look with these settings."""
    if World.ONLINE not in settings.worlds:
        return Origins.REPLICA
    if settings.resolve:
        return Origins.RESOLVED
    return Origins.STAGED if settings.staged else Origins.LIVE


@dataclass(frozen=True, slots=True)
class CanaryPlayer:
    """Plays references into run folders of the canary's own."""

    opened: OpenArena
    request: RunRequest
    folder: Path
    stop: asyncio.Event | None

    async def play(self, tasks: tuple[Task, ...]) -> RunFolder:
        """Play the references of some of the tasks; some may be left where Arena gives up."""
        opened = self.opened
        out = self.folder / f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
        request = replace(self.request, tasks=tasks, agent=choose_agent("oracle").maker)
        engine = await opened.engine()
        folder = await write_down(request, opened.registry, engine, out, self.folder)
        try:
            await play(request, folder, opened, self.stop)
        except RepeatedFaultError as fault:
            opened.warn(fault.message)
        except InterruptedRunError as stopped:
            message = "interrupted: what was played so far is not added to the history"
            raise InterruptedRunError(message, hint="look again") from stopped
        return folder


def lives(suite: str | None, folder: Path | None) -> tuple[CanaryLife, ...]:
    """Read what the canary found; arguments and errors are those of `Arena.canary_life`."""
    path = history_file(folder)
    if not path.is_file():
        message = f"{path}: the canary has looked at nothing yet"
        raise StoreError(message, hint="arena canary demo --online --staged")
    with History.at(path) as kept:
        places = kept.places()
        names = sorted({one.suite for one in places})
        if suite is not None and suite not in names:
            message = f"the canary never looked at a suite '{suite}'"
            raise UnknownNameError(message, hint=offered(suite, names))
        chosen = [one for one in places if suite in {None, one.suite}]
        return tuple(life_of(place, kept.entries(place)) for place in chosen)
