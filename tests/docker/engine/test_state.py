"""Containers whose root is read-only, and the volume that holds what may change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import docker
import pytest
from docker import APIClient

from arena_core.errors import SiteGoneError
from orchestrator.sandbox.engine.containers import Container, ContainerSpec, Labels, StateMount
from orchestrator.sandbox.engine.engine import Engine

pytestmark = pytest.mark.docker

FOLDER = "/srv/state"
_DOCKERFILE = """FROM arena-test/engine:1
USER root
RUN mkdir -p /srv/state && chown 10001:10001 /srv/state && chmod 750 /srv/state && chmod 1777 /run
USER 10001
"""


@pytest.fixture
def api() -> Iterator[APIClient]:
    client = docker.from_env()
    yield client.api
    client.close()


@pytest.fixture
async def stateful(engine: Engine, spec: ContainerSpec, context: object) -> ContainerSpec:
    assert callable(context)
    files: Mapping[str, str] = {"Dockerfile": _DOCKERFILE}
    await engine.build(
        "arena-test/engine-state:1", context(files), "Dockerfile", {}, lambda _: None
    )
    return replace(
        spec, image="arena-test/engine-state:1", read_only=True, state=StateMount(FOLDER)
    )


async def shell(engine: Engine, container: Container, line: str) -> tuple[int, str]:
    done = await engine.execute(container.id, ["bash", "-c", line])
    return done.exit_code, (done.stdout + done.stderr).decode().strip()


def volumes(api: APIClient, owner: str) -> list[str]:
    found = api.volumes(filters={"label": f"{Labels.OWNER}={owner}"})["Volumes"] or []
    return [str(volume["Name"]) for volume in found]


async def test_only_the_state_and_what_is_in_memory_can_be_written(
    engine: Engine, stateful: ContainerSpec
) -> None:
    container = await engine.run(stateful)

    places = (FOLDER, "/tmp", "/run", "/", "/srv", "/var/tmp", "/etc", "/home")  # noqa: S108
    written = [
        place
        for place in places
        if (await shell(engine, container, f"echo x > {place}/mark && cat {place}/mark"))[0] == 0
    ]

    assert written == [FOLDER, "/tmp", "/run"]  # noqa: S108


async def test_a_volume_on_disk_belongs_to_whom_the_images_folder_does(
    engine: Engine, stateful: ContainerSpec
) -> None:
    container = await engine.run(stateful)

    assert await shell(engine, container, f"stat -c '%a %u:%g' {FOLDER}") == (0, "750 10001:10001")


async def test_a_state_in_memory_ends_at_its_bound(engine: Engine, stateful: ContainerSpec) -> None:
    container = await engine.run(replace(stateful, state=StateMount(FOLDER, memory_mb=2)))

    assert (await shell(engine, container, f"head -c 1M /dev/zero > {FOLDER}/a"))[0] == 0
    code, words = await shell(engine, container, f"head -c 2M /dev/zero > {FOLDER}/b")

    assert code != 0
    assert "No space left on device" in words


@pytest.mark.parametrize("memory_mb", [None, 4])
async def test_a_volume_goes_with_its_container(
    engine: Engine, stateful: ContainerSpec, owner: str, api: APIClient, memory_mb: int | None
) -> None:
    container = await engine.run(replace(stateful, state=StateMount(FOLDER, memory_mb)))
    assert len(volumes(api, owner)) == 1

    await engine.remove(container.id)

    assert volumes(api, owner) == []


async def test_a_sweep_takes_the_volumes_that_were_left_behind_too(
    engine: Engine, stateful: ContainerSpec, owner: str, api: APIClient
) -> None:
    kept = await engine.run(replace(stateful, labels={Labels.OWNER: f"{owner}-other"}))
    left = await engine.run(replace(stateful, name=f"{stateful.name}-left"))
    api.remove_container(left.id, force=True)
    assert len(volumes(api, owner)) == 1

    await engine.sweep(owner)

    assert volumes(api, owner) == []
    assert len(volumes(api, f"{owner}-other")) == 1
    await engine.remove(kept.id)


async def test_no_container_sees_the_state_of_another(
    engine: Engine, stateful: ContainerSpec
) -> None:
    first = await engine.run(replace(stateful, name=f"{stateful.name}-1"))
    second = await engine.run(replace(stateful, name=f"{stateful.name}-2"))

    await shell(engine, first, f"echo mine > {FOLDER}/mark")

    assert (await shell(engine, second, f"cat {FOLDER}/mark"))[0] != 0


async def test_a_signal_reaches_the_first_process(engine: Engine, spec: ContainerSpec) -> None:
    container = await engine.run(spec)
    async for line in engine.follow_logs(container.id):
        if line == "listening":
            await engine.signal(container.id, "TERM")

    assert await engine.wait_exit(container.id) == 0
    with pytest.raises(SiteGoneError, match="sending USR1"):
        await engine.signal(container.id, "USR1")
