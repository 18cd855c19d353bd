"""Watches one replica: what was true when it was last proven golden, and whether it still is."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, assert_never

from arena_core.errors import DatabaseError, SiteError
from arena_core.task_group import task_group
from orchestrator.sandbox.reset.database import execute_as_owner
from orchestrator.sandbox.reset.fingerprint import Fingerprint, take_fingerprint
from orchestrator.sandbox.reset.state import ROWS_ELSEWHERE, ObjectState
from orchestrator.sandbox.reset.supervision import Supervision
from sites.manifest import DatabaseEngine, FileDatabase, ServerDatabase

if TYPE_CHECKING:
    from orchestrator.sandbox.engine.engine import Engine
    from orchestrator.sandbox.reset.counters import Counters, Meter
    from orchestrator.sandbox.reset.replica import Replica
    from orchestrator.sandbox.reset.state import GoldenState, TakenState


# Rows that a fingerprint does not read: of other schemas of a site's MariaDB, and its accounts.
# The account that reads fingerprints sees one schema. Where a state was taken, the server's own
# user reads the others too.
_TIMEOUT_S: Final = 30.0
# InnoDB writes its statistics when it likes, and logs grow while somebody only reads.
_CHECKSUMS: Final = (
    "SET @tables = (SELECT GROUP_CONCAT('`', REPLACE(TABLE_SCHEMA, '`', '``'), '`.`',"
    " REPLACE(TABLE_NAME, '`', '``'), '`' ORDER BY TABLE_SCHEMA, TABLE_NAME)"
    " FROM information_schema.TABLES"
    " WHERE TABLE_TYPE IN ('BASE TABLE', 'SEQUENCE', 'SYSTEM VERSIONED')"
    " AND TABLE_SCHEMA NOT IN (DATABASE(), 'information_schema', 'performance_schema')"
    " AND (TABLE_SCHEMA <> 'mysql' OR TABLE_NAME NOT IN ('innodb_table_stats',"
    " 'innodb_index_stats', 'general_log', 'slow_log')));"
    " EXECUTE IMMEDIATE CONCAT('CHECKSUM TABLE ', @tables, ' EXTENDED')"
)


def is_on_mariadb(replica: Replica) -> bool:
    """Whether a site has a MariaDB, with one schema of its own."""
    database = replica.site.database
    return isinstance(database, ServerDatabase) and database.engine is DatabaseEngine.MARIADB


async def rows_elsewhere(engine: Engine, replica: Replica) -> tuple[ObjectState, ...]:
    """Return a hash of the rows of each schema that is not the site's own, accounts included."""
    if not is_on_mariadb(replica):
        return ()
    done = await execute_as_owner(
        engine, replica, _CHECKSUMS, "--skip-column-names", timeout_s=_TIMEOUT_S
    )
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    unread = [line for line in lines if line.endswith("\tNULL")]
    if done.exit_code != 0 or unread or not lines:
        said = unread[0].split("\t")[0] if unread else " ".join(done.stderr.decode().split())
        said = said or f"exit code {done.exit_code}, {len(lines)} lines"
        message = f"site '{replica.site.name}': rows of other schemas cannot be read"
        raise DatabaseError(f"{message}: {said}")
    schemas: defaultdict[str, list[str]] = defaultdict(list)
    for line in lines:
        schemas[line.partition(".")[0]].append(line)
    return tuple(
        ObjectState(ROWS_ELSEWHERE, name, hashlib.sha256("\n".join(sums).encode()).hexdigest())
        for name, sums in sorted(schemas.items())
    )


Beside = Callable[[], Coroutine[object, object, None]]

_REWINDS_BETWEEN: Final = 3
_REWIND_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class Mark:
    """Everything that moves when the state does, as it was at one moment.

    Attributes:
        generation, stamp: from the supervisor; None without one.
        counters: None without a database.
    """

    generation: int | None
    stamp: str | None
    counters: Counters | None

    def moved_by_itself(self, before: Mark) -> bool:
        """Whether nothing moved but what a database also moves unasked."""
        if self.counters is None or before.counters is None:
            return False
        calm = (self.generation, self.stamp) == (before.generation, before.stamp)
        return calm and self.counters.moved_by_itself(before.counters)

    def moved_since(self, before: Mark) -> str | None:
        """Say what moved; None where nothing did."""
        if self.generation != before.generation:
            return f"it was rewound: generation {self.generation}, not {before.generation}"
        if self.counters and before.counters:
            moved = self.counters.moved_since(before.counters)
            if moved is not None:
                return f"the database was written to: {moved}"
        return "a stateful or scratch file was changed" if self.stamp != before.stamp else None


