"""From a study's file to its folder: read, refused where it makes no sense, registered."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from arena_core.errors import InputError, UsageError
from arena_core.names import offered
from arena_core.regular_files import read_regular
from arena_core.worlds import World
from orchestrator.agents.interface import AgentClass
from orchestrator.agents.options import REDACTED
from orchestrator.agents.spec import Metered
from orchestrator.analysis.studies.registration import (
    RegisteredRun,
    RegisteredSuite,
    Registration,
    StudyFolder,
    changed,
    now,
    sha256,
)
from orchestrator.analysis.studies.study_file import (
    QuestionEntry,
    StudyAgent,
    StudyFile,
    SuiteEntry,
    parse_study_file,
    read_study_file,
)
from orchestrator.gateway.tapes.named import tapes_beside
from orchestrator.runs.agent_choice import (
    ChosenAgent,
    choose_agent,
    named_agent,
    require_references,
)
from orchestrator.runs.budgets import share_budget
from orchestrator.runs.lock_writer import make_lock
from orchestrator.runs.new_run import (
    refuse_misplaced_arm,
    refuse_offline_origins,
    refuse_without_effect,
    replies_for,
    require_held,
)
from orchestrator.runs.request import RunRequest, together
from orchestrator.runs.shard import Shard
from orchestrator.runs.spec import AgentEntry, EpisodeLimits, SpendingLimits
from orchestrator.runs.store.lock import hash_suite, lock_digest, package_versions, user
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.runs.tapes import on_tapes, refuse_unfit_tapes
from orchestrator.sandbox.engine.engine import Engine
from sites.documents import LARGEST_DOCUMENT
from sites.registry import SiteRegistry
from tasks.loader import Selection, load_source, select_tasks, suite_beside
from tasks.schema import Limits, Suite, Task
from tasks.sources import SuiteSource

Options = Mapping[str, Mapping[str, object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedSuite:
    """A suite as a study plays it.

    Attributes:
        label: what the study calls it.
        named: as `load_source` takes it; empty where it was read from a run's folder.
        source: its file; None where it was read from a run's folder.
    """

    label: str
    suite: Suite
    tasks: tuple[Task, ...]
    named: str = ""
    source: SuiteSource | None = None

    @property
    def registered(self) -> RegisteredSuite:
        """What the registration says of it."""
        return RegisteredSuite(
            label=self.label,
            suite=self.suite.suite,
            version=self.suite.version,
            sha256=hash_suite(self.suite),
            tasks=tuple(task.id for task in self.tasks),
        )


def tasks_by_world(tasks: Sequence[Task], worlds: Sequence[World]) -> dict[World, int]:
    """Return how many tasks run in each world."""
    return {world: sum(world in task.worlds for task in tasks) for world in worlds}


def read_suite(entry: SuiteEntry, study: Path, limits: EpisodeLimits) -> PlayedSuite:
    """Read a suite that a study names, and choose its tasks."""
    named = suite_beside(entry.source, study)
    source = load_source(named)
    suite = _limited(source.suite, limits)
    wanted = Selection(
        ids=entry.tasks, families=frozenset(entry.families), sites=frozenset(entry.sites)
    )
    tasks = select_tasks(suite, wanted)
    if entry.templates:
        known = {task.template for task in suite.tasks if task.template is not None}
        for template in entry.templates:
            if template not in known:
                message = f"no template '{template}' in suite '{suite.suite}'"
                raise InputError(message, hint=offered(template, known))
        tasks = tuple(task for task in tasks if task.template in entry.templates)
        if not tasks:
            message = f"suite '{entry.label}': no task fits all that the study asks for"
            raise InputError(message, hint="arena tasks list shows ids, families and sites")
    return PlayedSuite(label=entry.label, suite=suite, tasks=tasks, named=named, source=source)


def _limited(suite: Suite, limits: EpisodeLimits) -> Suite:
    if limits == EpisodeLimits():
        return suite

    def limited(given: Limits) -> Limits:
        steps = given.steps if limits.steps is None else min(given.steps, limits.steps)
        seconds = given.seconds if limits.seconds is None else min(given.seconds, limits.seconds)
        return Limits(steps=steps, seconds=seconds)

    tasks = tuple(task.model_copy(update={"limits": limited(task.limits)}) for task in suite.tasks)
    return suite.model_copy(update={"tasks": tasks})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """One agent on one suite, in one arm ('' for the clean one) and all worlds of that."""

    agent: str
    arm: str
    suite: PlayedSuite
    request: RunRequest
    folder: str

    def on_tapes(self, registry: SiteRegistry) -> PlannedRun:
        """Return it with the faces of its tasks that fit what answers for their sites."""
        request = on_tapes(self.request, registry)
        suite = replace(self.suite, suite=request.suite, tasks=request.tasks)
        return replace(self, suite=suite, request=request)

    def in_shard(self, shard: Shard) -> PlannedRun:
        """Return it with a share of its trials alone."""
        settings = self.request.settings.model_copy(update={"shard": str(shard)})
        return replace(self, request=replace(self.request, settings=settings))

    def registered(self, run: RunFolder) -> RegisteredRun:
        """Return what the registration says of it, once its folder is there."""
        lock = run.lock()
        own = {world: self.request.episodes_in(world) for world in lock.worlds}
        return RegisteredRun(
            folder=self.folder,
            run=lock.run,
            agent=self.agent,
            arm=self.arm,
            suite=self.suite.label,
            tasks=tasks_by_world(self.suite.tasks, lock.worlds),
            lock_sha256=lock_digest(lock),
            own_episodes=None if lock.shard is None else own,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewStudy:
    """A study's file, and what is played for it.

    Attributes:
        text: the file's bytes, as they are registered.
        shard: the share of its trials that is played; None where all are.
    """

    path: Path
    text: bytes
    file: StudyFile
    suites: tuple[PlayedSuite, ...]
    runs: tuple[PlannedRun, ...]
    shard: Shard | None = None

    @classmethod
    def read(cls, path: Path, secret_options: Options | None = None) -> NewStudy:
        """Read a study's file, its suites and agents.

        Args:
            secret_options: by agent's label, the options that stand in no file.
        """
        try:
            text = read_regular(path, follow=True, most=LARGEST_DOCUMENT)
        except OSError as cause:
            message = f"{path}: cannot be read: {cause.strerror}"
            raise InputError(message, hint="give a study's file, or its folder") from cause
        try:
            file = parse_study_file(text.decode(), path)
        except UnicodeDecodeError as cause:
            message = f"{path}: cannot be read: is not UTF-8 text (byte {cause.start})"
            raise InputError(message) from cause
        refuse_twins(file.questions, ())
        refuse_offline_origins(file)
        file = file.model_copy(update={"tape": tapes_beside(file.tape, path)})
        suites = tuple(read_suite(one, path, file.limits) for one in file.suites)
        runs = planned_runs(file, file.agents, suites, secret_options or {})
        require_budget_held(file, runs)
        return cls(path=path, text=text, file=file, suites=suites, runs=runs)

    def on_tapes(self, registry: SiteRegistry) -> NewStudy:
        """Return it with the faces of its tasks that fit its tapes; opens and checks the tapes."""
        if not self.file.tape:
            return self
        runs = tuple(one.on_tapes(registry) for one in self.runs)
        suites = tuple({one.suite.label: one.suite for one in runs}.values())
        tasks = tuple(task for suite in suites for task in suite.tasks)
        refuse_unfit_tapes(replace(runs[0].request, tasks=tasks), registry)
        return replace(self, suites=suites, runs=runs)

    def in_shard(self, shard: Shard) -> NewStudy:
        """Return it with this share of each run's trials alone, which may be none."""
        return replace(self, shard=shard, runs=tuple(one.in_shard(shard) for one in self.runs))

    def refuse_without_effect(self, registry: SiteRegistry) -> None:
        """Refuse options without effect, before anything is started."""
        whole = together([one.request for one in self.runs])
        refuse_without_effect(whole, self.file.model_fields_set, registry)
        for one in self.runs:
            refuse_misplaced_arm(one.request, registry)

    async def register(self, path: Path, registry: SiteRegistry, engine: Engine) -> StudyFolder:
        """Write the study down, with a folder and a lock for each run; nothing is played."""
        await share_budget(together([one.request for one in self.runs]), registry, engine)
        with StudyFolder.creating(path) as folder:
            made = await make_run_folders(folder, self.runs, registry, engine)
            registration = Registration(
                study=f"study-{self.file.name}-{secrets.token_hex(4)}",
                name=self.file.name,
                registered_at=now(),
                by=user(),
                study_sha256=sha256(self.text),
                budget=self.file.budget,
                packages=package_versions(self.suites[0].suite),
                suites=tuple(one.registered for one in self.suites),
                runs=made,
                shard=None if self.shard is None else str(self.shard),
            )
            folder.register(self.text, registration)
        return StudyFolder.open(path)


