"""The driver of a run: what the agent decides, and what of it is the agent's own."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quick_cases import SLOW
from support.agents.foreign_values import CASES, TEXTS, VALUES, require_scored
from support.runs.tiny_run import SUITE, make_lock
from support.worlds.fake_world import WIKI, FakeWorld, attempt_at, browsing_task

from arena_core.actions import Action, Goto, Stop
from arena_core.errors import (
    AgentError,
    BrowserError,
    ContextExceededError,
    ModelError,
    SiteGoneError,
)
from arena_core.worlds import World
from evaluators.checks import Check
from evaluators.evidence import Ended, Evidence
from evaluators.scores import score
from orchestrator.agents.interface import Assignment, Decision, Reference
from orchestrator.agents.model_exchange import ModelExchange, TokenUsage
from orchestrator.browser.observation import Observation
from orchestrator.episode import episode_runner
from orchestrator.episode.episode import Episode
from orchestrator.episode.episode_runner import EpisodeRunner, PlayedAttempt
from orchestrator.episode.jsonl_files import read_exchanges
from orchestrator.episode.snapshot import EpisodeSnapshot
from orchestrator.runs.store.run_folder import RunFolder
from tasks.schema import Task

RIGHT = Stop(answer="1891")
AWAY = Goto(url=f"{WIKI}/wiki/A/Kettle")


@dataclass
class Script:
    """An agent that does what it is given, and raises where that is an error."""

    left: list[Action | BaseException]
    thinks: Callable[[], object] = lambda: None
    think_s: float = 0.0
    seen: list[Observation] = field(default_factory=list)
    name: str = "script"
    observations: frozenset[str] = frozenset({"axtree"})
    assignment: Assignment | None = None

    def __call__(self, assignment: Assignment, reference: Reference) -> Script:
        self.assignment = assignment
        return self

    async def decide(self, observation: Observation) -> Decision:
        self.seen.append(observation)
        self.thinks()
        await asyncio.sleep(self.think_s)
        action = self.left.pop(0)
        if isinstance(action, BaseException):
            raise action
        return Decision(action, thought="as told", input_tokens=10, output_tokens=1)

    async def close(self) -> None:
        """Nothing to give back."""


async def play(
    agent: Script,
    world: FakeWorld | None = None,
    *,
    interrupted: asyncio.Event | None = None,
    proof_hook: Looking | None = None,
    **more: object,
) -> PlayedAttempt:
    episode = Episode(attempt_at(browsing_task(**more)), (world or FakeWorld()).environment())
    runner = EpisodeRunner(
        agent=agent, interrupted=interrupted or asyncio.Event(), proof_hook=proof_hook
    )
    return await runner.play(episode)


def outcome(evidence: Evidence) -> str:
    task = browsing_task()
    return str(score(task.checks, evidence, task.requires).outcome)


@dataclass
class Looking:
    """A proof's hook that wants to look before some steps."""

    at: Sequence[int]
    asked: list[int] = field(default_factory=list)
    snapshots: list[EpisodeSnapshot] = field(default_factory=list)

    def wants(self, task: Task, world: World, step: int) -> Sequence[Check] | None:
        self.asked.append(step)
        return () if step in self.at else None

    def saw(self, task: Task, world: World, snapshot: EpisodeSnapshot) -> None:
        self.snapshots.append(snapshot)


async def test_what_an_agent_decides_is_done_and_written_down() -> None:
    agent, world = Script([AWAY, RIGHT]), FakeWorld()
    played = await play(agent, world)
    evidence = played.evidence()
    assert outcome(evidence) == "success"
    assert agent.assignment is not None
    assert [seen.step for seen in agent.seen] == [0, 1]
    assert [step.thought for step in evidence.steps] == [None, "as told", "as told"]
    assert (evidence.input_tokens, evidence.output_tokens) == (20, 2)
    assert evidence.agent == "script"
    assert not played.interrupted
    assert world.log[-1] == "gateway closed"


async def test_deciding_does_not_count_against_the_tasks_time() -> None:
    agent = Script([AWAY, RIGHT], think_s=0.15)
    evidence = (await play(agent, limits={"seconds": 0.1})).evidence()
    assert evidence.ended is Ended.STOPPED
    assert all(step.timings.decide_ms >= 150 for step in evidence.steps[1:])


