"""Drawn tasks written out: what their checks expect is asked of a site once its world is set up."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, cast

from pydantic import ValidationError

from arena_core.errors import TaskError
from arena_core.worlds import World
from evaluators.checks import Check, Computed, match
from evaluators.fields import When
from evaluators.locators.api import ApiLocator
from evaluators.locators.base import Locator
from evaluators.locators.db import DbLocator
from evaluators.locators.page import PageLocator
from evaluators.values.text import shown_all
from sites.faults import mistakes
from tasks.imports.suite_file import suite_yaml
from tasks.loader import load_source, rows_to_ask
from tasks.schema import Suite, Task
from tasks.sources import NOT_ASKED, DrawnFrom
from tasks.templates import COMPUTED, RowsOfSite


def lookup_of(check: Check, asked: Computed, name: str) -> Check:
    """Return the check that finds, under a name of its own, what is asked for another one."""
    changes = {"name": name, "when": When.END, "locate": _locate(asked)}
    return check.model_copy(update=changes)


def computed_fault(check: Check, values: Sequence[str]) -> str | None:
    """Say why a check does not expect what was computed for it; None where it does."""
    found = check.computed.read(tuple(values)) if check.computed else tuple(values)
    wanted = check.match.computed_counts()
    if len(found) not in wanted:
        asked = " or ".join(map(str, sorted(wanted)))
        return f"computed are {len(found)} values, wanted {asked}: {shown_all(found) or 'nothing'}"
    matched = match(check, as_located(check, found), World.OFFLINE)
    return None if matched.met else f"computed is another value: {matched.reason}"


def _locate(computed: Computed) -> Locator:
    site = computed.site
    if computed.sql is not None:
        return DbLocator(site=site, sql=computed.sql)
    if computed.path is not None:
        return ApiLocator(
            site=site, path=computed.path, role=computed.role, json_path=computed.json_path
        )
    return PageLocator(
        at=f"{site}:{computed.page}",
        selector=computed.selector or "",
        attribute=computed.attribute,
    )


def as_located(check: Check, values: Sequence[str]) -> tuple[str, ...]:
    """Return values as the check's own locator would yield them: pages in their one form."""
    return tuple(check.locate.expected_form(value, is_whole=True) for value in values)


ROWS: Final = "rows"
MARK: Final = "# Drawn by `arena tasks instantiate"
# A model that can recite this was trained on Arena's suites.
CANARY: Final = "arena-suites 23724e2e-017b-4440-9f59-f5048e111b4e"
_LATER: Final = f"{{{COMPUTED}}}"
_UNKNOWN: Final = "?"
_OLD: Final = "then_from"  # as digests of suites have it
# Goes with every locator: a check that is only asked needs a matcher, and compares nothing yet.
_ANY: Final = {"how": "exact", "value": _UNKNOWN}
_WORDINGS: Final = ("says", "says_not")
_WAYS: Final = ("reference", "other_paths", *_WORDINGS)


@dataclass(frozen=True, slots=True)
class OpenSuite:
    """A suite whose checks may still lack what they expect.

    Attributes:
        suite: its drawn tasks are whole, but for those checks.
        matchers: of these checks, by task and check, as they are written.
        ways: by task, the reference, other paths and wordings that say what such a check expects.
    """

    suite: Suite
    matchers: Mapping[tuple[str, str], Mapping[str, object]]
    ways: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    @property
    def asked(self) -> tuple[Task, ...]:
        """The tasks that have such checks, and those drawn that have near misses or needs."""
        names = {task for task, _ in self.matchers}
        return tuple(
            task
            for task in self.suite.tasks
            if task.id in names
            or (task.template and task.needs)
            or (task.template and any(one.wrong_keys or one.margin for one in task.checks))
        )

    def filled(self, found: Mapping[tuple[str, str], Sequence[str]]) -> Suite:
        """Return the suite with what was found as what its checks expect.

        Args:
            found: by task and check, the values that `computed` yields before anything is done.

        Raises:
            TaskError: what was found is not one value that the check can expect.
        """
        return self.suite.model_copy(
            update={"tasks": tuple(self._task(task, found) for task in self.suite.tasks)}
        )

    def _task(self, task: Task, found: Mapping[tuple[str, str], Sequence[str]]) -> Task:
        checks = tuple(self._checks(task, found))
        if task.id in self.ways:
            task = _answering(task, self.ways[task.id], self.matchers, found)
        return task.model_copy(update={"checks": checks})

    def _checks(
        self, task: Task, found: Mapping[tuple[str, str], Sequence[str]]
    ) -> Iterator[Check]:
        for check in task.checks:
            key = task.id, check.name
            if key in self.matchers:
                yield _expecting(task, check, self.matchers[key], found[key])
            else:
                yield check


@dataclass(slots=True)
class _HeldBack:
    """Puts stand-ins for matchers and answers that have no value yet, and keeps those."""

    matchers: dict[tuple[str, str], Mapping[str, object]] = field(default_factory=dict)
    ways: dict[str, Mapping[str, object]] = field(default_factory=dict)

    def __call__(self, task: object) -> object:
        if not isinstance(task, Mapping) or not isinstance(task.get("checks"), list):
            return task
        before = len(self.matchers)
        held = {**task, "checks": [self._check(task, check) for check in task["checks"]]}
        ways = {name: task[name] for name in _WAYS if _mentions(task.get(name), _LATER)}
        held |= _answered(ways, _UNKNOWN)
        if _mentions(held, _LATER):
            message = f"'{task.get('id')}': '{_LATER}' stands only as the `value` of a check"
            message += " that says where it is `computed`, in an `answer`, and in a wording"
            raise TaskError(message)
        if ways:
            if len(self.matchers) != before + 1:
                message = f"'{task.get('id')}': '{_LATER}' in an `answer` needs one check"
                raise TaskError(
                    f"{message} with that `value`, and it has {len(self.matchers) - before}"
                )
            self.ways[str(task.get("id"))] = ways
        return held

    def _check(self, task: Mapping[str, Any], check: object) -> object:
        if not isinstance(check, Mapping) or not isinstance(check.get("computed"), Mapping):
            return check
        match = check.get("match")
        if not isinstance(match, Mapping) or match.get("value") != _LATER:
            return check
        self.matchers[str(task.get("id")), str(check.get("name"))] = match
        return {**check, "match": _ANY}


