"""Plays Arena's tasks with BrowserGym and AgentLab: `python -m support.agents.browsergym_player`.

It is a program of an environment without Arena's dependencies; what it does and prints is JSON.
"""

from __future__ import annotations

import ast
import asyncio
import json
import math
import os
import re
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium

from orchestrator.serve.browsergym import register_task, register_tasks
from support.agents.line_player import asked_in_lines

_NAMED = re.compile(r"""^( *\[\w+\] \w+) ('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*").*$""", re.MULTILINE)
Asked = dict[str, Any]


def play(task: str, actions: list[str], browser: str, **options: Any) -> Asked:
    """Do actions in one environment of Gymnasium's, and say what each led to."""
    register_tasks()
    name = f"browsergym/arena.{task.replace('/', '.')}"
    env = gymnasium.make(name, browser=browser, **options)
    seen, _ = env.reset(seed=0)
    begun, steps = json.dumps(_said(seen), default=str), []
    for action in actions:
        if action == "KILL THE SITES":
            _kill(env.unwrapped.episode.created["episode"])  # type: ignore[attr-defined]
            continue
        seen, reward, terminated, truncated, info = env.step(action)
        steps.append(
            {
                "url": seen["url"],
                "error": seen["last_action_error"],
                "reward": None if math.isnan(float(reward)) else float(reward),
                "over": [terminated, truncated],
                "info": info["task_info"],
            }
        )
    env.close()
    return {"keys": sorted(seen), "begun": begun, "steps": steps}


def hang(task: str, browser: str) -> Asked:
    """Begin an episode, say so, and wait to be killed."""
    register_tasks()
    env = gymnasium.make(f"browsergym/arena.{task.replace('/', '.')}", browser=browser)
    env.reset()
    print("begun", flush=True)  # noqa: T201
    time.sleep(600)
    return {}


class Session:
    """An environment, as `asked_in_lines` asks it.

    Args:
        browser: Arena's or BrowserGym's, as `gymnasium.make` takes it.
        threads: where the environment runs; any thread where it is None.
    """

    def __init__(self, browser: str, threads: Executor | None) -> None:
        self._browser = browser
        self._threads = threads
        self._env: Any = None

    async def begin(self, task: str) -> Asked:
        name = await self._run(register_task, task)
        self._env = gymnasium.make(name, browser=self._browser)
        seen, _ = await self._run(self._env.reset)
        return _page(seen)

    async def act(self, action: str) -> Asked:
        seen, reward, terminated, truncated, info = await self._run(self._env.step, action)
        if not (terminated or truncated):
            return _page(seen)
        said = {name: info["task_info"][name] for name in ("outcome", "reason")}
        return {"verdict": {**said, "reward": None if math.isnan(float(reward)) else reward}}

    async def close(self) -> None:
        await self._run(self._env.close)

    async def _run(self, work: Callable[..., Any], *given: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *given)


def sessions(browser: str) -> None:
    """Play as many sessions as are asked for; those in BrowserGym's browsers share a thread.

    BrowserGym has one Playwright for a process, which only its own thread may use.
    """
    with ThreadPoolExecutor(1) as one_thread:
        threads = one_thread if browser == "browsergym" else None
        asyncio.run(asked_in_lines(lambda: Session(browser, threads)))


def _page(seen: Asked) -> Asked:
    """Return what BrowserGym's agents read of a page, its names between Arena's quotes."""
    from browsergym.utils.obs import flatten_axtree_to_str  # noqa: PLC0415

    tree = flatten_axtree_to_str(seen["axtree_object"]).replace("\t", "  ")
    text = _NAMED.sub(lambda one: f'{one[1]} "{ast.literal_eval(one[2])}"', tree)
    return {"url": seen["url"], "text": text, "error": seen["last_action_error"] or None}


def study(tasks: str, browser: str, jobs: int) -> Asked:
    """Let AgentLab's `GenericAgent` play a benchmark in a study, and return its own summaries."""
    # AgentLab imports it for WebArena's servers; it fetches data where it is imported.
    sys.modules["browsergym.webarena"] = ModuleType("browsergym.webarena")
    sys.modules["browsergym.webarena.instance"] = webarena = ModuleType("instance")
    webarena.WebArenaInstance = object  # type: ignore[attr-defined]

    from agentlab.agents.generic_agent.generic_agent import GenericAgentArgs  # noqa: PLC0415
    from agentlab.agents.generic_agent.tmlr_config import BASE_FLAGS  # noqa: PLC0415
    from agentlab.analyze.inspect_results import global_report, load_result_df  # noqa: PLC0415
    from agentlab.experiments.study import Study  # noqa: PLC0415
    from agentlab.llm.chat_api import OpenAIModelArgs  # noqa: PLC0415

    from orchestrator.serve.browsergym.agentlab import ArenaBenchmark  # noqa: PLC0415

    model = OpenAIModelArgs("scripted", 100_000, 100_000, 4_000)
    played = Study(
        agent_args=[GenericAgentArgs(chat_model_args=model, flags=BASE_FLAGS, max_retry=1)],
        benchmark=ArenaBenchmark("demo", tasks, browser=browser),  # type: ignore[arg-type]
    )
    backend = "joblib" if jobs > 1 else "sequential"
    played.run(jobs, backend, n_relaunch=1, exp_root=Path("studies"))
    rows = [json.loads(one.read_text()) for one in _summaries(played.dir)]
    for row, one in zip(rows, _summaries(played.dir), strict=True):
        row["where"] = one.parent.name
    report = global_report(load_result_df(played.dir, progress_fn=None))
    average = float(report["avg_reward"].iloc[-1])
    return {
        "rows": [{name: _number(value) for name, value in row.items()} for row in rows],
        "avg_reward": _number(average),
        "errors": int(report["n_err"].iloc[-1]),
    }


def _summaries(folder: Path) -> list[Path]:
    return sorted(folder.glob("[!_]*/summary_info.json"))


def _number(value: Any) -> Any:
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def _said(seen: Asked) -> Asked:
    """Return what of an observation is text."""
    return {name: one for name, one in seen.items() if name not in ("screenshot", "elapsed_time")}


def _kill(episode: str) -> None:
    """Ask the test to remove the episode's replicas, and wait until it has."""
    print(f"kill {episode}", flush=True)  # noqa: T201
    sys.stdin.readline()


_PLAYS: dict[str, Callable[..., Any]] = {
    "play": play,
    "hang": hang,
    "study": study,
    "sessions": sessions,
}

if __name__ == "__main__":
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    print(json.dumps(_PLAYS[sys.argv[1]](**json.loads(sys.argv[2])), default=str))  # noqa: T201
