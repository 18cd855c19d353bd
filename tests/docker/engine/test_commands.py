"""Commands that checks run in a replica: its own user, limits, and what they leave."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from arena_core.errors import TaskError
from orchestrator.sandbox.check_queries import MAX_BYTES, run_command

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from orchestrator.sandbox.engine.containers import ContainerSpec
    from orchestrator.sandbox.engine.engine import Engine

pytestmark = pytest.mark.docker


async def test_a_command_runs_as_the_images_user_and_within_limits(
    engine: Engine, spec: ContainerSpec
) -> None:
    container = await engine.run(spec)

    async def run(command: str, seconds: int = 60) -> tuple[int, str, str]:
        return await run_command(engine, container.id, command, seconds)

    assert await run("id -u; echo oops >&2; exit 3") == (3, "10001\n", "oops\n")
    assert await run("printf 'a b'; echo \"$0\" >/dev/null") == (0, "a b", "")
    assert await run("test -e /gone") == (1, "", "")
    with pytest.raises(TaskError, match="within 1 s"):
        await run("sleep 60", 1)
    with pytest.raises(TaskError, match=f"{MAX_BYTES:,} bytes"):
        await run("yes")
    code, _, errors = await run("yes no >&2 & sleep 1; exit 4")
    assert (code, len(errors)) == (4, 2_000)


async def test_nothing_is_run_as_root(
    engine: Engine, spec: ContainerSpec, context: Callable[[Mapping[str, str]], bytes]
) -> None:
    of_root = context({"Dockerfile": f"FROM {spec.image}\nUSER 0\n"})
    await engine.build("arena-test/engine:root", of_root, "Dockerfile", {}, lambda _: None)
    container = await engine.run(replace(spec, image="arena-test/engine:root"))
    with pytest.raises(TaskError, match="root"):
        await run_command(engine, container.id, "id", 5)
