"""One task as a Gymnasium environment."""

from __future__ import annotations

import time
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import gymnasium
from gymnasium.error import ResetNeeded

from arena_core.errors import UsageError
from orchestrator.agents.action_spaces.parser import Misread
from orchestrator.api.arena import Arena
from orchestrator.api.loop_thread import LoopThread
from orchestrator.browser.observation import AXTREE, SCREENSHOT
from orchestrator.episode.checkpoint import Checkpoint
from orchestrator.episode.checkpoint_file import load_checkpoint, save_checkpoint
from orchestrator.serve.gym.spaces import AnyText, observation_space, observed
from orchestrator.serve.results import EpisodeResult, EpisodeUnscored
from orchestrator.serve.session import EpisodeSession, Stepped, TextActions

Result = TypeVar("Result")

_OPTIONS: Final = ("task", "world", "state", "checkpoint")
Step = tuple[dict[str, Any], float, bool, bool, dict[str, Any]]


class ArenaEnv(gymnasium.Env[dict[str, Any], str]):
    """Plays a task: `reset`, then `step` with actions as text until it is terminated or truncated.

    An action is a call of BrowserGym's action space (`click('12')`) or Arena's JSON
    (`{"kind": "click", "element": 12}`). The reward is 0 until the last step, which has the whole:
    1.0 for a success, 0.0 for a failure. Each environment has an Arena of its own, whose replicas
    are kept for its next episodes until `close`; environments may live in processes of their own.

    Args:
        task: `suite/task`; may be named at each `reset` instead.
        world: `offline` or `online`.
        observe: forms of observation; no other is computed.
        unscored: what an episode does that could not be scored: `raise` EpisodeUnscored, or `info`:
            its last reward is NaN, and `info["outcome"]` says `unscored`. A vector environment ends
            with what one of its environments raises. Observations hold texts of any length, which
            no shared memory has room for: `AsyncVectorEnv(…, shared_memory=False)`.
        staged: online, live origins are staged on this machine.
        agent: the name that the evidence shows.
        out: each episode's evidence goes into a folder there, a run of one; nowhere where omitted.
        sites: folders of sites of one's own, as for `Arena`.
        memory: budget for the replicas, as for `Arena`.

    Raises:
        UsageError, UnknownNameError, TaskError: at `reset`, as `Arena.episode`.
        ArenaError: at `reset`, where no replica or browser could be made ready.
        EpisodeUnscored: at `reset` always, and at `step` by `unscored`.
    """

    def __init__(
        self,
        task: str = "",
        *,
        world: str = "offline",
        observe: Sequence[str] = (AXTREE, SCREENSHOT),
        unscored: Literal["raise", "info"] = "raise",
        staged: bool = False,
        agent: str = "gym",
        out: Path | str | None = None,
        sites: Sequence[Path] | None = None,
        memory: str | None = None,
    ) -> None:
        self.metadata = {"render_modes": []}
        self.observation_space = observation_space(frozenset(observe))
        self.action_space = AnyText()
        self._task = task
        self._world = world
        self._observe = tuple(observe)
        self._raises = unscored == "raise"
        self._staged = staged
        self._agent = agent
        self._out = None if out is None else Path(out)
        self._sites = sites
        self._memory = memory
        self._text = TextActions()
        self._loop: LoopThread | None = None
        self._arena: Arena | None = None
        self._session: EpisodeSession | None = None
        self._episodes = 0
        self._goal = ""
        self._began = 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode; one that is not over is given back, and counts for nothing.

        Args:
            seed: of the spaces' samples; a task is the same every time.
            options: `task`, `world`, `state` and `checkpoint` of this episode alone; `state` is a
                saved one. `checkpoint` is a file that `save_checkpoint` wrote, or its bytes: the
                episode begins there, in the file's world, and counts as a branch.

        Raises:
            UsageError, StateError: an option is wrong, or the file is damaged or not of this task
                as it is played here; the episode that is under way goes on. Or the file is of
                another image; then it was given back.
        """
        super().reset(seed=seed)
        if seed is not None:
            self.action_space.seed(seed)
        chosen = self._chosen(options or {})
        session = self._run(self._opened(chosen))
        self._give_back()
        self._run(_begin(session))
        self._session, self._goal = session, session.assignment.intent
        self._began = time.monotonic()
        info = {"task": chosen.task, "world": str(session.assignment.world), "outcome": ""}
        return self._observed(session, last_action="", elapsed_s=0.0), info

    def step(self, action: str) -> Step:
        """Do the actions of one text; what cannot be read does nothing, and uses a step up.

        Raises:
            UsageError: the action is not text; nothing is done, and no step is used up.
        """
        given: object = action
        if not isinstance(given, str):
            message = f"an action is text, and not {action!r:.100}"
            raise UsageError(message, hint="env.step(\"click('12')\")")
        session = self._under_way()
        done = self._run(self._play(session, action))
        elapsed_s = time.monotonic() - self._began
        seen = self._observed(session, last_action=action, elapsed_s=elapsed_s)
        result = done.result
        if result is None:
            return seen, 0.0, False, False, {"outcome": ""}
        if result.reward is None and self._raises:
            raise EpisodeUnscored(result)
        reward = float("nan") if result.reward is None else result.reward
        return seen, reward, not result.truncated, result.truncated, _info(result)

    def checkpoint(self, name: str) -> None:
        """Take the episode as it is now: `env.unwrapped.checkpoint("before paying")`.

        Raises:
            StateError: something cannot be taken; the message names it.
            UsageError: no episode is under way, or its browser is an outside program's.
        """
        self._run(self._under_way().checkpoint(name))

    def restore(self, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Go back to a checkpoint of this episode; return what `reset` returns.

        Raises:
            UnknownNameError: it has no such checkpoint.
            EpisodeUnscored: the episode could not be proven to be there, and is over.
        """
        session = self._under_way()
        done = self._run(session.restore(name))
        if done.result is not None:
            raise EpisodeUnscored(done.result)
        elapsed_s = time.monotonic() - self._began
        info = {
            "task": session.assignment.task,
            "world": str(session.assignment.world),
            "outcome": "",
        }
        return self._observed(session, last_action="", elapsed_s=elapsed_s), info

    def save_checkpoint(self, name: str, path: Path | str) -> None:
        """Write a checkpoint of this episode as a file, which `reset` of another begins at.

        Raises:
            UnknownNameError: it has no such checkpoint.
            StateError: it cannot be written there, or no file can hold it.
        """
        if self._session is None:
            raise ResetNeeded("no episode was begun: call reset()")
        save_checkpoint(self._session.mark(name), path)

    def _under_way(self) -> EpisodeSession:
        if self._session is None or self._session.result is not None:
            raise ResetNeeded("the episode is over, or was never begun: call reset()")
        return self._session

    def close(self) -> None:
        """Give replicas and browser back; safe to repeat."""
        loop, self._loop = self._loop, None
        arena, self._arena, self._session = self._arena, None, None
        if loop is not None:
            try:
                if arena is not None:
                    loop.run(arena.__aexit__(None, None, None))
            finally:
                loop.close()

    async def _opened(self, chosen: _Chosen) -> EpisodeSession:
        """Return a session of an episode that is not begun: nothing is started yet."""
        if self._arena is None:
            arena = Arena(sites=self._sites, memory=self._memory)
            await arena.__aenter__()
            self._arena = arena
        folder = None if self._out is None else self._out / self._next_name(chosen.task)
        episode = self._arena.episode(
            chosen.task,
            world=chosen.world,
            staged=self._staged and chosen.world == "online",
            agent=self._agent,
            observations=self._observe,
            out=folder,
            screenshots=folder is not None,
            state=chosen.state,
            checkpoint=chosen.mark,
        )
        session = EpisodeSession(episode, folder=folder)
        if chosen.mark is not None:
            session.marks[chosen.mark.name] = chosen.mark
        return session

    async def _play(self, session: EpisodeSession, action: str) -> Stepped:
        read = self._text.script(action, session.seen)
        if isinstance(read, Misread):
            return await session.misread(read.why)
        return await session.play(read)

    def _observed(
        self, session: EpisodeSession, *, last_action: str, elapsed_s: float
    ) -> dict[str, Any]:
        return observed(session.seen, self._goal, last_action=last_action, elapsed_s=elapsed_s)

    def _chosen(self, options: dict[str, Any]) -> _Chosen:
        unknown = sorted(options.keys() - set(_OPTIONS))
        if unknown:
            raise UsageError(
                f"reset has no option '{unknown[0]}'", hint=f"options: {', '.join(_OPTIONS)}"
            )
        task = options.get("task", self._task)
        if not isinstance(task, str) or not task:
            message = "no task is named"
            raise UsageError(message, hint='make(…, task="demo/…"), or options={"task": …}')
        mark = _mark(options.get("checkpoint"))
        if mark is not None and mark.seen.parts.keys() != set(self._observe):
            forms = ", ".join(sorted(mark.seen.parts))
            message = f"the checkpoint '{mark.name}' shows {forms}, and the environment other forms"
            raise UsageError(message, hint=f"make(…, observe={tuple(sorted(mark.seen.parts))})")
        world = self._world if mark is None else mark.world
        return _Chosen(task, str(options.get("world", world)), options.get("state"), mark)

    def _give_back(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            self._run(session.abandon("its environment was reset"))

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        if self._loop is None:
            self._loop = LoopThread()
        return self._loop.run(work)

    def _next_name(self, task: str) -> str:
        self._episodes += 1
        return f"{task.rpartition('/')[2]}-{time.time_ns():x}-{self._episodes}"


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What an episode is to be; `mark` is where it begins, in place of its task's start."""

    task: str
    world: str
    state: str | None
    mark: Checkpoint | None


def _mark(given: object) -> Checkpoint | None:
    """Return the checkpoint of an option, which may come from anybody."""
    match given:
        case None:
            return None
        case bytes():
            return load_checkpoint(BytesIO(given))
        case str() | Path():
            return load_checkpoint(given)
        case _:
            message = f"a checkpoint is a path or bytes, and not {given!r:.100}"
            raise UsageError(message, hint='env.reset(options={"checkpoint": "FILE"})')


async def _begin(session: EpisodeSession) -> None:
    failed = await session.begin()
    if failed is not None:
        raise EpisodeUnscored(failed)


def _info(result: EpisodeResult) -> dict[str, Any]:
    """Say what became of an episode, in values that vector environments can put together."""
    return {
        "outcome": str(result.outcome),
        "reason": "" if result.reason is None else str(result.reason),
        "because": result.because,
        "key_nodes_met": result.key_nodes.met,
        "key_nodes": result.key_nodes.of,
        "folder": result.folder or "",
    }