@dataclass(frozen=True, slots=True)
class Glance:
    """What a look at the counters showed.

    Attributes:
        moved: what moved since the replica was proven golden; it may be dirty.
        unseen: why the counters do not show it; the whole state has to be read.
        by_itself: what moved is what a database also does unasked, after an earlier write.
    """

    moved: str | None = None
    unseen: str | None = None
    by_itself: bool = False

    @property
    def is_still(self) -> bool:
        """Whether everything that moves with the state was seen, and none of it did."""
        return self.moved is None and self.unseen is None


async def _is_rewound(supervision: Supervision, generation: int) -> bool:
    """Whether the state was rewound since a generation; wait while that is under way."""
    if supervision.is_lost:
        return False
    if not supervision.is_ready:
        await supervision.generation_after(supervision.generation, _REWIND_S)
    return supervision.generation != generation


def _counts(database: ServerDatabase) -> bool:
    """Whether a database counts its writes in a way that is read here."""
    match database.engine:
        case DatabaseEngine.MARIADB:
            return True
        case DatabaseEngine.POSTGRESQL:
            return False
        case _:
            assert_never(database.engine)


class Watch:
    """Connections kept open to one replica, and its marks when it was last proven golden.

    A fingerprint does not see everything that a rewind undoes. So it makes a baseline only where
    all that was written to the replica is accounted for: from its start or its last rewind on,
    until something moves. Belongs to one task at a time.
    """

    def __init__(
        self,
        engine: Engine,
        replica: Replica,
        *,
        new: bool = False,
        taken: TakenState | None = None,
    ) -> None:
        self.replica = replica
        self._taken = taken
        self._accounted = new
        self._engine = engine
        self._supervision: Supervision | None = None
        self._meter: Meter | None = None
        self._baseline: Mark | None = None
        self._golden = Fingerprint()

    @classmethod
    def over(
        cls,
        engine: Engine,
        replica: Replica,
        *,
        new: bool = False,
        taken: TakenState | None = None,
    ) -> Watch:
        """Make a watch that knows nothing yet; it connects when it is first asked.

        Args:
            new: the caller has just started it, and nobody else can have written to it.
            taken: the state that stands for golden; the image's own where omitted.
        """
        return cls(engine, replica, new=new, taken=taken)

    @property
    def taken(self) -> TakenState | None:
        """The state that stands for golden; None for the image's own."""
        return self._taken

    @property
    def target(self) -> GoldenState:
        """The state that a reset leads to, and that `prove` looks for: golden, or one taken."""
        return self._taken or self.replica.placement.golden

    def aim(self, taken: TakenState | None) -> None:
        """From now on let a state stand for golden, or golden again: it is not proven yet."""
        self._taken = taken
        self._baseline = None

    @property
    def is_accounted(self) -> bool:
        """Whether it is known that nothing was written that a fingerprint would not show.

        A site without state holds nothing else.
        """
        return self._accounted or not self.replica.site.stateful

    @property
    def golden(self) -> Fingerprint | None:
        """The state that was last proven to be golden; None where none was since `restored`."""
        return None if self._baseline is None else self._golden

    async def prove(self, *, own_writes: bool = False) -> Fingerprint:
        """Read the whole state; where it is golden, what moves with it becomes the baseline.

        There is no baseline where somebody wrote what the state need not show (`is_accounted`).

        The marks are read before and after. Where one moved, somebody wrote meanwhile: the state is
        read once more. Where that happens again, the marks of before are the baseline, so that
        `moved` says it: a state that was golden while it was written to is not known to be.

        A rewind that somebody else asked for may come between; it is waited for, and the state read
        anew.

        Args:
            own_writes: what moved since the last baseline was Arena's own doing, as a login is.
        """
        if self._baseline is not None:
            if own_writes:
                self._accounted = True
            else:
                await self.glance()  # what moved meanwhile is not accounted for
        self._baseline = None
        supervision = await self.supervision() if self.replica.supervisor else None
        for _ in range(_REWINDS_BETWEEN):
            generation = supervision.generation if supervision else 0
            try:
                return await self._prove()
            except SiteError:
                if supervision is None or not await _is_rewound(supervision, generation):
                    raise
        return await self._prove()

    async def _prove(self) -> Fingerprint:
        await self._connect()
        before, state, after = await self._read_between_marks()
        if after.moved_since(before) is not None:
            before, state, after = await self._read_between_marks()
        if state.digest == self.target.digest and self.is_accounted:
            still = after.moved_since(before) is None
            self._baseline, self._golden = after if still else before, state
        return state

    async def read(self, beside: Beside) -> tuple[Mark, Fingerprint]:
        """Read the whole state, and what moves with it as it was just before; no baseline stays.

        Rows of other schemas are part of it.

        `beside` is done meanwhile, after what moves was read.
        """
        await self.glance()  # what moved since the baseline is not accounted for
        self._baseline = None
        await self._connect()
        before = await self._mark()
        async with task_group() as group:
            group.create_task(beside())
            reading = group.create_task(self._read(elsewhere=True))
        return before, reading.result()

    async def moved(self) -> str | None:
        """Say why the replica may differ from golden; None where it cannot (in a few ms).

        None means: it was proven golden, and since then neither a counter of its database, nor a
        stateful file, nor the generation moved, nor did a connection break. Never raises for a
        replica that is gone: that is an answer too.
        """
        seen = await self.glance()
        return seen.moved or seen.unseen

    async def glance(self) -> Glance:
        """Look at what moves; distinguishes what moved from what cannot be known this way."""
        if self._baseline is None:
            return Glance(unseen="it was not proven golden before")
        try:
            now = await self._mark()
        except SiteError as failure:
            self._accounted = False
            return Glance(moved=failure.message)
        moved = now.moved_since(self._baseline)
        if moved is None:
            return Glance(unseen=self._blind_for())
        by_itself = now.moved_by_itself(self._baseline)
        self._accounted = self._accounted and by_itself
        return Glance(moved=moved, by_itself=by_itself)

    async def mark(self) -> Mark | None:
        """Return what moves with the state, as it is now; None where nothing shows it."""
        if self._writes_unseen() or (self._supervision is None and self._meter is None):
            return None
        return await self._mark()

    @property
    def is_supervised(self) -> bool:
        return self._supervision is not None and not self._supervision.is_lost

    async def supervision(self) -> Supervision:
        """Return the connection to the supervisor, opened where it is not."""
        endpoint, state = self.replica.supervisor, self.replica.site.state
        if endpoint is None or state is None:
            raise SiteError(f"site '{self.replica.site.name}': its image has no supervisor")
        if self._supervision is None or self._supervision.is_lost:
            if self._supervision is not None:
                self._accounted = False
            self._baseline = None
            await self._drop_supervision()
            token = await self._engine.states_token(self.replica.container.id)
            self._supervision = await Supervision.open(endpoint, state.folder, token)
        return self._supervision

    async def restored(self) -> None:
        """Forget what was known: the state is made anew, by another server process."""
        self._baseline = None
        self._accounted = True
        self._drop_meter()

    def distrust(self) -> None:
        """From now on only a state that is made anew can be known to be golden."""
        self._baseline = None
        self._accounted = False

    async def close(self) -> None:
        await self.restored()
        self._accounted = False
        await self._drop_supervision()

    async def _connect(self) -> None:
        """Open what is not open; what was lost is opened anew, so no baseline survives it."""
        if self.replica.supervisor is not None:
            await self.supervision()
        if self.replica.database is not None and not self._writes_unseen():
            from orchestrator.sandbox.reset.counters import Meter  # noqa: PLC0415  loads the client

            self._drop_meter()
            self._meter = await Meter.open(self.replica.site, self.replica.database)

    async def _read_between_marks(self) -> tuple[Mark, Fingerprint, Mark]:
        before = await self._mark()
        elsewhere = self._taken is not None and self._taken.fingerprint.reads_elsewhere
        state = await self._read(elsewhere=elsewhere)
        return before, state, await self._mark()

    async def _read(self, *, elsewhere: bool) -> Fingerprint:
        reading = take_fingerprint(
            self._engine,
            self.replica.site,
            self.replica.container,
            supervision=self._supervision,
        )
        if not elsewhere:
            return await reading
        async with task_group() as group:
            rows = group.create_task(rows_elsewhere(self._engine, self.replica))
            state = group.create_task(reading)
        return state.result().with_objects(rows.result())

    async def _mark(self) -> Mark:
        """Read everything that moves, over the connections there are."""
        supervision, meter = self._supervision, self._meter
        async with task_group() as group:
            stamp = group.create_task(supervision.stamp()) if supervision else None
            counters = group.create_task(meter.read()) if meter else None
        if supervision and not supervision.is_ready:
            raise SiteError(f"site '{self.replica.site.name}': its state is being rewound")
        return Mark(
            generation=supervision.generation if supervision else None,
            stamp=stamp.result() if stamp else None,
            counters=counters.result() if counters else None,
        )

    def _blind_for(self) -> str | None:
        """Say which part of the state nothing shows, if there is one."""
        if self._supervision is None and self.replica.site.fingerprint.files:
            return "nothing shows changed files: its image has no supervisor"
        if self._writes_unseen():
            return "nothing shows writes to its database"
        if self._supervision is None and self._meter is None:
            return "nothing in it shows changes"
        return None

    def _writes_unseen(self) -> bool:
        """Whether there is a database, and nothing that is read here shows its writes.

        A database in a file is covered by the stamp of the files, the supervisor's if there is one.
        """
        match self.replica.site.database:
            case None:
                return False
            case FileDatabase():
                return self._supervision is None
            case ServerDatabase() as database:
                return not _counts(database)

    def _drop_meter(self) -> None:
        if self._meter is not None:
            self._meter.close()
            self._meter = None

    async def _drop_supervision(self) -> None:
        if self._supervision is not None:
            await self._supervision.close()
            self._supervision = None
