"""What every site with a supervised state must keep: a rewind undoes all that can be written."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace

import docker
import pytest
from support.sites.every_site import ATLAS, Shared, every

from arena_core.errors import ImageError
from orchestrator.sandbox.engine.containers import Labels
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.slot_pool import SlotPool
from orchestrator.sandbox.reset.replica import Replica
from orchestrator.sandbox.reset.supervision import Supervision
from orchestrator.sandbox.reset.watch import Watch
from sites.manifest import Site, StateFolder

pytestmark = [pytest.mark.docker]

EVERY_STATE = every(lambda site: site.state)
OWNER = f"contract-state-{os.getpid()}"
REWIND_S = 60.0
# Mounts that may be written, as the container's own user sees it. The engine makes the last ones.
IN_MEMORY = {"/tmp", "/run", "/dev/shm", "/dev/mqueue"}  # noqa: S108
WRITABLE_MOUNTS = (
    "while read -r _ point _ options _; do case $options in rw*)"
    " [ -w $point -a ! -c $point ] && echo $point;; esac; done </proc/mounts"
)


def state_of(site: Site) -> StateFolder:
    assert site.state is not None
    return site.state


@asynccontextmanager
async def replica_of(site: Site) -> AsyncIterator[tuple[Engine, Replica]]:
    async with (
        await Engine.connect() as engine,
        SlotPool.open(engine, ATLAS, [site.name], OWNER) as slot_pool,
        slot_pool.lease([site.name]) as slot,
    ):
        yield engine, slot.replicas[site.name]


async def shell(engine: Engine, replica: Replica, line: str) -> str:
    done = await engine.execute(replica.container.id, ["bash", "-c", line])
    return done.stdout.decode()


@asynccontextmanager
async def supervision_of(replica: Replica) -> AsyncIterator[Supervision]:
    assert replica.supervisor is not None
    supervision = await Supervision.open(replica.supervisor)
    try:
        yield supervision
    finally:
        await supervision.close()


@EVERY_STATE
def test_its_stateful_folders_are_part_of_its_state(site: Site) -> None:
    inside = state_of(site).folder + "/"
    assert [folder for folder in site.fingerprint.files if not folder.startswith(inside)] == []


@EVERY_STATE
async def test_nothing_can_be_written_but_its_state_and_folders_in_memory(
    engine: Engine, shared: Shared, site: Site
) -> None:
    replica = await shared.of(engine, site)
    found = set((await shell(engine, replica, WRITABLE_MOUNTS)).split())
    assert found - IN_MEMORY == {state_of(site).folder}
    tried = "for each in / /etc /srv /var /usr /home; do touch $each/mark && echo $each; done"
    assert await shell(engine, replica, tried) == ""


@EVERY_STATE
async def test_its_processes_have_no_privileges(engine: Engine, shared: Shared, site: Site) -> None:
    replica = await shared.of(engine, site)
    told = await shell(engine, replica, "cat /proc/[0-9]*/status")
    facts = [line.split(":\t") for line in told.splitlines() if ":\t" in line]
    of: Mapping[str, set[str]] = {
        name: {value for key, value in facts if key == name}
        for name in ("CapEff", "CapPrm", "CapBnd", "NoNewPrivs", "Uid")
    }
    for name in ("CapEff", "CapPrm", "CapBnd"):
        assert {int(mask, 16) for mask in of[name]} == {0}, name
    assert of["NoNewPrivs"] == {"1"}
    assert not any("0" in users.split("\t") for users in of["Uid"])


@EVERY_STATE
async def test_its_supervisor_is_reached_from_this_machine_only(
    engine: Engine, shared: Shared, site: Site
) -> None:
    replica = await shared.of(engine, site)
    endpoint = replica.supervisor
    assert endpoint is not None
    assert endpoint.host == "127.0.0.1"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing: only asks for the route
        outside = probe.getsockname()[0]
    with pytest.raises(OSError, match="refused"):
        await asyncio.to_thread(socket.create_connection, (outside, endpoint.port), 5)


@EVERY_STATE
async def test_whatever_was_left_anywhere_is_gone_after_a_rewind(site: Site) -> None:
    async with replica_of(site) as (engine, replica), supervision_of(replica) as supervision:
        places = " ".join((state_of(site).folder, *IN_MEMORY))
        await shell(engine, replica, f"for each in {places}; do touch $each/arena-mark; done")
        mark = f"for each in {places}; do ls $each/arena-mark; done 2>/dev/null"
        assert len((await shell(engine, replica, mark)).split()) == 5
        before = supervision.generation
        await engine.signal(replica.container.id, "USR1")
        assert await supervision.generation_after(before, REWIND_S) == before + 1
        assert await shell(engine, replica, mark) == ""


@EVERY_STATE
async def test_a_supervisor_of_another_folder_is_an_image_that_does_not_fit(
    engine: Engine, shared: Shared, site: Site
) -> None:
    replica = await shared.of(engine, site)
    state = state_of(site).model_copy(update={"folder": "/srv/elsewhere"})
    other = site.model_copy(update={"state": state})
    odd = replace(replica, placement=replace(replica.placement, site=other))
    watch = Watch.over(engine, odd)
    with pytest.raises(ImageError, match="/srv/elsewhere"):
        await watch.prove()
    await watch.close()


@EVERY_STATE
async def test_its_volume_goes_with_it(site: Site) -> None:
    client = docker.from_env()
    try:
        async with replica_of(site):
            filters = {"label": [f"{Labels.OWNER}={OWNER}"]}
            assert client.api.volumes(filters=filters)["Volumes"]
        assert not client.api.volumes(filters=filters)["Volumes"]
    finally:
        client.close()
