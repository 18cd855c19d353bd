"""BrowserGym's own environment on a browser, a slot and checks of Arena's, over CDP."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import browsergym.core.env as browsergym_env
from browsergym.core import _get_global_playwright
from browsergym.core.chat import Chat
from browsergym.core.env import BrowserEnv
from browsergym.core.task import AbstractBrowserTask
from gymnasium.error import ResetNeeded

from arena_core.errors import UsageError
from orchestrator.serve.client import Episode, Record, Service, reward_of

_SPOKEN = ("assistant", "infeasible")


class ArenaTask(AbstractBrowserTask):  # type: ignore[misc]
    """A task as BrowserGym asks for it; its verdict is Arena's."""

    def __init__(self, seed: int | None, *, service: Service, asked: Record) -> None:
        super().__init__(seed)
        self.slow_mo = 0
        self.episode = Episode.begin(service, {**asked, "seed": seed})

    def setup(self, page: Any) -> tuple[str, Record]:  # noqa: ARG002
        """Return the goal; the episode's start page is open already."""
        return self.episode.goal, {}

    def validate(self, page: Any, chat_messages: list[Record]) -> tuple[float, bool, str, Record]:  # noqa: ARG002
        """Finish where the agent has spoken to the user: its message is the answer."""
        _greeting, *spoken = (one for one in chat_messages if one["role"] in _SPOKEN)
        match spoken[-1:]:
            case [{"role": "infeasible", "message": reason}]:
                result: Record | None = self.episode.finish(None, "infeasible", reason)
            case [{"message": answer}]:
                result = self.episode.finish(answer)
            case _:
                result = self.episode.ended()
        if result is None:
            return 0.0, False, "", {}
        return reward_of(result), True, "", result

    def teardown(self) -> None:
        """Give the episode back; one that is not over is unscored."""
        self.episode.release()


class AttachedEnv(BrowserEnv):  # type: ignore[misc]
    """`BrowserEnv`, observations and actions and all, on the browser of an episode of Arena's.

    Args:
        task: `suite/task`.
        service: where Arena runs; else ARENA_URL and ARENA_TOKEN_FILE say so.
        world: `offline` or `online`.
        max_steps: in place of the task's own limit.
        agent: the name that the evidence shows.
        options: those of `BrowserEnv` that say nothing of how a browser is launched.

    Raises:
        EpisodeUnscored: at `reset`, where no episode could begin.
    """

    def __init__(
        self,
        task: str,
        *,
        service: Service | None = None,
        world: str = "offline",
        max_steps: int | None = None,
        agent: str = "browsergym",
        **options: Any,
    ) -> None:
        for launched in ("record_video_dir", "wait_for_user_message", "viewport"):
            if options.get(launched):
                raise UsageError(f"{launched}: the browser is Arena's", hint="omit it")
        asked = {
            "task": task,
            "world": world,
            "observe": [],
            "agent": agent,
            "endpoints": ["cdp"],
            "limits": {"steps": max_steps},
        }
        found = service or Service.named()
        super().__init__(partial(ArenaTask, service=found, asked=asked), **options)
        self.context: Any
        self.browser: Any
        self.task: Any
        self._seen: Record = {}
        self._steps = 0

    @property
    def episode(self) -> Episode | None:
        """The episode that is played."""
        task: ArenaTask | None = self.task
        return None if task is None else task.episode

    def reset(
        self, seed: int | None = None, options: Record | None = None
    ) -> tuple[Record, Record]:
        self.close()
        self._steps = 0
        try:
            with _attaching(self):
                seen, info = super().reset(seed=seed, options=options)
        except BaseException:
            self.close()
            raise
        return seen, info

    def step(self, action: str) -> tuple[Record, float, bool, bool, Record]:
        """Do an action by BrowserGym's code; the end of the episode has Arena's verdict."""
        episode = self._under_way()
        self._steps += 1
        began = time.time()
        try:
            seen, _, _, _, info = super().step(action)
        except Exception:
            # A limit of the task's hangs up in the middle of a step.
            if self.browser.is_connected() or episode.wait_until_over() is None:
                raise
            seen = {**self._seen, "last_action": action}
            now = time.time()
            info = {"action_exec_start": began, "action_exec_stop": now, "action_exec_timeout": 0.0}
        result, cut = episode.result, False
        if result is None and self._steps >= episode.created["max_steps"]:
            # Arena counts what acts on a page; BrowserGym's actions may do nothing for ever.
            result, cut = episode.finish(None, "gave_up", f"{self._steps} actions were done"), True
        if result is None:
            return seen, 0.0, False, False, info
        info["task_info"] = result
        truncated = cut or result["truncated"]
        return seen, reward_of(result), not truncated, truncated, info

    def close(self) -> None:
        """Hang up, and give the episode back."""
        task: ArenaTask | None = self.task
        browser: Any = self.browser
        self.task = self.browser = self.context = None
        super().close()
        if browser is not None:
            with suppress(Exception):  # Arena hangs up first where the episode is over
                browser.close()
        if task is not None:
            task.teardown()

    def _under_way(self) -> Episode:
        episode = self.episode
        if episode is None or episode.result is not None:
            raise ResetNeeded("the episode is over, or was never begun: call reset()")
        return episode

    def _get_obs(self) -> Record:
        """Look at the page, unless the episode is over: its browser is gone."""
        if self.episode is None or self.episode.result is None:
            self._seen = super()._get_obs()
            return self._seen
        said = {"last_action": self.last_action, "last_action_error": self.last_action_error}
        return {**self._seen, "chat_messages": tuple(self.chat.messages), **said}


class _Attached:
    """Stands in for Playwright where `BrowserEnv.reset` launches a browser: there is one."""

    def __init__(self, env: AttachedEnv) -> None:
        self._env = env
        self._playwright = _get_global_playwright()
        self.selectors = self._playwright.selectors
        self.chromium = self
        self._browser: Any = None

    def launch(self, *, slow_mo: float | None = None, **_: Any) -> Any:
        episode = self._env.episode
        assert episode is not None  # noqa: S101  `reset` made the task before
        chromium = self._playwright.chromium
        self._browser = chromium.connect_over_cdp(episode.created["cdp_url"], slow_mo=slow_mo)
        return self

    def new_context(self, **_: Any) -> Any:
        """Return the episode's context, whose "new" page is the one that it starts on."""
        [context] = self._browser.contexts
        context.new_page = lambda: context.pages[0]
        return context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._browser, name)


class _Messages(Chat):  # type: ignore[misc]
    """A chat without a window, which would need a Chromium of its own."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.messages: list[Record] = []

    def add_message(self, role: str, msg: str) -> None:
        if role != "info":
            self.messages.append({"role": role, "timestamp": time.time(), "message": msg})

    def close(self) -> None:
        """Do nothing: there is no window."""


@contextmanager
def _attaching(env: AttachedEnv) -> Iterator[None]:
    """Let `BrowserEnv.reset` find a browser and a chat that are there, in place of launching."""
    launched = browsergym_env._get_global_playwright, browsergym_env.Chat  # noqa: SLF001
    browsergym_env._get_global_playwright = lambda: _Attached(env)  # noqa: SLF001
    browsergym_env.Chat = _Messages
    try:
        yield
    finally:
        browsergym_env._get_global_playwright, browsergym_env.Chat = launched  # noqa: SLF001
        if env.context is not None:
            vars(env.context).pop("new_page", None)  # the agent's own new tabs are new
