"""The lock of a run: everything needed to say what exactly was measured."""

from __future__ import annotations

import getpass
import hashlib
import os
import platform
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from pydantic import ConfigDict, Field

from arena_core.errors import StoreError, UsageError
from arena_core.plugins import Plugin
from arena_core.worlds import World
from evaluators.evidence import Branch
from evaluators.locators.kinds import LOCATORS
from evaluators.matchers.kinds import MATCHERS
from orchestrator.agents.interface import AgentLock
from orchestrator.gateway.tapes.named import NamedTape, TapeLock
from orchestrator.gateway.variations import arm_label
from orchestrator.runs.shard import Shard
from orchestrator.runs.spec import RunTerms, SpendingLimits
from orchestrator.runs.store.browser_lock import BrowserLock, kind_by_version, pool_by_version
from orchestrator.runs.store.digests import canonical_digest
from orchestrator.runs.store.ledger import EpisodeKey
from sites.fields import Strict
from sites.upstreams import UpstreamKind
from tasks.schema import Suite, Task

LOCK_VERSION = 2
_PACKAGES = ("arena-orchestrator", "docker", "openai", "playwright", "pydantic")


class HostEnvelope(Strict):
    """The machine a run was made on."""

    platform: str
    python: str
    cpus: int
    memory_mb: int


class NodeClock(Strict):
    """What is known of a machine's clock.

    Attributes:
        synchronised: whether the kernel holds it to another one; None where it does not say.
        engine_ahead_s: by how much the engine's clock is ahead of this machine's; None where the
            engine does not say.
    """

    synchronised: bool | None
    engine_ahead_s: float | None


class ChangedLimits(Strict):
    """Who gave a run other limits than it had, and when.

    Attributes:
        by: the name of the user on that machine.
        at: UTC, to the second.
    """

    limits: SpendingLimits
    by: str
    at: str


class AddedRepeats(Strict):
    """Who had each task of a run played more often than it began with, and when.

    Attributes:
        before, after: how often in each world.
        by: the name of the user on that machine.
        at: UTC, to the second.
    """

    before: int
    after: int
    by: str
    at: str


class Steered(Strict):
    """An order that a run got while it was played.

    Attributes:
        order: as it was given: `pause`, `stop offline-TASK-r0`.
        by: the name of the user on that machine.
        at: UTC, to the second.
    """

    order: str
    by: str
    at: str


class Root(Strict):
    """A step of an episode that another run recorded.

    Attributes:
        episode: its evidence folder; `sha256`: the digest of that.
        step: after how many of its actions.
    """

    task: str
    episode: str
    sha256: str
    step: int


