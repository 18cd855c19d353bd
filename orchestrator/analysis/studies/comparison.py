"""Runs compared without a study: which can be, on which tasks, and what is asked of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import median
from typing import Final

from arena_core.errors import UsageError
from arena_core.worlds import World
from orchestrator.agents.interface import AgentClass, AgentLock
from orchestrator.analysis.stats.results import Compared, EpisodeResult, EpisodeTable
from orchestrator.analysis.studies.questions import Question, QuestionKind
from orchestrator.analysis.studies.study_runs import StudyRun, read_study_run
from orchestrator.gateway.variations import in_arm
from orchestrator.runs.store.lock import RunLock
from orchestrator.runs.store.run_folder import RunFolder
from tasks.schema import Task

# What decides how a task is played and scored; the rest proves it, or is for readers.
_SAME: Final = frozenset(
    {
        "intent",
        "recorded",
        "sites",
        "roles",
        "start",
        "given",
        "contents",
        "labels",
        "live_writes",
        "limits",
        "requires",
        "checks",
        "files",
        "miniwob",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRun:
    """A run to be compared, and how it is to be called.

    Attributes:
        label: of its agent; None for the name in its lock.
    """

    folder: RunFolder
    label: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Runs that can be compared, as rows.

    Attributes:
        runs, folders: in the order in which they were named.
        table: of the tasks that all runs of a suite have in common, and that are the same there.
        notes: what was left out and why, and what differs.
    """

    runs: tuple[StudyRun, ...]
    folders: tuple[RunFolder, ...]
    table: EpisodeTable
    notes: tuple[str, ...]


def read_comparison(named: Sequence[NamedRun]) -> Comparison:
    """Read runs that are to be compared.

    Of several runs of a suite only the tasks count that all of them chose, and whose intent, start
    and checks are the same in all: other checks are another ruler.
    """
    locks = [one.folder.lock() for one in named]
    _refuse_twins(named, locks)
    labels = _labels(named, locks)
    tasks = [_chosen(one.folder, lock) for one, lock in zip(named, locks, strict=True)]
    _refuse_nothing(locks)
    suites, shared, notes = _shared(named, locks, tasks)
    runs: list[StudyRun] = []
    rows: list[EpisodeResult] = []
    for number, one in enumerate(named):
        run, found = read_study_run(
            labels[number], suites[number], str(one.folder.path), one.folder
        )
        kept = shared[suites[number]]
        runs.append(_only(run, kept, found))
        rows += [row for row in found if row.task in kept]
    return Comparison(
        runs=tuple(runs),
        folders=tuple(one.folder for one in named),
        table=EpisodeTable(rows),
        notes=(*notes, *_differences(runs), *_people(runs, rows)),
    )


def own_questions(runs: Sequence[StudyRun], margin: float | None = None) -> tuple[Question, ...]:
    """Return what is asked of runs that no study registered: every pair of agents, and the worlds.

    Two agents that visited live sites in different browsers are not compared online: the browser
    decides live scores. One agent in two browsers is: that compares the browsers.

    Args:
        runs: as `read_comparison` gives them.
        margin: a share; with one, it is also asked whether the worlds are equivalent within it.
    """
    worlds: dict[tuple[str, str], set[World]] = {}
    for run in runs:
        worlds.setdefault((run.suite, run.label), set()).update(run.lock.worlds)
    found: list[Question] = []
    for suite in dict.fromkeys(run.suite for run in runs):
        mine = {label: there for (where, label), there in worlds.items() if where == suite}
        many = suite if len({run.suite for run in runs}) > 1 else None
        found += _of_agents(mine, many, [run for run in runs if run.suite == suite])
        found += _of_worlds(mine, many, margin)
    return tuple(found)


def confounded(runs: Sequence[StudyRun]) -> tuple[tuple[StudyRun, StudyRun], ...]:
    """Return the pairs of runs of two agents that visited live sites in different browsers."""
    live = [run for run in runs if run.lock.live_pool is not None]
    return tuple(
        (first, second)
        for first, second in combinations(live, 2)
        if first.suite == second.suite
        and first.lock.live_pool != second.lock.live_pool
        and _identity_of(first.lock) != _identity_of(second.lock)
    )


def _of_agents(
    worlds: Mapping[str, set[World]], suite: str | None, runs: Sequence[StudyRun]
) -> Iterable[Question]:
    apart = {frozenset((first.label, second.label)) for first, second in confounded(runs)}
    for first, second in combinations(worlds, 2):
        for world in World:
            if world is World.ONLINE and frozenset((first, second)) in apart:
                continue
            if world in worlds[first] & worlds[second]:
                yield Question(
                    id=_id(first, second, world.value, suite),
                    kind=QuestionKind.DIFFERENCE,
                    of=Compared.AGENTS,
                    first=first,
                    second=second,
                    world=world,
                    suite=suite,
                )


