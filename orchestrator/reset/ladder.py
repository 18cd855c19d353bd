"""The ladder of resets: each rung restores, and a proof decides whether the next one is needed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from orchestrator.engine.engine import Engine
from orchestrator.reset.fingerprint import Fingerprint, take_fingerprint
from orchestrator.reset.replica import Replica, as_replica, await_health, start_replica
from sites.errors import ResetError, SiteError, SiteGoneError, UsageError

if TYPE_CHECKING:
    from evaluators.evidence import Receipt


class Rung(Protocol):
    """One way back to golden."""

    @property
    def name(self) -> str:
        """The strategy as receipts and the command line call it."""

    def applies(self, replica: Replica, *, wrote: bool) -> bool:
        """Whether this rung may be tried.

        Args:
            replica: what is to be reset.
            wrote: whether a request that may write was seen since it was golden.
        """

    async def restore(self, engine: Engine, replica: Replica) -> Replica:
        """Restore, and return the replica that serves now: the same one or another.

        Raises:
            SiteError: it could not; the next rung is tried.
        """


@dataclass(frozen=True, slots=True)
class Verify:
    """Change nothing: right where nothing was written, which the proof then shows."""

    name: str = "verify"

    def applies(self, replica: Replica, *, wrote: bool) -> bool:  # noqa: ARG002
        """Say yes unless a write was seen."""
        return not wrote

    async def restore(self, engine: Engine, replica: Replica) -> Replica:
        """Check that the replica still runs and serves."""
        container = await engine.container(replica.container.id)
        if container is None or container.state != "running":
            state = "removed" if container is None else container.state
            message = f"site '{replica.site.name}': container {replica.container.name} is {state}"
            raise SiteGoneError(message)
        found = as_replica(replica.placement, container)
        await await_health(engine, found)
        return found


@dataclass(frozen=True, slots=True)
class Recreate:
    """Remove the container and start its golden image again: always right, the reference."""

    name: str = "recreate"

    def applies(self, replica: Replica, *, wrote: bool) -> bool:  # noqa: ARG002
        """Say yes always."""
        return True

    async def restore(self, engine: Engine, replica: Replica) -> Replica:
        """Remove, start, wait for health."""
        await engine.remove(replica.container.id)
        return await start_replica(engine, replica.placement)


LADDER: Final[tuple[Rung, ...]] = (Verify(), Recreate())
_LAST_TRIES: Final = 2


def rungs_for(strategy: str) -> tuple[Rung, ...]:
    """Return the rungs of a strategy of the command line: `auto` is the whole ladder.

    Raises:
        UsageError: naming the strategies there are.
    """
    if strategy == "auto":
        return LADDER
    chosen = tuple(rung for rung in LADDER if rung.name == strategy)
    if not chosen:
        names = ", ".join(("auto", *(rung.name for rung in LADDER)))
        message = f"unknown strategy '{strategy}'; there are: {names}"
        raise UsageError(message)
    return chosen


@dataclass(frozen=True, slots=True)
class Reset:
    """A replica that is golden, and the proof."""

    replica: Replica
    receipt: Receipt


@dataclass(slots=True)
class _Findings:
    """What was seen on the way down the ladder."""

    before: Fingerprint | None = None
    differences: tuple[str, ...] = ()
    failures: list[str] = field(default_factory=list)


async def reset_replica(
    engine: Engine,
    replica: Replica,
    *,
    rungs: Sequence[Rung] = LADDER,
    wrote: bool = True,
    look_before: bool = False,
) -> Reset:
    """Bring a replica back to golden and prove it.

    Climbs down the rungs that apply until a proof holds; the last one is tried twice.

    Args:
        engine: the engine that runs it.
        replica: what to reset.
        rungs: the ladder, cheapest first.
        wrote: whether a request that may write was seen since it was golden.
        look_before: take a fingerprint first, so that the receipt says what differed.

    Raises:
        ResetError: no rung led to golden; names what still differs. The replica is removed.
    """
    started = time.monotonic()
    found = _Findings()
    if look_before:
        await _look_before(engine, replica, found)
    current = replica
    for rung in _tries(rungs, replica, wrote=wrote):
        try:
            current = await rung.restore(engine, current)
            state = await _state_of(engine, current, replica)
        except SiteError as failure:
            found.failures.append(f"{rung.name}: {failure.message}")
            continue
        if found.before is None and current.container.id == replica.container.id:
            await _look(found, state, replica)
        if state.digest == replica.golden:
            return Reset(current, _receipt(rung, current, state, started, found))
        differences = state.differences(await replica.placement.golden.parts())
        found.failures.append(f"{rung.name}: {'; '.join(differences)}")
    await engine.remove(current.container.id)
    raise _gave_up(replica, found)


async def _state_of(engine: Engine, current: Replica, original: Replica) -> Fingerprint:
    """Take the fingerprint; a new container that no caller knows yet goes when that breaks off."""
    try:
        return await take_fingerprint(engine, current.site, current.container)
    except SiteError:
        raise  # the next rung replaces it
    except BaseException:
        if current.container.id != original.container.id:
            await asyncio.shield(engine.remove(current.container.id))
        raise


async def _look_before(engine: Engine, replica: Replica, found: _Findings) -> None:
    try:
        state = await take_fingerprint(engine, replica.site, replica.container)
    except SiteError as failure:
        found.differences = (f"its state could not be read: {failure.message}",)
        return
    await _look(found, state, replica)


async def _look(found: _Findings, before: Fingerprint, replica: Replica) -> None:
    """Keep what the state was before anything was changed."""
    found.before = before
    if before.digest != replica.golden:
        found.differences = before.differences(await replica.placement.golden.parts())


def _tries(rungs: Sequence[Rung], replica: Replica, *, wrote: bool) -> Iterable[Rung]:
    chosen = [rung for rung in rungs if rung.applies(replica, wrote=wrote)] or list(rungs[-1:])
    return (*chosen, *chosen[-1:] * (_LAST_TRIES - 1))


def _receipt(
    rung: Rung, replica: Replica, state: Fingerprint, started: float, found: _Findings
) -> Receipt:
    from evaluators.evidence import Receipt  # noqa: PLC0415  `arena up` needs no receipt

    return Receipt(
        site=replica.site.name,
        strategy=rung.name,
        seconds=round(time.monotonic() - started, 3),
        before=found.before.digest if found.before else None,
        after=state.digest,
        golden=replica.golden,
        differences=found.differences,
    )


def _gave_up(replica: Replica, found: _Findings) -> ResetError:
    message = (
        f"site '{replica.site.name}' could not be brought back to golden;"
        f" {found.failures[-1] if found.failures else 'no strategy applies'}"
    )
    return ResetError(message, hint=f"arena build {replica.site.name} --force seals it anew")
