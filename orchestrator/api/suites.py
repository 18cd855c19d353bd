"""`arena.suites`: list, read, lint, prove and write suites of tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena_core.errors import TaskError, UsageError
from arena_core.names import listed
from arena_core.uncollected import uncollected
from orchestrator.api.opened import OnArenaEvent, WarningNote
from orchestrator.api.published_sets import PublishedSets

if TYPE_CHECKING:
    from evaluators.lint import Finding
    from orchestrator.analysis.spent import TemplateRecord
    from orchestrator.api.repairs import SuiteRepair
    from orchestrator.export.harbor import HarborFolders
    from sites.registry import SiteRegistry
    from tasks.schema import Suite, Task
    from tasks.sources import SuiteSource

DEMO: Final = "demo"
PROOF_WORKERS: Final = 2
_SHOWN: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport:
    """What linting a suite found.

    Attributes:
        suite: its name.
        tasks: those that were looked at.
        findings: mistakes and warnings, in the order of the tasks.
        is_proven: whether the references were played as well.
        arm: in which arm they were; None for the clean one.
        notes: which tasks have no second right path, and which no written detour to prove them by;
            which cannot be done, and say nothing of their sites that makes it so; which imported
            ones have a gold that is not in the data of their sites.
    """

    suite: str
    tasks: tuple[Task, ...]
    findings: tuple[Finding, ...]
    is_proven: bool
    notes: tuple[Finding, ...] = ()
    arm: str | None = None

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings for which `arena eval` would refuse to play."""
        return tuple(one for one in self.findings if one.is_error)

    @property
    def without_reference(self) -> tuple[str, ...]:
        """The tasks that cannot be proved at all."""
        return tuple(one.id for one in self.tasks if one.reference is None and one.miniwob is None)


