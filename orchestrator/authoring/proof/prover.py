"""Proves a suite by playing its references once, in each world that a task runs in."""

from __future__ import annotations

import asyncio
import secrets
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from arena_core.errors import InternalError
from arena_core.names import counted
from arena_core.work_events import WorkEnded, WorkLine, WorkPlanned, WorkStep
from arena_core.worlds import World
from evaluators.evidence import UnscoredReason
from evaluators.lint import Finding, TaskFault, warning
from orchestrator.agents.builtin.baselines import IdleAgent
from orchestrator.agents.interface import Agent, AgentMaker, Assignment, Reference, SeesByReference
from orchestrator.authoring.proof.attacks import attacks_fail
from orchestrator.authoring.proof.given import (
    ATTEMPTS,
    given_matters,
    given_repeats,
    golden_suite,
    golden_tasks,
    set_up_again,
)
from orchestrator.authoring.proof.paths import PathTask, path_fails, path_suite, path_tasks
from orchestrator.authoring.proof.rules import (
    Played,
    ProofRecorder,
    computed_values,
    judged,
    oracle_passes,
    passes_in_arm,
    without_arm,
)
from orchestrator.authoring.proof.safety import attack_harms, attack_tasks, reference_is_harmless
from orchestrator.gateway.variations import arm_label
from orchestrator.runs.agent_choice import choose_agent
from orchestrator.runs.events import (
    AttemptBegan,
    EpisodeEnded,
    EpisodesPlanned,
    OnEvent,
    ProgressNote,
    RunEvent,
)
from orchestrator.runs.lock_writer import make_lock
from orchestrator.runs.new_run import misplaced_arm
from orchestrator.runs.request import RunRequest
from orchestrator.runs.run import Run
from orchestrator.runs.spec import RunSettings
from orchestrator.runs.store.rescoring import ScoredEpisode, rescore
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.sandbox.engine.engine import Engine
from sites.registry import SiteRegistry
from tasks.reference import ReferenceAction
from tasks.schema import Suite, Task
from tasks.sources import SuiteSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Prover:
    """Plays references to prove them.

    Attributes:
        workers: how many references of a world are played side by side.
        vary: the arm that they are played in; empty for the clean one.
    """

    registry: SiteRegistry
    engine: Engine
    on_event: OnEvent
    workers: int = 1
    vary: tuple[str, ...] = ()

    async def prove(self, source: SuiteSource, tasks: tuple[Task, ...]) -> tuple[Finding, ...]:
        """Play the references of tasks, live origins staged; return what that shows to be wrong.

        What failed on pages that did not come to rest in time is played once more, by one worker:
        a busy machine is not the suite's mistake. Where a look in the middle of an episode left
        traces, such as the record of a visit, its reference is played once more unseen: it must
        pass without them.
        """
        proof_hook = ProofRecorder()
        with tempfile.TemporaryDirectory(prefix="arena-proof-") as scratch:
            folder = Path(scratch)
            seen = await self._play_in_time(source.suite, tasks, folder / "seen", proof_hook)
            told = [one for one in tasks if one.reference is not None]
            traced = _chosen(told, [one for one in seen if one.traces])
            unseen: tuple[Played, ...] = ()
            if traced:
                traces = sorted(
                    {f"{at}: {what}" for one in seen for at, what in one.traces.items()}
                )
                self._tell(f"looking left traces ({'; '.join(traces)}): {_listed(traced)} unseen")
                unseen = await self._play(source.suite, traced, folder / "unseen", None)
            paths = path_tasks(tasks)
            attacks = attack_tasks(tasks)
            walked = await self._walk(source.suite, (*paths, *attacks), folder)
            golden = await self._play_on_golden(source.suite, tasks, folder)
        _refuse_bugs((*seen, *unseen, *walked.values(), *golden.values()))
        owner = f"proof-{secrets.token_hex(4)}"
        again = await set_up_again(self.engine, self.registry, tasks, owner, self.on_event)
        places = {task.id: number for number, task in enumerate(source.suite.tasks)}
        return (
            *_findings(source, seen, unseen, [(one, walked[one.task.id]) for one in paths]),
            *(
                finding
                for one in attacks
                for played in [replace(walked[one.task.id], task=_of(source.suite, one.of))]
                for finding in _told(source, places[one.of], played, attack_harms(one, played))
            ),
            *(
                finding
                for name, played in golden.items()
                for finding in _told(source, places[name], played, given_matters(played))
            ),
            *(
                finding
                for played in seen
                if played.task.id in again
                for faults in [given_repeats(again[played.task.id])]
                for finding in _told(source, places[played.task.id], played, faults)
            ),
        )

    async def prove_in_arm(
        self, source: SuiteSource, tasks: tuple[Task, ...]
    ) -> tuple[Finding, ...]:
        """Play references and other paths in the arm; return what it breaks or does not touch.

        That nothing less passes is shown in the clean arm, where checks read the same.
        """
        places = {task.id: number for number, task in enumerate(source.suite.tasks)}
        left = {task.id: why for task in tasks if (why := self._not_in_arm(task)) is not None}
        told = tuple(
            task.model_copy(update={"worlds": (World.OFFLINE,)})
            for task in tasks
            if task.id not in left
        )
        paths = path_tasks(task for task in told if task.other_paths)
        with tempfile.TemporaryDirectory(prefix="arena-proof-") as scratch:
            folder = Path(scratch)
            plays = (
                await self._play_in_time(source.suite, told, folder / "arm", None) if told else ()
            )
            walked = await self._walk(source.suite, paths, folder)
        _refuse_bugs((*plays, *walked.values()))
        faults: dict[str, list[TaskFault]] = {
            name: [warning((), f"not played in the arm: {why}")] for name, why in left.items()
        }
        for played in plays:
            faults.setdefault(played.task.id, []).extend(passes_in_arm(played))
        for path in paths:
            faults[path.of].extend(path_fails(path, without_arm(walked[path.task.id])))
        arm = arm_label(self.vary)
        return tuple(
            Finding(one.severity, task.id, source.where(places[task.id], one.at), said)
            for task in tasks
            for one in faults[task.id]
            for said in [f"{World.OFFLINE}, {arm}: {one.message}"]
        )

    def _not_in_arm(self, task: Task) -> str | None:
        """Return why a task is not played in the arm; None where it is."""
        if task.reference is None:
            return "it has no reference"
        settings = RunSettings(vary=self.vary)
        return misplaced_arm(task, settings.arm, self.registry)

    async def compute(
        self, suite: Suite, tasks: tuple[Task, ...]
    ) -> Mapping[tuple[str, str], Sequence[str]]:
        """Ask for the computed values of tasks once their worlds are set up; nothing is done there.

        Returns:
            By task and check, what was found; what `pattern` makes of it is left to the check.

        Raises:
            TaskError: a world cannot be set up, or something cannot be asked.
        """
        proof_hook = ProofRecorder()
        idle = tuple(
            task.model_copy(
                update={"reference": None, "other_paths": (), "worlds": (World.OFFLINE,)}
            )
            for task in tasks
        )
        own = suite.model_copy(update={"tasks": idle})
        self._tell(f"{counted(len(tasks), 'task')} to ask of their sites")
        quiet = replace(self, on_event=self._tell_asked)
        with tempfile.TemporaryDirectory(prefix="arena-instances-") as scratch:
            plays = await quiet._play(  # noqa: SLF001
                own, idle, Path(scratch) / "asked", proof_hook
            )
        _refuse_bugs(plays)
        return {
            (played.task.id, name): values
            for played in plays
            for name, values in computed_values(played).items()
        }

    def _tell_asked(self, event: RunEvent) -> None:
        """Report episodes as units of work: nobody plays them, so no outcome says a thing."""
        match event:
            case EpisodesPlanned(total=total):
                self.on_event(WorkPlanned(total))
            case AttemptBegan(key=key):
                self.on_event(WorkStep(key.task, "is set up and asked"))
            case EpisodeEnded(key=key, done=done, total=total):
                self.on_event(WorkEnded(key.task))
                self.on_event(WorkLine(f"[{done}/{total}] {key.task}"))
            case _:
                self.on_event(event)

    async def _play_on_golden(
        self, suite: Suite, tasks: Sequence[Task], folder: Path
    ) -> Mapping[str, Played]:
        """Play the references of tasks that set something up without that; by the tasks' ids."""
        without = golden_tasks(tasks)
        if not without:
            return {}
        self._tell(f"{len(without)} references without what their tasks set up")
        own = golden_suite(suite, without)
        played = await self._play(own, own.tasks, folder / "golden", ProofRecorder())
        of = {one.task.id: next(t for t in tasks if t.id == one.of) for one in without}
        return {of[one.task.id].id: replace(one, task=of[one.task.id]) for one in played}

    async def _walk(
        self, suite: Suite, paths: Sequence[PathTask], folder: Path
    ) -> Mapping[str, Played]:
        """Play other paths, detours and attacks; return the plays by their ids."""
        if not paths:
            return {}
        self._tell(f"{len(paths)} other paths, detours and attacks")
        own = path_suite(suite, paths)
        walked = await self._play_in_time(own, own.tasks, folder / "paths", None)
        return {one.task.id: one for one in walked}

    def _tell(self, text: str) -> None:
        self.on_event(ProgressNote(text))

    async def _play_in_time(
        self,
        suite: Suite,
        tasks: tuple[Task, ...],
        path: Path,
        proof_hook: ProofRecorder | None,
    ) -> tuple[Played, ...]:
        """Play references; what the machine may have been too slow for is played once more."""
        plays = await self._play(suite, tasks, path, proof_hook)
        slow = _chosen(tasks, [one for one in plays if one.was_slow])
        if not slow:
            return plays
        self._tell(f"the machine was too slow: {_listed(slow)} once more, one by one")
        alone = replace(self, workers=1)
        again = path.with_name(f"{path.name}-slow")
        return _with(plays, await alone._play(suite, slow, again, proof_hook))  # noqa: SLF001

    async def _play(
        self,
        suite: Suite,
        tasks: tuple[Task, ...],
        path: Path,
        proof_hook: ProofRecorder | None,
    ) -> tuple[Played, ...]:
        oracle = choose_agent("oracle")
        request = RunRequest(
            suite=suite,
            tasks=tasks,
            agent=ProofAgents(oracle.maker),
            agent_lock=oracle.lock,
            settings=RunSettings(
                worlds=(World.OFFLINE,) if self.vary else (World.OFFLINE, World.ONLINE),
                attempts=ATTEMPTS,
                staged=not self.vary,
                vary=self.vary,
                screenshots=False,
                workers=self.workers,
            ),
            proof_hook=proof_hook,
        )
        lock = await make_lock(request, self.registry, self.engine)
        folder = RunFolder.create(path, lock, suite)
        await Run.of(
            request,
            folder,
            owner=lock.run,
            registry=self.registry,
            engine=self.engine,
            on_event=self.on_event,
            interrupted=asyncio.Event(),
        ).play()
        return tuple(_played(episode, proof_hook or ProofRecorder()) for episode in rescore(folder))


