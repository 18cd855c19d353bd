"""From a study's file to its folder: read, refused where it makes no sense, registered."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena_core.errors import InputError, UsageError
from arena_core.worlds import World
from orchestrator.agent_interface import AgentClass
from orchestrator.agents.options import REDACTED
from orchestrator.agents.spec import Metered
from orchestrator.api.model_use import Replay, spending_limits
from orchestrator.api.option_effects import refuse_offline_resolves, refuse_without_effect
from orchestrator.api.preflight import refuse_faulty
from orchestrator.api.run_resources import RunResources
from orchestrator.api.study_suites import PlayedSuite, read_suite, tasks_by_world
from orchestrator.engine.engine import Engine
from orchestrator.gateway.addresses import Resolve
from orchestrator.outside.agent_command import DEFAULT_SECONDS, AgentCommand
from orchestrator.runner.agent_choice import ChosenAgent, choose_agent, require_references
from orchestrator.runner.budgets import share_budget
from orchestrator.runner.lock_writer import make_lock
from orchestrator.runner.request import RunRequest, together
from orchestrator.store.lock import SpendingLimits, package_versions, user
from orchestrator.store.run_folder import RunFolder
from orchestrator.studies.registration import (
    RegisteredRun,
    Registration,
    lock_digest,
    now,
)
from orchestrator.studies.study_file import (
    AgentEntry,
    StudyFile,
    parse_study_file,
    read_study_file,
)
from orchestrator.studies.study_folder import StudyFolder, changed, sha256
from sites.atlas import Atlas

Options = Mapping[str, Mapping[str, object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """One agent on one suite, in all worlds."""

    agent: str
    suite: PlayedSuite
    request: RunRequest
    folder: str

    def registered(self, run: RunFolder) -> RegisteredRun:
        """Return what the registration says of it, once its folder is there."""
        lock = run.lock()
        return RegisteredRun(
            folder=self.folder,
            run=lock.run,
            agent=self.agent,
            suite=self.suite.label,
            tasks=tasks_by_world(self.suite.tasks, lock.worlds),
            lock_sha256=lock_digest(lock),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewStudy:
    """A study's file, and what is played for it.

    Attributes:
        text: the file's bytes, as they are registered.
    """

    path: Path
    text: bytes
    file: StudyFile
    suites: tuple[PlayedSuite, ...]
    runs: tuple[PlannedRun, ...]

    @classmethod
    def read(cls, path: Path, secret_options: Options | None = None) -> NewStudy:
        """Read a study's file, its suites and agents.

        Args:
            path: of the file.
            secret_options: by agent's label, the options that stand in no file.

        Raises:
            InputError: the file is wrong; one line with file, line and field.
            UnknownNameError, TaskError: no such suite, task or agent, or a suite is wrong.
            UsageError: an agent's options are wrong, a limit cannot be held, or nothing would be
                played.
        """
        try:
            text = path.read_bytes()
        except OSError as cause:
            message = f"{path}: cannot be read: {cause.strerror}"
            raise InputError(message, hint="give a study's file, or its folder") from cause
        try:
            file = parse_study_file(text.decode(), path)
        except UnicodeDecodeError as cause:
            message = f"{path}: cannot be read: is not UTF-8 text (byte {cause.start})"
            raise InputError(message) from cause
        online = World.ONLINE in file.worlds
        refuse_offline_resolves(file.resolve, staged=file.staged, online=online)
        suites = tuple(read_suite(one, path, file.limits) for one in file.suites)
        runs = planned_runs(file, file.agents, suites, secret_options or {})
        require_budget_held(file, runs)
        return cls(path=path, text=text, file=file, suites=suites, runs=runs)

    async def refuse_mistakes(self, atlas: Atlas) -> None:
        """Refuse tasks with mistakes and options without effect, before anything is started.

        Raises:
            TaskError: file and line of the first mistakes.
            UsageError: the option that would change nothing.
        """
        for suite in self.suites:
            if suite.source is not None:
                await refuse_faulty(suite.named, suite.source, suite.tasks, atlas)
        whole = together([one.request for one in self.runs])
        refuse_without_effect(whole, resources_of(self.file), atlas)

    async def register(self, path: Path, atlas: Atlas, engine: Engine) -> StudyFolder:
        """Write the study down, with a folder and a lock for each run; nothing is played.

        Raises:
            UsageError: the workers do not fit the memory; there is no folder then.
            ImageError: an image is missing.
            StoreError: there is a folder already, or it cannot be made.
        """
        await share_budget(together([one.request for one in self.runs]), atlas, engine)
        with StudyFolder.creating(path) as folder:
            made = await make_run_folders(folder, self.runs, atlas, engine)
            registration = Registration(
                study=f"study-{self.file.name}-{secrets.token_hex(4)}",
                name=self.file.name,
                registered_at=now(),
                by=user(),
                study_sha256=sha256(self.text),
                budget=budget_of(self.file),
                packages=package_versions(self.suites[0].suite),
                suites=tuple(one.registered for one in self.suites),
                runs=made,
            )
            folder.register(self.text, registration)
        return StudyFolder.open(path)


async def make_run_folders(
    folder: StudyFolder, runs: Sequence[PlannedRun], atlas: Atlas, engine: Engine
) -> tuple[RegisteredRun, ...]:
    """Make a folder with its lock for each run.

    Raises:
        ImageError: an image is missing.
        StoreError: one cannot be made.
    """
    made: list[RegisteredRun] = []
    for one in runs:
        lock = await make_lock(one.request, atlas, engine)
        run = RunFolder.create(folder.runs_path / one.folder, lock, one.request.suite)
        made.append(one.registered(run))
    return tuple(made)


def planned_runs(
    file: StudyFile,
    agents: Mapping[str, AgentEntry],
    suites: Sequence[PlayedSuite],
    secret_options: Options,
    repeats: int | None = None,
) -> tuple[PlannedRun, ...]:
    """Return the run of each agent on each suite.

    Raises:
        UsageError, UnknownNameError: an agent or its options are wrong, or nothing is played.
    """
    runs: list[PlannedRun] = []
    for label, entry in agents.items():
        chosen = _chosen(label, entry, secret_options.get(label, {}))
        for suite in suites:
            request = _request(file, chosen, suite, file.repeats if repeats is None else repeats)
            name = label if len(file.suites) == 1 else f"{label}--{suite.label}"
            runs.append(PlannedRun(agent=label, suite=suite, request=request, folder=name))
    for label in secret_options.keys() - agents.keys():
        message = f"--agent-option {label}.…: the study has no agent '{label}'"
        raise UsageError(message, hint=f"there are: {', '.join(agents)}")
    if len({one.folder for one in runs}) < len(runs):
        message = "two runs would have one folder: labels with '--' in them"
        raise InputError(message, hint="rename an agent or a suite")
    return tuple(runs)


def resources_of(file: StudyFile) -> RunResources:
    """Return how fast a study's file says that it is played.

    Raises:
        UsageError: that makes no sense.
    """
    workers = None if file.workers == 1 else file.workers
    return RunResources.read(
        workers=workers, spares=file.spares, memory=file.memory, strategy=file.strategy
    )


def budget_of(file: StudyFile) -> SpendingLimits:
    """Return what the whole study may spend on models."""
    return SpendingLimits(max_usd=file.budget.max_usd, max_tokens=file.budget.max_tokens)


def require_budget_held(file: StudyFile, runs: Sequence[PlannedRun]) -> None:
    """Refuse a budget that no agent's spending could be held against.

    Raises:
        UsageError: saying so.
    """
    limits = budget_of(file)
    if limits != SpendingLimits() and all(one.request.limits != limits for one in runs):
        message = "the study's budget has no effect: no agent of it asks a model"
        raise UsageError(message, hint="leave `budget` away")


def _request(file: StudyFile, agent: ChosenAgent, suite: PlayedSuite, repeats: int) -> RunRequest:
    replay = Replay.of(agent)
    request = RunRequest(
        suite=suite.suite,
        tasks=suite.tasks,
        worlds=file.worlds,
        agent=agent.maker,
        agent_lock=agent.lock,
        repeats=repeats,
        attempts=file.attempts,
        staged=file.staged,
        resolves=tuple(Resolve.parse(text) for text in file.resolve),
        limits=_limits(file, agent),
        recording=replay.recording,
        replayed=replay.lock,
        screenshots=file.screenshots,
        importers=() if suite.source is None else suite.source.importers,
    )
    if not request.trials():
        message = f"nothing to play: no task of suite '{suite.label}' runs in the study's worlds"
        raise UsageError(message)
    require_references(agent.lock, request.tasks)
    return resources_of(file).of(request)


def _limits(file: StudyFile, agent: ChosenAgent) -> SpendingLimits:
    """Return the budget of the whole study for an agent that asks models; none for others.

    Raises:
        UsageError: the agent may spend what nobody counts.
    """
    budget = file.budget
    is_free = agent.lock.agent_class in {AgentClass.REFERENCE, AgentClass.BASELINE}
    if agent.replay is not None or (is_free and Metered.TOKENS not in agent.metered):
        return SpendingLimits()
    return spending_limits(agent, budget.max_usd, budget.max_tokens)


def _chosen(label: str, entry: AgentEntry, secret_options: Mapping[str, object]) -> ChosenAgent:
    if entry.command is not None:
        seconds = DEFAULT_SECONDS if entry.seconds is None else entry.seconds
        return choose_agent(AgentCommand.read(entry.command, seconds))
    given = {**entry.options, **secret_options}
    chosen = choose_agent(entry.agent or "", given)
    for name in given:
        is_secret = chosen.lock.options.get(name) == REDACTED
        if is_secret and name in entry.options:
            message = f"agents.{label}.options.{name} is a secret: it may stand in no study's file"
            raise InputError(message, hint=f"--agent-option {label}.{name}=…")
        if name in secret_options and not is_secret:
            message = f"--agent-option {label}.{name}: only secrets are given beside the file"
            raise UsageError(message, hint=f"write it into agents.{label}.options")
    return chosen


def registered_folder(study: Path, out: Path | None, studies: Path) -> StudyFolder | None:
    """Return the folder of a study that is registered already; None where it is not.

    Args:
        study: its file, or its folder.
        out: its folder, where one is named.
        studies: where folders are made else.

    Raises:
        StoreError: it is no study's folder, or the file is not what was registered there.
        InputError: the file is wrong.
    """
    if study.is_dir():
        if out is not None and out.absolute() != study.absolute():
            message = f"--out has no effect: {study} is a study's folder already"
            raise UsageError(message)
        return StudyFolder.open(study)
    if not study.is_file():
        message = f"{study}: there is no such file"
        raise InputError(message, hint="give a study's file, or its folder")
    path = study_path(read_study_file(study), out, studies)
    if not StudyFolder(path).registration_path.is_file():
        return None
    folder = StudyFolder.open(path)
    registration = folder.registration()
    if sha256(study.read_bytes()) != registration.study_sha256:
        raise changed(study, registration)
    return folder


def study_path(file: StudyFile, out: Path | None, studies: Path) -> Path:
    """Return where a study's folder is."""
    return studies / file.name if out is None else out