class Rollouts(Strict):
    """What the episodes of a run go on from, in place of the start of their tasks.

    Attributes:
        run, folder: id and place of the run that recorded the roots.
        count: how many episodes go on from each.
        told: agents of Arena's that keep a past are told what was done before; not in runs of
            earlier versions. The evidence of each episode says whether its agent was.
    """

    run: str
    folder: str
    count: int = Field(ge=1)
    roots: tuple[Root, ...]
    told: bool = False

    def episodes(self) -> Iterator[EpisodeKey]:
        """Yield every episode, those of one root one after the other."""
        counted = Counter[str]()
        for root in self.roots:
            for _ in range(self.count):
                yield EpisodeKey(root.task, World.OFFLINE, counted[root.task])
                counted[root.task] += 1

    def root_of(self, key: EpisodeKey) -> Root:
        """Return what an episode goes on from."""
        mine = [root for root in self.roots if root.task == key.task]
        if key.repeat >= self.count * len(mine):
            raise StoreError(f"{key.name}: is no episode of this run: nothing says its root")
        return mine[key.repeat // self.count]

    def branch_of(self, key: EpisodeKey) -> Branch:
        """Return what the evidence of an episode says of its root, before it comes back there."""
        root = self.root_of(key)
        name = f"{self.run}/{root.episode}"
        return Branch(root=name, checkpoint=f"step {root.step}", step=root.step, pages="")


class MergedShard(Strict):
    """A run that is part of a merged one.

    Attributes:
        run: its id, which the evidence of its trials names.
        shard: `I/N`.
        lock: the digest of its lock; `journal`: of the last entry of its ledger's journal.
        clock: None in runs of earlier versions.
    """

    run: str
    shard: str
    created_at: str
    lock: str
    journal: str
    host: HostEnvelope
    clock: NodeClock | None = Field(default=None, exclude_if=lambda value: value is None)


class AllowedDifference(Strict):
    """Something in which merged shards differ, and that `--allow` let pass.

    Attributes:
        what: the place in their locks, such as `images.arena/shop:1`.
        values: by shard; None where one has nothing there.
    """

    what: str
    values: dict[str, str | None]


class Merged(Strict):
    """What a run was made of by `arena merge`, in the order of the shards."""

    shards: tuple[MergedShard, ...]
    allowed: tuple[AllowedDifference, ...] = ()


# Locks keep the names with which they began.
_ON_DISK: Final = {
    "resolve": "resolves",
    "record_requests": "records_requests",
    "trace": "traces",
    "memory": "memory_bytes",
    "budget": "limits",
}


class RunLock(RunTerms):
    """What a run was asked to do and with what.

    What it inherits says how it began. Its pace, from `workers` to `strategy`, says how fast it
    was played, not what is measured: `--resume` may go on with another one.

    Attributes:
        tasks: the ids chosen, in order.
        suite_hash: SHA-256 over the suite's content.
        repeats: how often each task is played in each world, those added later included.
        added_repeats: what they were before, in the order in which they were added.
        images: image id by local tag.
        goldens: digest of the state that an image was sealed with, by local tag; empty in locks of
            earlier versions.
        clock: of the machine and its engine, as the run began; None in locks of earlier versions.
        staged: sites whose live origin was a staged stand-in.
        upstreams: what answered for each site in each world; empty in locks of earlier versions.
        identified: by site visited live, what the user agent was given besides the browser's.
        tapes: what answered in place of live origins offline, by site.
        online_faces: the tasks that were played by their online face, on tapes.
        changed_limits: what `--resume` set in place of `budget`, the last one last.
        steered: what it was told to do while it was played, in order.
        workers_used: with `workers: auto` the fewest and the most that played side by side.
        replayed: the lock of the run whose replies answered the agent instead of a model.
        rollouts: what its episodes go on from; None where they begin at the start of their tasks.
        merged: the shards that it was made of; None where it was played as one. Where they differ,
            it says itself what the first of them does.
        browser: its version.
        browser_used: what else is known of it; None in locks of earlier versions.
    """

    model_config = ConfigDict(
        alias_generator=lambda name: _ON_DISK.get(name, name),
        populate_by_name=True,
        serialize_by_alias=True,
    )

    version: int = LOCK_VERSION
    run: str
    created_at: str
    suite: str
    suite_version: int
    suite_hash: str
    tasks: tuple[str, ...]
    agent: AgentLock
    staged: tuple[str, ...] = ()
    upstreams: dict[World, dict[str, UpstreamKind]] = Field(default_factory=dict)
    identified: dict[str, str] = Field(default_factory=dict, exclude_if=lambda value: not value)
    tapes: dict[str, TapeLock] = Field(default_factory=dict, exclude_if=lambda value: not value)
    online_faces: tuple[str, ...] = Field(default=(), exclude_if=lambda value: not value)
    changed_limits: tuple[ChangedLimits, ...] = ()
    added_repeats: tuple[AddedRepeats, ...] = ()
    steered: tuple[Steered, ...] = Field(default=(), exclude_if=lambda value: not value)
    workers_used: tuple[int, int] | None = Field(
        default=None, exclude_if=lambda value: value is None
    )
    replayed: RunLock | None = None
    rollouts: Rollouts | None = Field(default=None, exclude_if=lambda value: value is None)
    merged: Merged | None = Field(default=None, exclude_if=lambda value: value is None)
    images: dict[str, str]
    goldens: dict[str, str] = Field(default_factory=dict, exclude_if=lambda value: not value)
    engine: str
    browser: str
    browser_used: BrowserLock | None = Field(default=None, exclude_if=lambda value: value is None)
    packages: dict[str, str]
    host: HostEnvelope
    clock: NodeClock | None = Field(default=None, exclude_if=lambda value: value is None)

    @property
    def arm(self) -> str | None:
        """What reports call what was varied; None for the clean arm."""
        return arm_label(self.vary)

    @property
    def taped(self) -> dict[str, str]:
        """Which tape answered for each site, by its digest, and whether it was frozen."""
        named = map(NamedTape.parse, self.tape)
        return {
            one.site: f"{self.tapes[one.site].sha256[:12]}{' (frozen)' if one.is_frozen else ''}"
            for one in named
        }

    @property
    def browser_chosen(self) -> str:
        """Which browser it was played in, whatever its version."""
        used = self.browser_used
        return str(kind_by_version(self.browser)) if used is None else used.chosen

    @property
    def browser_pool(self) -> str:
        """Which browser it was played in: live scores of two are never put together."""
        used = self.browser_used
        return pool_by_version(self.browser) if used is None else used.pool

    @property
    def live_pool(self) -> str | None:
        """The same of a run that visits live sites; None for all others."""
        kinds = self.upstreams.get(World.ONLINE)
        if kinds is None:  # of an earlier version, or not played online
            is_live = World.ONLINE in self.worlds and not self.staged
        else:
            is_live = UpstreamKind.LIVE in kinds.values()
        return self.browser_pool if is_live else None

    @property
    def settings_beside(self) -> dict[str, Any]:
        """What its settings hold beside `RunTerms`: it goes on in the browser that it began in."""
        used = self.browser_used
        return {"staged": bool(self.staged), "browser": None if used is None else used.entry}

    @property
    def current_limits(self) -> SpendingLimits:
        """What it may spend on models now."""
        return self.changed_limits[-1].limits if self.changed_limits else self.budget

    def trials(self, tasks: Sequence[Task]) -> Iterator[EpisodeKey]:
        """Yield the run's episodes of these tasks; of a shard those of its share."""
        for world in self.worlds:
            yield from trials_in(world, tasks, self, self.rollouts)

    def recorded_by(self, key: EpisodeKey) -> frozenset[str]:
        """Return the ids of the runs that the evidence of an episode may name."""
        shards = () if self.merged is None else self.merged.shards
        return frozenset(
            {self.run, *(one.run for one in shards if Shard.parse(one.shard).has(key.name))}
        )

    def with_limits(self, limits: SpendingLimits) -> RunLock:
        """Return the lock of a run that goes on with these limits, noting who changed them."""
        if limits == self.current_limits:
            return self
        now = datetime.now(UTC).isoformat(timespec="seconds")
        change = ChangedLimits(limits=limits, by=user(), at=now)
        return self.model_copy(update={"changed_limits": (*self.changed_limits, change)})

    def steered_by(self, order: Steered) -> RunLock:
        """Return the lock of a run that got an order while it was played."""
        return self.model_copy(update={"steered": (*self.steered, order)})

    @property
    def steered_in_words(self) -> str | None:
        """Who steered it while it was played, how and when; None where nobody did."""
        said = [f"{one.order} by {one.by} at {one.at}" for one in self.steered]
        return f"steered while it was played: {', then '.join(said)}" if said else None

    def with_repeats(self, repeats: int) -> RunLock:
        """Return the lock of a run whose tasks are played more often, noting who wanted that."""
        if repeats == self.repeats:
            return self
        if repeats < self.repeats:
            message = f"run {self.run} has {self.repeats} repeats: they cannot become {repeats}"
            raise UsageError(message)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        added = AddedRepeats(before=self.repeats, after=repeats, by=user(), at=now)
        kept = {"repeats": repeats, "added_repeats": (*self.added_repeats, added)}
        return self.model_copy(update=kept)

    def label(self, world: World) -> str:
        """Return how reports head a world's figures: what was staged or taped is no live web."""
        kinds = self.upstreams.get(world)
        if kinds is None:  # of an earlier version
            is_staged = world is World.ONLINE and bool(self.staged)
        else:
            is_staged = UpstreamKind.STAGED in kinds.values()
        if kinds is not None and UpstreamKind.TAPE in kinds.values():
            return f"{world} (tape)"
        return f"{world} (staged)" if is_staged else world.value


def trials_in(
    world: World, tasks: Iterable[Task], terms: RunTerms, rollouts: Rollouts | None
) -> Iterator[EpisodeKey]:
    """Yield a run's episodes of a world by repeat, in the tasks' order; of a shard its share."""
    played = [task.id for task in tasks if world in terms.worlds and world in task.worlds]
    if rollouts is None:
        found = (EpisodeKey(task, world, n) for n in range(terms.repeats) for task in played)
    else:
        found = (key for key in rollouts.episodes() if key.world is world and key.task in played)
    shard = None if terms.shard is None else Shard.parse(terms.shard)
    return (key for key in found if shard is None or shard.has(key.name))


def require_whole(path: Path, lock: RunLock) -> None:
    """Refuse a share of a run where a whole one is asked for: its figures say less than they seem.

    Raises:
        UsageError: it is a shard.
    """
    if lock.shard is not None:
        message = f"{path}: is shard {lock.shard}, and its figures are of that share alone"
        raise UsageError(message, hint="arena merge makes one run of all shards")


def user() -> str:
    """Return the name of the user on this machine."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return f"user {os.getuid()}"


def hash_suite(suite: Suite) -> str:
    """Return SHA-256 over a suite's content, the same whatever its file's layout."""
    return hashlib.sha256(suite.model_dump_json().encode()).hexdigest()


def lock_digest(lock: RunLock) -> str:
    """Return SHA-256 over a run's lock as it began: without what was changed later."""
    before = lock.added_repeats[0].before if lock.added_repeats else lock.repeats
    later = {"changed_limits": (), "added_repeats": (), "steered": (), "workers_used": None}
    began = lock.model_copy(update={**later, "repeats": before})
    return canonical_digest(began)


def describe_host() -> HostEnvelope:
    """Describe this machine."""
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return HostEnvelope(
        platform=platform.platform(),
        python=sys.version.split()[0],
        cpus=os.cpu_count() or 1,
        memory_mb=pages * size // 2**20,
    )


def package_versions(suite: Suite, plugins: Iterable[Plugin] = ()) -> dict[str, str]:
    """Return the versions of the packages whose behaviour a score may depend on.

    Those that bring the locators and matchers of the suite's checks are among them.

    Args:
        suite: what is scored.
        plugins: what else a run uses: importers that made tasks, forms of observation.
    """
    found = {plugin.distribution: plugin.version for plugin in plugins}
    for task in suite.tasks:
        for check in (*task.checks, *task.requires, *task.harms):
            for way in check.ways:
                for extension_point, kind in ((LOCATORS, way.locate.by), (MATCHERS, way.match.how)):
                    plugin = extension_point.find(kind)
                    found[plugin.distribution] = plugin.version
        for look in task.looks:
            plugin = LOCATORS.find(look.locate.by)
            found[plugin.distribution] = plugin.version
    return found | own_packages()


def own_packages() -> dict[str, str]:
    """Return the versions of Arena and of what any run of it depends on."""
    found: dict[str, str] = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # pragma: no cover - only an incomplete installation
            found[name] = "missing"
    return found


def absent_packages(packages: Mapping[str, object]) -> tuple[str, ...]:
    """Return which packages of a lock are not installed here, as `pip install` takes them."""
    return tuple(f"{name}=={found}" for name, found in packages.items() if not _is_here(name))


def _is_here(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True
