"""Rollouts: episodes that go on from a step of an episode which another run recorded.

What was recorded up to that step is done again on a fresh episode. It must lead to the same page
at every step; then a checkpoint is taken there, and each rollout is proven equal to that.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from arena_core.actions import Action
from arena_core.errors import ForkError, StateError, StoreError, UsageError
from arena_core.worlds import World
from evaluators.evidence import Branch, StepEvidence
from orchestrator.agents.interface import AgentClass, PastTurn
from orchestrator.episode.checkpoint import Checkpoint
from orchestrator.episode.episode import Episode
from orchestrator.episode.episode_runner import PlayedAttempt
from orchestrator.episode.jsonl_files import OBSERVATIONS_FILE, read_lines
from orchestrator.episode.record import seen_line
from orchestrator.episode.steps import DecisionRecord
from orchestrator.runs.store.digests import digest_of_folder, has_digest
from orchestrator.runs.store.lock import Rollouts, Root
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.runs.store.secrets import was_redacted
from tasks.loader import Selection, select_tasks
from tasks.schema import Task

EVERY: Final = "every"
_KEPT: Final = 32  # checkpoints; rollouts of one root are played one after the other
_NAMED: Final = 3
_BRIEF: Final = 200
# Agents that are given nothing of the solution which their thoughts could repeat.
_KNOW_NO_MORE: Final = frozenset({AgentClass.CONTESTANT, AgentClass.BASELINE})


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutPlan:
    """What rollouts would go on from.

    Attributes:
        source: the run that recorded it.
        tasks: of the roots.
        left_out: what was asked for and has no root: the episode, and why.
    """

    source: RunFolder
    tasks: tuple[Task, ...]
    rollouts: Rollouts
    left_out: tuple[tuple[str, str], ...]


def read_steps(asked: str | int) -> tuple[int, ...] | None:
    """Return the steps that `3`, `2,4` or `every` names, in order; None for every step."""
    if asked == EVERY:
        return None
    steps = str(asked).split(",")
    if not all(step.strip().isdecimal() for step in steps):
        message = f"'{asked}' names no step"
        raise UsageError(message, hint="a number such as 3, several such as 2,4, or every")
    return tuple(sorted({int(step) for step in steps}))


def plan_rollouts(
    source: RunFolder, patterns: Sequence[str], step: str | int, count: int
) -> RolloutPlan:
    """Choose the steps of a run's finished episodes that rollouts go on from.

    Step K is after K actions: 0 is the start page. Every step is each before an action.

    Raises:
        UsageError: nothing can be gone on from.
        StoreError: the run cannot be read.
        UnknownNameError: it has no such task.
    """
    lock, steps = source.lock(), read_steps(step)
    if lock.arm is not None:
        message = f"{source.path}: was played in the arm {lock.arm}; rollouts are clean"
        raise UsageError(message, hint="name a run that was played without --vary")
    tasks = {one.id: one for one in select_tasks(source.suite(), Selection(ids=tuple(patterns)))}
    with source.reading() as ledger:
        finished = [one for one in ledger.finished() if one.key.task in tasks]
    roots: list[Root] = []
    left_out: list[tuple[str, str]] = []
    for attempt in finished:
        found = _steps_of(source, attempt.folder, tasks[attempt.key.task], steps)
        if isinstance(found, str):
            left_out.append((attempt.folder, found))
            continue
        digest = digest_of_folder(source.evidence_folder(attempt.folder))
        for number, why in found:
            if why:
                left_out.append((attempt.folder, why))
                continue
            root = Root(task=attempt.key.task, episode=attempt.folder, sha256=digest, step=number)
            roots.append(root)
    if not roots:
        reasons = "; ".join(f"{name} {why}" for name, why in left_out[:_NAMED])
        message = (
            f"{source.path}: no episode of it can be gone on from: {reasons or 'none is done'}"
        )
        raise UsageError(message, hint="name other tasks, steps or another run")
    return RolloutPlan(
        source=source,
        tasks=tuple(tasks[name] for name in tasks if name in {root.task for root in roots}),
        rollouts=Rollouts(
            run=lock.run,
            folder=str(source.path.resolve()),
            count=count,
            roots=tuple(roots),
            told=True,
        ),
        left_out=tuple(left_out),
    )


def _steps_of(
    source: RunFolder, episode: str, task: Task, steps: Iterable[int] | None
) -> Sequence[tuple[int, str]] | str:
    """Return an episode's steps and what speaks against each; or what speaks against all."""
    try:
        evidence = source.evidence(episode)
    except StoreError:
        return "cannot be read"
    if evidence.world is not World.OFFLINE:
        return f"was played {evidence.world}"
    if task.recorded is not None:
        return "is one recorded step"
    if evidence.branch is not None:
        return "is a branch itself"
    if evidence.fault is not None or evidence.ended is None:
        return "broke off"
    done = evidence.steps[1:]
    return [
        (number, _against(number, done))
        for number in (range(len(done)) if steps is None else steps)
    ]


