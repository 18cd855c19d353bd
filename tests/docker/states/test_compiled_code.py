"""Code that PHP compiled is part of a state: what runs after a restore is that state's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from support.sites.every_site import OWNER

from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.engine.origin_client import fetch
from orchestrator.sandbox.logins import replica_client
from orchestrator.sandbox.pool.placement import place
from orchestrator.sandbox.reset.ladder import reset_replica
from orchestrator.sandbox.reset.replica import start_replica
from orchestrator.sandbox.reset.state import TakenState
from orchestrator.sandbox.reset.strategies import Rewind
from orchestrator.sandbox.reset.taking import take_state
from orchestrator.sandbox.reset.watch import Watch
from sites.registry import load_registry

pytestmark = [pytest.mark.docker, pytest.mark.slow(minutes=1)]

VERSIONS = ("Powered by WordPress", "Powered by Version-1", "Powered by Version-2")  # golden first
# The image's compiled code is behind a link. Each version is as long and as old as the others: PHP
# never looks at sources, and keeps what it has loaded in its parent's memory.
INSTALL = r"""
set -e
code=/srv/cms/state/code link=$(find $code -maxdepth 1 -type l)
if test -n "$link"; then
    own=$(readlink "$link"); rm "$link"; mkdir "$link"; cp -rs "$own/." "$link"
fi
file=$(find $code -name wp-login.php.bin) from=$(find /srv/cms/code -name wp-login.php.bin)
rm "$file"
sed "s/Powered by WordPress/$1/g" "$from" >"$file"
touch -r "$from" "$file"
cmp -s "$from" "$file" && exit 1
test "$(stat -c %s "$from")" = "$(stat -c %s "$file")"
"""


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    async with await Engine.connect() as connected:
        yield connected


@pytest.fixture
async def watch(engine: Engine) -> AsyncIterator[Watch]:
    placement = await place(engine, load_registry().site("cms"), owner=OWNER, slot=0)
    made = Watch.over(engine, await start_replica(engine, placement), new=True)
    yield made
    await made.close()
    await engine.remove(made.replica.container.id)


async def test_the_code_that_runs_is_that_of_the_state_that_was_restored(
    engine: Engine, watch: Watch
) -> None:
    replica = watch.replica

    async def runs() -> str:
        client = replica_client(replica.site, replica.endpoint)
        page = await asyncio.to_thread(fetch, client, "/wp-login.php", timeout_s=30)
        [version] = {one for one in VERSIONS if one in page.text}
        return version

    async def go_to(taken: TakenState | None) -> None:
        watch.aim(taken)
        reset = await reset_replica(engine, watch, strategies=(Rewind(),))
        assert reset.receipt.proven

    states: list[TakenState | None] = [None]
    assert await runs() == VERSIONS[0]
    for version in VERSIONS[1:]:
        argv = ("bash", "-c", INSTALL, "bash", version)
        installed = await engine.execute(replica.container.id, argv)
        assert installed.exit_code == 0, installed.stderr
        states.append(await take_state(engine, watch))
    for number in (1, 2, 1, 0, 2, 0):
        await go_to(states[number])
        assert await runs() == VERSIONS[number]
