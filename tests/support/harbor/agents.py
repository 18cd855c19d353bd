"""Agents that Harbor loads: a program that plays alone, and one that a test's client decides for.

It is a module of an environment without Arena's dependencies.
"""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

from harbor.agents.base import BaseAgent
from harbor.agents.capabilities import AgentCapabilities
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext

_MOST_BYTES = 2**26  # of a line between an agent and its client


class _Tested(BaseAgent):  # type: ignore[misc]
    capabilities = AgentCapabilities(mcp_servers=True)

    @staticmethod
    def name() -> str:
        return "scripted"

    def version(self) -> str:
        return "1"

    async def setup(self, environment: BaseEnvironment) -> None:
        pass


class Scripted(_Tested):
    """Runs the program in AGENT_PROGRAM in its container, and keeps what it prints."""

    async def run(
        self, instruction: str, environment: BaseEnvironment, context: AgentContext
    ) -> None:
        done = await environment.exec(_running(_program()), timeout_sec=300)
        (self.logs_dir / "said.json").write_text(done.stdout or "")
        (self.logs_dir / "err.txt").write_text(done.stderr or "")


class Asked(_Tested):
    """Runs in its container whatever programs the test sends to it, until the test hangs up."""

    async def run(
        self, instruction: str, environment: BaseEnvironment, context: AgentContext
    ) -> None:
        asked, says = await asyncio.open_unix_connection(
            os.environ["AGENT_SOCKET"], limit=_MOST_BYTES
        )
        says.write(json.dumps(self.logs_dir.parent.name).encode() + b"\n")
        async for line in asked:
            done = await environment.exec(_running(json.loads(line)), timeout_sec=300)
            says.write(json.dumps([done.stdout, done.stderr]).encode() + b"\n")
        says.close()


def _program() -> str:
    return Path(os.environ["AGENT_PROGRAM"]).read_text(encoding="utf-8")


def _running(program: str) -> str:
    return f"python3 - <<'AGENT'\n{program}\nAGENT"
