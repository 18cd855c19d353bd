"""How many replicas fit: workers must, spares shrink until they do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from arena_core.errors import UsageError
from orchestrator.capacity.costs import Cost, Costs
from orchestrator.capacity.sizes import MIB, format_size
from orchestrator.engine.engine import Engine
from sites.manifest import Site

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
        workers: how many episodes run side by side.
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
        """What all of them take when all run."""
        return sum(
            one.cost.size_bytes * (self.pools(one.site) if one.site.stateful else 1)
            for one in self.priced
        )

    def pools(self, site: Site) -> int:
        """Return how many replicas a site has: one where all slots share it."""
        return self.workers + self.spares[site.name] if site.stateful else 1

    def summary(self, what: str = "worker") -> str:
        """Say it in one line: workers (or slots), each site's replicas and memory, the budget."""
        parts = [_counted(self.workers, what), *(self._words(one) for one in self.priced)]
        within = f"{format_size(self.needed_bytes)} of {format_size(self.budget_bytes)}"
        return f"{'; '.join(parts)}; in all {within}"

    def _words(self, one: Priced) -> str:
        each = f"{format_size(one.cost.size_bytes)} {one.cost.source}"
        if not one.site.stateful:
            return f"{one.site.name} shared, {each}"
        name = one.site.name
        spares, wanted = self.spares[name], self.wanted_spares[name]
        cut = "" if spares == wanted else f" (the budget has no room for {wanted})"
        more = f" + {_counted(spares, 'spare')}{cut}" if wanted else ""
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
        priced: the sites.
        workers: all of them must fit.
        spares: wished for each site that holds state; None for what is thought best.
        budget_bytes: see `Capacity`.
        is_firm: a person set the budget. Otherwise a single worker is tried on any machine.
        least_spares: how many spares must fit too.
        what: what a person calls a worker: a slot of `arena up` has none.

    Raises:
        UsageError: it does not fit; with the figures and what would.
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
    """Look up what a replica of each site takes."""
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
    return Capacity(
        workers=least.workers,
        spares=spares,
        wanted_spares=least.wanted_spares,
        priced=least.priced,
        budget_bytes=least.budget_bytes,
    )


def _too_much(asked: Capacity, what: str) -> UsageError:
    has_spares = any(asked.spares.values())
    who = _counted(asked.workers, what) + (" with a spare each" if has_spares else "")
    needs = ", ".join(
        f"{one.site.name} {asked.pools(one.site)} × {format_size(one.cost.size_bytes)}"
        f" ({one.cost.source})"
        for one in asked.priced
    )
    message = (
        f"{who} need{'s' if asked.workers == 1 else ''} {format_size(asked.needed_bytes)}"
        f" for replicas ({needs}), and the budget is {format_size(asked.budget_bytes)}"
    )
    per_worker = sum(one.cost.size_bytes for one in asked.priced if one.site.stateful)
    room = asked.budget_bytes - (asked.needed_bytes - asked.workers * per_worker)
    possible = room // per_worker if per_worker else 0
    more = f"--memory {-(-asked.needed_bytes // MIB)}MiB would do"
    return UsageError(message, hint=f"{possible} would fit, or {more}" if possible > 0 else more)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