def open_suite(name_or_path: str, seed: int, drawn: DrawnFrom = NOT_ASKED) -> OpenSuite:
    """Read a suite with the tasks that a seed draws; errors are as in `load_source`."""
    held = _HeldBack()
    source = load_source(f"{name_or_path}@{seed}", held, drawn)
    return OpenSuite(source.suite, held.matchers, held.ways)


def rows_suite(name_or_path: str) -> Suite | None:
    """Return a suite of one task a template that draws from a site's rows, to ask for them.

    Its tasks are called as the templates, and each has one check, `ROWS`; None without any such.
    """
    asked = rows_to_ask(name_or_path)
    tasks = [_rows_task(name, rows) for name, rows in asked.items()]
    if not tasks:
        return None
    return Suite.model_validate(
        {"suite": "rows", "version": 1, "title": "What templates draw from", "tasks": tasks}
    )


def _rows_task(name: str, rows: RowsOfSite) -> dict[str, object]:
    asked = {"site": rows.site, "sql": rows.sql}
    check = {"name": ROWS, "when": "end", "computed": asked, "match": _ANY}
    return {
        "id": name,
        "family": "information",
        "intent": "Which rows are there?",
        "sites": [rows.site],
        "worlds": ["offline"],
        "start": [f"{rows.site}:/"],
        "checks": [{**check, "locate": {"by": "db", **asked}}],
    }


def instances_text(
    suite: Suite, name: str, origin: str, images: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Return a suite as a file of another name holds it, and where it comes from above it.

    Args:
        images: by its tag, the id of each image whose data the tasks were drawn on.
    """
    document = suite.model_dump(mode="json", by_alias=True, exclude_unset=True)
    for path in (path for task in document["tasks"] for path in task.get("other_paths", ())):
        if _OLD in path:
            path["joins_at"] = path.pop(_OLD)
    asked = "".join(f"# Asked of {tag}, {image}.\n" for tag, image in sorted(images.items()))
    canary = f"# Keep out of training data. Canary string: {CANARY}\n"
    return f"{MARK} {origin}`.\n{canary}{asked}{suite_yaml({**document, 'suite': name})}"


def _expecting(
    task: Task, check: Check, match: Mapping[str, object], values: Sequence[str]
) -> Check:
    """Return a check that expects what was found for it."""
    computed = check.computed
    found = computed.read(tuple(values)) if computed is not None else ()
    where = f"'{task.id}', check '{check.name}'"
    if not found:
        raise TaskError(f"{where}: what it expects is computed, and nothing was found")
    value: object = found[0] if len(found) == 1 else list(found)
    expects = {**match, "value": value}
    written = {**check.model_dump(mode="json", exclude_unset=True), "match": expects}
    try:
        whole = Check.model_validate(written)
    except ValidationError as cause:
        said = mistakes(cause, cast("Any", written))[0]
        raise TaskError(f"{where}: cannot expect what was found, {value!r}: {said}") from cause
    fault = computed_fault(whole, values)
    if fault is not None:
        raise TaskError(f"{where}: {fault}")
    return whole


def _answering(
    task: Task,
    ways: Mapping[str, object],
    held: Collection[tuple[str, str]],
    found: Mapping[tuple[str, str], Sequence[str]],
) -> Task:
    """Return a task whose reference, other paths and wordings say what was found."""
    (check,) = (one for one in task.checks if (task.id, one.name) in held)
    if check.computed is None:
        raise TaskError(f"'{task.id}', check '{check.name}' says nothing of where it is computed")
    answer = ", ".join(check.computed.read(tuple(found[task.id, check.name])))
    before = task.model_dump(mode="json", by_alias=True, exclude_unset=True)
    written = {**before, **_answered(ways, answer)}
    try:
        return Task.model_validate(written)
    except ValidationError as cause:
        said = mistakes(cause, cast("Any", written))[0]
        raise TaskError(f"'{task.id}': cannot answer with '{answer}': {said}") from cause


def _answered(ways: Mapping[str, object], answer: str) -> dict[str, object]:
    """Return ways and wordings with an answer in place of what is to be computed."""

    def filled(written: object, *, is_answer: bool = False) -> object:
        match written:
            case str():
                return written.replace(_LATER, answer) if is_answer else written
            case Mapping():
                return {key: filled(one, is_answer=key == "answer") for key, one in written.items()}
            case list():
                return [filled(one, is_answer=is_answer) for one in written]
            case _:
                return written

    return {name: filled(way, is_answer=name in _WORDINGS) for name, way in ways.items()}


def _mentions(written: object, text: str) -> bool:
    match written:
        case str():
            return text in written
        case Mapping():
            return any(_mentions(one, text) for pair in written.items() for one in pair)
        case list() | tuple():
            return any(_mentions(one, text) for one in written)
        case _:
            return False
