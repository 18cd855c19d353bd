"""Rules on a task as a whole: sites, roles, worlds, and what its family asks for."""

from __future__ import annotations

from collections.abc import Iterator

from arena_core.names import offered
from arena_core.worlds import World
from evaluators.checks import Check
from evaluators.fields import When
from evaluators.lint import Location, Severity, TaskFault, warning
from evaluators.locators.base import Locator, Subject
from evaluators.locators.network import NetworkLocator
from sites.manifest import Site
from sites.registry import WHERE_OWN_SITES_ARE, SiteRegistry
from sites.upstreams import Upstream, is_visited_live, upstream_of
from tasks.miniwob import SITE
from tasks.reference import SolveMiniWob
from tasks.schema import Family, Task


def task_faults(task: Task, registry: SiteRegistry) -> Iterator[TaskFault]:
    """Yield what is wrong with a task outside of its checks, pages and reference."""
    yield from _sites(task, registry)
    yield from _roles(task, registry)
    yield from _worlds(task)
    yield from _family(task)
    yield from _writes(task, registry)
    yield from _divergence(task)


def _sites(task: Task, registry: SiteRegistry) -> Iterator[TaskFault]:
    for number, name in enumerate(task.sites):
        if name in registry.broken and name not in registry.sites:
            message = f"site '{name}' cannot be used: {registry.broken[name].message}"
            yield TaskFault(("sites", number), message)
        elif name not in registry.sites:
            message = f"unknown site '{name}'; {offered(name, registry.sites)}"
            if task.original is not None:
                message += ": `arena site published` writes manifests of published sites, and the"
                message += " --map of `arena tasks import` names others"
            else:
                message += f" ({WHERE_OWN_SITES_ARE})"
            yield TaskFault(("sites", number), message)
        if name in task.sites[:number]:
            yield TaskFault(("sites", number), f"site '{name}' stands twice")


def _roles(task: Task, registry: SiteRegistry) -> Iterator[TaskFault]:
    for name in task.roles:
        at = ("roles", name)
        if name not in task.sites:
            yield TaskFault(at, f"a role on '{name}', which is not one of the task's sites")
        site = registry.sites.get(name)
        if site is not None:
            yield from _roles_of(task, site, at)
    yield from _start_roles(task)


def _roles_of(task: Task, site: Site, at: Location) -> Iterator[TaskFault]:
    roles = task.roles_of(site.name)
    for number, role in enumerate(roles):
        if role in roles[:number]:
            yield TaskFault(at, f"role '{role}' of site '{site.name}' stands twice")
        if role not in site.roles:
            known = offered(role, site.roles, intro="it has")
            yield TaskFault(at, f"unknown role '{role}' of site '{site.name}'; {known}")
            continue
        for world in task.worlds:
            yield from _no_login(at, role, upstream_of(site, world))


def _no_login(at: Location, role: str, upstream: Upstream) -> Iterator[TaskFault]:
    """Yield a known role that cannot log in at what answers for the site."""
    if role in upstream.roles:
        return
    message = f"the task runs online, but site '{upstream.site.name}' has no live login for"
    yield TaskFault(at, f"{message} '{role}': limit `worlds` or add live.roles.{role}")


def _start_roles(task: Task) -> Iterator[TaskFault]:
    """Yield start pages of roles that the task does not have, and roles without a start page."""
    opened = set[tuple[str, str]]()
    for number, start in enumerate(task.start):
        if isinstance(start, str):
            continue
        roles = task.roles_of(start.site)
        opened.add((start.site, start.role))
        if start.role not in roles:
            known = offered(start.role, roles, intro="it has")
            message = f"the task has no role '{start.role}' on '{start.site}'; {known}"
            yield TaskFault(("start", number, "role"), message)
        elif number == 0 and start.role != roles[0]:
            message = f"the first start page is opened as '{roles[0]}', the first role of its site"
            yield TaskFault(("start", number, "role"), f"{message}: put another page first")
    for site, role in task.further_roles:
        if (site, role) not in opened:
            message = f"no start page is opened as '{role}', so nobody can reach that login"
            example = f'{{page: "{site}:/", role: {role}}}'
            yield TaskFault(("roles", site), f"{message}: add {example} to `start`")


def _worlds(task: Task) -> Iterator[TaskFault]:
    if not task.worlds:
        yield TaskFault(("worlds",), "names no world")
    if len(set(task.worlds)) < len(task.worlds):
        yield TaskFault(("worlds",), "names a world twice: the task would be played twice there")
    for world in task.worlds:
        checks = task.checks_in(world)
        if not checks:
            yield TaskFault(
                ("checks",), f"no check applies in the {world} world: nothing can be scored"
            )
        elif not any(check.decides for check in checks):
            message = f"nothing decides success in the {world} world: key nodes score progress"
            yield TaskFault(
                ("checks",), f"{message} alone; add an end check, or say `required: true`"
            )


