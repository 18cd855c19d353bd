"""Which tasks are kept for tests: by their suite or a file, with all of the same templates."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from pydantic import Field

from arena_core.errors import InputError, UnknownNameError
from arena_core.names import listed, offered
from orchestrator.export.training.rollouts import template_of
from sites.documents import open_document, validated
from sites.fields import Strict
from tasks.schema import Suite, Task

TRAIN: Final = "train"

Named = Sequence[tuple[str, str, Task]]


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
        name: of the file; empty where none is given.
        digest: SHA-256 of the file.
        test, kin, outside: `SUITE/ID` of the tasks that the file keeps for tests; of those that are
            no test tasks but instances of the same templates or ask for the same on the same pages;
            and of those that it does not name for training.
        held, held_kin: of the tasks that their suites hold out themselves, and of their kin.
        taken: splits that suites hold out, and that are taken because they were asked for by name.
    """

    name: str = ""
    digest: str = ""
    test: frozenset[str] = frozenset()
    kin: frozenset[str] = frozenset()
    outside: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()
    held_kin: frozenset[str] = frozenset()
    taken: tuple[str, ...] = ()
    has_own: bool = False

    def __str__(self) -> str:
        """Name the file and what suites say, for a data card; empty where there is neither."""
        said = [f"{self.name} ({self.digest})"] if self.name else []
        if self.has_own:
            taken = f", except {', '.join(self.taken)}" if self.taken else ""
            said.append(f"the suites' own{taken}")
        return " and ".join(said)

    def refuses(self, suite: str, task: Task) -> str | None:
        """Return why a task may not be trained on; None if it may."""
        name = f"{suite}/{task.id}"
        for names, why in (
            (self.test, "is a test task of the split"),
            (self.held, "is held out by its suite's own split"),
            (self.kin, "is an instance of the same template as a test task of the split"),
            (
                self.held_kin,
                "is an instance of the same template as a task held out by its suite",
            ),
            (self.outside, "is not a training task of the split"),
        ):
            if name in names:
                return why
        return None


def read_split(path: Path | None, suites: Iterable[Suite], *, include: str | None = None) -> Split:
    """Read a split file (YAML or JSON) and apply it to suites, with what they say themselves.

    Args:
        path: of the file; None for what the suites say alone.
        suites: whose tasks may be trained on.
        include: splits of the suites that are taken although they are held out, with commas.
    """
    named = tuple(_distinct(suites))
    taken = _taken(include, named)
    held = {name for name, _, task in named if task.split not in {None, TRAIN, *taken}}
    own = Split(
        held=frozenset(held),
        held_kin=_kin(held, named),
        taken=taken,
        has_own=any(task.split is not None for _, _, task in named),
    )
    return own if path is None else _with_file(own, path, named)


def _with_file(own: Split, path: Path, named: Named) -> Split:
    document = open_document(path, InputError)
    said = validated(document, SplitFile, InputError)
    test, train = _fitting(path, said.test, named), _fitting(path, said.train, named)
    both = sorted(test & train)
    if both:
        raise InputError(f"{path}: names for training and for tests: {listed(both)}")
    kin = _kin(test, named)
    left = {name for name, _, _ in named} - test - kin
    return replace(
        own,
        name=path.name,
        digest=hashlib.sha256(path.read_bytes()).hexdigest(),
        test=frozenset(test),
        kin=kin,
        outside=frozenset(left - train if said.train else ()),
    )


def _taken(include: str | None, named: Named) -> tuple[str, ...]:
    wanted = tuple(one.strip() for one in (include or "").split(",") if one.strip())
    known = sorted({task.split for _, _, task in named if task.split is not None})
    for one in wanted:
        if one not in known:
            message = f"no task is of a split '{one}'"
            hint = offered(one, known, intro="the suites' splits")
            raise UnknownNameError(message, hint=hint)
    return wanted


def _kin(held: set[str], named: Named) -> frozenset[str]:
    """Return the tasks of the same templates, and those that ask the same on the same pages."""
    templates = {(suite, template_of(task)) for name, suite, task in named if name in held}
    asked = {_asked(task) for name, _, task in named if name in held}
    return frozenset(
        name
        for name, suite, task in named
        if name not in held and ((suite, template_of(task)) in templates or _asked(task) in asked)
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
        message = f"{path}: names no task of {suites or 'any suite'}: {listed(unknown)}"
        hint = "a split that keeps nothing for tests by a slip of the pen would be worse"
        raise UnknownNameError(message, hint=hint)
    return found


def _asked(task: Task) -> tuple[object, ...]:
    """Return what makes two tasks the same question, whatever they are called."""
    # Of a page of MiniWoB++ the seed makes the problem, and the template is the page.
    miniwob = None if task.miniwob is None else (task.miniwob.page, task.miniwob.seed)
    return (" ".join((task.prompt or task.intent).split()).casefold(), task.start_pages, miniwob)
