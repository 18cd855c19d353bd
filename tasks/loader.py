"""Suites by name or path, those shipped with Arena and your own, and a selection of their tasks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import Field

from arena_core.errors import TaskError, UnknownNameError
from arena_core.names import listed, offered
from evaluators.fields import Slug
from tasks.miniwob import read_seeds
from tasks.schema import Family, Suite, Task
from tasks.sealed import ENDING
from tasks.sources import (
    HEAD,
    NOT_ASKED,
    DrawnFrom,
    Importer,
    Prepare,
    SuiteSource,
    read_source,
    rows_of_templates,
)
from tasks.templates import RowsOfSite

_SHIPPED = Path(__file__).parent / "suites"
_TEMPLATES = "templates"  # the folder of suites that only `arena tasks instantiate` reads
_ENDINGS = frozenset({".yaml", ".yml", ENDING})


def suite_names() -> tuple[str, ...]:
    """Return the names of the suites that ship with Arena."""
    files = (path.stem for path in _SHIPPED.glob("*.yaml"))
    folders = (path.parent.name for path in _SHIPPED.glob(f"*/{HEAD}"))
    return tuple(sorted((*files, *folders)))


def suite_path(name_or_path: str) -> Path:
    """Return the file or folder of a suite.

    Args:
        name_or_path: a shipped suite's name, or the path of a YAML file or of a folder of them;
            what ends in .yaml or .yml or holds a slash is a path, and so is the name of a file or
            folder here that no shipped suite has. A file inside a suite's folder stands for its own
            tasks alone. `templates/NAME` are the shipped templates that a seed draws NAME from.
    """
    path = Path(name_or_path)
    shipped = _SHIPPED / path
    if path.parts[:1] == (_TEMPLATES,) and not path.exists() and (shipped / HEAD).is_file():
        return shipped
    exists = os.path.exists(path)  # noqa: PTH110  Path.exists raises where a name is too long
    is_path = path.suffix in _ENDINGS or os.sep in name_or_path or path.parts in {(".",), ("..",)}
    if is_path or (name_or_path not in suite_names() and exists):
        is_folder = exists and path.is_dir()
        if (exists and not is_folder) or (is_folder and (path / HEAD).is_file()):
            return path  # whoever opens it says what it is
        message = f"suite file '{name_or_path}' does not exist"
        if is_folder:
            message = f"the folder '{name_or_path}' is no suite: it has no {HEAD}"
        raise UnknownNameError(message, hint=f"shipped suites: {listed(suite_names())}")
    if name_or_path not in suite_names():
        message = f"unknown suite '{name_or_path}'; {offered(name_or_path, suite_names())}"
        raise UnknownNameError(message, hint="a suite of your own is named by its path: my.yaml")
    folder = _SHIPPED / name_or_path
    return folder if folder.is_dir() else _SHIPPED / f"{name_or_path}.yaml"


def suite_beside(named: str, file: Path) -> str:
    """Return a suite's path as seen from here, where a file names it from its own folder."""
    if named.partition("@")[0] in suite_names() or Path(named).is_absolute():
        return named
    beside = str(file.parent / named)
    exists = os.path.exists(beside.partition("@")[0])  # noqa: PTH110  as in `suite_path`
    return beside if exists else named


def load_source(
    name_or_path: str,
    prepare: Prepare | None = None,
    drawn: DrawnFrom = NOT_ASKED,
) -> SuiteSource:
    """Read a suite by its name or path, with the place of each task.

    Args:
        name_or_path: as in `suite_path`. A suite of MiniWoB++ pages, with templates that draw, or
            with cases in `manners`, may be followed by `@` and other seeds than it names:
            `miniwob@4711`, `my.yaml@1-10`.
        prepare, drawn: as in `read_source`.
    """
    name, seeds = _seeded(name_or_path)
    path = suite_path(name)
    source = read_source(path, seeds, prepare, drawn)
    if path.parent == _SHIPPED and source.suite.suite != path.stem:
        head = path / HEAD if path.is_dir() else path
        message = f"{head}:1: suite: must equal the name of its file or folder"
        message += f" (found '{source.suite.suite}')"
        raise TaskError(message)
    return source


