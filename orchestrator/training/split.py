"""Which tasks are kept for tests: those that a file names, and all of the same templates."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from pydantic import Field

from arena_core.errors import InputError, UnknownNameError
from orchestrator.training.rollouts import template_of
from sites.documents import open_document, validated
from sites.fields import Strict
from tasks.schema import Suite, Task

_SHOWN: Final = 5


class SplitFile(Strict):
    """What a split file may say.

    Attributes:
        test: ids of the tasks kept for tests, or patterns with `*` and `?`; `SUITE/ID` where
            several suites have tasks of one name.
        train: the only tasks to take, in the same form; all that are not kept for tests where it is
            empty.
    """

    test: tuple[str, ...] = Field(min_length=1)
    train: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Says of each task of some suites whether it may be trained on.

    Attributes:
        digest: SHA-256 of the file.
        test, kin, outside: `SUITE/ID` of the tasks that the file keeps for tests; of those that are
            no test tasks but instances of the same templates or ask for the same on the same pages;
            and of those that it does not name for training.
    """

    name: str
    digest: str
    test: frozenset[str]
    kin: frozenset[str]
    outside: frozenset[str]

    def refuses(self, suite: str, task: Task) -> str | None:
        """Return why a task may not be trained on; None where it may."""
        name = f"{suite}/{task.id}"
        if name in self.test:
            return "is a test task of the split"
        if name in self.kin:
            return "is an instance of the same template as a test task of the split"
        return "is no training task of the split" if name in self.outside else None


def read_split(path: Path, suites: Iterable[Suite]) -> Split:
    """Read a split file (YAML or JSON) and apply it to suites.

    Raises:
        InputError: the file cannot be read, says something else, or names a task for both.
        UnknownNameError: an id or pattern fits no task of the suites.
    """
    document = open_document(path, InputError)
    said = validated(document, SplitFile, InputError)
    named = tuple(_distinct(suites))
    test, train = _fitting(path, said.test, named), _fitting(path, said.train, named)
    both = sorted(set(test) & set(train))
    if both:
        message = f"{path}: names for training and for tests: {_few(both)}"
        raise InputError(message)
    templates = {(suite, template_of(task)) for name, suite, task in named if name in test}
    asked = {_asked(task) for name, _, task in named if name in test}
    kin = {
        name
        for name, suite, task in named
        if name not in test and ((suite, template_of(task)) in templates or _asked(task) in asked)
    }
    left = {name for name, _, _ in named} - test - kin
    return Split(
        name=path.name,
        digest=hashlib.sha256(path.read_bytes()).hexdigest(),
        test=frozenset(test),
        kin=frozenset(kin),
        outside=frozenset(left - train if said.train else ()),
    )


def _distinct(suites: Iterable[Suite]) -> Iterable[tuple[str, str, Task]]:
    """Yield `SUITE/ID`, suite and task; a suite that several runs kept is looked at each time."""
    for suite in suites:
        for task in suite.tasks:
            yield f"{suite.suite}/{task.id}", suite.suite, task


def _fitting(
    path: Path, patterns: Sequence[str], named: Sequence[tuple[str, str, Task]]
) -> set[str]:
    """Return the tasks that ids and patterns name; each must name one."""
    found: set[str] = set()
    unknown: list[str] = []
    for pattern in patterns:
        whole = pattern if "/" in pattern else f"*/{pattern}"
        fits = {name for name, _, _ in named if fnmatchcase(name, whole)}
        found |= fits
        unknown += [] if fits else [pattern]
    if unknown:
        suites = ", ".join(sorted({suite for _, suite, _ in named}))
        message = f"{path}: names no task of {suites or 'any suite'}: {_few(unknown)}"
        hint = "a split that keeps nothing for tests by a slip of the pen would be worse"
        raise UnknownNameError(message, hint=hint)
    return found


def _asked(task: Task) -> tuple[object, ...]:
    """Return what makes two tasks the same question, whatever they are called."""
    # Of a page of MiniWoB++ the seed makes the problem, and the template is the page.
    wob = None if task.wob is None else (task.wob.page, task.wob.seed)
    return (" ".join((task.prompt or task.intent).split()).casefold(), task.start_pages, wob)


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"
