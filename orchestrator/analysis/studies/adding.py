"""Adds to a registered study: repeats, agents, questions, budget, or a run that was played."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field, ValidationError

from arena_core.errors import InputError, StoreError, UsageError
from evaluators.fields import Slug
from orchestrator.analysis.stats.results import Compared
from orchestrator.analysis.studies.new_study import (
    Options,
    PlayedSuite,
    make_run_folders,
    planned_runs,
    refuse_twins,
    tasks_by_world,
)
from orchestrator.analysis.studies.registration import (
    Amendment,
    RegisteredRun,
    RegisteredSuite,
    Study,
    StudyFolder,
    now,
)
from orchestrator.analysis.studies.seals import seal_study
from orchestrator.analysis.studies.study_file import (
    QuestionEntry,
    StudyAgent,
    StudyFile,
)
from orchestrator.episode.external.command import KIND
from orchestrator.runs.request import tasks_of
from orchestrator.runs.spec import SpendingLimits, read_asked
from orchestrator.runs.store.lock import ChangedLimits, RunLock, lock_digest, require_whole, user
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.runs.tapes import require_same_tapes
from orchestrator.sandbox.engine.engine import Engine
from sites.documents import read_document
from sites.fields import Strict
from sites.registry import SiteRegistry


class AdditionFile(Strict):
    """What a file adds to a study: the same fields as in `study.yaml`, each optional.

    Attributes:
        repeats: how often each agent plays each task from now on.
    """

    agents: dict[Slug, StudyAgent] = Field(default_factory=dict)
    repeats: int | None = Field(default=None, ge=1)
    questions: tuple[QuestionEntry, ...] = ()
    budget: SpendingLimits = SpendingLimits()


class Addition(AdditionFile):
    """What is added to a study.

    Attributes:
        runs: by the label that their agents get, the folders of runs that were played already.
    """

    runs: dict[str, Path] = Field(default_factory=dict)

    @classmethod
    def read(
        cls,
        path: Path | None,
        *,
        repeats: int | None,
        max_usd: float | None,
        max_tokens: int | None,
        runs: Mapping[str, Path],
    ) -> Addition:
        """Read what is added: from a file, and from options, which come before it."""
        file = AdditionFile() if path is None else read_document(path, AdditionFile, InputError)
        added = read_asked(
            cls,
            agents=file.agents,
            repeats=file.repeats if repeats is None else repeats,
            questions=file.questions,
            budget=file.budget.changed(max_usd, max_tokens),
            runs=runs,
        )
        if added == cls():
            message = "nothing is added: name a file, --repeats, --run, --max-usd or --max-tokens"
            raise UsageError(message)
        return added


async def add_to_study(
    folder: StudyFolder,
    added: Addition,
    *,
    secret_options: Options,
    registry: SiteRegistry,
    engine: Engine | None,
) -> Study:
    """Write down what is added to a study, told apart from what was registered; play nothing.

    Args:
        secret_options: by the label of a new agent.
        engine: needed for agents alone.
    """
    with folder.writing():
        study = folder.study()
        refuse_to_shard(folder, study, added)
        refuse_misfits(study, added)
        limits = _limits(study, added)
        repeats = study.repeats if added.repeats is None else added.repeats
        made = (
            *await _new_runs(folder, study, added, repeats, secret_options, registry, engine),
            *_taken_runs(folder, study, added, repeats),
        )
        agents = dict(added.agents) | {
            label: _entry(folder.run_folder(run.folder).lock())
            for run in made
            if run.was_played
            for label in (run.agent,)
        }
        amendment = Amendment(
            at=now(),
            by=user(),
            previous=study.registration.digest,
            repeats=added.repeats,
            budget=limits,
            agents=agents,
            questions=added.questions,
            runs=made,
        )
        folder.amend(study.registration.amended(amendment))
        later = folder.study()
        for run in later.runs:
            folder.run_folder(run.folder).add_repeats(later.repeats)
        seal_study(folder)
        return later


def refuse_misfits(study: Study, added: Addition) -> None:
    """Refuse what does not fit a study, before anything is made for it."""
    if added.repeats is not None and added.repeats <= study.repeats:
        message = f"the study already has {study.repeats} repeats: {added.repeats} adds none"
        raise UsageError(message, hint=f"give --repeats {study.repeats + 1} or more")
    for label in (*added.agents, *added.runs):
        if label in study.agents:
            message = f"the study has an agent '{label}' already"
            raise InputError(message, hint="an agent with other options needs another label")
    asked = {one.id for one in study.question_entries}
    for one in added.questions:
        if one.id in asked:
            raise InputError(f"the study has a question '{one.id}' already")
    taken = {label: StudyAgent(agent="oracle") for label in added.runs}  # names alone are read here
    refuse_twins(added.questions, study.question_entries)
    whole = study.whole_file()
    whole = whole.model_copy(update={"agents": {**whole.agents, **added.agents, **taken}})
    for one in added.questions:
        for at, message in whole.misnamed(one):
            misnamed = f"questions.{one.id}.{'.'.join(at)}: {message}"
            raise InputError(misnamed)
        _refuse_armless(one, {*study.armless_agents, *added.runs})
    try:
        StudyFile.model_validate(whole.model_dump())
    except ValidationError as cause:
        message = f"the addition does not fit the study: {cause.errors()[0]['msg']}"
        raise InputError(message) from cause


def _refuse_armless(question: QuestionEntry, armless: set[str]) -> None:
    """Refuse a question of an arm about an agent that was not played in any."""
    named = (
        (question.within.agent,)
        if question.of is Compared.ARMS
        else (question.first, question.second)
    )
    for label in named if question.is_about_arms else ():
        if label in armless:
            message = f"questions.{question.id}: {label} was played in the clean arm alone"
            hint = "an agent that a file adds, and not --run, is played in each arm"
            raise InputError(message, hint=hint)


def refuse_to_shard(folder: StudyFolder, study: Study, added: Addition) -> None:
    """Refuse what one shard alone would have; what it may spend is its own."""
    if study.registration.shard is not None and added != Addition(budget=added.budget):
        message = (
            f"{folder.path}: is shard {study.registration.shard}, to which only budget is added"
        )
        raise UsageError(
            message, hint="merge all shards (arena merge), and add to the merged study"
        )


def _limits(study: Study, added: Addition) -> ChangedLimits | None:
    if added.budget == SpendingLimits():
        return None
    limits = study.limits.changed(added.budget.max_usd, added.budget.max_tokens)
    return ChangedLimits(limits=limits, by=user(), at=now())


async def _new_runs(  # noqa: PLR0917 - the parts of `add_to_study`
    folder: StudyFolder,
    study: Study,
    added: Addition,
    repeats: int,
    secret_options: Options,
    registry: SiteRegistry,
    engine: Engine | None,
) -> tuple[RegisteredRun, ...]:
    if not added.agents or engine is None:
        return ()
    suites = tuple(_played_suite(folder, study, one) for one in study.registration.suites)
    first = folder.run_folder(study.runs[0].folder).lock()
    require_same_tapes(first)
    file = study.file.model_copy(update={"tape": first.tape})  # as seen from here
    planned = tuple(
        one.on_tapes(registry)
        for one in planned_runs(file, added.agents, suites, secret_options, repeats)
    )
    for one in planned:
        _refuse_played(folder, folder.runs_path / one.folder)
    made = await make_run_folders(folder, planned, registry, engine)
    for run in made:
        lock = folder.run_folder(run.folder).lock()
        _require_same_images(lock, first, run.folder)
        if added.agents[run.agent].browser is None:
            _require_same_browser(lock, first, run.folder)
    return made


def _refuse_played(folder: StudyFolder, path: Path) -> None:
    """Remove what a killed `add` left; what was played stays."""
    if not path.exists():
        return
    if RunFolder(path).evidence_names():
        message = f"{path}: is in the study's folder but not in its registration"
        raise StoreError(message, hint=f"arena study verify {folder.path}")
    shutil.rmtree(path)


def _played_suite(folder: StudyFolder, study: Study, suite: RegisteredSuite) -> PlayedSuite:
    """Return a suite as the study's runs keep it."""
    run = folder.run_folder(next(one.folder for one in study.runs if one.suite == suite.label))
    kept = run.suite()
    return PlayedSuite(label=suite.label, suite=kept, tasks=tasks_of(run.lock(), kept))


