"""A run of `arena eval` in an empty folder, seen from outside: its files, its containers."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from evaluators.evidence import Evidence
from orchestrator.runs.store.lock import RunLock
from orchestrator.sandbox.engine.containers import Container, Labels
from orchestrator.sandbox.engine.engine import Engine
from support.agents.arena_process import ArenaProcess, Ended, arena

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class RunAt:
    """A run in the folder `run` of an otherwise empty working folder."""

    cwd: Path

    @property
    def path(self) -> Path:
        return self.cwd / "run"

    @property
    def lock(self) -> RunLock:
        return RunLock.model_validate_json((self.path / "lock.json").read_bytes())

    def start(self, suite: Path, *options: str) -> ArenaProcess:
        """Start `arena eval` of a suite file."""
        return ArenaProcess("eval", "--suite", suite, "--out", "run", *options, cwd=self.cwd)

    def play(self, suite: Path, *options: str) -> Ended:
        """Run `arena eval` of a suite file to its end."""
        with self.start(suite, *options) as process:
            return process.wait()

    def resume(self, *options: str) -> Ended:
        """Go on with it to its end."""
        return arena("eval", "--resume", "run", *options, cwd=self.cwd)

    def ledger(self) -> list[tuple[str, int, str, str | None]]:
        """Return task, attempt, state and outcome of each line, in the order they were written."""
        with sqlite3.connect(self.path / "ledger.sqlite") as connection:
            rows = connection.execute(
                "SELECT task, attempt, state, outcome FROM attempt ORDER BY started_at, rowid"
            ).fetchall()
        connection.close()
        return rows

    def attempts(self) -> list[tuple[str, str | None]]:
        """Return state and outcome of each line of the ledger."""
        return [(state, outcome) for _, _, state, outcome in self.ledger()]

    def evidence(self, task: str, attempt: int = 1) -> Evidence:
        path = self.path / "evidence" / f"offline-{task}-r0-a{attempt}" / "evidence.json"
        return Evidence.model_validate_json(path.read_bytes())

    def evidence_files(self) -> dict[str, bytes]:
        """Return every file of evidence with its content."""
        root = self.path / "evidence"
        return {
            str(path.relative_to(root)): path.read_bytes()
            for path in sorted(root.rglob("*"))
            if path.is_file()
        }

    def log(self) -> list[dict[str, Any]]:
        """Return the records of its log."""
        text = (self.path / "arena.log").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    def containers(self) -> tuple[Container, ...]:
        """Return the containers of this run, stopped ones too."""
        owner = self.lock.run
        return on_engine(lambda engine: engine.containers({Labels.OWNER: owner}))


def on_engine(work: Callable[[Engine], Awaitable[Result]]) -> Result:
    """Do one thing with the engine, from a thread without an event loop."""

    async def connected() -> Result:
        async with await Engine.connect() as engine:
            return await work(engine)

    return asyncio.run(connected())