def _refuse_bugs(plays: Iterable[Played]) -> None:
    for one in plays:
        if one.score.outcome.reason is UnscoredReason.INTERNAL:
            message = f"a bug of Arena's: {one.world} {one.task.id}: {one.score.because}"
            raise InternalError(message, hint="nothing is proven by such an episode; report it")


@dataclass(frozen=True, slots=True)
class ProofAgents:
    """Plays a task's reference; where it has none, stops at once: what that shows can be proven."""

    oracle: AgentMaker

    @property
    def name(self) -> str:
        """The oracle's name: nobody compares the run of a proof."""
        return self.oracle.name

    @property
    def observations(self) -> frozenset[str]:
        return self.oracle.observations

    def observations_of(self, actions: Sequence[ReferenceAction]) -> frozenset[str]:
        if isinstance(self.oracle, SeesByReference):
            return self.oracle.observations_of(actions)
        return frozenset()

    def __call__(self, assignment: Assignment, reference: Reference) -> Agent:
        return self.oracle(assignment, reference) if reference.actions else IdleAgent()

    async def close(self) -> None:
        await self.oracle.close()


def _chosen(tasks: Iterable[Task], plays: Iterable[Played]) -> tuple[Task, ...]:
    wanted = {one.task.id for one in plays}
    return tuple(task for task in tasks if task.id in wanted)


