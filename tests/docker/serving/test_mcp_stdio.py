"""`arena mcp --stdio`: the official SDK's client starts it, plays, and may be killed."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import mcp
import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client
from support.agents.arena_process import ARENA
from support.tasks.small_suites import BRUGES

from orchestrator import Arena

pytestmark = [pytest.mark.docker, pytest.mark.browser]

BELLS = "demo/wiki-bells-of-bruges"
LIMIT_S = 60.0
# A client that plays, and then waits for its model.
WAITS = """
import asyncio, sys, mcp
from mcp.client.stdio import StdioServerParameters, stdio_client

async def main(command, *arguments):
    server = StdioServerParameters(command=command, args=list(arguments))
    async with mcp.Client(stdio_client(server)) as client:
        await client.call_tool("browser_snapshot", {})
        print("ready", flush=True)
        await asyncio.sleep(120)

asyncio.run(main(*sys.argv[1:]))
"""


def arguments(out: Path) -> list[str]:
    return ["mcp", "--stdio", "--task", BELLS, "--out", str(out)]


def processes_with(word: str) -> Iterator[int]:
    """Yield the processes that were started with a word."""
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and word.encode() in (entry / "cmdline").read_bytes():
                yield int(entry.name)


@pytest.mark.slow(minutes=2)
async def test_the_sdks_client_starts_it_and_plays(tmp_path: Path) -> None:
    server = StdioServerParameters(command=str(ARENA), args=arguments(tmp_path / "out"))
    async with asyncio.timeout(120), mcp.Client(stdio_client(server)) as client:
        assert "How many bells" in (client.instructions or "")
        await client.call_tool("browser_navigate", {"url": BRUGES})
        ended = await client.call_tool("submit_answer", {"answer": "47"})
        assert ended.structured_content["outcome"] == "success"
        again = await client.call_tool("browser_snapshot", {})
        assert not again.is_error  # what was seen last stays readable until the client is gone
        assert (await client.call_tool("browser_navigate", {"url": BRUGES})).is_error
    (folder,) = (tmp_path / "out").iterdir()
    (episode,) = Arena().runs.score(folder)
    assert str(episode.score.outcome) == "success"


async def test_a_client_that_is_killed_leaves_nothing_running(tmp_path: Path) -> None:
    out = tmp_path / "killed"
    client = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WAITS, ARENA, *arguments(out), stdout=subprocess.PIPE
    )
    assert client.stdout is not None
    async with asyncio.timeout(120):
        assert await client.stdout.readline() == b"ready\n"
    assert len(list(processes_with(str(out)))) == 2
    client.kill()
    await client.wait()
    async with asyncio.timeout(LIMIT_S):
        while list(processes_with(str(out))):  # noqa: ASYNC110  nobody tells of a grandchild's end
            await asyncio.sleep(0.1)
    (folder,) = out.iterdir()
    assert not Arena().runs.read(folder).episodes  # as an episode that its driver left
