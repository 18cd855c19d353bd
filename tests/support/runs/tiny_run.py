"""The least run there is: one task, the lock of a run of it, and an episode's evidence."""

from __future__ import annotations

from typing import Any

from arena_core.worlds import World
from evaluators.evidence import Ended, Evidence
from orchestrator.agents.interface import AgentClass, AgentLock
from orchestrator.runs.store.lock import RunLock, describe_host, hash_suite, package_versions
from tasks.schema import Suite

SUITE = Suite.model_validate(
    {
        "suite": "tiny",
        "version": 1,
        "title": "Tiny",
        "tasks": [
            {
                "id": "one",
                "family": "information",
                "intent": "Tell when the kettle was invented.",
                "sites": ["wiki"],
                "start": ["wiki:/"],
                "checks": [
                    {
                        "name": "answer",
                        "when": "end",
                        "locate": {"by": "answer"},
                        "match": {"how": "number", "value": 1891},
                    }
                ],
                "reference": [{"do": "stop", "answer": "1891"}],
            }
        ],
    }
)


def make_lock() -> RunLock:
    """Return the lock of a run of that task, offline."""
    return RunLock(
        run="r1",
        created_at="2026-11-21T00:00:00Z",
        suite="tiny",
        suite_version=1,
        suite_hash=hash_suite(SUITE),
        tasks=("one",),
        worlds=(World.OFFLINE,),
        repeats=1,
        attempts=2,
        agent=AgentLock(name="idle", kind="idle", options={}, agent_class=AgentClass.BASELINE),
        images={},
        engine="",
        browser="",
        packages=package_versions(SUITE),
        host=describe_host(),
    )


def tiny_evidence(**parts: Any) -> Evidence:
    """Return what an episode of that task left behind, which ended with the right answer."""
    usual: dict[str, Any] = {
        "suite": "tiny",
        "task": "one",
        "world": World.OFFLINE,
        "agent": "idle",
        "repeat": 0,
        "attempt": 1,
        "started_at": "2026-11-21T00:00:00Z",
        "seconds": 1.0,
        "answer": "1891",
        "ended": Ended.STOPPED,
    }
    return Evidence(**(usual | parts))
