"""A suite as a task of Inspect: `inspect eval orchestrator/arena -T suite=demo`.

Inspect loads this module by its entry point; nothing else of Arena imports it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, get_args

from inspect_ai import Epochs, Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.hooks import Hooks, RunEnd, hooks
from inspect_ai.model import ChatMessageAssistant, Content, ContentImage, ContentText
from inspect_ai.scorer import (
    Score,
    Scorer,
    Target,
    mean,
    scorer,
    stderr,
)
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver
from inspect_ai.tool import Tool, ToolDef, ToolError, ToolParams, computer, tool_with
from inspect_ai.util import concurrency

from arena_core.errors import UsageError
from arena_core.held import Held
from arena_core.worlds import read_world
from orchestrator.agents.action_spaces.functions import described
from orchestrator.agents.action_spaces.inspect_computer import read_computer
from orchestrator.agents.action_spaces.parser import Misread
from orchestrator.api.arena import Arena
from orchestrator.browser.observation import ARIA, SCREENSHOT, Observation, Picture
from orchestrator.serve.mcp_tools import (
    TOOLS,
    Ask,
    BrowserTool,
    SubmitAnswer,
    TakeScreenshot,
    page_as_text,
    read_call,
    tools_for,
)
from orchestrator.serve.messages import data_uri
from orchestrator.serve.results import EpisodeResult, FinishStatus
from orchestrator.serve.session import EpisodeSession

Answer = TypeVar("Answer")
Tools = Literal["browser", "computer"]
# What Inspect's providers tell models of the screen that `computer` shows, whatever it shows.
DISPLAY: Final = (1366, 768)
_FORMS: Final[Mapping[str, tuple[str, ...]]] = {
    "browser": (ARIA, SCREENSHOT),
    "computer": (SCREENSHOT,),
}
_BESIDE_COMPUTER: Final = frozenset({"browser_tabs", Ask.tool, SubmitAnswer.tool})
_RESULT: Final = "arena"
_OVER: Final = "The episode is over."
_ENDED: Final = "the sample ended before the agent answered"
_HOW: Final = (
    "{intent}\n\nA browser shows {url}. You have at most {steps} actions. "
    "When you are done, call submit_answer, with the answer where one is asked for."
)


@task
def arena(
    suite: str = "demo",
    *,
    world: str = "offline",
    tools: Tools = "browser",
    repeats: int = 1,
    tasks: str | list[str] = "*",
    workers: int = 1,
    out: str | None = None,
    staged: bool = False,
) -> Task:
    """Return the tasks of a suite as samples, which play on Arena's sites and get its verdict.

    Args:
        suite: a shipped suite, or the path of one.
        world: `offline` or `online`.
        tools: `browser`, Playwright MCP's, or `computer`, Inspect's, on a screen of 1366 by 768.
        repeats: how often each task is played, as epochs.
        tasks: ids or patterns.
        workers: how many episodes are played side by side; further samples wait.
        out: a folder for the evidence of each sample, which `arena report` reads.
        staged: online, live origins are staged on this machine.
    """
    if tools not in get_args(Tools):
        raise UsageError(f"there are no tools '{tools}'", hint=" or ".join(get_args(Tools)))
    patterns = (tasks,) if isinstance(tasks, str) else tuple(tasks)
    reader = Arena()
    found = [one for one in reader.suites.tasks(suite, patterns) if read_world(world) in one.worlds]
    if not found:
        raise UsageError(f"no task of '{suite}' among {', '.join(patterns)} is played {world}")
    samples = [
        Sample(
            id=one.id,
            input=one.intent,
            metadata={"task": f"{suite}/{one.id}", "world": world, "sites": list(one.sites)},
        )
        for one in found
    ]
    slots = _Slots(world=world, tools=tools, workers=workers, out=out, staged=staged)
    return Task(
        dataset=MemoryDataset(samples, name=suite),
        setup=slots.setup(),
        solver=generate(),
        cleanup=slots.cleanup,
        scorer=verdict(),
        epochs=Epochs(repeats, "mean"),
        version=reader.suites.read(suite).version,
    )


@scorer(metrics=[mean(), stderr()])
def verdict() -> Scorer:
    """Return Arena's verdict: 1, 0, or no score with the reason, which no metric counts.

    Scoring a log again (`inspect score --scorer orchestrator/verdict`) says what was found then.
    """

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        playing = _playing(state)
        if playing is not None:
            if playing.is_under_way(state):
                return Score.unscored(reason="under_way", explanation="the episode is not over")
            result = await playing.conclude(state)
            state.store.set(_RESULT, None if result is None else result.model_dump(mode="json"))
        return _score_of(state.store.get(_RESULT))

    return score


def _score_of(found: object) -> Score:
    if found is None:
        why = "the sample ended without a verdict of Arena's"
        return Score.unscored(reason="no_verdict", explanation=why)
    result = EpisodeResult.model_validate(found)
    said: dict[str, Any] = {
        "explanation": result.because,
        "metadata": result.model_dump(mode="json", exclude={"because", "reward"}),
    }
    if result.reward is None:
        return Score.unscored(reason=result.reason, **said)
    return Score(value=result.reward, **said)


class _Slots:
    """The Arena that the samples of one task share: opened by the first, closed with the run."""

    def __init__(
        self, *, world: str, tools: Tools, workers: int, out: str | None, staged: bool
    ) -> None:
        self.samples: dict[str, _Playing] = {}
        self._world = world
        self._tools = tools
        self._workers = workers
        self._out = Path(out).absolute() if out else None  # Inspect may change the folder
        self._staged = staged
        self._arena: Arena | None = None
        self._reading = asyncio.Lock()

    def setup(self) -> Solver:
        @solver
        def begin_episode() -> Solver:
            async def begin(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
                self.samples[state.uuid] = playing = _Playing(state, self._tools)
                await playing.begin(self._leased(state, playing))
                return state

            return begin

        return begin_episode()

    async def cleanup(self, state: TaskState) -> None:
        playing = self.samples.pop(state.uuid, None)
        if playing is not None:
            await playing.release()

    async def close(self) -> None:
        arena, self._arena = self._arena, None
        if arena is not None:
            await arena.__aexit__(None, None, None)

    async def _leased(self, state: TaskState, playing: _Playing) -> EpisodeSession:
        free = concurrency("arena", self._workers, key=f"arena-{id(self)}")
        playing.slot = await Held.enter(free)
        if self._arena is None:
            self._arena, self._reading = Arena(workers=self._workers), asyncio.Lock()
            _OPEN.add(self)
            hooks("arena", "Removes the replicas that samples were played on.")(_RunEnds)
            await self._arena.__aenter__()
        name = f"{state.sample_id}-{state.uuid}"
        folder = self._out / name if self._out else None
        async with self._reading:  # all samples begin at once: reading suites stops nothing else
            episode = await asyncio.to_thread(
                self._arena.episode,
                state.metadata["task"],
                world=self._world,
                staged=self._staged,
                agent=f"inspect/{state.model}",
                observations=_FORMS[self._tools],
                out=folder,
                screenshots=folder is not None,
                viewport=DISPLAY if self._tools == "computer" else None,
            )
        session = EpisodeSession(episode, folder=folder)
        await session.begin()
        return session


# Inspect makes scorers and hooks by their names alone: they find the samples that are played here.
_OPEN: Final[set[_Slots]] = set()


def _playing(state: TaskState) -> _Playing | None:
    found = (slots.samples.get(state.uuid) for slots in _OPEN)
    return next((one for one in found if one is not None), None)


class _RunEnds(Hooks):
    """Registered by who opens an Arena: Inspect announces the hooks that there are at its start."""

    async def on_run_end(self, data: RunEnd) -> None:  # noqa: ARG002
        while _OPEN:
            await _OPEN.pop().close()


class _Playing:
    """One sample's episode, whose calls run in asyncio tasks of their own.

    Inspect cancels by scopes of anyio, which would cut off each thing that an episode awaits while
    it cleans up. What is under way goes on instead, until the sample is scored or given back.
    """

    def __init__(self, state: TaskState, tools: Tools) -> None:
        self.slot: Held[Any] | None = None
        self._state = state
        self._tools = tools
        self._session: EpisodeSession | None = None
        self._call: asyncio.Task[Any] | None = None

    async def begin(self, leased: Coroutine[Any, Any, EpisodeSession]) -> None:
        async def begun() -> None:
            self._session = await leased

        await self._apart(begun())
        seen, assignment = self._begun.seen, self._begun.assignment
        self._state.user_prompt.text = _HOW.format(
            intent=assignment.intent, url=seen.url, steps=assignment.step_limit
        )
        known = tools_for(assignment)
        offered = [one for one in known if self._tools == "browser" or one in _BESIDE_COMPUTER]
        self._state.tools = [_browser_tool(self, name) for name in offered]
        if self._tools == "computer":
            self._state.tools.append(_computer(self))
        self._complete_where_over()

    def is_under_way(self, state: TaskState) -> bool:
        """Whether somebody asks for an interim score of what goes on."""
        is_over = self._session is not None and self._session.result is not None
        return not (is_over or state.completed)

    async def conclude(self, state: TaskState) -> EpisodeResult | None:
        """End the episode and score it: with the last words as answer, unless a limit cut it off.

        Returns:
            None where it has not begun.
        """
        if self._session is None:
            return None
        if self._call is not None:
            await asyncio.wait([self._call])
        last = state.messages[-1] if state.messages else None
        if isinstance(last, ChatMessageAssistant) and not last.tool_calls:
            finished = self._session.finish(last.text)
        else:
            finished = self._session.finish(None, FinishStatus.GAVE_UP, _ENDED)
        return await self._apart(finished)

    async def release(self) -> None:
        """Give the episode's slot back, whatever is under way."""
        try:
            if self._session is not None:
                await self._session.abandon("its sample ended")
            elif self._call is not None:
                self._call.cancel()
            if self._call is not None:
                await asyncio.wait([self._call])
        finally:
            if self.slot is not None:
                await self.slot.leave()

    async def called(self, call: BrowserTool | Misread) -> list[Content]:
        """Do what a tool was called for; what is wrong with the call is said to the agent."""
        session = self._begun
        if session.result is not None:
            return self._shown()
        if isinstance(call, Misread):
            await self._apart(session.misread(call.why))
        elif isinstance(call, SubmitAnswer):
            answer, status, why = call.answer, call.status, call.reason
            submitted = session.finish(
                answer, status, why, data=call.data, confidence=call.confidence
            )
            await self._apart(submitted)
        elif isinstance(call, TakeScreenshot):
            return _pictures(session.seen)
        elif actions := call.actions():
            await self._apart(session.play(actions))
        return self._shown()

    async def used(self, said: object) -> list[Content]:
        """Do what the calls of a computer say, one after another, until one cannot be done."""
        session = self._begun
        for one in said if isinstance(said, list) else [said]:
            if session.result is not None:
                break
            read = read_computer(one, session.seen)
            if isinstance(read, Misread):
                done = await self._apart(session.misread(read.why))
            else:
                done = await self._apart(session.play(read))
            if done.observation.last_error is not None:
                break
        return self._shown()

    @property
    def _begun(self) -> EpisodeSession:
        if self._session is None:
            raise UsageError("the sample's episode has not begun", hint="keep the task's setup")
        return self._session

    def _shown(self) -> list[Content]:
        if self._complete_where_over():
            return [ContentText(text=_OVER)]
        is_text = self._tools == "browser"
        text = ContentText(text=page_as_text(self._begun.seen, snapshot=is_text))
        return [text] if is_text else [text, *_pictures(self._begun.seen)]

    def _complete_where_over(self) -> bool:
        """Let the solver end where the episode has."""
        is_over = self._begun.result is not None
        self._state.completed = self._state.completed or is_over
        return is_over

    async def _apart(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        self._call = call = asyncio.get_running_loop().create_task(work)
        call.add_done_callback(lambda one: one.cancelled() or one.exception())
        return await asyncio.shield(call)


def _pictures(seen: Observation) -> list[Content]:
    pictures = [one for one in seen.parts.values() if isinstance(one, Picture)]
    return [ContentImage(image=data_uri(one)) for one in pictures]


def _browser_tool(playing: _Playing, name: str) -> Tool:
    async def execute(**kwargs: Any) -> list[Content]:
        with _said_to_the_agent():
            return await playing.called(read_call(name, kwargs))

    spec = described(name, TOOLS[name])
    parameters = ToolParams.model_validate(spec.parameters)
    for field, one in parameters.properties.items():
        one.description = one.description or field  # Inspect takes no parameter without
    return _tool(execute, name, spec.description, parameters)


def _computer(playing: _Playing) -> Tool:
    """Return a tool that is Inspect's `computer` to a model and to Inspect's providers."""
    original = ToolDef(computer())

    async def execute(**kwargs: Any) -> list[Content]:
        several = kwargs.pop("actions", None)
        with _said_to_the_agent():
            return await playing.used(several or kwargs)

    name, description = original.name, original.description
    made = _tool(execute, name, description, original.parameters)
    return tool_with(made, name, description, model_input=original.model_input)


def _tool(
    execute: Callable[..., Awaitable[list[Content]]],
    name: str,
    description: str,
    parameters: ToolParams,
) -> Tool:
    made = ToolDef(execute, name, description, parameters, max_output=0)  # a page is never cut
    return made.as_tool()


@contextmanager
def _said_to_the_agent() -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        raise ToolError(str(error)) from error
