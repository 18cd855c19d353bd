"""Programs of other projects, in environments of their own, beside a service of the test's."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from arena_core.user_cache import user_cache
from orchestrator import Arena
from orchestrator.sandbox.engine.containers import Labels
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.serve.server import Served, serve

ROOT = Path(__file__).parents[3]


def python_with(
    name: str,
    *installs: Sequence[str],
    given: str | None = None,
    base: Callable[[], str] = lambda: sys.executable,
) -> Path:
    """Return the Python of an environment that is kept in the user's cache.

    Args:
        name: the environment's.
        installs: what pip is asked for, one call after the other.
        given: a variable that names the Python of such an environment instead.
        base: says which Python it is made with.
    """
    if given and (there := os.environ.get(given)):
        return Path(there)
    folder = user_cache() / "tests" / name
    found = folder / "bin" / "python"
    if not (folder / "ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.check_call([base(), "-m", "venv", folder])
        for words in installs:
            subprocess.check_call([found, "-m", "pip", "install", "--quiet", *words])
        (folder / "ready").touch()
    return found


def python_312() -> str:
    """Return a Python of 3.12 or later, which some projects need."""
    versions = sorted(Path.home().glob(".pyenv/versions/3.1[2-9]*/bin/python"))
    for found in (sys.executable, "python3.12", "python3.13", *map(str, versions)):
        try:
            asked = [found, "-c", "import sys; sys.exit(sys.version_info < (3, 12))"]
            if subprocess.run(asked, capture_output=True, check=False).returncode == 0:
                return found
        except OSError:
            continue
    raise FileNotFoundError("no Python 3.12 or later: name an environment by its ARENA_…_PYTHON")


@dataclass(frozen=True, slots=True)
class Beside:
    """A service of this process, for programs of an environment beside it.

    Attributes:
        folder: they run there, and nothing else of the test is on their path.
    """

    python: Path
    folder: Path
    served: Served

    async def start(
        self, *words: str, log: IO[bytes] | None = None, **variables: str
    ) -> asyncio.subprocess.Process:
        """Start a program of the environment's, as the leader of a group of processes.

        What it says goes into a log, or may be read; what it reads may be written.
        """
        return await asyncio.create_subprocess_exec(
            *words,
            cwd=self.folder,
            env={
                **os.environ,
                "PATH": os.pathsep.join([str(self.python.parent), os.environ["PATH"]]),
                "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests"), str(self.folder)]),
                "ARENA_URL": self.served.url,
                "ARENA_TOKEN_FILE": str(self.folder / "token"),
                **variables,
            },
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE if log is None else log,
            stderr=None if log is None else asyncio.subprocess.STDOUT,
            start_new_session=True,
            limit=2**26,
        )

    async def play(self, program: str, **asked: Any) -> Any:
        """Run a player of `support.agents` to its end, and return what it prints as JSON.

        Whenever it prints `kill SITE`, the newest replica of that site is removed.
        """
        module = f"support.agents.{program}"
        running = await self.start(str(self.python), "-m", module, json.dumps(asked))
        assert running.stdout is not None
        assert running.stdin is not None
        last = b""
        async for last in running.stdout:
            if last.startswith(b"kill "):
                await kill_newest(last.split()[1].decode())
                running.stdin.write(b"\n")
        assert await running.wait() == 0
        return json.loads(last)

    async def until_free(self, free: int, limit_s: float = 10.0) -> None:
        """Wait until so many slots are free."""
        async with asyncio.timeout(limit_s):
            while self.served.host.free != free:  # noqa: ASYNC110  nobody tells
                await asyncio.sleep(0.05)


@asynccontextmanager
async def beside(
    python: Path, folder: Path, *, slots: int = 1, checkpoints: bool = False
) -> AsyncIterator[Beside]:
    """Serve episodes until the block ends, when every slot must be free again."""
    async with (
        Arena(workers=slots) as arena,
        serve(
            arena,
            slots=slots,
            port=0,
            token_path=folder / "token",
            out=folder / "out",
            checkpoints=checkpoints,
        ) as on,
    ):
        yield Beside(python, folder, on)
        assert on.host.free == slots


async def kill_newest(site: str) -> None:
    """Remove the newest of this process's replicas of a site: the older ones are shared."""
    async with await Engine.connect() as engine:
        found = await engine.containers({Labels.OWNER: None, Labels.SITE: site})
        mine = [
            one for one in found if one.labels[Labels.OWNER].startswith(f"episodes-{os.getpid()}-")
        ]
        await engine.remove(max(mine, key=lambda one: one.created).id)