def _taken_runs(
    folder: StudyFolder, study: Study, added: Addition, repeats: int
) -> tuple[RegisteredRun, ...]:
    return tuple(
        _taken_run(folder, study, label, RunFolder.open(path), repeats)
        for label, path in added.runs.items()
    )


def _taken_run(
    folder: StudyFolder, study: Study, label: str, run: RunFolder, repeats: int
) -> RegisteredRun:
    """Copy a run that was played already into the study."""
    lock = run.lock()
    require_whole(run.path, lock)
    suites = {(one.sha256, one.tasks): one for one in study.registration.suites}
    suite = suites.get((lock.suite_hash, lock.tasks))
    if suite is None:
        message = f"{run.path}: was not played on the study's tasks"
        raise StoreError(message, hint="choose a run of the same suite and the same tasks")
    sibling = next(one for one in study.runs if one.suite == suite.label)
    first = folder.run_folder(sibling.folder).lock()
    for what, is_said, wanted in (
        ("worlds", lock.worlds, first.worlds),
        ("staged sites", sorted(lock.staged), sorted(first.staged)),
        ("upstreams", lock.upstreams, first.upstreams),
        ("tapes", lock.taped, first.taped),
        ("resolved hosts", lock.resolve, first.resolve),
        ("attempts", lock.attempts, first.attempts),
        ("arm", lock.arm or "clean", first.arm or "clean"),
        ("browser", lock.browser, first.browser),
        ("live sites in", lock.live_pool, first.live_pool),
    ):
        if is_said != wanted:
            message = f"{run.path}: was played with {what} {is_said}, but the study has {wanted}"
            raise StoreError(message)
    _require_same_images(lock, first, str(run.path))
    if lock.repeats > repeats:
        message = f"{run.path}: has {lock.repeats} repeats, but the study has {repeats}"
        raise StoreError(
            message, hint=f"raise the study's repeats as well: --repeats {lock.repeats}"
        )
    is_alone = len(study.registration.suites) == 1
    name = label if is_alone else f"{label}--{suite.label}"
    target = folder.runs_path / name
    _refuse_played(folder, target)
    partial = target.with_name(f"{name}.partial")
    try:
        with run.writing():  # nobody plays it meanwhile
            shutil.rmtree(partial, ignore_errors=True)
            shutil.copytree(run.path, partial, ignore=shutil.ignore_patterns(".writer"))
        partial.rename(target)
    except OSError as cause:
        shutil.rmtree(partial, ignore_errors=True)
        raise StoreError(f"{target}: the run cannot be copied there: {cause.strerror}") from cause
    return RegisteredRun(
        folder=name,
        run=lock.run,
        agent=label,
        suite=suite.label,
        tasks=tasks_by_world(tasks_of(lock, run.suite()), lock.worlds),
        lock_sha256=lock_digest(lock),
        was_played=True,
    )


def _require_same_images(lock: RunLock, first: RunLock, whose: str) -> None:
    for tag, image in lock.images.items():
        if first.images.get(tag, image) != image:
            message = f"{whose}: the study was registered with another image {tag}"
            raise StoreError(
                message, hint="register a new study, so that no figure mixes two images"
            )


def _require_same_browser(lock: RunLock, first: RunLock, whose: str) -> None:
    if len({first.live_pool, lock.live_pool} - {None}) > 1:
        message = f"{whose}: the study visits live sites in {first.live_pool}, not {lock.live_pool}"
        raise StoreError(message, hint="register a new study: no figure mixes two browsers")


def _entry(lock: RunLock) -> StudyAgent:
    """Return the agent of a run as a study's file would name it."""
    if lock.agent.kind == KIND:
        told = lock.agent.options
        return StudyAgent(command=str(told["command"]), seconds=float(told["seconds"] or 1))
    options = {name: lock.agent.options[name] for name in lock.agent.given}
    return StudyAgent(agent=lock.agent.kind, options=options)