def _of_worlds(
    worlds: Mapping[str, set[World]], suite: str | None, margin: float | None
) -> Iterable[Question]:
    for label, there in worlds.items():
        if there != set(World):
            continue
        asked = Question(
            id=_id(label, *World, suite),
            kind=QuestionKind.DIFFERENCE,
            of=Compared.WORLDS,
            first=World.OFFLINE.value,
            second=World.ONLINE.value,
            agent=label,
            suite=suite,
        )
        yield asked
        if margin is not None:
            yield replace(
                asked,
                id=f"{asked.id}: equivalent",
                kind=QuestionKind.EQUIVALENCE,
                margin=margin,
            )


def _id(*parts: str | None) -> str:
    return ": ".join(part for part in parts if part)


def _refuse_twins(named: Sequence[NamedRun], locks: Sequence[RunLock]) -> None:
    paths = [one.folder.path.resolve() for one in named]
    for number, one in enumerate(named):
        for earlier in range(number):
            if paths[number] == paths[earlier]:
                message = f"{one.folder.path}: named twice; a run cannot be compared with itself"
                raise UsageError(message)
            if locks[number].run == locks[earlier].run:
                message = (
                    f"{one.folder.path}: is the same run as {named[earlier].folder.path}"
                    f" ({locks[number].run}), and cannot be compared with itself"
                )
                raise UsageError(message)


def _refuse_nothing(locks: Sequence[RunLock]) -> None:
    if len(locks) == 1 and len(locks[0].worlds) < len(World):
        [world] = locks[0].worlds
        message = f"there is nothing to compare: one run, in the {world} world alone"
        hint = "name another run, or one that was played with --offline and --online"
        raise UsageError(message, hint=hint)
    if not locks:
        raise UsageError("there is nothing to compare: no run is named")


def _labels(named: Sequence[NamedRun], locks: Sequence[RunLock]) -> list[str]:
    """Return a label for each run: the given one, or the agent's name, with its arm.

    Runs of one agent in different worlds, or of different suites, share it. Where live sites were
    visited in several browsers, each label names its own. Where two runs were played in one world,
    or other options or versions counted, the folder's name tells them apart.
    """
    has_several = len({lock.live_pool for lock in locks} - {None}) > 1
    wanted = [
        one.label or in_arm(lock.agent.name, lock.arm) + _browser_said(lock, said=has_several)
        for one, lock in zip(named, locks, strict=True)
    ]
    found = []
    for number, (one, lock, label) in enumerate(zip(named, locks, wanted, strict=True)):
        is_taken = any(
            wanted[other] == label and not _are_two_worlds(lock, locks[other])
            for other in range(len(named))
            if other != number
        )
        if is_taken and one.label is not None:
            message = f"two runs of suite {lock.suite} are called '{label}'"
            hint = "give each a label of its own: LABEL=RUN"
            raise UsageError(message, hint=hint)
        found.append(f"{label} ({one.folder.path.name})" if is_taken else label)
    return found


def _browser_said(lock: RunLock, *, said: bool) -> str:
    return f", in {lock.live_pool}" if said and lock.live_pool is not None else ""


def _are_two_worlds(first: RunLock, second: RunLock) -> bool:
    """Return whether two runs can stand under one label: the same agent, never twice in a cell.

    Runs of different arms never can, nor runs that visited live sites in different browsers.
    """
    if first.vary != second.vary:
        return False
    if len({first.live_pool, second.live_pool} - {None}) > 1:
        return False
    if first.suite != second.suite:
        return _identity_of(first) == _identity_of(second)
    is_apart = not set(first.worlds) & set(second.worlds)
    return is_apart and _identity_of(first) == _identity_of(second)


def _identity_of(lock: RunLock) -> AgentLock:
    """Return what makes an agent the same: all but what its model cost."""
    return lock.agent.model_copy(update={"price": None})


def _chosen(folder: RunFolder, lock: RunLock) -> dict[str, str]:
    """Return, by id, what makes each chosen task the same task."""
    chosen = set(lock.tasks)
    return {task.id: identity(task) for task in folder.suite().tasks if task.id in chosen}


def identity(task: Task) -> str:
    """Return what makes a task the same task: all that decides how it is played and scored."""
    return task.model_dump_json(include=set(_SAME))


def _shared(
    named: Sequence[NamedRun], locks: Sequence[RunLock], tasks: Sequence[Mapping[str, str]]
) -> tuple[list[str], dict[str, set[str]], list[str]]:
    """Return each run's suite, the tasks that count of each suite, and what was left out."""
    suites = _suites(named, locks, tasks)
    shared: dict[str, set[str]] = {}
    notes: list[str] = []
    for suite in dict.fromkeys(suites):
        mine = [one for one, name in zip(tasks, suites, strict=True) if name == suite]
        ids = {task for one in mine for task in one}
        common = {task for task in ids if all(task in one for one in mine)}
        same = {task for task in common if len({one[task] for one in mine}) == 1}
        shared[suite] = same
        if len(common) > len(same):
            changed = sorted(common - same)
            notes.append(
                f"{suite}: the runs had different versions of it; {len(same)} of {len(common)}"
                f" tasks have the same intent, start and checks in all runs, and only these are"
                f" compared (left out: {_some(changed)})."
            )
        if len(ids) > len(common):
            notes.append(
                f"{suite}: {len(ids) - len(common)} of {len(ids)} tasks were not chosen in every"
                f" run, and are left out ({_some(sorted(ids - common))})."
            )
        if not same:
            paths = [
                str(one.folder.path)
                for one, name in zip(named, suites, strict=True)
                if name == suite
            ]
            message = (
                f"{', '.join(paths)} cannot be compared: of suite {suite} they have no task in"
                " common whose intent, start and checks are the same"
            )
            hint = "play them again on one version of the suite, or score both with one --suite"
            raise UsageError(message, hint=hint)
    return suites, shared, notes


