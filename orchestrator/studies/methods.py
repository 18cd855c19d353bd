"""The methods paragraph of a paper, written from the locks of the runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from arena_core.worlds import World
from orchestrator.studies.findings import Answer, CellFigures
from orchestrator.studies.results import StudyRun

_DIGEST = 12


def methods_of(
    runs: Sequence[StudyRun],
    cells: Sequence[CellFigures],
    answers: Sequence[Answer],
    *,
    alpha: float,
    seed: int,
) -> str:
    """Return what was done, with what, and how it was analysed, for readers of a paper."""
    if not runs:
        return ""
    return " ".join(
        (
            *_who_played(runs),
            *_on_what(runs),
            *_how_scored(runs, cells),
            *_how_analysed(answers, alpha, seed),
        )
    )


def _who_played(runs: Sequence[StudyRun]) -> Iterable[str]:
    agents = {run.label: run.lock.agent for run in runs}
    said = []
    for label, agent in agents.items():
        parts = [agent.name] if agent.name != label else []
        # Where it came from, with all options that counted: enough to make it again.
        if agent.distribution and agent.version:
            parts.append(f"{agent.distribution} {agent.version}")
        if agent.source_hash:
            parts.append(f"source SHA-256 {agent.source_hash[:_DIGEST]}…")
        parts += [f"{name} {value}" for name, value in sorted(agent.options.items())]
        said.append(f"{label} ({', '.join(parts)})" if parts else label)
    noun = "agent was" if len(said) == 1 else "agents were"
    yield f"The {noun} {_listed(said)}."
    told = [f"{label} ({', '.join(sorted(a.told))})" for label, a in agents.items() if a.told]
    if told:
        yield f"Told parts of the solutions: {_listed(told)}."


def _on_what(runs: Sequence[StudyRun]) -> Iterable[str]:
    for suite in dict.fromkeys(run.suite for run in runs):
        mine = [run for run in runs if run.suite == suite]
        tasks = dict.fromkeys(task for run in mine for task in run.lock.tasks)
        versions = dict.fromkeys(
            f"{run.lock.suite} version {run.lock.suite_version}, SHA-256"
            f" {run.lock.suite_hash[:_DIGEST]}…"
            for run in mine
        )
        repeats = sorted({run.lock.repeats for run in mine})
        worlds = dict.fromkeys(run.lock.label(world) for run in mine for world in run.lock.worlds)
        times = " or ".join("once" if n == 1 else f"{n} times" for n in repeats)
        yield (
            f"They played {len(tasks)} task{'' if len(tasks) == 1 else 's'} of suite {suite}"
            f" ({'; '.join(versions)}) {times} in each world ({', '.join(worlds)})."
        )
    locks = [run.lock for run in runs]
    images = dict.fromkeys(
        f"{tag} {digest.removeprefix('sha256:')[:_DIGEST]}…"
        for lock in locks
        for tag, digest in sorted(lock.images.items())
    )
    if images and any(World.OFFLINE in lock.worlds for lock in locks):
        yield f"Sites ran as replicas in containers, reset between episodes: {_listed(images)}."
    staged = dict.fromkeys(site for lock in locks for site in lock.staged)
    if staged:
        yield f"The live origins of {_listed(staged)} were staged on the same machine."
    packages = dict.fromkeys(
        f"{name} {found}" for lock in locks for name, found in sorted(lock.packages.items())
    )
    hosts = dict.fromkeys(
        f"{lock.host.cpus} cores, {lock.host.memory_mb / 1024:.0f} GiB, {lock.host.platform}"
        for lock in locks
    )
    yield (
        f"Browser: Chromium {_listed(dict.fromkeys(lock.browser for lock in locks))}; Docker"
        f" engine {_listed(dict.fromkeys(lock.engine for lock in locks))}; packages:"
        f" {', '.join(packages)}; machine: {'; '.join(hosts)}."
    )
    begun = sorted(lock.created_at for lock in locks)
    yield (
        f"Runs began between {begun[0]} and {begun[-1]}."
        if begun[0] != begun[-1]
        else f"It began at {begun[0]}."
    )


def _how_scored(runs: Sequence[StudyRun], cells: Sequence[CellFigures]) -> Iterable[str]:
    episodes, scored = sum(c.episodes for c in cells), sum(c.scored for c in cells)
    attempts = sorted({run.lock.attempts for run in runs})
    yield (
        "An episode is a success where every check that decides is met, from its recorded evidence"
        f" alone; of {episodes:,} episodes, {episodes - scored:,} were unscored for reasons outside"
        f" the agent after up to {_listed(map(str, attempts))} attempts, and are counted neither as"
        " successes nor as failures."
    )


def _how_analysed(answers: Sequence[Answer], alpha: float, seed: int) -> Iterable[str]:
    yield (
        "Rates are means over tasks of the share of repeats that succeeded, with Wilson's interval"
        " over tasks and an interval that respects templates as clusters"
        f" (both {1 - alpha:.0%})."
    )
    if not answers:
        return
    methods = dict.fromkeys(part for one in answers for part in one.method.split("; "))
    yield (
        "Agents and worlds were compared on the same tasks, paired by task with templates as"
        f" clusters: {'; '.join(methods)}; seed {seed}."
    )
    registered = [one.question.id for one in answers if one.question.registered]
    later = [one.question.id for one in answers if not one.question.registered]
    if registered:
        yield (
            f"Registered before the study was played: {_listed(registered)}; their p-values are"
            f" corrected by Holm's procedure as one family of {len(registered)}, at alpha ="
            f" {alpha:g}."
        )
    if later:
        yield (
            f"Not registered, hence exploratory: {_listed(later)}, corrected as a family of"
            f" {len(later)} of its own."
        )


def _listed(parts: Iterable[str]) -> str:
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last
