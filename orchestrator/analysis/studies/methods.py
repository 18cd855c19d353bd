"""The study card and the methods paragraph of a paper, written from the locks of the runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from arena_core.names import counted
from arena_core.worlds import World
from orchestrator.agents.interface import AgentClass
from orchestrator.analysis.stats.results import Compared, EpisodeTable
from orchestrator.analysis.stats.sequential import Spending
from orchestrator.analysis.studies.findings import Answer, CardPart, CellFigures, StudyCard
from orchestrator.analysis.studies.study_runs import StudyRun
from orchestrator.analysis.wording import agent_note, joined
from orchestrator.runs.store.lock import RunLock
from sites.upstreams import UpstreamKind
from tasks.loader import suite_names

_DIGEST = 12
_KIND = {Spending.OBRIEN_FLEMING: "O'Brien and Fleming's", Spending.POCOCK: "Pocock's"}


def methods_of(
    runs: Sequence[StudyRun],
    cells: Sequence[CellFigures],
    answers: Sequence[Answer],
    table: EpisodeTable,
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
            _when(table),
            *_how_scored(runs, cells),
            *_how_analysed(answers, alpha, seed),
        )
    )


def _who_played(runs: Sequence[StudyRun]) -> Iterable[str]:
    agents = {run.label: run.lock.agent for run in runs if run.arm is None}
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
    yield f"The {noun} {joined(said)}."
    hints = [f"{label} ({', '.join(sorted(a.hints))})" for label, a in agents.items() if a.hints]
    if hints:
        yield f"Given parts of the solutions: {joined(hints)}."


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
        yield f"Sites ran as replicas in containers, reset between episodes: {joined(images)}."
    arms = dict.fromkeys(f"{run.label} by {run.lock.arm}" for run in runs if run.lock.arm)
    if arms:
        yield f"What the agents met on replicas was varied: {joined(arms)}."
    staged = dict.fromkeys(site for lock in locks for site in lock.staged)
    if staged:
        yield f"The live origins of {joined(staged)} were staged on the same machine."
    yield from tapes_in_words(runs)
    packages = dict.fromkeys(
        f"{name} {found}" for lock in locks for name, found in sorted(lock.packages.items())
    )
    hosts = dict.fromkeys(
        f"{lock.host.cpus} cores, {lock.host.memory_mb / 1024:.0f} GiB, {lock.host.platform}"
        for lock in locks
    )
    yield (
        f"Browser: Chromium {joined(dict.fromkeys(map(_browser_said, locks)))}; Docker"
        f" engine {joined(dict.fromkeys(lock.engine for lock in locks))}; packages:"
        f" {', '.join(packages)}; machine: {'; '.join(hosts)}."
    )


def tapes_in_words(runs: Sequence[StudyRun]) -> Iterable[str]:
    """Say which tapes answered for sites offline, and how far they carry each suite."""
    yield from dict.fromkeys(
        f"Offline, a tape answered for {site}: recorded traffic of the live site"
        f" ({tape.file}, SHA-256 {run.lock.taped[site]}). On {run.suite}: {tape.fidelity_in_words}."
        for run in runs
        for site, tape in run.lock.tapes.items()
        if World.OFFLINE in run.lock.worlds
    )


def _browser_said(lock: RunLock) -> str:
    used = lock.browser_used
    return lock.browser if used is None else f"{lock.browser} ({used.pool})"


def _when(table: EpisodeTable) -> str:
    """Say when episodes began: runs are locked when they are registered, before any is played."""
    moments = [one.began for one in table if one.began is not None]
    if not moments:
        return "No episode has begun."
    first, last = (
        datetime.fromtimestamp(one, UTC).isoformat(timespec="seconds")
        for one in (min(moments), max(moments))
    )
    return f"Episodes began between {first} and {last}."


def _how_scored(runs: Sequence[StudyRun], cells: Sequence[CellFigures]) -> Iterable[str]:
    episodes, scored = sum(c.episodes for c in cells), sum(c.scored for c in cells)
    attempts = sorted({run.lock.attempts for run in runs})
    yield (
        "An episode is a success where every check that decides is met, from its recorded evidence"
        f" alone; of {episodes:,} episodes, {episodes - scored:,} were unscored for reasons outside"
        f" the agent after up to {joined(map(str, attempts))} attempts, and are counted neither as"
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
    if any(one.question.of is Compared.ARMS for one in answers):
        yield (
            "Arms were compared for the same agent, paired by task and repeat: a repeat counts"
            " where both arms have an outcome of it."
        )
    yield from _looks(answers)
    registered = [one.question.id for one in answers if one.question.registered]
    later = [one.question.id for one in answers if not one.question.registered]
    if registered:
        yield (
            f"Registered before the study was played: {joined(registered)}; their p-values are"
            f" corrected by Holm's procedure as one family of {len(registered)}, at alpha ="
            f" {alpha:g}."
        )
    if later:
        yield (
            f"Not registered, hence exploratory: {joined(later)}, corrected as a family of"
            f" {len(later)} of its own."
        )


def _looks(answers: Sequence[Answer]) -> Iterable[str]:
    for spending in Spending:
        looks = [len(one.stage.looks) for one in answers if one.stage.spending is spending]
        if not looks:
            continue
        yield (
            "A sequential design was registered (alpha spending of Lan and DeMets,"
            f" {_KIND[spending]} type); looks before the end: {max(looks)}."
        )
    interim = sum(one.is_interim for one in answers)
    if interim:
        asked = counted(len(answers), "question")
        verb = "is" if interim == 1 else "are"
        yield f"This is an interim report: {interim} of {asked} {verb} not done."


def card_of(runs: Sequence[StudyRun], statement: str | None = None) -> StudyCard:
    """Return the card of a study or a comparison.

    Args:
        runs: whose locks and suites it is made from.
        statement: what the study's authors registered of contamination; None where there is no
            study that could have said it.
    """
    if not runs:
        return StudyCard()
    return StudyCard(
        parts=(
            CardPart(title="Agents", lines=tuple(dict.fromkeys(_agents(runs)))),
            CardPart(title="Tasks", lines=tuple(_tasks(runs))),
            CardPart(title="Worlds", lines=tuple(_worlds(runs))),
            CardPart(title="Contamination", lines=tuple(_contamination(runs, statement))),
        )
    )


def _agents(runs: Iterable[StudyRun]) -> Iterable[str]:
    for run in runs:
        agent = run.lock.agent
        model = agent.options.get("model")
        parts = [
            agent.name if agent.name != run.label else "",
            f"model {model}" if model else "no model named",
            f"{agent.distribution} {agent.version}" if agent.distribution else "",
            f"source SHA-256 {agent.source_hash[:_DIGEST]}…" if agent.source_hash else "",
            f"price {agent.price}" if agent.price else "",
            agent_note(agent) or "",
            f"in the arm {run.lock.arm}" if run.lock.arm else "",
            "replies replayed, no model asked" if run.lock.replayed is not None else "",
            "added after the registration" if run.is_added else "",
        ]
        yield f"{run.label}: {'; '.join(part for part in parts if part)}"


def _tasks(runs: Sequence[StudyRun]) -> Iterable[str]:
    for suite, run in _suites(runs).items():
        splits = ", ".join(f"{count} {name}" for name, count in sorted(run.splits.items()))
        yield (
            f"{suite}: {counted(len(run.lock.tasks), 'task')} of {run.lock.suite} version"
            f" {run.lock.suite_version}, SHA-256 {run.lock.suite_hash[:_DIGEST]}…"
            f"{f'; splits: {splits}' if splits else ''}"
        )


def _worlds(runs: Sequence[StudyRun]) -> Iterable[str]:
    labels = dict.fromkeys(run.lock.label(world) for run in runs for world in run.lock.worlds)
    began = sorted(run.lock.created_at for run in runs)
    repeats = sorted({run.lock.repeats for run in runs})
    yield f"{', '.join(labels)}; {' or '.join(map(str, repeats))} plays of each task in each"
    yield f"runs made between {began[0]} and {began[-1]}"


def _contamination(runs: Sequence[StudyRun], statement: str | None) -> Iterable[str]:
    """Say what the runs' own files show, and that they do not show what a model was trained on."""
    for suite, run in _suites(runs).items():
        total = len(run.lock.tasks)
        for form, count in sorted(run.published.items()):
            yield (
                f"{suite}: {count} of {total} tasks were imported from the published set {form}: a"
                " model may have been trained on them and on their answers"
            )
        if run.lock.suite in suite_names():
            yield (
                f"{suite}: a suite of this name comes with Arena, with references and checks, and"
                " is public with it"
            )
        elif total > sum(run.published.values()):
            count = total - sum(run.published.values())
            yield (
                f"{suite}: {count} of {total} tasks were not imported; whether they were ever"
                " published, the runs do not say"
            )
    given = sorted({run.label for run in runs if _has_hints(run)})
    if given:
        yield f"Given solutions or parts of them on purpose: {', '.join(given)}"
    if any(
        UpstreamKind.LIVE in kinds.values() for r in runs for kinds in r.lock.upstreams.values()
    ):
        yield "Agents reached live sites, on which anybody may have published answers since"
    asked = sorted({str(one) for run in runs if (one := run.lock.agent.options.get("model"))})
    if asked:
        yield f"When the training data of {', '.join(asked)} end is not recorded here"
    if statement is not None:
        said = " ".join(statement.split())
        yield f"The authors registered: {said}" if said else "The authors registered no statement"


def _has_hints(run: StudyRun) -> bool:
    return run.lock.agent.agent_class in {AgentClass.REFERENCE, AgentClass.GUIDED} or bool(
        run.lock.agent.hints
    )


def _suites(runs: Iterable[StudyRun]) -> dict[str, StudyRun]:
    """Return one run of each suite, by the suite's label."""
    found: dict[str, StudyRun] = {}
    for run in runs:
        found.setdefault(run.suite, run)
    return found
