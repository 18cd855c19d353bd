"""The figures of states: how long a site stands still for one, and going back against a rewind."""

from __future__ import annotations

import asyncio
import os
import time
from collections import deque
from typing import Final

from bench.figures import Figure, Series, at_most, times_as_long

from orchestrator.runs.starts import Starts
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.placement import place
from orchestrator.sandbox.pool.slot import Slot
from orchestrator.sandbox.pool.slot_pool import SlotPool
from orchestrator.sandbox.reset.replica import Replica, start_replica
from orchestrator.sandbox.reset.state import TakenState
from orchestrator.sandbox.reset.strategies import Rewind, trusted_supervision
from orchestrator.sandbox.reset.taking import take_state
from orchestrator.sandbox.reset.watch import Watch
from sites.manifest import ServerDatabase
from sites.registry import load_registry
from tasks.given import DoAs
from tasks.schema import Task

_ROUNDS: Final = 10
_FROZEN_MS: Final = {"shop": 40, "tools": 15}
_SAVED_MS: Final = 300
_FILE_KB: Final = 1000
_WARMED: Final = 2
_FIRST_S: Final = 3
_LONGER_MS: Final = 10
_EPISODE_S: Final = 1.0  # what is renewed meanwhile must be ready by then
_TASK: Final[dict[str, object]] = {
    "id": "first",
    "family": "content",
    "intent": "Nobody plays this one.",
    "sites": ["shop"],
    "start": ["shop:/"],
    "worlds": ["offline"],
    "checks": [
        {
            "name": "said",
            "when": "end",
            "locate": {"by": "answer"},
            "match": {"how": "exact", "value": "done"},
        }
    ],
}


async def state_figures() -> list[Figure]:
    """Write to the shop and the tools, take their states, and go back by turns."""
    owner = f"bench-{os.getpid()}"
    async with await Engine.connect() as engine:
        try:
            figures = [await _figures(engine, name, owner) for name in _FROZEN_MS]
            return [*(figure for each in figures for figure in each), *await _starts(engine)]
        finally:
            await engine.sweep(owner)


async def _figures(engine: Engine, name: str, owner: str) -> list[Figure]:
    site = load_registry().site(name)
    replica = await start_replica(engine, await place(engine, site, owner=owner, slot=0))
    watch = Watch.over(engine, replica, new=True)
    frozen, saved, size, restored, rewound = [], [], [], [], []
    states: list[TakenState] = []
    for number in range(_ROUNDS + _WARMED):
        await _write(engine, replica, number)
        await watch.prove()
        taken = await (await trusted_supervision(watch)).take_state()
        began = time.monotonic()
        states.append(await take_state(engine, watch))
        ended = time.monotonic()
        rewind_s = await _timed(engine, watch, None)
        restore_s = await _timed(engine, watch, states[-1])
        if number >= _WARMED:
            frozen.append(taken.frozen_s * 1000)
            saved.append((ended - began) * 1000)
            size.append(len(taken.packed) / 1000)
            rewound.append(rewind_s)
            restored.append(restore_s)
    await watch.close()
    return [
        at_most(f"{name}: stands still while its state is taken", Series(frozen), _FROZEN_MS[name]),
        at_most(f"{name}: state and fingerprint taken", Series(saved), _SAVED_MS),
        at_most(f"{name}: what a state takes, KB", Series(size), _FILE_KB, "KB"),
        times_as_long(
            f"{name}: to a state (reference: rewind), s", Series(restored), Series(rewound), 1.2
        ),
    ]


async def _starts(engine: Engine) -> list[Figure]:
    """Wait for leases of the shop, written to each time: golden alone, then a start by turns."""
    registry = load_registry()
    owner = f"bench-starts-{os.getpid()}"
    step = {"sql": "UPDATE catalogue_product SET title = CONCAT('A ', title) WHERE id < 5"}
    task = Task.model_validate({**_TASK, "given": {"shop": [step]}})
    async with SlotPool.open(engine, registry, ["shop"], owner, spares=1) as pool:
        await pool.up()
        starts = Starts(engine, registry, pool, lambda _: None)
        began = time.monotonic()
        taken = await starts.derive(task, "shop", _no_browser)
        first_s = time.monotonic() - began
        golden = await _waits(pool, [None] * (2 * _ROUNDS))
        mixed = await _waits(pool, [None, taken] * _ROUNDS)
    return [
        at_most("shop: a start made for the first time, s", Series([first_s]), _FIRST_S, "s"),
        at_most(
            "shop: golden and a start by turns, longer than golden alone, ms a lease",
            Series([(Series(mixed).median - Series(golden).median) * 1000]),
            _LONGER_MS,
        ),
    ]


async def _waits(pool: SlotPool, wanted: list[TakenState | None]) -> list[float]:
    """Lease again and again, as a worker does that knows its next episodes; return the waits."""
    left = deque(wanted)
    pool.foresee(lambda: ({"shop": start} for start in left))
    waits = []
    while left:
        start = left.popleft()
        began = time.monotonic()
        async with pool.lease(["shop"], starts={} if start is None else {"shop": start}) as slot:
            waits.append(time.monotonic() - began)
            slot.wrote("shop")
            await asyncio.sleep(_EPISODE_S)
    return waits


async def _no_browser(task: Task, site: str, step: DoAs, slot: Slot) -> None:
    raise AssertionError((task, site, step, slot))


async def _timed(engine: Engine, watch: Watch, taken: TakenState | None) -> float:
    watch.aim(taken)
    began = time.monotonic()
    await Rewind().restore(engine, watch)
    return time.monotonic() - began


async def _write(engine: Engine, replica: Replica, number: int) -> None:
    """Leave a table with rows, as the owner of the database."""
    name, database = replica.site.name, replica.site.database
    assert isinstance(database, ServerDatabase)
    rows = ", ".join(f"(REPEAT('{number % 10}', 500))" for _ in range(50))
    sql = f"CREATE OR REPLACE TABLE kept (t TEXT); INSERT INTO kept VALUES {rows}"  # noqa: S608
    argv = ("mariadb", f"--defaults-file=/srv/{name}/my.cnf", database.name, "-e", sql)
    done = await engine.execute(replica.container.id, argv)
    assert done.exit_code == 0, done.stderr