def rows_to_ask(name_or_path: str) -> dict[str, RowsOfSite]:
    """Return, by the id of a template, the rows that it draws from; errors as in `load_source`."""
    return rows_of_templates(suite_path(_seeded(name_or_path)[0]))


def load_suite(name_or_path: str) -> Suite:
    """Read a suite by its name or path; errors are as in `load_source`."""
    return load_source(name_or_path).suite


class IncludedTasks(Importer):
    """Tasks of a suite that ships with Arena, as they are there: no second copy that could differ.

    Attributes:
        suite: its name.
        tasks_of_it: ids, in the order in which they are wanted; all of them where none is named.
    """

    suite: Slug
    tasks_of_it: tuple[Slug, ...] = Field(default=(), alias="tasks")

    def tasks(self, seeds: tuple[int, ...] | None = None) -> Iterator[Mapping[str, object]]:
        """Yield the tasks with all that their own suite says of them."""
        if seeds is not None:
            raise ValueError("no seed changes tasks that are included from another suite")
        if self.suite not in suite_names():
            raise ValueError(
                f"no shipped suite '{self.suite}'; {offered(self.suite, suite_names())}"
            )
        there = {task.id: task for task in load_suite(self.suite).tasks}
        for name in self.tasks_of_it or there:
            if name not in there:
                raise ValueError(f"no task '{name}' in '{self.suite}'; {offered(name, there)}")
            yield there[name].model_dump(mode="json", exclude_unset=True)


def _seeded(name_or_path: str) -> tuple[str, tuple[int, ...] | None]:
    name, at, seeds = name_or_path.rpartition("@")
    if not at or os.path.exists(name_or_path):  # noqa: PTH110  as in `suite_path`
        return name_or_path, None
    try:
        return name, read_seeds(seeds)
    except ValueError as cause:
        message = f"'{name_or_path}': after @ come seeds, such as 7, 1-5 or 1,4,4711"
        raise UnknownNameError(message) from cause


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which tasks are wanted; what is left empty does not narrow the choice.

    Attributes:
        ids: task ids, or patterns of them with `*` and `?`.
        families: kinds of work.
        sites: only tasks that use at least one of these sites.
    """

    ids: tuple[str, ...] = ()
    families: frozenset[Family] = frozenset()
    sites: frozenset[str] = frozenset()


def select_tasks(suite: Suite, selection: Selection) -> tuple[Task, ...]:
    """Return the wanted tasks, in the order of the suite."""
    _refuse_unknown(suite, selection)
    chosen = tuple(task for task in suite.tasks if _is_wanted(task, selection))
    if not chosen:
        message = f"no task of suite '{suite.suite}' fits all of what was asked for"
        raise UnknownNameError(message, hint="arena tasks list shows ids, families and sites")
    return chosen


def _is_wanted(task: Task, selection: Selection) -> bool:
    return (
        (not selection.ids or any(fnmatchcase(task.id, pattern) for pattern in selection.ids))
        and (not selection.families or task.family in selection.families)
        and (not selection.sites or not selection.sites.isdisjoint(task.sites))
    )


def _refuse_unknown(suite: Suite, selection: Selection) -> None:
    ids = [task.id for task in suite.tasks]
    missing = [
        f"no task '{pattern}' in suite '{suite.suite}'; {offered(pattern, ids)}"
        for pattern in selection.ids
        if not any(fnmatchcase(task, pattern) for task in ids)
    ]
    used = {site for task in suite.tasks for site in task.sites}
    missing += [
        f"no task of suite '{suite.suite}' uses site '{site}';"
        f" {offered(site, used, intro='used are')}"
        for site in sorted(selection.sites - used)
    ]
    if missing:
        raise UnknownNameError("; ".join(missing))