@pytest.mark.parametrize("error", [AgentError("lost my way"), ContextExceededError("too long")])
async def test_an_agent_that_gives_up_is_scored(error: BaseException) -> None:
    evidence = (await play(Script([AWAY, error]))).evidence()
    assert evidence.ended is Ended.AGENT_GAVE_UP
    assert evidence.ended_because == str(error)
    assert outcome(evidence) == "failure"


async def test_a_model_that_is_unavailable_leaves_the_episode_unscored() -> None:
    world = FakeWorld()
    evidence = (await play(Script([ModelError("503")]), world)).evidence()
    assert outcome(evidence) == "unscored: infra"
    assert world.log[-1] == "gateway closed"


async def test_a_model_that_refuses_for_good_is_raised_and_leaves_nothing_open() -> None:
    world = FakeWorld()
    with pytest.raises(ModelError):
        await play(Script([ModelError("401", is_permanent=True)]), world)
    assert world.log[-1] == "gateway closed"


@pytest.mark.parametrize("error", [ZeroDivisionError("x"), TimeoutError("x")])
async def test_an_agent_that_crashes_is_scored(error: Exception) -> None:
    played = await play(Script([AWAY, error]))
    evidence = played.evidence()
    assert evidence.ended is Ended.AGENT_CRASHED
    assert (evidence.ended_because or "").startswith(f"{type(error).__name__}: x at ")
    assert outcome(evidence) == "failure"
    assert not played.has_bug


async def test_a_factory_that_crashes_is_scored() -> None:
    agent, asked = Script([RIGHT]), ZeroDivisionError("x")

    class Broken(Script):
        def __call__(self, assignment: Assignment, reference: Reference) -> Script:
            raise asked

    evidence = (await play(Broken(agent.left))).evidence()
    assert evidence.ended is Ended.AGENT_CRASHED
    assert agent.seen == []


async def test_a_bug_of_arenas_is_no_crash_of_the_agents() -> None:
    world = FakeWorld(script={"act": ZeroDivisionError("x")})
    played = await play(Script([AWAY, RIGHT]), world)
    assert played.has_bug
    assert outcome(played.evidence()) == "unscored: internal"


async def test_an_agent_that_never_decides_has_used_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(episode_runner, "DECIDE_DEADLINE_S", 0.02)
    evidence = (await play(Script([RIGHT], think_s=5))).evidence()
    assert evidence.ended is Ended.DEADLINE
    assert evidence.ended_because == "the agent took more than 0.02 s for a decision"


async def test_no_agent_is_made_where_the_episode_could_not_be_opened() -> None:
    agent = Script([RIGHT])
    evidence = (await play(agent, FakeWorld(script={"open": BrowserError("gone")}))).evidence()
    assert agent.assignment is None
    assert outcome(evidence) == "unscored: infra"


async def test_the_user_stops_an_episode_after_the_step_under_way() -> None:
    stop = asyncio.Event()
    played = await play(Script([AWAY, RIGHT], thinks=stop.set), interrupted=stop)
    assert played.interrupted
    assert played.evidence().ended is None
    assert [step.index for step in played.evidence().steps] == [0, 1]


async def test_an_episode_that_was_over_anyway_is_not_lost_by_an_interruption() -> None:
    stop = asyncio.Event()
    played = await play(Script([RIGHT], thinks=stop.set), interrupted=stop)
    assert not played.interrupted
    assert outcome(played.evidence()) == "success"


async def test_a_proof_is_asked_before_every_action_and_looks_where_it_wants() -> None:
    proof_hook = Looking(at=[2])
    evidence = (await play(Script([AWAY, RIGHT]), proof_hook=proof_hook)).evidence()
    assert proof_hook.asked == [1, 2]
    assert [snapshot.step for snapshot in proof_hook.snapshots] == [2]
    assert evidence.steps[2].index == 2


async def test_a_world_that_breaks_under_a_look_does_no_further_action() -> None:
    world = FakeWorld(script={"marks": SiteGoneError("gone")})
    evidence = (await play(Script([AWAY, RIGHT]), world, proof_hook=Looking(at=[1]))).evidence()
    assert outcome(evidence) == "unscored: infra"
    assert len(evidence.steps) == 1


