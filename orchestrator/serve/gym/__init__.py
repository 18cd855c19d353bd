"""Arena's tasks as Gymnasium environments.

`gymnasium.make("orchestrator.serve.gym:arena/demo.TASK")` makes one.

Importing this module registers every task of every shipped suite as
`arena/<suite>.<task>`, and `arena/Task`, which takes any task as `task="suite/task"`.
"""

from __future__ import annotations

from typing import Final

from gymnasium.envs.registration import register, registry

from orchestrator.serve.gym.environment import ArenaEnv
from orchestrator.serve.results import EpisodeUnscored
from tasks.loader import load_suite, suite_names

__all__ = ["ArenaEnv", "EpisodeUnscored"]

_ENTRY: Final = "orchestrator.serve.gym.environment:ArenaEnv"
ANY_TASK: Final = "arena/Task"


def register_tasks() -> None:
    """Register `arena/Task`, and each task of the shipped suites as `arena/<suite>.<task>`."""
    _register(ANY_TASK, {})
    for suite in suite_names():
        for task in load_suite(suite).tasks:
            _register(env_id(suite, task.id), {"task": f"{suite}/{task.id}"})


def env_id(suite: str, task: str) -> str:
    """Return the name of a task; Gymnasium allows one slash in it."""
    return f"arena/{suite}.{task}"


def _register(name: str, arguments: dict[str, str]) -> None:
    if name not in registry:
        # Pages tell the time, and `elapsed_time` is measured.
        register(name, entry_point=_ENTRY, kwargs=arguments, nondeterministic=True)


register_tasks()
