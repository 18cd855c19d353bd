"""The ladder of resets: each rung restores, and a proof decides whether the next one is needed."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from arena_core.errors import (
    ArenaError,
    EngineError,
    EngineMissingError,
    ResetError,
    SiteError,
    UsageError,
)
from arena_core.task_group import task_group
from orchestrator.engine.engine import Engine
from orchestrator.reset.clock import put_clock_back
from orchestrator.reset.fingerprint import Fingerprint
from orchestrator.reset.replica import Replica, await_health
from orchestrator.reset.rungs import Clean, Recreate, Rewind, Rung
from orchestrator.reset.watch import Watch

if TYPE_CHECKING:
    from evaluators.evidence import Proof, Receipt

_LOG = logging.getLogger(__name__)

__all__ = ["LADDER", "Clean", "Recreate", "Reset", "Rewind", "Rung", "reset_replica", "rungs_for"]

LADDER: Final[tuple[Rung, ...]] = (Clean(), Rewind(), Recreate())
# What the pool does with `swap` (it hands out another replica and resets this one behind it) is
# no other way back to golden.
_WHOLE_LADDER: Final = ("auto", "swap")
_HEALTH_S: Final = 20.0


def rungs_for(strategy: str) -> tuple[Rung, ...]:
    """Return the rungs of a strategy of the command line: `auto` is the whole ladder.

    Raises:
        UsageError: naming the strategies there are.
    """
    if strategy in _WHOLE_LADDER:
        return LADDER
    chosen = tuple(rung for rung in LADDER if rung.name == strategy)
    if not chosen:
        names = ", ".join((*_WHOLE_LADDER, *(rung.name for rung in LADDER)))
        message = f"unknown strategy '{strategy}'; there are: {names}"
        raise UsageError(message)
    return chosen


@dataclass(frozen=True, slots=True)
class Reset:
    """A replica that is golden, and the proof.

    Attributes:
        watch: over it, its connections open; the caller closes it.
    """

    watch: Watch
    receipt: Receipt

    @property
    def replica(self) -> Replica:
        """The replica that is golden."""
        return self.watch.replica


@dataclass(slots=True)
class _Findings:
    """What was seen on the way down the ladder.

    Attributes:
        before: the state before anything was changed.
        differences: how that differed from golden.
        failures: rungs that were tried, and why each was not enough.
        touched: whether one of them changed the replica.
    """

    before: Fingerprint | None = None
    differences: tuple[str, ...] = ()
    failures: list[str] = field(default_factory=list)
    touched: bool = False


async def reset_replica(
    engine: Engine,
    watch: Watch,
    *,
    rungs: Sequence[Rung] = LADDER,
    wrote: bool = True,
    look_before: bool = False,
) -> Reset:
    """Bring a replica back to golden and prove it.

    Climbs down the rungs that apply until a proof holds; a recreation is tried twice.

    Args:
        engine: the engine that runs it.
        watch: over what to reset; closed where another replica takes its place.
        rungs: the ladder, cheapest first.
        wrote: whether a request that may write was seen since it was golden, or one was broken off.
        look_before: take a fingerprint first, so that the receipt says what differed.

    Raises:
        ResetError: no rung led to golden; names what still differs. The replica is removed, unless
            no rung that was tried changes it: then it stays as it is.
        EngineError, EngineMissingError: the last rung could not do with the engine what it must.
        ImageError: the image was sealed by an older version.
    """
    started = time.monotonic()
    found = _Findings()
    if look_before:
        await _look_before(watch, found)
    tries = _tries(rungs, watch, wrote=wrote)
    if not tries:
        raise _none_applies(watch.replica, rungs)
    current = watch
    for index, rung in enumerate(tries):
        found.touched = found.touched or rung.touches
        try:
            current = await rung.restore(engine, current)
            golden = await _golden_by(engine, rung, current, watch, found)
        except SiteError as failure:
            _failed(current, rung, failure, found)
            continue
        except (EngineError, EngineMissingError) as failure:  # the latter where it restarts
            if index == len(tries) - 1:
                raise
            _failed(current, rung, failure, found)
            continue
        if golden is not None:
            receipt = _receipt(rung, current, golden, started, found)
            _LOG.info(
                "%s: golden by %s, proven by %s",
                watch.replica.site.name,
                receipt.strategy,
                receipt.proof,
                extra={"receipt": receipt.model_dump(mode="json", exclude={"site"})},
            )
            return Reset(current, receipt)
    raise await _gave_up(engine, current, found)


@dataclass(frozen=True, slots=True)
class _Golden:
    """A proof that held.

    Attributes:
        read: whether the whole state was read for it; it stood by the counters otherwise.
    """

    state: Fingerprint
    read: bool


async def _golden_by(
    engine: Engine, rung: Rung, current: Watch, original: Watch, found: _Findings
) -> _Golden | None:
    """Prove that a replica is golden and put its clock back, or note how it differs.

    A new container that no caller knows yet goes when that breaks off.
    """
    try:
        if current.golden is not None and await current.moved() is None:
            await put_clock_back(current)
            return _Golden(current.golden, read=False)
        state = await _read(engine, current, serving=not found.touched)
        if found.touched and state.digest != current.replica.golden:
            # Services that do not say when they are ready, as nginx, may have put their scratch
            # files in place while it was read; by now the replica serves.
            state = await current.prove()
        if found.before is None and not found.touched:
            await _note_before(found, state, current.replica)
        if state.digest == current.replica.golden:
            await put_clock_back(current)
            return _Golden(state, read=True)
        differences = state.differences(await current.replica.placement.golden.parts())
    except SiteError:
        raise  # the next rung replaces it
    except BaseException:
        if current is not original:
            await current.close()
            await asyncio.shield(engine.remove(current.replica.container.id))
        raise
    found.failures.append(f"{rung.name}: {'; '.join(differences)}")
    _LOG.warning(
        "%s: %s did not lead to golden: %s",
        current.replica.site.name,
        rung.name,
        "; ".join(differences),
    )
    return None


def _failed(watch: Watch, rung: Rung, failure: ArenaError, found: _Findings) -> None:
    """Note that a rung could not be climbed down."""
    why = _first_line(failure)
    found.failures.append(f"{rung.name}: {why}")
    _LOG.warning("%s: %s failed: %s", watch.replica.site.name, rung.name, why)
    _LOG.debug("how it failed", exc_info=failure)


async def _read(engine: Engine, watch: Watch, *, serving: bool) -> Fingerprint:
    """Read the whole state; of a replica that is not known to serve, await its health meanwhile."""
    async with task_group() as group:
        if not serving:
            group.create_task(await_health(engine, watch.replica, timeout_s=_HEALTH_S))
        state = group.create_task(watch.prove())
    return state.result()


async def _look_before(watch: Watch, found: _Findings) -> None:
    try:
        known = watch.golden if await watch.moved() is None else None
        state = known or await watch.prove()
    except SiteError as failure:
        found.differences = (f"its state could not be read: {failure.message}",)
        return
    await _note_before(found, state, watch.replica)


async def _note_before(found: _Findings, before: Fingerprint, replica: Replica) -> None:
    """Keep what the state was before anything was changed."""
    found.before = before
    if before.digest != replica.golden:
        found.differences = before.differences(await replica.placement.golden.parts())


def _tries(rungs: Sequence[Rung], watch: Watch, *, wrote: bool) -> tuple[Rung, ...]:
    chosen = tuple(rung for rung in rungs if rung.applies(watch, wrote=wrote))
    again = tuple(rung for rung in chosen[-1:] if isinstance(rung, Recreate))
    return (*chosen, *again)


def _receipt(
    rung: Rung, watch: Watch, golden: _Golden, started: float, found: _Findings
) -> Receipt:
    from evaluators.evidence import Receipt  # noqa: PLC0415  `arena up` needs no receipt

    before = found.before
    if before is None and not found.touched:
        before = golden.state
    return Receipt(
        site=watch.replica.site.name,
        strategy=rung.name,
        seconds=round(time.monotonic() - started, 4),
        before=before.digest if before else None,
        after=golden.state.digest,
        golden=watch.replica.golden,
        differences=found.differences,
        proof=_proof(watch, golden),
        fallbacks=tuple(found.failures),
    )


def _proof(watch: Watch, golden: _Golden) -> Proof:
    from evaluators.evidence import Proof  # noqa: PLC0415

    if not watch.replica.site.shows_state:
        return Proof.IMAGE
    return Proof.FINGERPRINT if golden.read else Proof.COUNTERS


def _none_applies(replica: Replica, rungs: Sequence[Rung]) -> ResetError:
    why = "; ".join(f"not {rung.name}: that needs that {rung.needs}" for rung in rungs)
    return ResetError(f"site '{replica.site.name}': {why}; the replica stays as it is")


async def _gave_up(engine: Engine, current: Watch, found: _Findings) -> ResetError:
    name = current.replica.site.name
    failure = found.failures[-1]
    if not found.touched:
        message = f"site '{name}': not {failure}; the replica stays as it is"
        return ResetError(message, hint=f"arena reset {name}")
    await current.close()
    await engine.remove(current.replica.container.id)
    message = f"site '{name}' could not be brought back to golden; {failure}"
    return ResetError(message, hint=f"arena build {name} --force seals it anew")


def _first_line(failure: ArenaError) -> str:
    return failure.message.splitlines()[0]
