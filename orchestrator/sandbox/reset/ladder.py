"""The ladder of resets: each strategy restores, and a proof decides whether the next is needed."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from arena_core.errors import (
    ArenaError,
    EngineError,
    EngineMissingError,
    ImageError,
    ResetError,
    SiteError,
    SiteGoneError,
    UsageError,
)
from arena_core.names import offered
from arena_core.task_group import task_group
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.reset.fingerprint import Fingerprint
from orchestrator.sandbox.reset.replica import Placement, Replica, await_health, start_replica
from orchestrator.sandbox.reset.strategies import Clean, Recreate, Rewind, Strategy
from orchestrator.sandbox.reset.watch import Watch

if TYPE_CHECKING:
    from evaluators.evidence import Receipt, Verification
    from orchestrator.sandbox.engine.containers import Container

_LOG = logging.getLogger(__name__)

LADDER: Final[tuple[Strategy, ...]] = (Clean(), Rewind(), Recreate())
WAYS_TO_A_STATE: Final[tuple[Strategy, ...]] = (Rewind(), Recreate())
# `swap` is the pool's: it hands out another replica and resets this one behind it, by the whole
# ladder.
_WHOLE_LADDER: Final = ("auto", "swap")
_HEALTH_S: Final = 20.0
_LAST_LINES: Final = 3
# The supervisor reports the time that it set a moment later.
_CLOCK_SET_WITHIN: Final = timedelta(seconds=1)


def strategies_for(name: str) -> tuple[Strategy, ...]:
    """Return what `--strategy NAME` tries, in order: `auto` is the whole ladder."""
    if name in _WHOLE_LADDER:
        return LADDER
    chosen = tuple(one for one in LADDER if one.name == name)
    if not chosen:
        names = (*_WHOLE_LADDER, *(one.name for one in LADDER))
        raise UsageError(f"unknown strategy '{name}'; {offered(name, names)}")
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
        return self.watch.replica


@dataclass(slots=True)
class _Findings:
    """What was seen on the way down the ladder.

    Attributes:
        before: the state before anything was changed.
        differences: how that differed from golden.
        failures: strategies that were tried, and why each was not enough.
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
    strategies: Sequence[Strategy] = LADDER,
    wrote: bool = True,
    look_before: bool = False,
) -> Reset:
    """Bring a replica back to golden and prove it.

    Tries the strategies that apply until a proof holds; a last one that replaces the container is
    tried twice.

    Args:
        watch: over what to reset; closed where another replica takes its place.
        strategies: the ladder, cheapest first.
        wrote: whether a request that may write was seen since it was golden, or one was broken off.
        look_before: take a fingerprint first, so that the receipt says what differed.
    """
    started = time.monotonic()
    found = _Findings()
    if look_before:
        await _look_before(watch, found)
    tries = _tries(strategies, watch, wrote=wrote)
    if not tries:
        raise _none_applies(watch.replica, strategies)
    current = watch
    for index, strategy in enumerate(tries):
        found.touched = found.touched or strategy.touches
        try:
            current = await strategy.restore(engine, current)
            golden = await _golden_by(engine, strategy, current, watch, found)
        except SiteError as failure:
            _note_failure(current, strategy, failure, found)
            continue
        except (EngineError, EngineMissingError) as failure:  # the latter where it restarts
            if index == len(tries) - 1:
                raise
            _note_failure(current, strategy, failure, found)
            continue
        if golden is not None:
            receipt = _receipt(strategy, current, golden, started, found)
            _LOG.info(
                "%s: golden by %s, proven by %s",
                watch.replica.site.name,
                receipt.strategy,
                receipt.proof,
                extra={"receipt": receipt.model_dump(mode="json", exclude={"site"})},
            )
            return Reset(current, receipt)
    raise await _gave_up(engine, current, found)


async def replace_container(
    engine: Engine, placement: Placement, ended: Container, strategies: Sequence[Strategy]
) -> Reset:
    """Start another container in the place of one that ended, is paused or never started.

    The receipt names the strategy that replaces; its first fallback says what the old container was
    like and what it said last.
    """
    started = time.monotonic()
    name = placement.site.name
    why = await _how_it_is(engine, ended)
    replacing = next((one for one in strategies if one.replaces), None)
    if replacing is None:
        raise SiteGoneError(f"site '{name}': {why}", hint=f"arena reset {name} --strategy recreate")
    await engine.remove(ended.id)
    watch = Watch.over(engine, await start_replica(engine, placement), new=True)
    reset = await reset_replica(engine, watch, wrote=False)
    receipt = reset.receipt.model_copy(
        update={
            "strategy": replacing.name,
            "seconds": round(time.monotonic() - started, 4),
            "before": None,
            "differences": (why,),
            "fallbacks": (f"clean: {why}", *reset.receipt.fallbacks),
        }
    )
    return Reset(reset.watch, receipt)


