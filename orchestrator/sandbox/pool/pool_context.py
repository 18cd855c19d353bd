"""What a pooled replica is for, what it holds, and what all replicas of a pool share."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from arena_core.cookie import Cookie
from orchestrator.sandbox.engine.containers import Container
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.memory import Costs
from orchestrator.sandbox.reset.replica import Replica
from orchestrator.sandbox.reset.strategies import Strategy
from orchestrator.sandbox.reset.watch import Watch
from sites.manifest import Site

if TYPE_CHECKING:
    from evaluators.evidence import Receipt
    from orchestrator.sandbox.reset.state import TakenState


class Phase(StrEnum):
    """What just began or ended for one replica."""

    STARTING = "starting"
    KEPT = "kept"
    HEALTHY = "healthy"
    READY = "ready"
    RESETTING = "resetting"
    GOLDEN = "golden"
    LOST = "lost"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolEvent:
    """One line of progress.

    Attributes:
        replica: the site and, where it is one slot's own, the slot.
        seconds: since the work on this replica began.
        detail: what is awaited next, or what went wrong; may be empty.
    """

    replica: str
    phase: Phase
    seconds: float = 0.0
    detail: str = ""


Announce = Callable[[PoolEvent], None]


def ignore_event(event: PoolEvent) -> None:
    """Do nothing."""


@dataclass(slots=True, kw_only=True)
class ReadyReplica:
    """A replica that may be handed out, until the next reset.

    Attributes:
        watch: over it since it was proven golden; None where it was only started.
        receipt: of the reset that made it ready; None where it was only started.
        cookies: of the roles that logged in to this very replica.
    """

    replica: Replica
    watch: Watch | None = None
    receipt: Receipt | None = None
    cookies: dict[str, tuple[Cookie, ...]] = field(default_factory=dict)

    @property
    def start(self) -> TakenState | None:
        """The state that it was brought to; None for golden."""
        return None if self.watch is None else self.watch.taken


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaPlan:
    """What a pooled replica is for.

    Attributes:
        slot: index; None where all slots share it.
        port: the host port of its HTTP port; None for a free one.
        keeps_port: whether the next container in its place is to have the same port, whatever ended
            this one.
        prove: whether a fresh replica's fingerprint is compared with golden too.
        found: containers of this owner for this place; one that fits is kept, the others go.
    """

    site: Site
    owner: str
    slot: int | None
    port: int | None = None
    keeps_port: bool = False
    prove: bool = True
    found: tuple[Container, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolContext:
    """What the replicas of a pool share.

    Attributes:
        strategies: how a used replica is brought back to golden.
        starts, resets: bound how many of each go on at once. Resets have turns of their own, so
            that a replica which is clean in a moment does not queue behind spares that start.
        roles: by site name, the roles that anybody asked for so far.
    """

    engine: Engine
    costs: Costs
    strategies: Sequence[Strategy]
    starts: asyncio.Semaphore
    resets: asyncio.Semaphore
    announce: Announce
    roles: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


def label_of(site_name: str, slot: int | None) -> str:
    return site_name if slot is None else f"{site_name} (slot {slot})"
