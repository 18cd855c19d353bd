"""Memory: sizes as people write them, what a replica takes, and whether a run's replicas fit."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Self

from arena_core.errors import UsageError
from arena_core.names import counted
from arena_core.user_cache import user_cache
from orchestrator.sandbox.engine.engine import Engine
from sites.manifest import Site

MIB: Final = 1 << 20
GIB: Final = 1 << 30

_UNITS: Final = {
    "kib": 1 << 10,
    "mib": MIB,
    "gib": GIB,
    "tib": 1 << 40,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "k": 1 << 10,
    "m": MIB,
    "g": GIB,
    "t": 1 << 40,
}
_WRITTEN: Final = re.compile(r"(\d+(?:\.\d+)?) ?([kmgt]i?b|[kmgt])", re.IGNORECASE | re.ASCII)


def parse_size(text: str) -> int:
    """Read `4GiB`, `512M` (binary, as Docker reads it) or `4GB` as bytes."""
    written = _WRITTEN.fullmatch(text.strip())
    size = int(float(written[1]) * _UNITS[written[2].lower()]) if written else 0
    if size <= 0:
        message = f"'{text}' is no amount of memory: expected a number and a unit"
        raise UsageError(message, hint="for example 4GiB or 512MiB")
    return size


def format_size(size_bytes: int) -> str:
    if size_bytes >= GIB:
        return f"{size_bytes / GIB:.1f} GiB"
    return f"{size_bytes / MIB:.0f} MiB"


_V2: Final = "/sys/fs/cgroup"
_V1: Final = "/sys/fs/cgroup/memory"
_ARGV: Final = (
    "cat",
    f"{_V2}/memory.current",
    f"{_V2}/memory.stat",
    f"{_V1}/memory.usage_in_bytes",
    f"{_V1}/memory.stat",
)
_DEADLINE_S: Final = 10.0


async def memory_of(engine: Engine, container_id: str) -> int:
    """Return the bytes a container uses, without the file cache it could give back.

    The container's own control group answers at once; the engine samples for a second (checked on
    20.10, also when asked for one shot). It is asked where the image has no `cat`.
    """
    done = await engine.execute(container_id, _ARGV, timeout_s=_DEADLINE_S)
    used = used_bytes(done.stdout.decode(errors="replace"))
    return await engine.memory_bytes(container_id) if used is None else used


def used_bytes(printed: str) -> int | None:
    """Read the files of either version of control groups; None where neither was there."""
    usage: int | None = None
    counts: dict[str, int] = {}
    for line in printed.splitlines():
        name, _, value = line.partition(" ")
        if usage is None and name.isdecimal():
            usage = int(name)
        elif value.isdecimal():
            counts[name] = int(value)
    if usage is None:
        return None
    cache = counts.get("total_inactive_file", counts.get("inactive_file", 0))
    return max(0, usage - cache)


_KEPT: Final = 200  # images; the oldest go first


@dataclass(frozen=True, slots=True)
class Cost:
    """The memory of one replica.

    Attributes:
        is_learned: it was measured here; otherwise it is the manifest's limit.
    """

    size_bytes: int
    is_learned: bool

    @property
    def source(self) -> str:
        return "learned" if self.is_learned else "by its limit"


@dataclass(slots=True)
class Costs:
    """Measured memory by image id, the most that was ever seen.

    Attributes:
        path: the file; None keeps nothing.
    """

    path: Path | None = None
    _known: dict[str, int] = field(default_factory=dict)
    _measured_now: set[str] = field(default_factory=set)

    @classmethod
    def load(cls, path: Path | None = None) -> Self:
        costs = cls(path or _default_path())
        costs._known = costs._read()
        return costs

    def of(self, site: Site, image_id: str | None) -> Cost:
        """Return what one more replica takes: as learned, else the manifest's limit."""
        known = self._known.get(image_id or "")
        if known is None:
            return Cost(site.resources.memory_mb * MIB, is_learned=False)
        return Cost(known, is_learned=True)

    def wants(self, image_id: str) -> bool:
        """Whether this process has not measured a replica of the image yet."""
        return image_id not in self._measured_now

    def learn(self, image_id: str, size_bytes: int) -> None:
        self._measured_now.add(image_id)
        if size_bytes <= self._known.get(image_id, 0):
            return
        known = {**self._read(), **self._known}  # other processes learn too
        known.pop(image_id, None)
        self._known = {**known, image_id: size_bytes}
        self._write()

    def _read(self) -> dict[str, int]:
        try:
            found = json.loads(self.path.read_bytes()) if self.path else {}
        except (OSError, ValueError):
            return {}
        if not isinstance(found, dict):
            return {}
        return {
            str(image): size for image, size in found.items() if isinstance(size, int) and size > 0
        }

    def _write(self) -> None:
        if self.path is None:
            return
        latest = dict(list(self._known.items())[-_KEPT:])
        partial = self.path.with_name(f"{self.path.name}.{secrets.token_hex(4)}")
        with suppress(OSError):  # what cannot be kept is learned again
            self.path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(json.dumps(latest, indent=1), encoding="utf-8")
            partial.replace(self.path)


def _default_path() -> Path:
    return user_cache() / "costs.json"


# The rest is for browsers, which are no replicas, and for the machine itself.
_SHARE_OF_THE_MACHINE: Final = 0.6


