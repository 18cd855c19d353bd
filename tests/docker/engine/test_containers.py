from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from arena_core.errors import EngineError, ImageError, PortTakenError, SiteGoneError
from orchestrator.sandbox.engine.containers import ContainerSpec, Labels
from orchestrator.sandbox.engine.engine import Engine

pytestmark = pytest.mark.docker

Another = Callable[[str], ContainerSpec]


async def test_a_started_container_is_found_by_id_name_and_label(
    engine: Engine, spec: ContainerSpec, owner: str
) -> None:
    container = await engine.run(spec)

    assert container.state == "running"
    assert await engine.container(container.id) == container
    assert await engine.container(spec.name) == container
    [listed] = await engine.containers({Labels.OWNER: owner})
    assert (listed.id, listed.ports) == (container.id, container.ports)


async def test_a_container_that_is_gone_is_none(engine: Engine, spec: ContainerSpec) -> None:
    container = await engine.run(spec)

    await engine.remove(container.id)

    assert await engine.container(container.id) is None
    await engine.remove(container.id)


async def test_two_removals_at_once_both_end_when_it_is_gone(
    engine: Engine, spec: ContainerSpec
) -> None:
    container = await engine.run(spec)

    await asyncio.gather(*(engine.remove(container.id) for _ in range(4)))

    assert await engine.container(container.id) is None


async def test_files_are_there_before_the_first_process(
    engine: Engine, spec: ContainerSpec
) -> None:
    files = {"/etc/arena/tls/key.pem": b"secret", "/note": b"\x00\xff"}
    reader = replace(spec, files=files)
    container = await engine.run(reader)

    told = await engine.execute(container.id, ["cat", "/etc/arena/tls/key.pem", "/note"])

    assert told.stdout == b"secret\x00\xff"
    assert await engine.copy_out(container.id, "/note") == b"\x00\xff"


async def test_a_taken_port_is_named_and_nothing_stays_behind(
    engine: Engine, spec: ContainerSpec, another: Another, owner: str
) -> None:
    first = await engine.run(spec)
    port = first.ports[8000].port

    with pytest.raises(PortTakenError, match=str(port)):
        await engine.run(replace(another("b"), fixed={8000: port}))

    assert [one.name for one in await engine.containers({Labels.OWNER: owner})] == [first.name]


async def test_a_fixed_port_is_the_one_asked_for(
    engine: Engine, spec: ContainerSpec, another: Another
) -> None:
    first = await engine.run(spec)
    port = first.ports[8000].port
    await engine.remove(first.id)

    second = await engine.run(replace(another("b"), fixed={8000: port}))

    assert second.ports[8000].port == port


async def test_an_image_that_is_not_there_is_an_image_error(
    engine: Engine, spec: ContainerSpec
) -> None:
    with pytest.raises(ImageError, match="arena-test/nowhere"):
        await engine.run(replace(spec, image="arena-test/nowhere:1"))


async def test_a_name_that_is_taken_says_how_to_clear_up(
    engine: Engine, spec: ContainerSpec
) -> None:
    await engine.run(spec)

    with pytest.raises(EngineError, match="already in use") as taken:
        await engine.run(spec)

    assert "arena down" in taken.value.hint


async def test_a_command_leaves_its_code_and_both_streams(
    engine: Engine, spec: ContainerSpec
) -> None:
    container = await engine.run(spec)

    left = await engine.execute(container.id, ["sh", "-c", "echo out; echo err >&2; exit 3"])

    assert (left.exit_code, left.stdout, left.stderr) == (3, b"out\n", b"err\n")


async def test_a_command_that_takes_too_long_is_given_up(
    engine: Engine, spec: ContainerSpec
) -> None:
    container = await engine.run(spec)
    began = time.monotonic()

    with pytest.raises(EngineError, match=r"sleep 60.*within 0.3 s"):
        await engine.execute(container.id, ["sleep", "60"], timeout_s=0.3)

    assert time.monotonic() - began < 30


