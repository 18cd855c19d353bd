"""One place for one replica: starts it, resets it to a state, keeps its roles logged in."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING

from arena_core.cookie import Cookie
from arena_core.errors import ArenaError, LoginError, SiteError
from arena_core.logs import log_context
from arena_core.task_group import task_group
from evaluators.episode_view import Ran
from orchestrator.sandbox.check_queries import run_command
from orchestrator.sandbox.logins import is_logged_in, login, replica_client, role_of
from orchestrator.sandbox.memory import memory_of
from orchestrator.sandbox.pool.placement import adopt, place, start_on_kept_port
from orchestrator.sandbox.pool.pool_context import (
    Phase,
    PoolContext,
    PoolEvent,
    ReadyReplica,
    ReplicaPlan,
    label_of,
)
from orchestrator.sandbox.reset.ladder import (
    LADDER,
    WAYS_TO_A_STATE,
    Reset,
    put_clock_back,
    reset_replica,
)
from orchestrator.sandbox.reset.replica import Replica, start_replica
from orchestrator.sandbox.reset.taking import require_same_image
from orchestrator.sandbox.reset.watch import Glance, Watch

if TYPE_CHECKING:
    from evaluators.changes import Change, IgnoredChanges
    from orchestrator.sandbox.reset.state import TakenState

_LOG = logging.getLogger(__name__)

_LOG_LINES = 5
_TROUBLE = frozenset({Phase.LOST, Phase.FAILED})


class PooledReplica:
    """Holds one replica; its caller sees to it that one task at a time works on it."""

    def __init__(self, shop: PoolContext, plan: ReplicaPlan) -> None:
        self._shop = shop
        self._engine = shop.engine
        self._plan = plan
        self._found = plan.found
        self._latest: Replica | None = None
        self._watch: Watch | None = None
        self._looking = asyncio.Lock()
        self._logging_in: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._doing = ("not started", time.monotonic())

    @property
    def label(self) -> str:
        return label_of(self._plan.site.name, self._plan.slot)

    @property
    def state(self) -> str:
        """What it last did, and how long ago."""
        what, since = self._doing
        return f"{self.label} {what} since {time.monotonic() - since:.1f} s"

    async def start(self) -> ReadyReplica:
        async with self._shop.starts:
            return await self._told(self._started(()))

    async def renew(
        self, ready: ReadyReplica, *, wrote: bool, start: TakenState | None = None
    ) -> ReadyReplica:
        """Bring a used replica to a start; one that cannot be proven is replaced.

        Args:
            start: a state that was taken; golden where omitted.
        """
        async with self._shop.resets:
            return await self._told(self._renewed(ready, wrote=wrote, start=start))

    async def take_state(self, ready: ReadyReplica) -> TakenState:
        """Take the state that a replica is in, with the rows in which it differs from golden."""
        from orchestrator.sandbox.delta.present_rows import take_state_with_rows  # noqa: PLC0415

        async with self._looking:
            watch = ready.watch or Watch.over(self._engine, ready.replica)
            try:
                return await take_state_with_rows(self._engine, watch)
            finally:
                if watch is not ready.watch:
                    await watch.close()

    async def lost(self, ready: ReadyReplica) -> str | None:
        """Say that a replica's container is gone and with what evidence; None while it runs."""
        replica = ready.replica
        container = await self._engine.container(replica.container.id)
        if container is None:
            return f"site '{replica.site.name}': container {replica.container.name} was removed"
        if container.state == "running":
            return None
        log = await self._engine.logs(container.id, tail=_LOG_LINES)
        return (
            f"site '{replica.site.name}': container {container.name} is {container.state}"
            f" (exit code {container.exit_code}); last lines: {' | '.join(log.splitlines())}"
        )

    async def spoilt(self, ready: ReadyReplica) -> str | None:
        """Say why a ready replica must not be handed out after all; None where it may.

        It died, or somebody changed it beside the pool. Where nothing but the whole state
        would show a change, only its container is looked at. The clock of one that may is put
        back: that is when the episode begins for it.
        """
        why = await self._changed(ready)
        if why is not None:
            self._tell(Phase.LOST, detail=why)
        return why

    async def _changed(self, ready: ReadyReplica) -> str | None:
        watch = ready.watch
        if watch is None:
            return await self.lost(ready)
        async with self._looking:
            seen, begun = await self._glance_and_begin(watch)
            if seen.unseen is not None:
                return await self.lost(ready)
            if seen.moved is None:
                return begun
            if seen.by_itself and await self._holds(watch):
                return await self._begun(watch)
            return await self.lost(ready) or seen.moved

    async def _glance_and_begin(self, watch: Watch) -> tuple[Glance, str | None]:
        """Look at what moves while the clock is put back; say why that could not be done.

        Its supervisor answers both questions on its way. A replica that is not handed out after
        all is reset, and its clock with it.
        """
        if not watch.is_supervised:
            seen = await watch.glance()
            return seen, await self._begun(watch) if seen.is_still else None
        async with task_group() as group:
            glance = group.create_task(watch.glance())
            begun = group.create_task(self._begun(watch))
        return glance.result(), begun.result()

    async def _holds(self, watch: Watch) -> bool:
        """Whether a state is golden whose database wrote for itself, as it does now and then."""
        try:
            state = await watch.prove(own_writes=True)
        except SiteError:
            return False
        return state.digest == watch.target.digest

    async def _begun(self, watch: Watch) -> str | None:
        try:
            await put_clock_back(watch)
        except SiteError as failure:
            return failure.message
        return None

    async def changes(
        self, ready: ReadyReplica, ignored: IgnoredChanges, start: TakenState | None
    ) -> tuple[Change, ...]:
        """Return what differs on a replica from a start; errors are those of `delta_of`.

        Where nothing moved since it was proven to be there, nothing differs, and nothing is read.
        """
        from orchestrator.sandbox.delta.delta import delta_of  # noqa: PLC0415  only checks ask for it

        if ready.watch is not None and start == ready.start:
            async with self._looking:
                if await ready.watch.moved() is None:
                    return ()
        found = await delta_of(self._engine, ready.replica, ignored=ignored, start=start)
        return found.changes

    async def run(self, ready: ReadyReplica, command: str, seconds: int) -> Ran:
        return await run_command(self._engine, ready.replica.container.id, command, seconds)

    async def cookies(self, ready: ReadyReplica, role_name: str) -> tuple[Cookie, ...]:
        """Return a role's cookies, proven on this replica just now."""
        site = self._plan.site
        role = role_of(site, role_name)
        self._shop.roles[site.name].add(role_name)
        client = replica_client(site, ready.replica.endpoint)
        async with self._logging_in[role_name]:
            known = ready.cookies.get(role_name)
            if known is not None and await is_logged_in(site, role_name, role, client, known):
                return known
            was_calm = await self._is_calm(ready)
            ready.cookies[role_name] = await login(site, role_name, role, client)
            if was_calm:  # then what moved is the login's doing
                await self._prove_again(ready)
            return ready.cookies[role_name]

    async def log_everybody_in(self, ready: ReadyReplica) -> None:
        """Log every role of the site in, side by side, and check that it is logged in."""
        started = time.monotonic()
        roles = tuple(self._plan.site.roles)
        async with task_group() as group:
            for role_name in roles:
                group.create_task(self.cookies(ready, role_name))
        detail = f"logged in: {', '.join(roles)}" if roles else ""
        self._tell(Phase.READY, seconds=time.monotonic() - started, detail=detail)

    async def vacate(self) -> None:
        """Remove its container; safe to repeat. No work may be under way."""
        await self._stop_watching()
        if self._latest is not None:
            await self._engine.remove(self._latest.container.id)

    async def _told(self, work: Coroutine[object, object, ReadyReplica]) -> ReadyReplica:
        try:
            ready = await work
        except ArenaError as failure:
            self._tell(Phase.FAILED, detail=failure.message.splitlines()[0])
            raise
        self._latest, self._watch = ready.replica, ready.watch
        await self._mint(ready)
        await self._measure(ready.replica)
        return ready

    async def _started(self, fallbacks: tuple[str, ...]) -> ReadyReplica:
        started = time.monotonic()
        plan = self._plan
        await self.vacate()
        placement = await place(
            self._engine, plan.site, owner=plan.owner, slot=plan.slot, port=plan.port
        )
        found, self._found = self._found, ()
        kept = await adopt(self._engine, placement, found)
        if kept is not None:
            self._tell(Phase.KEPT, detail="it runs already")
            return ReadyReplica(replica=kept)
        self._tell(Phase.STARTING, detail=f"waits for {plan.site.health.path}")
        start = start_on_kept_port if plan.keeps_port else start_replica
        replica = self._latest = await start(self._engine, placement)
        self._tell(Phase.HEALTHY, seconds=time.monotonic() - started)
        if not (plan.prove and plan.site.stateful):
            return ReadyReplica(replica=replica)
        self._watch = Watch.over(self._engine, replica, new=True)
        proven = await reset_replica(self._engine, self._watch, wrote=False)
        receipt = proven.receipt
        if receipt.strategy == LADDER[0].name:
            seconds = round(time.monotonic() - started, 3)
            receipt = receipt.model_copy(update={"strategy": "start", "seconds": seconds})
        more = {"fallbacks": (*fallbacks, *receipt.fallbacks)}
        return self._golden(Reset(proven.watch, receipt.model_copy(update=more)))

    async def _renewed(
        self, ready: ReadyReplica, *, wrote: bool, start: TakenState | None
    ) -> ReadyReplica:
        require_same_image(ready.replica, start)
        self._tell(Phase.RESETTING)
        try:
            return await self._reset(ready, wrote=wrote, start=start)
        except ArenaError as failure:
            why = failure.message.splitlines()[0]
            self._tell(Phase.FAILED, detail=why)
        fresh = await self._started((why,))
        return fresh if start is None else await self._reset(fresh, wrote=False, start=start)

    async def _reset(
        self, ready: ReadyReplica, *, wrote: bool, start: TakenState | None
    ) -> ReadyReplica:
        watch = ready.watch or Watch.over(self._engine, ready.replica)
        self._watch = watch
        strategies = self._shop.strategies
        if start != watch.taken:
            watch.aim(start)
            # To keep a replica as it is leads to no other state.
            strategies = tuple(one for one in strategies if one.touches) or WAYS_TO_A_STATE
        done = await reset_replica(self._engine, watch, strategies=strategies, wrote=wrote)
        kept = done.replica.container.id == ready.replica.container.id
        return self._golden(done, cookies=ready.cookies if kept else {})

    async def _mint(self, ready: ReadyReplica) -> None:
        """Log in the roles that were asked for before, so that the next episode need not wait.

        One that cannot log in fails the episode that wants it, and no other.
        """
        for role_name in sorted(self._shop.roles[self._plan.site.name] - ready.cookies.keys()):
            try:
                await self.cookies(ready, role_name)
            except LoginError as failure:
                self._tell(Phase.FAILED, detail=failure.message.splitlines()[0])

    async def _is_calm(self, ready: ReadyReplica) -> bool:
        """Whether nothing moved since a replica was proven golden."""
        async with self._looking:
            watch = ready.watch
            return watch is not None and (await watch.glance()).moved is None

    async def _prove_again(self, ready: ReadyReplica) -> None:
        """Take the state anew where a login wrote to it: to volatile columns, if it is golden."""
        async with self._looking:
            watch = ready.watch
            if watch is not None and (await watch.glance()).moved is not None:
                await watch.prove(own_writes=True)

    async def _stop_watching(self) -> None:
        watch, self._watch = self._watch, None
        if watch is not None:
            await watch.close()

    async def _measure(self, replica: Replica) -> None:
        image_id = replica.placement.image_id
        if not self._shop.costs.wants(image_id):
            return
        with suppress(ArenaError):  # it is ready all the same; the next one is measured
            used = await memory_of(self._engine, replica.container.id)
            self._shop.costs.learn(image_id, used)

    def _golden(
        self, reset: Reset, cookies: dict[str, tuple[Cookie, ...]] | None = None
    ) -> ReadyReplica:
        receipt = reset.receipt
        self._tell(Phase.GOLDEN, seconds=receipt.seconds, detail=receipt.strategy)
        return ReadyReplica(
            replica=reset.replica, watch=reset.watch, receipt=receipt, cookies=cookies or {}
        )

    def _tell(self, phase: Phase, *, seconds: float = 0.0, detail: str = "") -> None:
        self._doing = (phase.value, time.monotonic())
        self._log(phase, seconds, detail)
        self._shop.announce(
            PoolEvent(replica=self.label, phase=phase, seconds=seconds, detail=detail)
        )

    def _log(self, phase: Phase, seconds: float, detail: str) -> None:
        level = logging.WARNING if phase in _TROUBLE else logging.INFO
        with log_context(site=self._plan.site.name, slot=self._plan.slot):
            text = f"{self.label}: {phase}{f': {detail}' if detail else ''}"
            _LOG.log(level, "%s", text, extra={"seconds": round(seconds, 3)} if seconds else None)