async def make_run_folders(
    folder: StudyFolder, runs: Sequence[PlannedRun], registry: SiteRegistry, engine: Engine
) -> tuple[RegisteredRun, ...]:
    """Make a folder with its lock for each run."""
    made: list[RegisteredRun] = []
    for one in runs:
        lock = await make_lock(one.request, registry, engine)
        run = RunFolder.create(folder.runs_path / one.folder, lock, one.request.suite)
        made.append(one.registered(run))
    return tuple(made)


def planned_runs(
    file: StudyFile,
    agents: Mapping[str, StudyAgent],
    suites: Sequence[PlayedSuite],
    secret_options: Options,
    repeats: int | None = None,
) -> tuple[PlannedRun, ...]:
    """Return the runs of each agent on each suite: first the clean one, then one an arm."""
    runs: list[PlannedRun] = []
    for label, entry in agents.items():
        chosen = _chosen(label, entry, secret_options.get(label, {}))
        own = file.model_copy(update={"browser": file.browser_of(entry)})
        for suite in suites:
            name = label if len(file.suites) == 1 else f"{label}--{suite.label}"
            for arm in ("", *file.variations):
                request = _request(own, chosen, suite, arm, repeats)
                folder = f"{name}--{arm}" if arm else name
                runs.append(
                    PlannedRun(agent=label, arm=arm, suite=suite, request=request, folder=folder)
                )
    for label in secret_options.keys() - agents.keys():
        message = f"--agent-option {label}.…: the study has no agent '{label}'"
        raise UsageError(message, hint=offered(label, agents))
    if len({one.folder for one in runs}) < len(runs):
        message = "two runs would share a folder, because labels contain '--'"
        raise InputError(message, hint="rename an agent, a suite or an arm")
    return tuple(runs)


