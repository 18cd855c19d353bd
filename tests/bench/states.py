"""The figures of states: how long a site stands still for one, and going back against a rewind."""

from __future__ import annotations

import os
import time
from typing import Final

from bench.figures import Figure, Series, at_most, times_as_long

from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.placement import place
from orchestrator.sandbox.reset.replica import Replica, start_replica
from orchestrator.sandbox.reset.state import TakenState
from orchestrator.sandbox.reset.strategies import Rewind, trusted_supervision
from orchestrator.sandbox.reset.taking import take_state
from orchestrator.sandbox.reset.watch import Watch
from sites.manifest import ServerDatabase
from sites.registry import load_registry

_ROUNDS: Final = 10
_FROZEN_MS: Final = {"shop": 40, "tools": 15}
_SAVED_MS: Final = 300
_FILE_KB: Final = 1000
_WARMED: Final = 2


async def state_figures() -> list[Figure]:
    """Write to the shop and the tools, take their states, and go back by turns."""
    owner = f"bench-{os.getpid()}"
    async with await Engine.connect() as engine:
        try:
            return [figure for name in _FROZEN_MS for figure in await _figures(engine, name, owner)]
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
        supervision = await trusted_supervision(engine, watch)
        began = time.monotonic()
        taken = await supervision.take_state()
        fingerprint = await watch.prove()
        ended = time.monotonic()
        states.append(
            TakenState(
                site=name,
                image_id=replica.placement.image_id,
                packed=taken.packed,
                fingerprint=fingerprint,
            )
        )
        rewind_s = await _timed(engine, watch, None)
        restore_s = await _timed(engine, watch, states[-1])
        if number >= _WARMED:
            frozen.append(taken.frozen_s * 1000)
            saved.append((ended - began) * 1000)
            size.append(len(taken.packed) / 1000)
            rewound.append(rewind_s)
            restored.append(restore_s)
    assert (await take_state(engine, watch)).fingerprint == states[-1].fingerprint
    await watch.close()
    return [
        at_most(f"{name}: stands still while its state is taken", Series(frozen), _FROZEN_MS[name]),
        at_most(f"{name}: state and fingerprint taken", Series(saved), _SAVED_MS),
        at_most(f"{name}: what a state takes, KB", Series(size), _FILE_KB, "KB"),
        times_as_long(
            f"{name}: to a state (reference: rewind), s", Series(restored), Series(rewound), 1.2
        ),
    ]


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