@dataclass(frozen=True, slots=True)
class Priced:
    """A site and what one replica of it takes."""

    site: Site
    cost: Cost


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """How many replicas of each site a pool may have.

    Attributes:
        spares: warm replicas beyond the workers', by name of each site that holds state.
        wanted_spares: what was asked for, or thought best, of each of them.
        budget_bytes: memory that all replicas together should not exceed.
    """

    workers: int
    spares: Mapping[str, int]
    wanted_spares: Mapping[str, int]
    priced: tuple[Priced, ...]
    budget_bytes: int

    @property
    def needed_bytes(self) -> int:
        return sum(one.cost.size_bytes * self.pools(one.site) for one in self.priced)

    @property
    def each_bytes(self) -> int:
        """What the replicas of one more worker take."""
        return sum(one.cost.size_bytes for one in self.priced if one.site.stateful)

    def pools(self, site: Site) -> int:
        """Return how many replicas a site has: one where all slots share it."""
        return self.workers + self.spares[site.name] if site.stateful else 1

    def summary(self, what: str = "worker") -> str:
        """Say it in one line: workers (or slots), each site's replicas and memory, the budget."""
        parts = [counted(self.workers, what), *(self._words(one) for one in self.priced)]
        within = f"{format_size(self.needed_bytes)} of {format_size(self.budget_bytes)}"
        return f"{'; '.join(parts)}; in all {within}"

    def _words(self, one: Priced) -> str:
        each = f"{format_size(one.cost.size_bytes)} {one.cost.source}"
        if not one.site.stateful:
            return f"{one.site.name} shared, {each}"
        name = one.site.name
        spares, wanted = self.spares[name], self.wanted_spares[name]
        cut = "" if spares == wanted else f" (the budget has no room for {wanted})"
        more = f" + {counted(spares, 'spare')}{cut}" if wanted else ""
        return f"{name} {self.workers}{more}, {each} each"


def default_budget(machine_bytes: int) -> int:
    """Return the budget where none is given: most of the memory of the engine's machine."""
    return int(machine_bytes * _SHARE_OF_THE_MACHINE)


def fit(
    priced: Sequence[Priced],
    *,
    workers: int,
    spares: int | None,
    budget_bytes: int,
    is_firm: bool,
    least_spares: int = 0,
    what: str = "worker",
) -> Capacity:
    """Return the largest capacity that fits a budget.

    Args:
        workers: all of them must fit.
        spares: wished for each site that holds state; None for what is thought best.
        budget_bytes: see `Capacity`.
        is_firm: a person set the budget. Otherwise a single worker is tried on any machine.
        least_spares: how many spares must fit too.
        what: what a person calls a worker: a slot of `arena up` has none.
    """
    wanted = {
        one.site.name: _best_spares(one.site, workers) if spares is None else spares
        for one in priced
        if one.site.stateful
    }
    least = {name: min(least_spares, number) for name, number in wanted.items()}
    found = Capacity(
        workers=workers,
        spares=least,
        wanted_spares=wanted,
        priced=tuple(priced),
        budget_bytes=budget_bytes,
    )
    if found.needed_bytes > budget_bytes and (is_firm or workers > 1):
        raise _too_much(found, what)
    return _with_spares(found)


async def priced_sites(engine: Engine, sites: Sequence[Site], costs: Costs) -> tuple[Priced, ...]:
    images = [await engine.image(site.image.tag) for site in sites]
    return tuple(
        Priced(site, costs.of(site, image.id if image else None))
        for site, image in zip(sites, images, strict=True)
    )


def least_bytes(priced: Sequence[Priced], workers: int) -> int:
    """Return what a number of workers takes without a spare."""
    return sum(one.cost.size_bytes * (workers if one.site.stateful else 1) for one in priced)


def _best_spares(site: Site, workers: int) -> int:
    """Return how many episodes may end at about the same time without one that waits.

    A rewind takes a moment; where replicas are recreated, each worker has one that is being made.
    """
    return workers if site.state is None else (workers + 1) // 2


def _with_spares(least: Capacity) -> Capacity:
    """Add spares one by one, one to each site in turn, as long as they fit."""
    room = least.budget_bytes - least.needed_bytes
    spares = dict(least.spares)
    costs = {one.site.name: one.cost.size_bytes for one in least.priced if one.site.stateful}
    growing = sorted(costs, key=costs.__getitem__)
    while growing:
        growing = [
            name
            for name in growing
            if spares[name] < least.wanted_spares[name] and costs[name] <= room
        ]
        for name in growing:
            if costs[name] <= room:
                spares[name] += 1
                room -= costs[name]
    return replace(least, spares=spares)


def _too_much(asked: Capacity, what: str) -> UsageError:
    has_spares = any(asked.spares.values())
    who = counted(asked.workers, what) + (" with a spare each" if has_spares else "")
    needs = ", ".join(
        f"{one.site.name} {asked.pools(one.site)} × {format_size(one.cost.size_bytes)}"
        f" ({one.cost.source})"
        for one in asked.priced
    )
    message = (
        f"{who} need{'s' if asked.workers == 1 else ''} {format_size(asked.needed_bytes)}"
        f" for replicas ({needs}), and the budget is {format_size(asked.budget_bytes)}"
    )
    per_worker = asked.each_bytes
    room = asked.budget_bytes - (asked.needed_bytes - asked.workers * per_worker)
    possible = room // per_worker if per_worker else 0
    more = f"--memory {-(-asked.needed_bytes // MIB)}MiB would do"
    return UsageError(message, hint=f"{possible} would fit, or {more}" if possible > 0 else more)
