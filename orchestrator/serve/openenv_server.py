"""A suite as an environment of OpenEnv: a session of its server is a client of `arena serve`.

Actions, observations and state have the names of OpenEnv's `browsergym_env`, which agents and
trainers are written against.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import uvicorn
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, EnvironmentMetadata, Observation, State

from arena_core.errors import UsageError
from orchestrator.serve.client import Episode, EpisodeUnscored, Record, Service

# OpenEnv's clients wait a minute for an answer; a reset takes some of it.
_PATIENCE_S: Final = 30.0
_FORMS: Final = ("axtree",)


class ArenaAction(Action):  # type: ignore[misc]
    """A call of BrowserGym's action space (`click('12')`), or Arena's JSON."""

    action_str: str


class ArenaObservation(Observation):  # type: ignore[misc]
    """What is seen; the last one's `reward` is the whole.

    Attributes:
        text: the accessibility tree.
        screenshot: a data URI of a PNG, where it was asked for.
        error: why the last action could not be read or done.
    """

    text: str = ""
    url: str = ""
    goal: str = ""
    screenshot: str | None = None
    axtree_txt: str = ""
    pruned_html: str = ""
    error: str = ""
    last_action_error: bool = False


class ArenaState(State):  # type: ignore[misc]
    """How a session's episode stands; `outcome` and what is below it are None until its end."""

    benchmark: str = ""
    task_name: str = ""
    task_id: str | None = None
    goal: str = ""
    current_url: str = ""
    max_steps: int = 0
    cum_reward: float = 0.0
    outcome: str | None = None
    reason: str | None = None
    key_nodes: dict[str, int] | None = None