class Suites(PublishedSets):
    """The suites that ship with Arena, and your own."""

    def names(self) -> tuple[str, ...]:
        """Return the names of the suites that ship with Arena, sorted."""
        from tasks.loader import suite_names

        return suite_names()

    def read(self, name: str = DEMO) -> Suite:
        """Read a suite.

        Args:
            name: of a shipped suite, or the path of a YAML file or folder; one that draws its
                tasks may be followed by `@` and seeds (`miniwob-56@1-10`).

        Raises:
            UnknownNameError: there is no such suite.
            TaskError: it is wrong: file, line, field, and what is allowed.
        """
        from sites.registry import own_site_folders
        from tasks.loader import load_suite

        if self._opened.folders is None:
            own_site_folders()  # a variable that names no folder is reported here as everywhere
        return load_suite(name)

    def new(self, path: Path | str) -> Path:
        """Write a first suite into a new file: one task, which lints and proves at once.

        Args:
            path: of the file, such as `my-suite.yaml`; the suite gets its name.

        Raises:
            UsageError: there is such a file already, its name is none for a suite, or it cannot be
                written.
        """
        from orchestrator.authoring.scaffold.writer import write_suite

        return write_suite(Path(path))

    def tasks(self, suite: str = DEMO, patterns: Sequence[str] = ()) -> tuple[Task, ...]:
        """Return tasks of a suite, in its order.

        Args:
            suite: as in `read`.
            patterns: task ids, or patterns with `*` and `?`; all tasks where none is given.

        Raises:
            UnknownNameError: no such suite, or a pattern fits no task.
            TaskError: the suite is wrong.
        """
        from tasks.loader import Selection, select_tasks

        return select_tasks(self.read(suite), Selection(ids=tuple(patterns)))

    def task(self, name: str) -> Task:
        """Return one task by `suite/task`, for example `demo/shop-latest-order-total`.

        The suite may be a path: `my/suite.yaml/my-task`. The task may be a pattern that fits one.

        Raises:
            UnknownNameError: no such suite or task.
            UsageError: the name has no suite, or fits several tasks.
            TaskError: the suite is wrong.
        """
        suite_name, slash, task = name.rpartition("/")
        if not slash or not suite_name or not task:
            message = f"'{name}' is no task's name: its suite is missing"
            raise UsageError(message, hint="name it SUITE/TASK: demo/shop-latest-order-total")
        suite = self.read(suite_name)
        found = [one for one in suite.tasks if one.id == task]
        if not found:
            found = list(_fitting(suite, task))
        if len(found) > 1:
            names = listed(one.id for one in found)
            raise UsageError(f"'{task}' fits {len(found)} tasks: {names}", hint="name one of them")
        return found[0]

    async def lint(
        self,
        suite: str = DEMO,
        patterns: Sequence[str] = (),
        *,
        prove: bool = False,
        workers: int | None = None,
        vary: Sequence[str] = (),
    ) -> LintReport:
        """Check a suite for mistakes; with `prove`, also play each reference.

        A proof shows that a task is solvable, and by nothing less. It is left out where the static
        lint finds errors already. Answers without content that an answer check accepts are
        warnings; with `prove` they are errors, unless an arm is proven.

        Args:
            suite: as in `read`.
            patterns: only these tasks.
            prove: play the references too, live origins staged; needs Docker and Chromium.
            workers: with `prove`, references of a world played side by side; 2 where omitted.
            vary: with `prove`, play references and other paths in this arm instead, offline: what
                it breaks is an error, what it does not touch a warning.

        Raises:
            UsageError: `workers` or `vary` without `prove`; no such variation.
            UnknownNameError, TaskError: as in `tasks`.
            ArenaError: the machine could not play the proof.
        """
        from evaluators.lint import Severity
        from orchestrator.authoring.proof.paths import unproved
        from orchestrator.authoring.proof.site_data import absent_golds, known_tables
        from orchestrator.gateway.variations import arm_label
        from orchestrator.runs.spec import RunSettings
        from tasks.lint.blind_answers import attacked
        from tasks.lint.linter import lint_suite
        from tasks.lint.second_process import begun
        from tasks.loader import Selection, load_source, select_tasks

        for name, is_given in (("workers", workers is not None), ("vary", bool(vary))):
            if is_given and not prove:
                raise UsageError(f"{name}: has no effect without --prove, in Python prove=True")
        arm = RunSettings.of(vary=tuple(vary)).vary
        with uncollected():
            source = load_source(suite)
        chosen = select_tasks(source.suite, Selection(ids=tuple(patterns)))
        ids = {task.id for task in chosen}
        severity = Severity.ERROR if prove and not arm else Severity.WARNING

        def gamed() -> tuple[Finding, ...]:
            with uncollected():
                return attacked(source.suite, source, severity, ids)

        # The engine that knows the tables has threads: nothing is begun in a copy after it.
        found_gamed = begun(gamed)
        tables = await known_tables(source.suite.tasks, self._opened.registry)
        with uncollected():
            findings = [*lint_suite(source.suite, self._opened.registry, source, tables, ids)]
        plays = prove and not any(one.is_error for one in findings)
        findings += found_gamed()
        if plays:
            from orchestrator.authoring.proof.prover import Prover

            prover = Prover(
                registry=self._opened.registry,
                engine=await self._opened.engine(),
                on_event=self._opened.on_event,
                workers=workers or PROOF_WORKERS,
                vary=arm,
            )
            prove_all = prover.prove_in_arm if arm else prover.prove
            findings += await prove_all(source, chosen)
        return LintReport(
            suite=source.suite.suite,
            tasks=chosen,
            findings=tuple(findings),
            is_proven=plays,
            arm=arm_label(arm) if plays else None,
            notes=(
                *unproved(source, chosen),
                *await absent_golds(source, chosen, self._opened.registry),
            ),
        )

    def repair(
        self,
        suite: str,
        patterns: Sequence[str] = (),
        *,
        origins: str = "live",
        accept: bool = False,
        history: Path | str | None = None,
    ) -> SuiteRepair:
        """Propose new names and values for tasks that the canary found drifted, as a diff.

        Nothing is changed unless `accept` is said. Then the files are rewritten, each changed
        task's `revision` and the suite's `version` go up by one, and nothing else changes.

        Args:
            suite: as in `read`; by its path where it is to be changed.
            patterns: only these tasks.
            origins: what was looked at: `live`, `staged`, `resolved` or `replica`.
            accept: write the changes.
            history: as in `Arena.canary`.

        Raises:
            UsageError: no such origins, or a shipped suite is to be changed.
            UnknownNameError, TaskError: as in `tasks`; or what was changed is not what was shown.
            StoreError: there is no history, or a file cannot be written.
        """
        from orchestrator.api.repairs import repair_suite

        folder = None if history is None else Path(history)
        return repair_suite(suite, patterns, origins=origins, accept=accept, history=folder)

    async def instantiate(
        self, suite: str, *, seed: int, out: Path, workers: int | None = None
    ) -> Suite:
        """Write a suite with the tasks that a seed draws, and what their checks expect.

        Where a check's value is `{computed}`, the task's world is set up and asked for it. What
        leaves no difference to a wrong key, or no margin, is drawn again.

        Args:
            suite: the name or path of a suite with templates that draw.
            seed: what they draw from; equal seeds draw equal tasks.
            out: the new suite's file, which names it; one that was drawn before is replaced.
            workers: how many worlds are asked side by side; 2 where omitted.

        Raises:
            UnknownNameError: there is no such suite.
            UsageError: `out` cannot be written or is a file of yours.
            TaskError: the suite is wrong, draws nothing, or a value cannot be computed.
            ArenaError: the machine could not play the sites.
        """
        from orchestrator.api.drawn_suites import AskedSites
        from tasks.imports.suite_file import require_writable, suite_name, write_suite
        from tasks.instances import MARK, instances_text
        from tasks.near_misses import drawn_apart

        name = suite_name(out)
        require_writable(out, MARK)
        async with AskedSites.of(self._opened, workers or PROOF_WORKERS) as sites:
            filled = await drawn_apart(suite, seed, sites.ask)
        images = await self._images_of(filled)
        write_suite(instances_text(filled, name, f"{suite} --seed {seed}", images), out, MARK)
        return self.read(str(out))

    async def _images_of(self, suite: Suite) -> dict[str, str]:
        """Return, by its tag, the id of each image of a suite's sites that is here."""
        engine = await self._opened.engine()
        names = {site for task in suite.tasks for site in task.sites}
        tags = [self._opened.registry.sites[name].image.tag for name in sorted(names)]
        found = {tag: await engine.image(tag) for tag in tags}
        return {tag: image.id for tag, image in found.items() if image is not None}

    def seal(self, suite: Path, out: Path) -> Path:
        """Write a suite's file encrypted, by the key in the variable `ARENA_SUITE_KEY`.

        Every method that takes a suite takes the sealed file where that variable is set.

        Args:
            suite: the suite's file.
            out: the sealed one, which ends in `.sealed`; one that was sealed before is replaced.

        Raises:
            UsageError: there is no key, it is too short, or `out` cannot be written.
            TaskError: the file is no suite.
        """
        from tasks.imports.suite_file import write_suite
        from tasks.sealed import ENDING, MARK, sealed

        if out.suffix != ENDING:
            raise UsageError(f"--out: {out} must end in {ENDING}: it becomes a sealed suite")
        self.read(str(suite))
        write_suite(sealed(suite.read_text(encoding="utf-8")), out, MARK)
        return out

    def difficulty(self, runs: Sequence[Path | str]) -> tuple[TemplateRecord, ...]:
        """Say how often agents solved each template in runs, and so which are spent.

        A template counts with all its instances, in whichever suite and by whichever seed.

        Args:
            runs: folders of runs; reference agents and people are left out.

        Raises:
            StoreError: a run cannot be read.
        """
        from orchestrator.analysis.spent import template_records
        from orchestrator.runs.store.rescoring import rescore
        from orchestrator.runs.store.run_folder import RunFolder

        # A run that is named twice has not solved anything twice.
        folders = [
            RunFolder.open(one) for one in dict.fromkeys(Path(run).resolve() for run in runs)
        ]
        return template_records((one.lock().agent, rescore(one)) for one in folders)

    def export_harbor(
        self,
        suite: str,
        out: Path,
        patterns: Sequence[str] = (),
        *,
        world: str = "offline",
        image: str | None = None,
        arena_image: str | None = None,
    ) -> HarborFolders:
        """Write tasks as Harbor reads them, to be played on a running `arena serve` or by itself.

        Args:
            suite: as in `read`.
            out: a folder that does not exist yet, or is empty.
            patterns: as in `tasks`.
            world: that they are played in.
            image: what all containers are built from; `python:3.12-slim-bookworm` where omitted.
            arena_image: an image with Arena in it: each trial then has sites of its own, and
                needs no `arena serve`.

        Returns:
            The folders, one a task, and which tasks were left out, with the reason.

        Raises:
            UsageError: `out` or an image is wrong, or none of the tasks can be played so.
            UnknownNameError, TaskError: as in `tasks`.
        """
        from arena_core.worlds import read_world
        from orchestrator.export.harbor import IMAGE, Beside, write_harbor

        tasks = self.tasks(suite, patterns)
        face = read_world(world)
        beside = None if arena_image is None else Beside(arena_image, self._opened.registry)
        read = self.read(suite)
        return write_harbor(
            read, suite, tasks, out, world=face, image=image or IMAGE, beside=beside
        )


