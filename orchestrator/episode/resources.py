"""Opens what an episode is played through (gateway, logins, browser), and says if it may start."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

from arena_core.cookie import Cookie
from arena_core.worlds import World
from evaluators.checks import Check, match
from evaluators.evidence import Located
from evaluators.locators.element import ElementField, ElementLocator
from evaluators.locators.network import NetworkLocator
from evaluators.locators.url import UrlLocator
from evaluators.network import Recording
from orchestrator.browser.session.context import SessionOptions
from orchestrator.browser.session.page_state import BrowserState
from orchestrator.browser.tabs.arm_scripts import ArmScripts
from orchestrator.episode.environment import AttemptSpec, EpisodeEnvironment, EpisodeSession
from orchestrator.episode.faults import login_name
from orchestrator.episode.protocol import EpisodeProtocol
from orchestrator.episode.traffic import (
    live_use,
    may_have_written,
    policy_for,
    read_only_origins,
    third_party_origins,
)
from orchestrator.gateway.arm import Arm
from orchestrator.gateway.journal import GatewayJournal
from orchestrator.gateway.live_limits import LiveUse
from orchestrator.gateway.recorded import RecordedDocuments
from tasks.labels import folded
from tasks.schema import Task

_OF_SITES: Final = frozenset(ElementField) - {ElementField.VALUE}
_NO_VALUES: Final = frozenset(
    {"how", "type", "kind", "table", "tables", "also", "instantiation_dict"}
)
_JUDGED_BY_REQUESTS: Final = "webarena-verified"


@dataclass(frozen=True, slots=True)
class EpisodeResources:
    """An open gateway's journal, the browser session behind it, and what varies between them."""

    journal: GatewayJournal
    session: EpisodeSession
    options: SessionOptions
    arm: Arm
    live: LiveUse = field(default_factory=LiveUse)


@asynccontextmanager
async def open_resources(
    spec: AttemptSpec,
    environment: EpisodeEnvironment,
    protocol: EpisodeProtocol,
    pages: BrowserState | None = None,
) -> AsyncIterator[EpisodeResources]:
    """Open gateway and browser session with the task's roles logged in.

    When the block ends, the lease learns which replicas may have been written to.

    Args:
        spec: of the task whose roles log in, and whose files may be uploaded; what is kept.
        pages: what the session can bring back, its logins among it; None for new logins.
    """
    task = spec.task
    policy = policy_for(task, environment)
    live = live_use(task, environment, policy)
    bind = await environment.browser.listen()
    recorded = None if pages is None else RecordedDocuments(pages.documents)
    arm = Arm(spec.vary, repeat=spec.repeat, changed=environment.changed, labels=spec.labels)
    async with environment.open_gateway(
        policy, bind=bind, recorded=recorded, arm=arm if spec.vary else None
    ) as gateway:
        try:
            options = SessionOptions(
                proxy_url=gateway.url,
                cookies=() if pages else await _log_in(task, environment),
                apart={} if pages else await _log_in_apart(task, environment),
                state=pages,
                live_origins=read_only_origins(task, environment) | third_party_origins(policy),
                live=live,
                logical=environment.registry.logical,
                viewport=arm.window or spec.viewport or protocol.viewport,
                check_viewport=spec.viewport or protocol.viewport,
                shows_unnamed=protocol.shows_unnamed,
                files={one.name: one.content for one in task.files},
                records=recorded_for(task, environment.world, every=spec.records_requests),
                traces=spec.traces,
                selectors=selectors_of(task, environment.world),
                arm=_in_pages(arm),
                recorder=environment.recorder,
            )
            async with environment.browser.session(options) as session:
                try:
                    yield EpisodeResources(gateway.journal, session, options, arm, live)
                finally:
                    if environment.recorder is not None:
                        await environment.recorder.drained()
        finally:
            # After the session, whose last requests may still be under way; before the gateway,
            # which breaks them off.
            _account_for(task, environment, gateway.journal)


def _in_pages(arm: Arm) -> ArmScripts:
    """Return what an arm does in the agent's pages, and counts there."""
    scripts = {str(one): (one, source) for one, source in arm.page_scripts.items()}
    return ArmScripts(
        sources={name: source for name, (_, source) in scripts.items()},
        altered=lambda name: arm.altered_page(scripts[name][0]),
    )


def start_pages(task: Task, environment: EpisodeEnvironment) -> tuple[list[str], list[str]]:
    """Return the URLs of a task's start pages, and the login that each is opened in."""
    urls = [environment.upstreams.url(page) for page in task.start_pages]
    logins = [
        "" if isinstance(one, str) else login_name(task, one.site, one.role) for one in task.start
    ]
    return urls, logins