def refuse_twins(questions: Sequence[QuestionEntry], earlier: Sequence[QuestionEntry]) -> None:
    """Refuse questions that ask what another one asks: each would be corrected for the other."""
    known = list(earlier)
    for one in questions:
        for other in known:
            if one.asks_the_same_as(other):
                message = f"questions.{one.id}: asks the same as `{other.id}`"
                raise InputError(message, hint=f"remove `{one.id}`")
        known.append(one)


def require_budget_held(file: StudyFile, runs: Sequence[PlannedRun]) -> None:
    """Refuse a budget that no agent's spending could be held against."""
    if file.budget != SpendingLimits() and all(
        one.request.settings.budget == SpendingLimits() for one in runs
    ):
        message = "the study's budget has no effect: none of its agents asks a model"
        raise UsageError(message, hint="remove `budget`")


def _request(
    file: StudyFile, agent: ChosenAgent, suite: PlayedSuite, arm: str, repeats: int | None
) -> RunRequest:
    vary, worlds = file.in_arm(arm)
    request = RunRequest(
        suite=suite.suite,
        tasks=suite.tasks,
        agent=agent.maker,
        agent_lock=agent.lock,
        settings=file.settings(
            repeats=repeats, budget=_limits(file, agent), vary=vary, worlds=worlds
        ),
        recording=replies_for(agent),
        importers=() if suite.source is None else suite.source.importers,
    )
    if not request.episodes:
        where = f"offline, for the arm {arm}" if arm else "in the study's worlds"
        message = f"nothing to play: no task of suite '{suite.label}' runs {where}"
        raise UsageError(message)
    require_references(agent.lock, request.tasks)
    return request


