"""The part of `Arena` about suites and tasks: list them, lint them, prove them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from arena_core.errors import UsageError
from orchestrator.api.opened import OpenArena

if TYPE_CHECKING:
    from tasks.findings import Finding
    from tasks.schema import Suite, Task

DEMO: Final = "demo"
PROOF_WORKERS: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport:
    """What linting a suite found.

    Attributes:
        suite: its name.
        tasks: those that were looked at.
        findings: mistakes and warnings, in the order of the tasks.
        is_proven: whether the references were played as well.
        notes: which tasks have no second right path, and which no written detour to prove them by.
    """

    suite: str
    tasks: tuple[Task, ...]
    findings: tuple[Finding, ...]
    is_proven: bool
    notes: tuple[Finding, ...] = ()

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings for which `arena eval` would refuse to play."""
        return tuple(one for one in self.findings if one.is_error)

    @property
    def without_reference(self) -> tuple[str, ...]:
        """The tasks that cannot be proved at all."""
        return tuple(one.id for one in self.tasks if one.reference is None and one.wob is None)


class SuiteOperations(OpenArena):
    """Lists, lints and proves suites and their tasks."""

    def suites(self) -> tuple[str, ...]:
        """Return the names of the suites that travel with Arena, sorted."""
        from tasks.loader import suite_names

        return suite_names()

    def suite(self, name: str = DEMO) -> Suite:
        """Read a suite.

        Args:
            name: of a shipped suite, or the path of a YAML file or folder; a MiniWoB++ suite may be
                followed by `@` and seeds (`miniwob-56@1-10`).

        Raises:
            UnknownNameError: there is no such suite.
            TaskError: it is wrong: file, line, field, and what is allowed.
        """
        from sites.atlas import own_site_folders
        from tasks.loader import load_suite

        if self._folders is None:
            own_site_folders()  # a variable that names no folder is reported here as everywhere
        return load_suite(name)

    def tasks(self, suite: str = DEMO, patterns: Sequence[str] = ()) -> tuple[Task, ...]:
        """Return tasks of a suite, in its order.

        Args:
            suite: as in `suite`.
            patterns: task ids, or patterns with `*` and `?`; all tasks where none is given.

        Raises:
            UnknownNameError: no such suite, or a pattern fits no task.
            TaskError: the suite is wrong.
        """
        from tasks.select import Selection, select_tasks

        return select_tasks(self.suite(suite), Selection(ids=tuple(patterns)))

    def task(self, name: str) -> Task:
        """Return one task by `suite/task`, for example `demo/shop-latest-order-total`.

        The suite may be a path: `my/suite.yaml/my-task`. The task may be a pattern that fits one.

        Raises:
            UnknownNameError: no such suite or task.
            UsageError: the name has no suite, or fits several tasks.
            TaskError: the suite is wrong.
        """
        return self._suite_and_task(name)[1]

    async def lint(
        self,
        suite: str = DEMO,
        patterns: Sequence[str] = (),
        *,
        prove: bool = False,
        workers: int | None = None,
    ) -> LintReport:
        """Check a suite for mistakes; with `prove`, also play each reference.

        A proof shows that a task is solvable, and by nothing less. It is left out where the static
        lint finds errors already. Answers without content that an answer check accepts are
        warnings; with `prove` they are errors.

        Args:
            suite: as in `suite`.
            patterns: only these tasks.
            prove: play the references too, live origins staged; needs Docker and Chromium.
            workers: with `prove`, references of a world played side by side; 2 where omitted.

        Raises:
            UsageError: `workers` without `prove`.
            UnknownNameError, TaskError: as in `tasks`.
            ArenaError: the machine could not play the proof.
        """
        from evaluators.linting import Severity
        from orchestrator.proof.other_paths import unproved
        from orchestrator.proof.tables import known_tables
        from tasks.gaming import attacked
        from tasks.lint import lint_suite
        from tasks.loader import load_source
        from tasks.select import Selection, select_tasks

        if workers is not None and not prove:
            message = "workers: has no effect without --prove, in Python prove=True"
            raise UsageError(message)
        source = load_source(suite)
        tables = await known_tables(source.suite.tasks, self.atlas)
        chosen = select_tasks(source.suite, Selection(ids=tuple(patterns)))
        ids = {task.id for task in chosen}
        found = lint_suite(source.suite, self.atlas, source, tables)
        findings = [one for one in found if one.task in ids]
        plays = prove and not any(one.is_error for one in findings)
        severity = Severity.ERROR if prove else Severity.WARNING
        gamed = attacked(source.suite, source, severity)
        findings += [one for one in gamed if one.task in ids]
        if plays:
            from orchestrator.proof.prover import Prover

            prover = Prover(
                atlas=self.atlas,
                engine=await self._engine(),
                on_event=self._on_event,
                workers=workers or PROOF_WORKERS,
            )
            findings += await prover.prove(source, chosen)
        return LintReport(
            suite=source.suite.suite,
            tasks=chosen,
            findings=tuple(findings),
            is_proven=plays,
            notes=unproved(source, chosen),
        )

    def _suite_and_task(self, name: str) -> tuple[Suite, Task]:
        suite_name, slash, task = name.rpartition("/")
        if not slash or not suite_name or not task:
            message = f"'{name}' is no task's name: its suite is missing"
            raise UsageError(message, hint="name it SUITE/TASK: demo/shop-latest-order-total")
        suite = self.suite(suite_name)
        found = [one for one in suite.tasks if one.id == task]
        if not found:
            found = list(_fitting(suite, task))
        if len(found) > 1:
            names = ", ".join(one.id for one in found)
            message = f"'{task}' fits {len(found)} tasks: {names}"
            raise UsageError(message, hint="name one of them")
        return suite, found[0]


def _fitting(suite: Suite, pattern: str) -> tuple[Task, ...]:
    from tasks.select import Selection, select_tasks

    return select_tasks(suite, Selection(ids=(pattern,)))