def _fitting(suite: Suite, pattern: str) -> tuple[Task, ...]:
    from tasks.loader import Selection, select_tasks

    return select_tasks(suite, Selection(ids=(pattern,)))


async def refuse_faulty(
    suite: str, source: SuiteSource, tasks: Sequence[Task], registry: SiteRegistry
) -> None:
    """Refuse a run of tasks with mistakes, before anything is started for it.

    Args:
        suite: its name or path, as it was given.
        source: where its tasks are written.
        tasks: those that are to be played.
        registry: the sites there are.

    Raises:
        TaskError: naming file and line of the first mistakes.
    """
    errors = await _errors(source, tasks, registry)
    if not errors:
        return
    shown = "; ".join(_said(error) for error in errors[:_SHOWN])
    more = f"; and {len(errors) - _SHOWN} more" if len(errors) > _SHOWN else ""
    raise TaskError(f"{shown}{more}", hint=f"nothing was played; arena tasks lint {suite}")


async def warn_of_faults(
    suite: Suite, tasks: Sequence[Task], registry: SiteRegistry, on_event: OnArenaEvent
) -> None:
    """Name the mistakes of tasks of a run that goes on; what they keep from playing is unscored."""
    from tasks.sources import SuiteSource

    errors = await _errors(SuiteSource(suite), tasks, registry)
    for error in errors[:_SHOWN]:
        on_event(WarningNote(_said(error)))
    if len(errors) > _SHOWN:
        on_event(WarningNote(f"and {len(errors) - _SHOWN} mistakes more"))


async def _errors(
    source: SuiteSource, tasks: Sequence[Task], registry: SiteRegistry
) -> list[Finding]:
    from orchestrator.authoring.proof.site_data import known_tables
    from tasks.lint.linter import lint_suite

    chosen = {task.id for task in tasks}
    tables = await known_tables(tasks, registry)
    found = await asyncio.to_thread(lint_suite, source.suite, registry, source, tables, chosen)
    return [one for one in found if one.is_error]


def _said(error: Finding) -> str:
    return f"{error.where}: task '{error.task}': {error.message}"
