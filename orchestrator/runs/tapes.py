"""The tapes of a run: checked before it begins, written into its lock, open while it is played."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

from arena_core.errors import InputError, UsageError
from arena_core.worlds import World
from orchestrator.gateway.tapes.hosts import SiteTape, require_own, site_tape
from orchestrator.gateway.tapes.named import NamedTape, TapeLock, known_fidelity
from orchestrator.gateway.tapes.replay import TapeReplay
from orchestrator.gateway.tapes.wacz import open_tape
from orchestrator.runs.request import RunRequest
from orchestrator.runs.store.lock import RunLock
from orchestrator.sandbox.staged_origins import Authority
from sites.registry import SiteRegistry
from sites.upstreams import Upstreams
from tasks.schema import Task
from tasks.taped import mixed_fault, online_faces, taped_suite


def on_tapes(request: RunRequest, registry: SiteRegistry) -> RunRequest:
    """Return a request whose tasks have the face that fits what answers for their sites."""
    tapes = request.settings.tapes
    if not tapes:
        return request
    live = {name for name, site in registry.sites.items() if site.live}
    faced = online_faces(request.suite, tapes, live)
    suite = taped_suite(request.suite, faced)
    chosen = {task.id for task in request.tasks}
    tasks = tuple(task for task in suite.tasks if task.id in chosen)
    return replace(request, suite=suite, tasks=tasks, online_faces=faced)


def refuse_unfit_tapes(request: RunRequest, registry: SiteRegistry) -> None:
    """Open each tape once, and refuse what cannot be played on it.

    Raises:
        UsageError: no chosen task visits its site offline, or one needs what no tape can give.
        InputError: it is no tape, is damaged, or is one of another site.
    """
    tapes = request.settings.tapes
    if not tapes:
        return
    taped = {one.site.name: one for one in request.upstreams(registry, World.OFFLINE).taped}
    for site, named in tapes.items():
        if site not in taped:
            registry.site(site)  # one that does not exist is said to be none
            message = (
                f"--tape {site}={named.path} has no effect: no chosen task visits {site} offline"
            )
            raise UsageError(message, hint="choose other tasks, or omit it")
        with open_tape(named.path) as tape:
            require_own(tape, taped[site])
    for task in request.tasks:
        if World.OFFLINE not in task.worlds or not tapes.keys() & {*task.sites}:
            continue
        _refuse_half_faces(task, tapes, registry)
        for site in sorted(tapes.keys() & {*task.roles, *task.given}):
            wants = "a login" if site in task.roles else "a state that is set up"
            message = f"{task.id} needs {wants} on {site}, and a tape has neither logins nor state"
            raise UsageError(message, hint="choose other tasks, or omit its --tape")


def _refuse_half_faces(task: Task, tapes: Mapping[str, NamedTape], registry: SiteRegistry) -> None:
    """Refuse a task of which a part would be played by its live face, and a part by the other."""
    which = ", ".join(sorted(tapes.keys() & {*task.sites}))
    if World.ONLINE not in task.worlds:
        message = f"{task.id} never runs online: nothing says how it is done on the live {which}"
        raise UsageError(message, hint="choose other tasks, or omit --tape")
    others = [name for name in task.sites if name not in tapes and registry.site(name).live]
    if others and (why := mixed_fault(task, tapes)) is not None:
        message = f"{task.id} cannot be scored where {which} is a tape, and {', '.join(others)} a"
        message += f" replica: {why}"
        raise UsageError(message, hint=f"give a tape of {others[0]} too, or choose other tasks")


def tape_locks(request: RunRequest, suite_hash: str) -> dict[str, TapeLock]:
    """Return what a lock says of each tape, by site."""
    found: dict[str, TapeLock] = {}
    for site, named in request.settings.tapes.items():
        digest = file_digest(named.path)
        known = known_fidelity(named.path, digest, suite_hash)
        tried = {*known.played, *known.failed} if known else set[str]()
        visits = {
            task.id
            for task in request.tasks
            if World.OFFLINE in task.worlds and site in task.sites and known
        }
        found[site] = TapeLock(
            file=named.path.name, sha256=digest, fidelity=known, untried=len(visits - tried)
        )
    return found


def require_same_tapes(lock: RunLock) -> None:
    """Refuse to go on with a run on other tapes than it began with: its figures would mix two."""
    for site, named in lock.settings().tapes.items():
        path = named.path
        began = lock.tapes[site].sha256
        if not path.is_file() or file_digest(path) != began:
            is_there = path.is_file()
            now = "is another one now" if is_there else "is not there"
            message = f"run {lock.run}: the tape {path} of {site} that it began with {now}"
            again = (
                "" if is_there else "put it back, go on from the folder where the run began, or "
            )
            hint = f"{again}start a new run; what had finished can be reported"
            raise InputError(message, hint=hint)


def file_digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@asynccontextmanager
async def open_tapes(
    upstreams: Upstreams,
    tapes: Mapping[str, NamedTape],
    logical: Callable[[str], str | None],
) -> AsyncIterator[tuple[Mapping[str, SiteTape], str | None]]:
    """Open the tapes of a world's sites; yield them with the key that its browser must trust."""
    if not upstreams.taped:
        yield {}, None
        return
    authority = await asyncio.to_thread(Authority)
    async with AsyncExitStack() as stack:
        found: dict[str, SiteTape] = {}
        for one in upstreams.taped:
            named = tapes[one.site.name]
            tape = await asyncio.to_thread(stack.enter_context, open_tape(named.path))
            replay = TapeReplay(tape, logical, is_frozen=named.is_frozen)
            found[one.site.name] = site_tape(tape, one, replay, authority.server_context)
        yield found, authority.spki
