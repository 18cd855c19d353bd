"""Arena's suites as benchmarks of AgentLab, whose summaries have Arena's verdicts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
from agentlab.benchmarks.abstract_env import AbstractBenchmark, AbstractEnvArgs
from bgym import HighLevelActionSetArgs

from arena_core.errors import ArenaError
from orchestrator.serve.browsergym import Browser, register_task, task_name
from orchestrator.serve.client import (
    EpisodeUnscored,
    Record,
    Refused,
    Service,
    reward_of,
    unscored_words,
)

_SUMMARY = "summary_info.json"
_SUBSETS = ("chat", "infeas", "bid", "nav", "tab")


@dataclass
class ArenaEnvArgs(AbstractEnvArgs):  # type: ignore[misc]
    """One task for `ExpArgs`; it registers itself in whichever process makes its environment.

    Attributes:
        task: `suite/task`.
        task_seed: what a MiniWoB++ page draws its problem from.
        max_steps: in place of the task's own limit.
        browser: `arena` or `browsergym`, as `orchestrator.serve.browsergym.make` takes it.
        url, token_file: of the service, where not those of ARENA_URL and ARENA_TOKEN_FILE.
    """

    task: str
    task_seed: int | None = 0
    max_steps: int | None = None
    world: str = "offline"
    browser: Browser = "arena"
    url: str | None = None
    token_file: str | None = None
    task_name: str = ""

    def __post_init__(self) -> None:
        self.task_name = task_name(self.task)

    def make_env(
        self,
        action_mapping: Any,
        exp_dir: Any,
        exp_task_kwargs: Any = None,  # noqa: ARG002
        use_raw_page_output: bool = False,  # noqa: FBT001, FBT002  AgentLab's own names
    ) -> gymnasium.Env[Any, str]:
        own: Record = {}
        if self.browser == "browsergym":
            own = {"action_mapping": action_mapping, "use_raw_page_output": use_raw_page_output}
        env = gymnasium.make(
            register_task(self.task),
            browser=self.browser,
            service=Service.named(self.url, self.token_file),
            world=self.world,
            max_steps=self.max_steps,
            agent="agentlab",
            **own,
        )
        return _Summarized(env, Path(exp_dir) / _SUMMARY)


class ArenaBenchmark(AbstractBenchmark):  # type: ignore[misc]
    """The tasks of a suite, for `make_study` and `Study`.

    Args:
        suite: a suite that the service has.
        tasks: ids or patterns, with commas between.
        world: `offline` or `online`.
        browser: `arena`, or `browsergym` for BrowserGym's own observations and actions.
        repeats: how often each task is played, with seeds from 0.
        max_steps: in place of the tasks' own limits.
        url, token_file: of the service, where not those of ARENA_URL and ARENA_TOKEN_FILE.
    """

    high_level_action_set_args: Any
    is_multi_tab: bool = True
    service: Service

    def __init__(
        self,
        suite: str = "demo",
        tasks: str = "*",
        *,
        world: str = "offline",
        browser: Browser = "arena",
        repeats: int = 1,
        max_steps: int | None = None,
        url: str | None = None,
        token_file: str | None = None,
    ) -> None:
        service = Service.named(url, token_file)
        found = [one["id"] for one in service.tasks(suite, tasks) if world in one["worlds"]]
        env_args = [
            ArenaEnvArgs(one, seed, max_steps, world, browser, url, token_file)
            for one in found
            for seed in range(repeats)
        ]
        actions = HighLevelActionSetArgs(subsets=_SUBSETS, multiaction=False, strict=False)
        super().__init__(
            name=f"arena.{suite}",
            env_args_list=env_args,
            high_level_action_set_args=actions,
            service=service,
        )

    def prepare_backends(self) -> None:
        """Ask whether the service is there, before anything is played."""
        self.service.ask("GET", "/health")


class _Summarized(gymnasium.Wrapper[Any, str, Any, str]):
    """Writes Arena's verdict into the summary of an experiment, which AgentLab has written before.

    AgentLab's own would count what raised an error as a reward of 0. `cum_reward` of an episode
    that is unscored is NaN, which its means leave out, and `err_msg` says why, so that a study
    plays it again. An agent that chooses no action, or whose code raises an error, gave up.
    """

    def __init__(self, env: gymnasium.Env[Any, str], summary: Path) -> None:
        super().__init__(env)
        self._summary = summary
        self._broke: str | None = "unscored: no_verdict: the episode never began"

    def reset(self, **asked: Any) -> tuple[Any, Record]:
        with self._noting():
            return super().reset(**asked)

    def step(self, action: str) -> tuple[Any, Any, bool, bool, Record]:
        with self._noting():
            return super().step(action)

    def close(self) -> None:
        """Score an episode whose agent gave up; take it back where the world broke."""
        if not self._summary.exists():  # nothing was summarized: no experiment plays here
            super().close()
            return
        said = json.loads(self._summary.read_text(encoding="utf-8"))
        try:
            result = self._result(said.get("err_msg"))
        except (ArenaError, Refused) as error:
            result, self._broke = None, f"unscored: no_verdict: {error}"
        said.update(_told(result, self._broke or "", said.get("err_msg")))
        self._summary.write_text(json.dumps(said, indent=4), encoding="utf-8")
        super().close()

    @contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            is_told = isinstance(error, EpisodeUnscored)
            self._broke = str(error) if is_told else f"unscored: no_verdict: {error}"
            raise
        self._broke = None

    def _result(self, failed: str | None) -> Record | None:
        episode = self.unwrapped.episode  # type: ignore[attr-defined]
        if episode is None:
            return None
        if self._broke is not None:
            return dict(episode.release())
        return dict(episode.finish(None, "gave_up", failed or "the agent chose no action"))


def _told(result: Record | None, broke: str, failed: str | None) -> Record:
    """Return what AgentLab's summary is to say of an episode."""
    told: Record = {"cum_reward": float("nan") if result is None else reward_of(result)}
    if result is None or result["reward"] is None:
        why = broke if result is None else unscored_words(result)
        told["err_msg"] = f"{why}\n{failed}" if failed else why
    outcome = result or {"outcome": "unscored", "reason": "no_verdict"}
    return told | {f"arena_{name}": outcome.get(name) for name in ("outcome", "reason", "folder")}