def _against(number: int, done: Sequence[StepEvidence]) -> str:
    if number >= len(done):
        return f"has no step {number} to go on from: it ended with action {len(done)}"
    if any(step.action is None for step in done[:number]):
        return f"did something before step {number} that is no action of Arena's"
    if was_redacted([step.model_dump(mode="json", include={"action"}) for step in done[:number]]):
        return f"typed a secret before step {number}, which is not recorded"
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """What an episode did and saw up to a step.

    Attributes:
        steps: from the start page on.
        seen: what its agent saw then; None where that is not recorded.
        thoughts: why each was done, by its step; nothing where the agent knew of the solution.
    """

    steps: tuple[StepEvidence, ...]
    seen: Mapping[str, Any] | None
    thoughts: Mapping[int, str | None]

    @classmethod
    def read(cls, rollouts: Rollouts, root: Root) -> Prefix:
        """Read it; StoreError where the evidence is not what it was when the run was planned."""
        source = RunFolder.open(Path(rollouts.folder))
        folder = source.evidence_folder(root.episode)
        if not has_digest(folder, root.sha256):
            message = f"{folder}: is not there as it was when rollouts from it were planned"
            raise StoreError(message, hint="put it back, or sample anew")
        lines = (line for line in read_lines(folder / OBSERVATIONS_FILE))
        steps = source.evidence(root.episode).steps[: root.step + 1]
        may_tell = source.lock().agent.agent_class in _KNOW_NO_MORE
        return cls(
            steps=steps,
            thoughts={one.index: one.thought for one in steps if may_tell},
            seen=next((line for line in lines if line.get("step") == root.step), None),
        )

    @property
    def forms(self) -> frozenset[str]:
        """The forms in which it was seen: elements have the ids by them that actions name."""
        return frozenset((self.seen or {}).get("parts", ()))


async def go_to_root(
    episode: Episode, prefix: Prefix, name: Branch, interrupted: asyncio.Event
) -> Checkpoint | PlayedAttempt:
    """Do what was recorded again, and take a checkpoint where it led.

    Args:
        episode: a fresh one of the task; it is closed.
        prefix: what is done.
        name: of root and checkpoint.
        interrupted: no step begins once it is set.

    Returns:
        The checkpoint; where the world broke or the user interrupts, what the episode left behind.

    Raises:
        ForkError: it leads elsewhere than what was recorded, or nothing can be taken there.
    """
    async with episode:
        await episode.reset()
        for recorded in prefix.steps:
            if recorded.action is not None and not episode.is_over:
                decided = DecisionRecord(thought=prefix.thoughts.get(recorded.index))
                await episode.step(recorded.action, decided)
            if (broken := _broken(episode, name, interrupted)) is not None:
                return broken
            _require_same(episode, recorded, name)
        try:
            mark = await episode.checkpoint(name.checkpoint)
        except StateError as refused:
            if (broken := _broken(episode, name, interrupted)) is not None:
                return broken
            raise ForkError(
                f"{name.root}: no checkpoint at its {name.checkpoint}: {refused}"
            ) from refused
    if (differs := _sees_other(prefix.seen, seen_line(mark.seen))) is not None:
        raise _elsewhere(name, name.step, differs)
    return replace(mark, root=name.root)