async def test_a_command_in_a_stopped_container_says_that_it_is_gone(
    engine: Engine, spec: ContainerSpec
) -> None:
    container = await engine.run(spec)
    await engine.stop(container.id)

    with pytest.raises(SiteGoneError):
        await engine.execute(container.id, ["true"])


async def test_stopping_lets_the_process_end_by_itself(engine: Engine, spec: ContainerSpec) -> None:
    container = await engine.run(spec)
    async for line in engine.follow_logs(container.id):
        if line == "listening":
            break

    await engine.stop(container.id, 20)

    stopped = await engine.container(container.id)
    assert stopped is not None
    assert (stopped.state, stopped.exit_code) == ("exited", 0)
    assert (await engine.logs(container.id, tail=1)) == "bye\n"


async def test_the_end_of_a_container_wakes_who_waits(engine: Engine, spec: ContainerSpec) -> None:
    container = await engine.run(spec)
    waiting = asyncio.create_task(engine.wait_exit(container.id))
    done, _ = await asyncio.wait({waiting}, timeout=0.3)
    assert not done

    await engine.execute(container.id, ["sh", "-c", "kill -KILL -1"])

    assert await asyncio.wait_for(waiting, 60) == 137


async def test_giving_up_a_wait_is_instant(engine: Engine, spec: ContainerSpec) -> None:
    container = await engine.run(spec)
    began = time.monotonic()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await engine.wait_exit(container.id)

    assert time.monotonic() - began < 20


async def test_many_waits_do_not_hold_up_short_calls(engine: Engine, spec: ContainerSpec) -> None:
    container = await engine.run(spec)
    waits = [asyncio.create_task(engine.wait_exit(container.id)) for _ in range(40)]

    async with asyncio.timeout(60):
        await engine.memory_bytes(container.id)
        await engine.remove(container.id)
        await asyncio.gather(*waits, return_exceptions=True)


async def test_waiting_for_a_removed_container_says_that_it_is_gone(engine: Engine) -> None:
    with pytest.raises(SiteGoneError):
        await engine.wait_exit("0123456789abcdef")


async def test_a_followed_log_ends_with_its_container(engine: Engine, spec: ContainerSpec) -> None:
    container = await engine.run(spec)
    lines: list[str] = []

    async with asyncio.timeout(60):
        async for line in engine.follow_logs(container.id):
            lines.append(line)
            if line == "listening":
                await engine.stop(container.id)

    assert lines == ["listening", "bye"]


async def test_memory_is_above_nothing_and_below_the_limit(
    engine: Engine, spec: ContainerSpec
) -> None:
    container = await engine.run(spec)

    assert 100_000 < await engine.memory_bytes(container.id) < 64 * 2**20


async def test_a_sweep_removes_what_its_owner_left_and_no_more(
    engine: Engine, another: Another, owner: str
) -> None:
    mine = [await engine.run(another(suffix)) for suffix in "ab"]
    await engine.stop(mine[0].id, 1)
    other = replace(another("c"), labels={Labels.OWNER: f"{owner}-other"})
    kept = await engine.run(other)

    try:
        assert set(await engine.sweep(owner)) == {container.name for container in mine}
        assert await engine.container(kept.id) is not None
    finally:
        await engine.remove(kept.id)


async def test_a_start_that_is_cancelled_leaves_no_container(
    engine: Engine, another: Another, owner: str
) -> None:
    for number, patience in enumerate((0.0, 0.01, 0.05, 0.15)):
        starting = asyncio.create_task(engine.run(another(str(number))))
        await asyncio.wait({starting}, timeout=patience)
        if starting.cancel():
            with pytest.raises(asyncio.CancelledError):
                await starting
        else:
            await engine.remove((await starting).id)

    assert await engine.containers({Labels.OWNER: owner}) == ()
