"""Looks at suites: their references are played as any run is, into the canary's own folder."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from arena_core.errors import InterruptedRunError, RepeatedFaultError, StoreError, UnknownNameError
from arena_core.names import offered
from arena_core.worlds import World
from orchestrator.api.opened import OpenArena
from orchestrator.api.playing import play_new
from orchestrator.canary.history import CanaryPlace, History, Origins, history_folder
from orchestrator.canary.lifetimes import CanaryLife, life_of
from orchestrator.canary.looking import CanaryReport, Looking
from orchestrator.gateway.policy import Resolve
from orchestrator.runs.new_run import refuse_offline_origins
from orchestrator.runs.spec import RunSpec
from orchestrator.runs.store.run_folder import RunFolder
from tasks.loader import Selection, load_suite, select_tasks
from tasks.schema import Task

HISTORY: Final = "history.sqlite"


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryTerms:
    """How a suite's references are played.

    Attributes:
        suite: its name or path.
        resolve: as in `RunSettings`.
    """

    suite: str
    world: World
    staged: bool
    resolve: tuple[str, ...]
    workers: int

    @property
    def origins(self) -> Origins:
        """What answers for the sites."""
        if self.world is World.OFFLINE:
            return Origins.REPLICA
        if self.resolve:
            return Origins.RESOLVED
        return Origins.STAGED if self.staged else Origins.LIVE


async def look_at(
    opened: OpenArena,
    terms: CanaryTerms,
    patterns: Sequence[str],
    *,
    history: Path | None,
    stop: asyncio.Event | None,
) -> CanaryReport:
    """Look at a suite's tasks once; arguments and errors are those of `Arena.canary`."""
    spec = _spec(terms, tuple(patterns))
    refuse_offline_origins(spec)
    suite = load_suite(terms.suite)
    folder = history_folder() if history is None else history
    player = _Player(opened, terms, folder / "plays", stop)
    with History.at(folder / HISTORY) as kept:
        place = CanaryPlace(suite=suite.suite, origins=terms.origins)
        looking = Looking(suite=suite, place=place, history=kept, play=player.play, runs=[])
        return await looking.look(select_tasks(suite, Selection(ids=tuple(patterns))))


def lives(suite: str | None, folder: Path | None) -> tuple[CanaryLife, ...]:
    """Read what the canary found; arguments and errors are those of `Arena.canary_life`."""
    path = (history_folder() if folder is None else folder) / HISTORY
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


def _spec(terms: CanaryTerms, tasks: tuple[str, ...]) -> RunSpec:
    return RunSpec.of(
        agent="oracle",
        suite=terms.suite,
        tasks=tasks,
        worlds=(terms.world,),
        staged=terms.staged,
        resolve=terms.resolve,
        workers=terms.workers,
        attempts=1,  # what broke off is asked again by the look itself
    )


@dataclass(slots=True)
class _Player:
    """Plays references into run folders of the canary's own.

    The first run is given all options, so that one without effect is refused; a run of what is
    left of them is given those that have an effect there.
    """

    opened: OpenArena
    terms: CanaryTerms
    folder: Path
    stop: asyncio.Event | None
    has_played: bool = False

    async def play(self, tasks: tuple[Task, ...]) -> RunFolder:
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        out = self.folder / f"{stamp}-{secrets.token_hex(3)}"
        spec = _spec(self.terms, tuple(task.id for task in tasks))
        if self.has_played:
            spec = self._fitted(spec, tasks)
        self.has_played = True
        try:
            await play_new(
                self.opened, spec, None, out=out, headless=True, yes=False, stop=self.stop
            )
        except RepeatedFaultError as fault:
            self.opened.warn(fault.message)
        except InterruptedRunError as stopped:
            message = "interrupted: what was played so far is not added to the history"
            raise InterruptedRunError(message, hint="look again") from stopped
        return RunFolder.open(out)

    def _fitted(self, spec: RunSpec, tasks: Sequence[Task]) -> RunSpec:
        """Return a specification without the options that have no effect on these tasks."""
        registry = self.opened.registry
        names = {name for task in tasks for name in task.sites}
        origins = [live for name in names if (live := registry.site(name).live) is not None]
        hosts = {(live.host, live.port) for live in origins}
        resolve = [
            one
            for one in spec.resolve
            for it in [Resolve.parse(one)]
            if (it.host, it.port) in hosts
        ]
        staged = spec.staged and any(live.staged is not None for live in origins)
        return spec.model_copy(update={"resolve": tuple(resolve), "staged": staged})