async def test_what_a_proof_looks_at_does_not_count_against_the_tasks_time() -> None:
    async def slowly() -> None:
        await asyncio.sleep(0.1)

    world = FakeWorld(script={"marks": slowly})
    proof_hook = Looking(at=[1])
    evidence = (
        await play(Script([RIGHT]), world, proof_hook=proof_hook, limits={"seconds": 0.1})
    ).evidence()
    assert evidence.ended is Ended.STOPPED


class Hands:
    """An agent from outside that hands in, or raises, whatever it is given."""

    name = "hands"
    observations = frozenset({"axtree"})

    def __init__(self, handed: object) -> None:
        self.handed = handed

    def __call__(self, assignment: Assignment, reference: Reference) -> Hands:
        return self

    async def decide(self, _: Observation) -> Any:
        if isinstance(self.handed, BaseException):
            raise self.handed
        return self.handed

    async def close(self) -> None:
        """Nothing to give back."""


class UnspeakableError(Exception):
    """An error that cannot even say what it is."""

    def __str__(self) -> str:
        raise RuntimeError


def _action(kind: type[Any], fields: dict[str, Any]) -> Any:
    return kind.model_construct(**{**fields, "kind": kind.model_fields["kind"].default})


_KINDS = get_args(get_args(Action)[0])
_NAMES = sorted({name for kind in _KINDS for name in kind.model_fields} - {"kind"})
_ACTIONS = st.builds(
    _action,
    st.sampled_from([Stop, *_KINDS]),
    st.dictionaries(st.sampled_from(["answer", "data", "reason", *_NAMES]), VALUES, max_size=4),
)
_EXCHANGES = st.builds(
    ModelExchange,
    request=st.dictionaries(TEXTS, VALUES, max_size=2),
    images=st.dictionaries(TEXTS, st.sampled_from([b"", "no bytes"]), max_size=1),
    reply=st.none() | VALUES,
    usage=st.none() | st.builds(TokenUsage, input_tokens=VALUES, cached_tokens=VALUES),
    usd=st.none() | VALUES,
)
_DECISIONS = st.builds(
    Decision,
    _ACTIONS | VALUES,
    thought=st.none() | VALUES,
    input_tokens=st.just(3) | VALUES,
    output_tokens=st.just(3) | VALUES,
    exchanges=st.lists(_EXCHANGES, max_size=2).map(tuple) | VALUES,
    usd=st.none() | VALUES,
)
_RAISED = st.sampled_from(
    [
        SystemExit(0),
        SystemExit(10**400),
        KeyboardInterrupt(),
        GeneratorExit(),
        asyncio.CancelledError(),
        BaseExceptionGroup("all", [SystemExit(), ValueError()]),
        StopAsyncIteration(),
        UnspeakableError(),
        RecursionError(),
        AgentError("\ud800" * 50_000),
        AgentError(cast("Any", 7)),
        ValueError("half \ud800"),
    ]
)


@SLOW
@settings(max_examples=2 * CASES)
@given(handed=_DECISIONS | _RAISED | VALUES)
def test_whatever_an_agent_hands_in_or_raises_is_its_own_doing(
    handed: object, tmp_path_factory: pytest.TempPathFactory
) -> None:
    asyncio.run(_handed(handed, tmp_path_factory))


async def _handed(handed: object, folders: pytest.TempPathFactory) -> None:
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, lambda: None)  # as the command line does
    try:
        played = await play(cast("Any", Hands(handed)), limits={"steps": 1})
    finally:
        loop.remove_signal_handler(signal.SIGINT)
    require_scored(browsing_task(), played.evidence())
    folder = RunFolder.create(folders.mktemp("runs") / "r1", make_lock(), SUITE)
    folder.save_evidence("offline-one-r0-a1", played.evidence(), played.files)
    saved = played.evidence().model_copy(update={"run": folder.lock().run})
    assert folder.evidence("offline-one-r0-a1") == saved
    read_exchanges(folder.evidence_folder("offline-one-r0-a1"))


async def test_ctrl_c_in_an_agents_code_ends_the_run_where_no_loop_takes_it() -> None:
    with pytest.raises(KeyboardInterrupt):
        await play(cast("Any", Hands(KeyboardInterrupt())))


async def test_an_attempt_that_is_cancelled_while_its_agent_thinks_is_cancelled() -> None:
    agent = Script([RIGHT], think_s=600)
    playing = asyncio.create_task(play(agent))
    while not agent.seen:  # noqa: ASYNC110  the agent tells nobody
        await asyncio.sleep(0)
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