def _family(task: Task) -> Iterator[TaskFault]:
    if (task.family is Family.UNACHIEVABLE) != (task.why is not None):
        yield TaskFault(("why",), "says why a task is unachievable, and stands nowhere else")
    for world in task.worlds:
        seen = {one.locate.subject for one in task.checks_in(world) if one.when is When.END}
        proven = any(subject.is_state for subject in seen) or stopped_write(task, world)
        if task.family is Family.CONTENT and not proven:
            message = "a content task needs an end check that proves the change"
            message += ", by db, db_delta, api, page, shell or python"
            severity = Severity.ERROR if task.original is None else Severity.WARNING
            said = f"{message}: none applies in the {world} world"
            yield TaskFault(("checks",), said, severity)
        if task.family is Family.INFORMATION and Subject.ANSWER not in seen:
            message = f"an information task checks no answer in the {world} world"
            yield warning(("checks",), message)


def _writes(task: Task, registry: SiteRegistry) -> Iterator[TaskFault]:
    known = [registry.sites[name] for name in task.sites if name in registry.sites]
    live = [
        site.name
        for site in known
        if any(is_visited_live(upstream_of(site, world)) for world in task.worlds)
    ]
    writes_live = bool(live)
    if stopped := stopped_write(task, World.ONLINE):
        yield from _stopped_writes(task, stopped)
        return
    if task.family is Family.CONTENT and writes_live and not task.live_writes:
        message = f"changes content online, where {', '.join(live)} is read-only"
        yield TaskFault(("live_writes",), f"{message}: say `live_writes: true` or limit `worlds`")
    if task.live_writes and not (task.family is Family.CONTENT and writes_live):
        yield warning(("live_writes",), "lets the agent write to live sites, but the task need not")


def stopped_write(task: Task, world: World) -> Check | None:
    """Return the end check of a world that a write is met by which is not sent; None for none."""
    checks = (one for one in task.checks_in(world) if one.when is When.END)
    return next((one for one in checks if any(_is_stopped(way.locate) for way in one.ways)), None)


def _is_stopped(locate: Locator) -> bool:
    return isinstance(locate, NetworkLocator) and locate.blocked


def _stopped_writes(task: Task, stopped: Check) -> Iterator[TaskFault]:
    """Yield what cannot hold online where a task's write is stopped."""
    if task.live_writes:
        message = f"lets writes through, and check '{stopped.name}' wants them `blocked`"
        yield TaskFault(("live_writes",), message)
    for number, check in enumerate(task.checks):
        if World.ONLINE not in check.worlds or check.when is not When.END:
            continue
        if any(_needs_effect(way.locate) for way in check.ways):
            message = f"needs the effect of a write that check '{stopped.name}' wants `blocked`"
            yield TaskFault(("checks", number), f"{message}: give it `worlds: [offline]`")


def _needs_effect(locate: Locator) -> bool:
    if isinstance(locate, NetworkLocator):
        return locate.is_write and not locate.blocked
    return locate.subject.is_state


def _divergence(task: Task) -> Iterator[TaskFault]:
    expected = task.expected_divergence
    if expected is None:
        return
    at = ("expected_divergence",)
    if set(task.worlds) != set(World):
        yield TaskFault(at, "the worlds can diverge only where the task runs in both")
        return
    names = [check.name for check in task.checks_in(World.ONLINE)]
    if expected.at is not None and expected.at not in names:
        message = f"no check '{expected.at}' applies online; {offered(expected.at, names)}"
        yield TaskFault((*at, "at"), message)
    requires = [check for check in task.requires if World.ONLINE in check.worlds]
    if expected.outcome == "unscored: drifted" and not requires:
        yield TaskFault(at, "only a `requires` check that applies online can find drift")


def wob_faults(task: Task, registry: SiteRegistry) -> Iterator[TaskFault]:  # noqa: ARG001 - one rule shape
    """Yield where a task and the page that it starts an episode on do not fit."""
    rewarded = any(check.locate.subject is Subject.REWARD for check in task.checks)
    if task.miniwob is None:
        yield from _without_episode(task, is_rewarded=rewarded)
        return
    page = f"{SITE}:/{SITE}/{task.miniwob.page}.html"
    if task.sites != (SITE,) or task.start_pages != (page,) or task.worlds != (World.OFFLINE,):
        message = f"a task with `wob` has the one site {SITE}, runs offline, and starts on"
        yield TaskFault(("wob",), f"{message} {page}")
    if not rewarded:
        yield TaskFault(("checks",), "no check is `by: wob`: the page's reward counts for nothing")
    for number, action in enumerate(task.reference_actions):
        if isinstance(action, SolveMiniWob) and action.page != task.miniwob.page:
            yield TaskFault(
                ("reference", number, "page"), f"the task's page is '{task.miniwob.page}'"
            )


def _without_episode(task: Task, *, is_rewarded: bool) -> Iterator[TaskFault]:
    if is_rewarded:
        yield TaskFault(("checks",), "`by: wob` needs an episode: say `wob: {page, seed}`")
    if task.family is Family.INTERACTION:
        yield TaskFault(("family",), "a task of interaction is judged by its page: say `wob`")
    for number, action in enumerate(task.reference_actions):
        if isinstance(action, SolveMiniWob):
            yield TaskFault(("reference", number), "`do: wob` needs an episode: say `wob`")