def recorded_for(task: Task, world: World, *, every: bool = False) -> frozenset[Recording]:
    """Return what of the browser's requests must be recorded for a task in a world.

    That is what its checks and looks ask for; of a task of webarena-verified, whose scorer judges
    by requests, all that its original asks for; the requests of every task where `every` is set.
    """
    ways = (way for look in task.looks_in(world) for way in look.ways)
    asked = {one for way in ways for one in way.locate.records}
    if every:
        asked.add(Recording.REQUESTS)
    if task.original is not None and task.original.format == _JUDGED_BY_REQUESTS:
        asked.add(Recording.REQUESTS)
    if is_judged_by_answers(task):
        asked.add(Recording.ANSWERS)
    return frozenset(asked)


def is_judged_by_answers(task: Task) -> bool:
    """Whether a scorer reads what sites answered, documents among it; checks read JSON alone."""
    original = task.original
    return (
        original is not None
        and original.format == _JUDGED_BY_REQUESTS
        and "response_content" in json.dumps(original.record)
    )


def counts_refusals(task: Task) -> bool:
    """Whether a page that was asked for and refused (503) may count as one that was visited.

    Published scorers read addresses whatever their status; checks do so if they say so.
    """
    if task.original is not None:
        return True
    ways = (way for look in task.looks_in(World.OFFLINE) for way in look.ways)
    return any(
        isinstance(way.locate, UrlLocator | NetworkLocator) and _takes(way.locate.status)
        for way in ways
    )


def renamed_value(task: Task, labels: Mapping[str, str]) -> tuple[str, str] | None:
    """Return a check, or the task's original, and a value it expects that an arm calls otherwise.

    An agent that reads such a value on a page would give it by its new name. What an element is
    called is recorded as its site calls it, so checks of that are none of these.
    """
    known = {folded(one) for one in (*labels, *labels.values())}
    ways = (way for look in task.checks_in(World.OFFLINE) for way in look.ways)
    expected: list[tuple[str, object]] = [
        (f"check '{way.name}'", way.match.model_dump(mode="json"))
        for way in ways
        if not (isinstance(way.locate, ElementLocator) and way.locate.read in _OF_SITES)
    ]
    if task.original is not None:
        expected.append(("its published task", dict(task.original.record)))
    for who, what in expected:
        value = next((one for one in _texts(what) if folded(one) in known), None)
        if value is not None:
            return who, value
    return None


def _texts(value: object) -> Iterator[str]:
    """Yield the texts of a JSON value, but for the names of kinds and what a task asks for."""
    match value:
        case str():
            yield value
        case Mapping():
            for name, one in value.items():
                if name not in _NO_VALUES and "intent" not in str(name):
                    yield from _texts(one)
        case list() | tuple():
            for one in value:
                yield from _texts(one)
        case _:
            return


def _takes(status: str | int | tuple[int, ...] | None) -> bool:
    refused = HTTPStatus.SERVICE_UNAVAILABLE
    return status in {"any", refused} or (isinstance(status, tuple) and refused in status)


def selectors_of(task: Task, world: World) -> tuple[str, ...]:
    """Return the selectors by which a task's checks and looks know elements acted on."""
    ways = (way for look in task.looks_in(world) for way in look.ways)
    return tuple(sorted({one for way in ways for one in way.locate.watches}))


def required_in(task: Task, world: World) -> tuple[Check, ...]:
    """Return the checks that must hold in a world before the agent starts."""
    return tuple(check for check in task.requires if world in check.worlds)


def requirements_hold(task: Task, world: World, found: Iterable[Located]) -> bool:
    """Whether what was found before the start is what the task requires."""
    located = {one.check: one for one in found}
    return all(
        located[check.name].error is None and match(check, located[check.name].values, world).met
        for check in required_in(task, world)
    )


def _account_for(task: Task, environment: EpisodeEnvironment, journal: GatewayJournal) -> None:
    for site in task.sites:
        if site in environment.replicas and may_have_written(journal, site):
            environment.lease.wrote(site)


async def _log_in(task: Task, environment: EpisodeEnvironment) -> tuple[Cookie, ...]:
    jars = [await environment.accounts.cookies(site, task.roles_of(site)[0]) for site in task.roles]
    return tuple(cookie for jar in jars for cookie in jar)


async def _log_in_apart(
    task: Task, environment: EpisodeEnvironment
) -> dict[str, tuple[Cookie, ...]]:
    """Return the cookies of every further role, each for a context of its own."""
    return {
        login_name(task, site, role): await environment.accounts.cookies(site, role)
        for site, role in task.further_roles
    }
