"""Rules on what proves a task: keys that are computed, and changes that are seen whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Final

from arena_core.worlds import World
from evaluators.checks import Check, Computed
from evaluators.fields import When
from evaluators.lint import Location, TaskFault, warning
from evaluators.locators.base import Subject
from evaluators.values.json_path import json_path_fault
from sites.registry import SiteRegistry
from sites.upstreams import Upstream, api_login_fault, sql_fault, upstream_of
from tasks.lint.selectors import selector_fault
from tasks.lint.sql import engine_of, select_fault
from tasks.schema import Family, Suite, Task, located_checks

FIRST_ROW: Final = "first-row"  # the wrong key that every check with a margin has


def proof_faults(task: Task, registry: SiteRegistry) -> Iterator[TaskFault]:
    """Yield keys that cannot be computed as they say, and what nothing proves."""
    for at, check in located_checks(task):
        for place, asked in check.asked:
            yield from _computed((*at, *place), asked, check.worlds, task, registry)
        yield from _near_misses(at, check)
    for number, need in enumerate(task.needs):
        if need.asked is not None:
            yield from _computed(("needs", number), need.asked, task.worlds, task, registry)
    if World.OFFLINE in task.worlds:
        yield from _uncomputed(task)
        yield from _unproven_change(task, registry)


def lone_instances(suite: Suite) -> Iterator[tuple[int, TaskFault]]:
    """Yield, by the number of its task, each template that has one instance: a sibling is missing.

    A template's answers are proven against each other's.
    """
    counts = Counter(task.template for task in suite.tasks)
    for number, task in enumerate(suite.tasks):
        if task.template is not None and counts[task.template] == 1:
            message = f"template '{task.template}' has one instance: it needs siblings to differ"
            yield number, warning(("template",), message)


def _near_misses(at: Location, check: Check) -> Iterator[TaskFault]:
    """Yield wrong keys that are asked like the key or like each other, and a margin without one."""
    known = {_question(check.computed): "the key"} if check.computed else {}
    names = set[str]()
    for number, wrong in enumerate(check.wrong_keys):
        place = (*at, "wrong_keys", number)
        if wrong.name in names:
            yield TaskFault((*place, "name"), f"two wrong keys are called '{wrong.name}'")
        names.add(wrong.name)
        same = known.setdefault(_question(wrong), f"wrong key '{wrong.name}'")
        if same != f"wrong key '{wrong.name}'":
            yield TaskFault(place, f"wrong key '{wrong.name}' is asked for just like {same}")
    if check.margin is not None and FIRST_ROW not in names:
        message = (
            f"a key with a margin has a wrong key '{FIRST_ROW}': what stands first in the list"
        )
        yield TaskFault((*at, "margin"), f"{message} that the site shows must not be the answer")


def _question(asked: Computed) -> str:
    """Return what is asked as text, however its white space is written."""
    fields = asked.model_dump(exclude={"name", "best", "by"}, exclude_none=True)
    return " ".join(str(sorted(fields.items())).replace("\\n", " ").split())


def _computed(
    at: Location,
    computed: Computed,
    worlds: Collection[World],
    task: Task,
    registry: SiteRegistry,
) -> Iterator[TaskFault]:
    if at[0] == "requires":
        yield TaskFault(at, "what a task requires is compared with nothing that could be computed")
        return
    if World.OFFLINE not in set(worlds) & set(task.worlds):
        yield TaskFault(
            at, "computed on replicas, but the check does not apply in the offline world"
        )
    if computed.site not in task.sites:
        yield TaskFault(
            (*at, "site"), f"asks '{computed.site}', which is not one of the task's sites"
        )
        return
    site = registry.sites.get(computed.site)
    if site is None:
        return
    replica = upstream_of(site, World.OFFLINE)
    yield from _asked_of_pages(at, computed, replica)
    if computed.sql is None:
        return
    fault = sql_fault(replica)
    if fault:
        yield TaskFault((*at, "site"), fault)
    fault = select_fault(computed.sql, engine_of(site))
    if fault:
        yield TaskFault((*at, "sql"), fault)


def _asked_of_pages(at: Location, computed: Computed, replica: Upstream) -> Iterator[TaskFault]:
    """Yield what keeps a value from being read from a page or a JSON answer."""
    if computed.selector is not None:
        fault = selector_fault(computed.selector)
        if fault:
            yield TaskFault((*at, "selector"), fault)
    if computed.json_path is not None:
        fault = json_path_fault(computed.json_path)
        if fault:
            yield TaskFault((*at, "json_path"), fault)
    if computed.role is not None:
        fault = api_login_fault(replica, computed.role)
        if fault:
            yield TaskFault((*at, "role"), fault)


def _uncomputed(task: Task) -> Iterator[TaskFault]:
    if task.family is Family.UNACHIEVABLE:
        return
    for number, check in enumerate(task.checks):
        is_key = check.locate.subject is Subject.ANSWER and World.OFFLINE in check.worlds
        if is_key and check.computed is None:
            message = f"check '{check.name}' has a key that nothing computes"
            yield warning(("checks", number), f"{message}: a wrong one would not be noticed")


def _unproven_change(task: Task, registry: SiteRegistry) -> Iterator[TaskFault]:
    """Yield content tasks on databases whose change is not seen by row and as a whole."""
    named = (registry.sites.get(name) for name in task.sites)
    if task.family is not Family.CONTENT or not any(site and site.database for site in named):
        return
    seen = {one.locate.subject for one in task.checks_in(World.OFFLINE) if one.when is When.END}
    wanted = (("db", Subject.ROWS), ("db_delta", Subject.CHANGES))
    missing = [by for by, subject in wanted if subject not in seen]
    if missing:
        message = f"no end check by {' and none by '.join(missing)} in the offline world"
        yield warning(("checks",), f"{message}: what was changed is not proven whole")
