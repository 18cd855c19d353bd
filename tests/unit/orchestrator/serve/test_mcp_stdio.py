"""Lines that no client of MCP sends: the episode at the other end of the pipe goes on."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from quick_cases import SLOW, quick_first
from support.tasks.small_suites import bells, write_suite

TESTS = Path(__file__).parents[3]
PROGRAM = """
import asyncio, sys
from support.worlds.fake_world import FakeWorld
from support.worlds.worldless import WorldlessArena
from orchestrator.serve.host import EpisodeHost
from orchestrator.serve.mcp_server import serve_stdio
from orchestrator.serve.messages import CreateEpisode

async def sticks():
    print("stuck", file=sys.stderr, flush=True)
    await asyncio.Event().wait()

async def main():
    async with WorldlessArena() as arena:
        if "sticks" in sys.argv:
            arena.prepared.append(FakeWorld(script={"act": sticks}))
        host = EpisodeHost(arena, slots=1, idle_s=60)
        hosted = await host.begin(CreateEpisode(task=sys.argv[1]))
        await serve_stdio(host, hosted)
        result = hosted.session.result
        print("outcome", result.outcome, result.because, file=sys.stderr)
        print("holds a slot:", hosted.holds_slot, file=sys.stderr)
        await host.close()
        print("leases:", len(arena.leases), file=sys.stderr)

asyncio.run(main())
"""
LINES = [
    b"",
    b"\x00\xff\xfe",
    b"nul",
    b"[]",
    b"[" * 200_000,
    b'{"a":' * 200_000,
    b'{"jsonrpc": "2.0", "id": 1e999, "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": ' + b"9" * 5_000 + b', "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": 7, "method": "\\ud800"}',
    b"x" * (3 * 2**20),
]


class Client:
    """The other end of the pipes of a program that serves one episode."""

    def __init__(
        self,
        to: asyncio.StreamWriter,
        answers: asyncio.StreamReader,
        pipe: asyncio.ReadTransport,
    ) -> None:
        self._to, self._from, self._pipe = to, answers, pipe

    async def sends(self, line: bytes) -> None:
        self._to.write(line + b"\n")
        async with asyncio.timeout(20):
            await self._to.drain()

    async def asks(self, number: int, method: str, **params: Any) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        await self.sends(json.dumps(message).encode())
        async with asyncio.timeout(20):
            while True:
                answer: dict[str, Any] = json.loads(await self._from.readline())
                if answer.get("id") == number:
                    return answer

    def stops_reading(self) -> None:
        """Close this end of the pipe that the answers come from."""
        self._pipe.close()

    async def begins(self) -> None:
        about = {"name": "t", "version": "0"}
        begun = await self.asks(
            1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=about
        )
        assert "result" in begun
        await self.sends(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    async def submits(self, number: int, **arguments: Any) -> dict[str, Any]:
        return await self.asks(number, "tools/call", name="submit_answer", arguments=arguments)


async def started(tmp_path: Path, *arguments: str) -> tuple[asyncio.subprocess.Process, Client]:
    suite = write_suite(tmp_path, bells("one"))
    read_end, write_end = os.pipe()
    answers = asyncio.StreamReader(limit=2**24)
    pipe, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(answers), os.fdopen(read_end, "rb")
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, f"{suite}/one", *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=write_end,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
    )  # fmt: skip
    os.close(write_end)
    assert process.stdin is not None
    return process, Client(process.stdin, answers, pipe)


# Nobody waits for these answers, and some messages have an id that no request may have.
WRONG_IDS: list[dict[str, Any]] = [
    {"id": 99, "result": {}},
    {"id": "never asked", "error": {"code": 1, "message": "m"}},
    {"id": None, "method": "ping"},
    {"id": {}, "method": "ping"},
    {"id": -1, "method": "no/such/method"},
    {"id": 5, "method": "tools/call", "params": 5},
    {"id": 6, "method": "tools/call", "params": {"name": 6}},
    {"method": "notifications/cancelled", "params": {"requestId": 1234}},
    {"method": "notifications/cancelled", "params": {"requestId": {}}},
]


@SLOW
async def test_lines_and_ids_that_belong_to_no_call_disturb_neither_the_program_nor_its_episode(
    tmp_path: Path,
) -> None:
    process, client = await started(tmp_path)
    for line in LINES:
        await client.sends(line)
    await client.begins()
    for message in WRONG_IDS:
        await client.sends(json.dumps({"jsonrpc": "2.0", **message}).encode())
    for _ in range(2):  # one id twice: both are answered
        await client.asks(7, "tools/call", name="browser_snapshot", arguments={})
    deep: Any = 1
    for _ in range(150):
        deep = [deep]
    refused = await client.submits(8, data=deep)
    assert refused["result"]["isError"], refused
    ended = await client.submits(9, answer="47")
    assert ended["result"]["structuredContent"]["outcome"] == "success"
    async with asyncio.timeout(20):
        _, said = await process.communicate(b"")  # its input ends
    assert process.returncode == 0, said.decode()
    assert "outcome success" in said.decode()


@SLOW
@pytest.mark.parametrize("how", quick_first(["stops writing", "stops reading"]))
async def test_a_client_that_is_gone_in_the_middle_of_a_call_leaves_nothing(
    tmp_path: Path, how: str
) -> None:
    process, client = await started(tmp_path, *(["sticks"] if how == "stops writing" else []))
    assert process.stderr is not None
    assert process.stdin is not None
    await client.begins()
    call = {"name": "browser_navigate", "arguments": {"url": "http://wiki.arena.test/"}}
    asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
    if how == "stops writing":
        await client.sends(json.dumps(asked).encode())
        async with asyncio.timeout(20):
            assert await process.stderr.readline() == b"stuck\n"
        process.stdin.close()
    else:
        client.stops_reading()
        await client.sends(json.dumps(asked).encode())
    async with asyncio.timeout(20):
        said = (await process.stderr.read()).decode()
        code = await process.wait()
    assert code == 0, said
    assert "Traceback" not in said
    assert "outcome unscored its client is gone: " in said
    assert "holds a slot: False" in said
    assert "leases: 1" in said
