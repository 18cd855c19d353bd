"""Arena's tasks as environments of BrowserGym, and as a benchmark of AgentLab.

BrowserGym and AgentLab pin Playwright, lxml and openai below what Arena needs. This folder runs
beside them, in an environment without Arena's own dependencies, and plays on a running
`arena serve`: nothing here may import more than the standard library, `arena_core.errors`,
Gymnasium, and what the two bring.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import gymnasium
from gymnasium.envs.registration import register, registry

from arena_core.errors import UsageError
from orchestrator.serve.client import Service

Browser = Literal["browsergym", "arena"]
_PREFIX: Final = "browsergym/"


def register_tasks(
    suite: str = "demo", tasks: str = "*", *, service: Service | None = None
) -> tuple[str, ...]:
    """Register tasks of the service as `browsergym/arena.<suite>.<task>`, and return these names.

    Args:
        suite: a suite that the service has.
        tasks: ids or patterns, with commas between.
        service: where it is; else ARENA_URL and ARENA_TOKEN_FILE say so.
    """
    found = (service or Service.named()).tasks(suite, tasks)
    return tuple(register_task(one["id"]) for one in found)


def register_task(task: str) -> str:
    """Register `suite/task`, without a request, and return the name for `gymnasium.make`."""
    name = _PREFIX + task_name(task)
    if name not in registry:
        register(
            name,
            entry_point="orchestrator.serve.browsergym:make",
            kwargs={"task": task},
            nondeterministic=True,
            disable_env_checker=True,  # the reward of what is unscored is no number
        )
    return name


def task_name(task: str) -> str:
    """Return a task as BrowserGym names it; Gymnasium allows one slash, and few other signs."""
    suite, _, name = task.rpartition("/")
    return f"arena.{suite.replace('/', '.').strip('.')}.{name}"


def make(task: str, *, browser: Browser = "browsergym", **options: Any) -> gymnasium.Env[Any, str]:
    """Return an environment: BrowserGym's own, or one whose observations and actions are Arena's.

    Args:
        task: `suite/task`.
        browser: `browsergym` reads and drives Arena's Chromium by BrowserGym's own code, over CDP;
            `arena` leaves both to Arena.
        options: those of `AttachedEnv` or `ArenaEnv`.
    """
    match browser:
        case "browsergym":
            from orchestrator.serve.browsergym.attached import AttachedEnv  # noqa: PLC0415

            return AttachedEnv(task, **options)
        case "arena":
            from orchestrator.serve.browsergym.own_browser import ArenaEnv  # noqa: PLC0415

            return ArenaEnv(task, **options)
        case _:
            raise UsageError(f"there is no browser '{browser}'", hint="browsergym or arena")