def _with(plays: Iterable[Played], anew: Sequence[Played]) -> tuple[Played, ...]:
    again = {one.task.id for one in anew}
    return (*(one for one in plays if one.task.id not in again), *anew)


def _listed(tasks: Iterable[Task]) -> str:
    return ", ".join(task.id for task in tasks)


def _played(episode: ScoredEpisode, proof_hook: ProofRecorder) -> Played:
    task, world = episode.task, episode.key.world
    return Played(
        task=task,
        world=world,
        evidence=episode.evidence,
        score=episode.score,
        untouched=proof_hook.untouched(task, world),
        before_last=proof_hook.before_last(task, world),
    )


def _findings(
    source: SuiteSource,
    seen: Sequence[Played],
    unseen: Sequence[Played],
    walked: Sequence[tuple[PathTask, Played]],
) -> Iterator[Finding]:
    for number, task in enumerate(source.suite.tasks):
        for played in seen:
            if played.task.id == task.id:
                yield from _told(source, number, played, judged(played, _siblings(played, seen)))
                yield from _told(source, number, played, attacks_fail(played))
                yield from _told(source, number, played, reference_is_harmless(played))
        for played in unseen:
            if played.task.id == task.id and task.reference is not None:
                yield from _told(source, number, played, oracle_passes(played))
        for path, played in walked:
            if path.of == task.id:
                told = replace(played, task=task)
                yield from _told(source, number, told, path_fails(path, played))


def _of(suite: Suite, name: str) -> Task:
    return next(task for task in suite.tasks if task.id == name)


def _siblings(played: Played, others: Iterable[Played]) -> list[Played]:
    """Return the plays of the other instances of a task's template in the same world."""
    return [
        one
        for one in others
        if one.task.template is not None
        and one.task.template == played.task.template
        and one.world is played.world
        and one.task.id != played.task.id
    ]


def _told(
    source: SuiteSource, number: int, played: Played, faults: Iterable[TaskFault]
) -> Iterator[Finding]:
    for fault in faults:
        yield Finding(
            fault.severity,
            played.task.id,
            source.where(number, fault.at),
            f"{played.world}: {fault.message}",
        )