async def put_clock_back(watch: Watch) -> None:
    """Put a replica's clock back to the moment of the state it is to be in; it runs from there.

    Nothing happens where the clock is the host's, or the image has no supervisor.
    """
    replica = watch.replica
    begins = watch.taken.clock if watch.taken else replica.site.clock.begins
    if begins is None or replica.supervisor is None:
        return
    supervision = await watch.supervision()
    shown = await supervision.put_clock_back()
    if not begins <= shown <= begins + _CLOCK_SET_WITHIN:
        raise ImageError(
            f"site '{replica.site.name}': its image's clock begins at {shown.isoformat()},"
            f" the manifest's at {begins.isoformat()}",
            hint=f"arena build {replica.site.name} --force",
        )


@dataclass(frozen=True, slots=True)
class _Golden:
    """A proof that held.

    Attributes:
        read: whether the whole state was read for it; it stood by the counters otherwise.
    """

    state: Fingerprint
    read: bool


async def _golden_by(
    engine: Engine, strategy: Strategy, current: Watch, original: Watch, found: _Findings
) -> _Golden | None:
    """Prove that a replica is golden and put its clock back, or note how it differs.

    A new container that no caller knows yet is removed when that breaks off.
    """
    try:
        if current.golden is not None and await current.moved() is None:
            await put_clock_back(current)
            return _Golden(current.golden, read=False)
        state = await _read(engine, current, serving=not found.touched)
        if found.touched and state.digest != current.target.digest:
            # Services that do not say when they are ready, as nginx, may have put their scratch
            # files in place while it was read; by now the replica serves.
            state = await current.prove()
        if found.before is None and not found.touched:
            await _note_before(found, state, current)
        if state.digest == current.target.digest:
            await put_clock_back(current)
            return _Golden(state, read=True)
        differences = state.differences(await current.target.parts())
    except SiteError:
        raise  # the next strategy replaces it
    except BaseException:
        if current is not original:
            await current.close()
            await asyncio.shield(engine.remove(current.replica.container.id))
        raise
    listed = "; ".join(differences)
    found.failures.append(f"{strategy.name}: {listed}")
    _LOG.warning(
        "%s: %s did not lead to golden: %s", current.replica.site.name, strategy.name, listed
    )
    return None


def _note_failure(watch: Watch, strategy: Strategy, failure: ArenaError, found: _Findings) -> None:
    why = failure.message.splitlines()[0]
    found.failures.append(f"{strategy.name}: {why}")
    _LOG.warning("%s: %s failed: %s", watch.replica.site.name, strategy.name, why)
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
    await _note_before(found, state, watch)


async def _note_before(found: _Findings, before: Fingerprint, watch: Watch) -> None:
    found.before = before
    if before.digest != watch.target.digest:
        found.differences = before.differences(await watch.target.parts())


def _tries(strategies: Sequence[Strategy], watch: Watch, *, wrote: bool) -> tuple[Strategy, ...]:
    chosen = tuple(one for one in strategies if one.applies(watch, wrote=wrote))
    return (*chosen, *(one for one in chosen[-1:] if one.replaces))


def _receipt(
    strategy: Strategy, watch: Watch, golden: _Golden, started: float, found: _Findings
) -> Receipt:
    from evaluators.evidence import Receipt  # noqa: PLC0415  `arena up` needs no receipt

    before = found.before
    if before is None and not found.touched:
        before = golden.state
    return Receipt(
        site=watch.replica.site.name,
        strategy=strategy.name,
        seconds=round(time.monotonic() - started, 4),
        before=before.digest if before else None,
        after=golden.state.digest,
        golden=watch.target.digest,
        differences=found.differences,
        proof=_verification(watch, golden),
        fallbacks=tuple(found.failures),
        is_start=watch.taken is not None,
    )


def _verification(watch: Watch, golden: _Golden) -> Verification:
    from evaluators.evidence import Verification  # noqa: PLC0415

    if not watch.replica.site.shows_state:
        return Verification.IMAGE
    return Verification.FINGERPRINT if golden.read else Verification.COUNTERS


def _none_applies(replica: Replica, strategies: Sequence[Strategy]) -> ResetError:
    why = "; ".join(f"not {one.name}: possible only where {one.needs}" for one in strategies)
    return ResetError(f"site '{replica.site.name}': {why}; the replica stays as it is")


async def _gave_up(engine: Engine, current: Watch, found: _Findings) -> ResetError:
    name = current.replica.site.name
    failure = found.failures[-1]
    if not found.touched:
        message = f"site '{name}': not {failure}; the replica stays as it is"
        return ResetError(message, hint=f"arena reset {name}")
    await current.close()
    await engine.remove(current.replica.container.id)
    if current.taken is not None:
        message = f"site '{name}' could not be brought to a state that was taken; {failure}"
        return ResetError(message, hint=f"take the state anew; arena up {name} starts the site")
    message = f"site '{name}' could not be brought back to golden; {failure}"
    return ResetError(message, hint=f"arena build {name} --force seals it anew")


async def _how_it_is(engine: Engine, ended: Container) -> str:
    code = "" if ended.exit_code is None else f" with code {ended.exit_code}"
    how = f"container {ended.name} is {ended.state}{code}"
    try:
        log = await engine.logs(ended.id, tail=_LAST_LINES)
    except ArenaError:
        return how  # its state is reason enough
    said = " | ".join(log.splitlines())
    return f"{how}; it said last: {said}" if said else how