def past_of(mark: Checkpoint) -> tuple[PastTurn, ...]:
    """Return what was done until a checkpoint, as an agent is told it."""
    seen = mark.record.seen
    return tuple(
        PastTurn(
            seen[one.index - 1],
            _as_chosen(one.action),
            one.thought,
            one.error,
            None if one.reply is None else one.reply.text,
        )
        for one in mark.record.steps
        if one.action is not None
    )


def _as_chosen(action: Action) -> Action:
    """Return an action that says no more than it has to, as an agent's own does."""
    return type(action).model_validate(action.model_dump(exclude_defaults=True))


def _broken(episode: Episode, name: Branch, interrupted: asyncio.Event) -> PlayedAttempt | None:
    evidence = episode.evidence()
    if evidence.fault is None and not interrupted.is_set():
        return None
    evidence = evidence.model_copy(update={"branch": name})
    return PlayedAttempt(evidence, episode.files, evidence.fault is None)


def _require_same(episode: Episode, recorded: StepEvidence, name: Branch) -> None:
    """Raise ForkError where a step did not lead where it led before."""
    evidence = episode.evidence()
    if episode.is_over:
        ended = evidence.ended_because or episode.observation.last_error or "nobody knows why"
        raise _elsewhere(name, recorded.index, f"the episode is over: {ended}")
    step = evidence.steps[-1]
    for what, before, now in (
        ("the action's error", recorded.error, step.error),
        ("the URL", recorded.url, step.url),
        ("the title", recorded.title, step.title),
        ("the HTTP status", recorded.status, step.status if recorded.status else None),
        ("what was acted on", _acted(recorded), _acted(step)),
    ):
        if before != now:
            raise _elsewhere(name, recorded.index, f"{what} is {now!r} instead of {before!r}")


def _acted(step: StepEvidence) -> list[tuple[str, str]]:
    return [(one.event.value, one.path) for one in step.acted]


def _sees_other(recorded: Mapping[str, Any] | None, now: Mapping[str, Any]) -> str | None:
    """Say in which text or tab another page is seen than the one recorded; None for in none.

    Pictures are not compared here.
    """
    if recorded is None:
        return None
    if recorded["tabs"] != now["tabs"]:
        return f"the tabs are {now['tabs']} instead of {recorded['tabs']}"
    for form, part in recorded["parts"].items():
        before, after = _text(part), _text(now["parts"].get(form))
        if before is None or after is None or before == after:
            continue
        lines = zip(before.split("\n"), after.split("\n"), strict=False)
        first = next(((one, two) for one, two in lines if one != two), ("its end", "its end"))
        return f"{form} shows '{first[1][:_BRIEF]}' instead of '{first[0][:_BRIEF]}'"
    return None


def _text(part: object) -> str | None:
    text = part.get("text") if isinstance(part, Mapping) else None
    return text if isinstance(text, str) else None


def _elsewhere(name: Branch, step: int, differs: str) -> ForkError:
    return ForkError(f"{name.root}: done again, its step {step} leads elsewhere: {differs}")


class RootCheckpoints:
    """The checkpoints of a run's roots, each taken when the first of its rollouts asks for it."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Root, Checkpoint | ForkError] = OrderedDict()
        self._taking: defaultdict[Root, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def of(
        self, root: Root, take: Callable[[], Awaitable[Checkpoint | PlayedAttempt]]
    ) -> Checkpoint | PlayedAttempt:
        """Return the checkpoint of a root, or what taking it left behind where that broke off.

        Raises:
            ForkError: there is none, for this rollout and for all others of the root.
        """
        async with self._taking[root]:
            if root not in self._kept:
                taken: Checkpoint | PlayedAttempt | ForkError
                try:
                    taken = await take()
                except ForkError as refused:
                    taken = refused
                if isinstance(taken, PlayedAttempt):
                    return taken
                self._kept[root] = taken
                if len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
            found = self._kept[root]
        if isinstance(found, ForkError):
            raise ForkError(found.message)
        return found