class ArenaEnvironment(Environment[ArenaAction, ArenaObservation, ArenaState]):  # type: ignore[misc]
    """An episode at a time of the service's; its slot is free when the session ends.

    Args:
        service: where Arena runs.
        suite: the suite of the tasks.
        tasks: what `reset` chooses from by its seed, where it names no task; as `suite/task`.
        world: `offline` or `online`, where `reset` says nothing else.
        observe: forms of observation: `axtree`, `pruned_html`, `screenshot`.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(
        self,
        service: Service,
        suite: str,
        tasks: Sequence[str],
        world: str = "offline",
        observe: Sequence[str] = _FORMS,
    ) -> None:
        super().__init__()
        self._service, self._suite, self._tasks = service, suite, tuple(tasks)
        self._world, self._observe = world, [*observe]
        self._episode: Episode | None = None
        self._state = ArenaState(benchmark=suite)

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        task_name: str | None = None,
        world: str | None = None,
        max_steps: int | None = None,
        **_: Any,
    ) -> ArenaObservation:
        """Begin an episode; one under way is given back.

        Raises:
            EpisodeUnscored: none could begin. OpenEnv's clients get an error, and no reward.
        """
        self.close()
        asked: Record = {
            "task": self._named(task_name, seed or 0),
            "world": world or self._world,
            "observe": self._observe,
            "agent": "openenv",
            "seed": seed,
            "limits": {"steps": max_steps},
        }
        episode = Episode.begin(self._service, asked, patience_s=_PATIENCE_S)
        self._episode = episode
        self._state = ArenaState(
            episode_id=episode_id or episode.created["episode"],
            benchmark=self._suite,
            task_name=asked["task"].rpartition("/")[2],
            task_id=asked["task"],
            goal=episode.goal,
            max_steps=episode.created["max_steps"],
        )
        return self._observed(episode.created["observation"])

    def step(
        self,
        action: ArenaAction,
        timeout_s: float | None = None,  # noqa: ARG002
        **_: Any,
    ) -> ArenaObservation:
        """Do an action; what cannot be read does nothing, and uses a step up.

        Raises:
            EpisodeUnscored: the world broke. OpenEnv's clients get an error, and no reward.
        """
        if self._episode is None or self._episode.result is not None:
            raise UsageError("no episode is played", hint="reset")
        done = self._episode.step(action.action_str)
        self._state.step_count += 1
        seen = self._observed(done["observation"])
        if (result := done["result"]) is None:
            return seen
        self._state.outcome, self._state.reason = result["outcome"], result["reason"]
        self._state.key_nodes = result["key_nodes"]
        if result["reward"] is None:
            raise EpisodeUnscored(result)
        self._state.cum_reward = result["reward"]
        seen.done, seen.reward = True, result["reward"]
        return seen

    @property
    def state(self) -> ArenaState:
        return self._state

    def close(self) -> None:
        """Give the episode back; one that is not over is unscored."""
        if self._episode is not None:
            self._episode.release()
            self._episode = None

    def get_metadata(self) -> EnvironmentMetadata:
        about = f"The suite {self._suite} on Arena's sites; rewards are Arena's verdicts."
        return EnvironmentMetadata(name="arena", description=about)

    def _named(self, task: str | None, seed: int) -> str:
        if task is None:
            return self._tasks[seed % len(self._tasks)]
        return task if "/" in task else f"{self._suite}/{task}"

    def _observed(self, seen: Record) -> ArenaObservation:
        parts = seen["parts"]
        self._state.current_url = seen["url"]
        return ArenaObservation(
            text=_said(seen.get("reply")) + parts.get("axtree", ""),
            url=seen["url"],
            goal=self._state.goal,
            screenshot=parts["screenshot"]["image"] if "screenshot" in parts else None,
            axtree_txt=parts.get("axtree", ""),
            pruned_html=parts.get("pruned_html", ""),
            error=seen["last_error"] or "",
            last_action_error=bool(seen["last_error"]),
            reward=0.0,
        )


def _said(reply: str | None) -> str:
    return "" if reply is None else f"The user answered: {reply}\n"


def make_app(
    suite: str = "demo",
    tasks: str = "*",
    *,
    split: str | None = None,
    world: str = "offline",
    observe: Sequence[str] = _FORMS,
    service: Service | None = None,
) -> Any:
    """Return OpenEnv's server (FastAPI), with as many sessions as `arena serve` has slots.

    Args:
        suite: a suite that the service has.
        tasks: ids or patterns, with commas between.
        split: only tasks that the suite puts into it, such as `train`.
        world: `offline` or `online`.
        observe: forms of observation: `axtree`, `pruned_html`, `screenshot`.
        service: where Arena runs; else ARENA_URL and ARENA_TOKEN_FILE say so.
    """
    at = service or Service.named()
    playable = [one["id"] for one in at.tasks(suite, tasks, split) if world in one["worlds"]]
    if not playable:
        raise UsageError(f"no task of '{suite}' is played {world}: {tasks}, split {split}")
    slots = at.ask("GET", "/health")["slots"]
    made = partial(ArenaEnvironment, at, suite, playable, world, observe)
    return create_app(
        made, ArenaAction, ArenaObservation, env_name="arena", max_concurrent_envs=slots
    )


def main() -> None:
    """Serve on loopback until Ctrl-C: `python -m orchestrator.serve.openenv_server`."""
    asked = ArgumentParser(prog="orchestrator.serve.openenv_server", description=main.__doc__)
    asked.add_argument("--suite", default="demo")
    asked.add_argument("--tasks", default="*", help="ids or patterns, with commas between")
    asked.add_argument("--split")
    asked.add_argument("--world", default="offline", choices=("offline", "online"))
    asked.add_argument("--observe", default="axtree", help="forms, with commas between")
    asked.add_argument("--host", default="127.0.0.1", help="nobody is asked for a token")
    asked.add_argument("--port", type=int, default=8000)
    given = asked.parse_args()
    app = make_app(
        given.suite,
        given.tasks,
        split=given.split,
        world=given.world,
        observe=given.observe.split(","),
    )
    uvicorn.run(app, host=given.host, port=given.port, ws_max_size=2**24)


if __name__ == "__main__":
    main()
