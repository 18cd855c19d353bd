from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Mapping

import docker
import pytest

from arena_core.errors import EngineError, ImageError
from orchestrator.sandbox.engine.containers import ContainerSpec, Labels
from orchestrator.sandbox.engine.engine import Engine

pytestmark = pytest.mark.docker

Context = Callable[[Mapping[str, str]], bytes]


@pytest.fixture
async def tag(engine: Engine) -> AsyncIterator[str]:
    name = f"arena-test/{secrets.token_hex(4)}:1"
    yield name
    if made := await engine.image(name):
        await engine.remove_unused_image(made.id)


async def test_a_build_hands_over_its_lines_and_labels_its_image(
    engine: Engine, tag: str, context: Context
) -> None:
    lines: list[str] = []
    dockerfile = f"FROM debian:bookworm-slim\nRUN echo spoken && : {tag}\n"

    built = await engine.build(
        tag, context({"sub/Dockerfile": dockerfile}), "sub/Dockerfile", {"a": "b"}, lines.append
    )

    assert "spoken" in lines
    assert built.labels == {"a": "b"}
    assert await engine.image(tag) == built


async def test_a_failing_step_shows_its_last_twenty_lines(
    engine: Engine, tag: str, context: Context
) -> None:
    dockerfile = "FROM debian:bookworm-slim\nRUN seq -f 'line %g' 30 && exit 7\n"

    with pytest.raises(ImageError) as failed:
        await engine.build(
            tag, context({"Dockerfile": dockerfile}), "Dockerfile", {}, lambda _: None
        )

    assert "code: 7" in failed.value.message
    assert "line 30" in failed.value.message
    assert "line 9\n" not in failed.value.message
    assert await engine.image(tag) is None


async def test_a_malformed_dockerfile_is_an_image_error(
    engine: Engine, tag: str, context: Context
) -> None:
    with pytest.raises((ImageError, EngineError), match="NONSENSE"):
        await engine.build(
            tag,
            context({"Dockerfile": "FROM debian:bookworm-slim\nNONSENSE\n"}),
            "Dockerfile",
            {},
            lambda _: None,
        )


async def test_an_interrupted_build_leaves_no_container_running(
    engine: Engine, tag: str, context: Context
) -> None:
    marker = f"sleeping-{secrets.token_hex(4)}"
    dockerfile = f"FROM debian:bookworm-slim\nRUN echo {marker} && sleep 300\n"
    begun = asyncio.Event()

    def on_line(line: str) -> None:
        if line == marker:
            begun.set()

    building = asyncio.create_task(
        engine.build(tag, context({"Dockerfile": dockerfile}), "Dockerfile", {}, on_line)
    )
    async with asyncio.timeout(120):
        await begun.wait()
    building.cancel()
    with pytest.raises(asyncio.CancelledError):
        await building

    raw = docker.from_env()
    try:
        async with asyncio.timeout(60):
            # The engine removes it after the connection is gone, so there is no event to wait for.
            while any(  # noqa: ASYNC110
                marker in str(row["Command"]) for row in raw.api.containers(all=True)
            ):
                await asyncio.sleep(0.05)
    finally:
        raw.close()


async def test_a_commit_keeps_the_files_and_drops_the_containers_own_labels(
    engine: Engine, spec: ContainerSpec
) -> None:
    container = await engine.run(spec)
    await engine.copy_in(container.id, {"/srv/mark": b"kept\n"})
    await engine.stop(container.id, 1)

    labels = {Labels.GOLDEN: "abc", "quote": 'a "b" $c \\d'}
    committed = await engine.commit(container.id, None, labels)

    assert committed.labels == labels
    again = await engine.create(
        ContainerSpec(
            name=f"{spec.name}-again",
            image=committed.id,
            labels={},
            ports=(),
            memory_mb=16,
            cpus=1.0,
            pids=8,
        )
    )
    try:
        assert await engine.copy_out(again.id, "/srv/mark") == b"kept\n"
        names = [one.name for one in await engine.containers({Labels.OWNER: None})]
        assert again.name not in names
        assert container.name in names
        assert again.labels[Labels.GOLDEN] == "abc"
    finally:
        await engine.remove(again.id)
        assert await engine.remove_unused_image(committed.id)


async def test_pulling_from_a_registry_that_is_not_there_is_an_image_error(
    engine: Engine, tag: str
) -> None:
    with pytest.raises(ImageError, match=r"pulling 127\.0\.0\.1:9/none"):
        await engine.pull("127.0.0.1:9/none:1", tag, lambda _: None)