def _limits(file: StudyFile, agent: ChosenAgent) -> SpendingLimits:
    """Return the budget of the whole study for an agent that asks models; none for others."""
    is_free = agent.lock.agent_class in {AgentClass.REFERENCE, AgentClass.BASELINE}
    if agent.replay is not None or (is_free and Metered.TOKENS not in agent.metered):
        return SpendingLimits()
    require_held(agent, file.budget)
    return file.budget


def _chosen(label: str, entry: AgentEntry, secret_options: Mapping[str, object]) -> ChosenAgent:
    if entry.command is not None:
        return choose_agent(named_agent(entry))
    given = {**entry.options, **secret_options}
    chosen = choose_agent(named_agent(entry), given)
    for name in given:
        is_secret = chosen.lock.options.get(name) == REDACTED
        if is_secret and name in entry.options:
            message = f"agents.{label}.options.{name} is a secret: keep it out of the study's file"
            raise InputError(message, hint=f"--agent-option {label}.{name}=…")
        if name in secret_options and not is_secret:
            message = f"--agent-option {label}.{name}: only secrets go on the command line"
            raise UsageError(message, hint=f"write it into agents.{label}.options")
    return chosen


def registered_folder(
    study: Path, out: Path | None, studies: Path, shard: Shard | None = None
) -> StudyFolder | None:
    """Return the folder of a study that is registered already; None where it is not.

    Args:
        out: its folder, where one is named.
        studies: where folders are made else.
        shard: the share of it that is asked for; None asks for all, or for what a folder holds.
    """
    if study.is_dir():
        if out is not None and out.absolute() != study.absolute():
            raise UsageError(f"--out has no effect: {study} is a study's folder already")
        folder = StudyFolder.open(study)
        if shard is not None:
            _refuse_other_share(folder, shard)
        return folder
    if not study.is_file():
        message = f"{study}: no such file"
        raise InputError(message, hint="give a study's file, or its folder")
    path = study_path(read_study_file(study), out, studies, shard)
    if not StudyFolder(path).registration_path.is_file():
        return None
    folder = StudyFolder.open(path)
    registration = folder.registration()
    if sha256(read_regular(study, follow=True, most=LARGEST_DOCUMENT)) != registration.study_sha256:
        raise changed(study, registration)
    _refuse_other_share(folder, shard)
    return folder


def _refuse_other_share(folder: StudyFolder, shard: Shard | None) -> None:
    """Refuse a folder that holds another share of the study than is asked for."""
    held = folder.registration().shard
    if held != (None if shard is None else str(shard)):
        what = "the whole study" if held is None else f"shard {held} of the study"
        hint = "name another folder with --out" if held is None else f"--shard {held}, or --out"
        raise UsageError(f"{folder.path}: holds {what}", hint=hint)


def study_path(
    file: StudyFile, out: Path | None, studies: Path, shard: Shard | None = None
) -> Path:
    """Return where the folder of a study, or of a share of it, is."""
    name = file.name if shard is None else f"{file.name}-{shard.number}-of-{shard.count}"
    return studies / name if out is None else out