def _suites(
    named: Sequence[NamedRun], locks: Sequence[RunLock], tasks: Sequence[Mapping[str, str]]
) -> list[str]:
    """Return what each run's suite is called: runs that share a task are of one suite."""
    found: list[str] = []
    for number, lock in enumerate(locks):
        earlier = next(
            (
                found[before]
                for before in range(number)
                if locks[before].suite == lock.suite
                or tasks[before].items() & tasks[number].items()
            ),
            lock.suite,
        )
        found.append(earlier)
    counted = Counter(found)
    for one, suite, lock in zip(named, found, locks, strict=True):
        if counted[suite] == 1 and len(locks) > 1 and len(lock.worlds) < len(World):
            others = ", ".join(sorted(set(found) - {suite}))
            message = (
                f"{one.folder.path}: cannot be compared; its suite {suite} has no task in common"
                f" with the others ({others})"
            )
            raise UsageError(message)
    return found


def _only(run: StudyRun, kept: set[str], rows: Sequence[EpisodeResult]) -> StudyRun:
    """Return a run as if only these tasks had been chosen."""
    if set(run.lock.tasks) == kept:
        return run
    left = Counter(row.world for row in rows if row.task not in kept)
    dropped = set(run.lock.tasks) - kept
    chosen = {
        world: run.lock.repeats * sum(world in run.worlds_of.get(task, ()) for task in dropped)
        for world in run.lock.worlds
    }
    return replace(
        run,
        lock=run.lock.model_copy(
            update={"tasks": tuple(task for task in run.lock.tasks if task in kept)}
        ),
        pending={
            world: count - (chosen[world] - left[world]) for world, count in run.pending.items()
        },
        lengths={task: length for task, length in run.lengths.items() if task in kept},
    )


def _differences(runs: Sequence[StudyRun]) -> Iterable[str]:
    images: dict[str, dict[str, str]] = {}
    for run in runs:
        for tag, digest in run.lock.images.items():
            images.setdefault(tag, {}).setdefault(digest, run.label)
    changed = sorted(tag for tag, digests in images.items() if len(digests) > 1)
    if changed:
        yield (
            f"The images of {_some(changed)} differ between the runs: a difference of agents may be"
            " one of sites."
        )
    yield from browsers_apart(runs)
    for what, values in (
        ("browsers", {f"{run.lock.browser_pool} ({run.lock.browser})" for run in runs}),
        ("staged sites", {", ".join(run.lock.staged) or "none" for run in runs}),
        ("tapes", {_tapes_of(run) for run in runs}),
        ("repeats", {str(run.lock.repeats) for run in runs}),
        ("attempts", {str(run.lock.attempts) for run in runs}),
        ("arms", {run.lock.arm or "clean" for run in runs}),
    ):
        if len(values) > 1:
            yield f"The {what} differ between the runs: {' and '.join(sorted(values))}."


def _people(runs: Sequence[StudyRun], rows: Sequence[EpisodeResult]) -> Iterable[str]:
    """Say what a person's seconds and actions are beside an agent's, and who they are."""
    people = [run.label for run in runs if run.lock.agent.agent_class is AgentClass.PERSON]
    if not people:
        return
    for label in dict.fromkeys(run.label for run in runs):
        played = [row for row in rows if row.agent == label and row.success is not None]
        if played:
            seconds = median(row.seconds for row in played)
            steps = median(row.steps for row in played)
            actions = f"{steps:g} action{'' if steps == 1 else 's'}"
            yield f"{label}: median {seconds:.1f} s and {actions} a scored episode."
    yield (
        "A person's seconds run from Start to the answer, without pauses; an agent's are the whole"
        " attempt, with opening and checks. No step limit holds for a person."
    )
    if len(set(people)) > 1:
        yield (
            f"{len(set(people))} people have figures of their own; none is of people in general:"
            " that takes more of them."
        )


def _tapes_of(run: StudyRun) -> str:
    return ", ".join(f"{site}: {tape}" for site, tape in run.lock.taped.items()) or "none"


def browsers_apart(runs: Sequence[StudyRun]) -> Iterable[str]:
    """Say which agents are not compared online, because of their browsers."""
    for first, second in confounded(runs):
        yield (
            f"{first.label} and {second.label} are not compared online: live sites were visited in"
            f" {first.lock.live_pool} and in {second.lock.live_pool}, and the browser decides live"
            " scores."
        )


def _some(names: Sequence[str]) -> str:
    few = ", ".join(names[:5])
    return f"{few}, and {len(names) - 5} more" if len(names) > 5 else few  # noqa: PLR2004
