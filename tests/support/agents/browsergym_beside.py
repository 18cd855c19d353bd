"""A service of this process, and programs of BrowserGym's and AgentLab's environment beside it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from orchestrator import Arena
from orchestrator.serve.server import Served, serve
from support.agents.foreign_clients import ROOT, kill_newest, python_with
from support.agents.scripted_model import ChatRequest, Says, ScriptedModel

# AgentLab's own requirements include torch, ray and gradio, which its studies do without.
# It maps missing errors as pandas 2 says them.
PINNED: Final = (
    *("browsergym-experiments==0.14.3", "openai==1.109.1", "litellm==1.80.0", "anthropic"),
    *("gitpython", "ipython", "joblib", "matplotlib", "networkx", "pandas<3", "python-slugify"),
    *("pyyaml", "requests"),
)
AGENTLAB: Final = "agentlab==0.4.2"


def agentlab_python() -> Path:
    """Return the Python of an environment with BrowserGym and AgentLab, and nothing of Arena's."""
    return python_with(
        AGENTLAB, [*PINNED], ["--no-deps", AGENTLAB], given="ARENA_BROWSERGYM_PYTHON"
    )


@dataclass(frozen=True, slots=True)
class Player:
    """Programs of BrowserGym's environment, beside a service of this process."""

    python: Path
    folder: Path
    served: Served

    async def start(self, what: str, model: str = "", **asked: Any) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *(self.python, "-m", "support.agents.browsergym_player", what, json.dumps(asked)),
            cwd=self.folder,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")]),
                "ARENA_URL": self.served.url,
                "ARENA_TOKEN_FILE": str(self.folder / "token"),
                "AGENTLAB_EXP_ROOT": str(self.folder),
                "OPENAI_BASE_URL": model,
                "OPENAI_API_KEY": "none",
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            },
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=2**26,
        )

    async def play(self, what: str, model: str = "", **asked: Any) -> dict[str, Any]:
        """Let a program play to its end; the sites are killed whenever it says so."""
        running = await self.start(what, model, **asked)
        assert running.stdout is not None
        assert running.stdin is not None
        last = b""
        async for line in running.stdout:
            last = line
            if line.startswith(b"kill "):
                await kill_newest("wiki")
                running.stdin.write(b"\n")
        assert await running.wait() == 0
        found: dict[str, Any] = json.loads(last)
        return found

    async def study(
        self, model: Callable[[ChatRequest], Says], *tasks: str, browser: str, jobs: int = 1
    ) -> dict[str, Any]:
        with ScriptedModel(model) as scripted:
            chosen = ",".join(tasks)
            return await self.play("study", scripted.url, tasks=chosen, browser=browser, jobs=jobs)


@asynccontextmanager
async def playing(python: Path, folder: Path, slots: int = 1) -> AsyncIterator[Player]:
    async with (
        Arena(workers=slots) as arena,
        serve(arena, slots=slots, port=0, token_path=folder / "token", out=folder / "out") as on,
    ):
        yield Player(python, folder, on)
        assert on.host.free == slots
