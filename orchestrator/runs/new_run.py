"""From what is asked of a run to what is played: read, refused where it makes no sense, written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, assert_never

from arena_core.errors import UsageError
from arena_core.names import counted, listed, offered
from arena_core.worlds import World
from evaluators.evidence import UnscoredReason
from orchestrator.agents.interface import AgentClass
from orchestrator.agents.spec import Metered
from orchestrator.browser.process.kinds import BrowserKind
from orchestrator.episode.external.command import AgentCommand
from orchestrator.episode.person.agent import PersonAgent
from orchestrator.episode.resources import (
    counts_refusals,
    is_judged_by_answers,
    renamed_value,
)
from orchestrator.gateway.arm import Arm
from orchestrator.gateway.labels import BUILT_IN, table_named
from orchestrator.gateway.variations import Variation, arm_label, content_in, labels_in
from orchestrator.runs.agent_choice import (
    AgentChoice,
    ChosenAgent,
    agent_of_lock,
    choose_agent,
    named_agent,
    require_references,
)
from orchestrator.runs.budgets import begun_with, share_budget
from orchestrator.runs.lock_writer import make_lock
from orchestrator.runs.request import RunRequest, browser_for, tasks_of
from orchestrator.runs.rollouts import RolloutPlan
from orchestrator.runs.single_episode import WorldChoice
from orchestrator.runs.spec import BrowserEntry, RunSettings, RunSpec, SpendingLimits
from orchestrator.runs.store.browser_lock import kind_by_version
from orchestrator.runs.store.lock import RunLock
from orchestrator.runs.store.recording import Recording
from orchestrator.runs.store.run_folder import RunFolder
from orchestrator.sandbox.engine.engine import Engine
from sites.registry import SiteRegistry
from sites.upstreams import (
    LiveUpstream,
    ReplicaUpstream,
    StagedUpstream,
    TapeUpstream,
    Upstream,
)
from tasks.loader import Selection, load_source, select_tasks
from tasks.schema import Task
from tasks.sources import SuiteSource

MOST_EPISODES: Final = 100_000
MOST_WORKERS: Final = 128
_OF_THE_SOURCE: Final = (
    "suite",
    "worlds",
    "staged",
    "resolve",
    "vary",
    "tape",
    "record_requests",
    "canary",
    "canary_age",
)


def replies_for(agent: ChosenAgent) -> Recording | None:
    """Read the run that an agent's option `replay` names; None where models are asked."""
    return None if agent.replay is None else Recording.load(RunFolder.open(Path(agent.replay)))


def prepare(
    spec: RunSpec, agent: AgentChoice | None, *, headless: bool, is_meant: bool
) -> tuple[RunRequest, SuiteSource]:
    """Return what is played, and where its tasks are written.

    Args:
        spec: what is asked for.
        agent: the agent where it is a Python object, which `spec` can only name.
        headless: no browser window is shown.
        is_meant: it is played however large it is.
    """
    refuse_offline_origins(spec)
    chosen = choose_agent(named_agent(spec) if agent is None else agent, spec.options)
    require_held(chosen, spec.budget)
    recording = replies_for(chosen)
    source = load_source(spec.suite)
    request = RunRequest(
        suite=source.suite,
        tasks=select_tasks(source.suite, Selection(ids=spec.tasks)),
        agent=chosen.maker,
        agent_lock=chosen.lock,
        settings=spec.settings(),
        headless=headless,
        recording=recording,
        importers=source.importers,
    )
    whole = replace(request, settings=request.settings.model_copy(update={"shard": None}))
    if not whole.episodes:  # a share may well be empty
        names = listed(task.id for task in request.tasks)
        worlds = " or ".join(spec.worlds)
        raise UsageError(f"nothing to play: no task chosen runs {worlds} (chosen: {names})")
    require_references(chosen.lock, request.tasks)
    require_meant(is_meant=is_meant, episodes=request.episodes, workers=spec.workers_at_first)
    browser_for(request.settings, headless=headless)  # refused before anything is started
    _refuse_by_hand(request)
    return request, source


def _refuse_by_hand(request: RunRequest) -> None:
    """Refuse what a person could not play in a window."""
    if not isinstance(request.agent, PersonAgent):
        return
    if request.browser.headless:
        raise UsageError("a person needs a window", hint="use --browser headed")
    if request.settings.workers != 1 or request.settings.attempts > 1:
        message = "a person plays one episode at a time, once: a second try is another measurement"
        raise UsageError(message, hint="use one worker and one attempt")
    for task in request.tasks:
        if task.recorded is not None or task.files:
            why = "is played in no browser" if task.recorded is not None else "uploads files"
            message = f"{task.id} {why}, so nobody can play it by hand"
            raise UsageError(message, hint="choose other tasks")


def prepare_rollouts(
    plan: RolloutPlan,
    spec: RunSpec,
    agent: AgentChoice | None,
    *,
    asked: Collection[str],
    headless: bool,
    is_meant: bool,
) -> RunRequest:
    """Return what is played where episodes go on from those of another run.

    Args:
        plan: what they go on from.
        spec: what else is asked for.
        agent: as in `prepare`.
        asked: the names of the settings that were asked for.
        headless: as in `prepare`.
        is_meant: as in `prepare`.
    """
    for name in _OF_THE_SOURCE:
        if name in asked:
            message = f"`{name}` has no effect on rollouts from {plan.source.path}"
            raise UsageError(message, hint="they are played offline, on the tasks of that run")
    if plan.source.lock().tape:
        message = f"{plan.source.path} was played on a tape, and rollouts are played on replicas"
        raise UsageError(message, hint="sample from a run without --tape")
    chosen = choose_agent(named_agent(spec) if agent is None else agent, spec.options)
    if isinstance(chosen.maker, AgentCommand) or chosen.replay is not None:
        message = f"{chosen.lock.name} cannot go on from the middle of an episode"
        raise UsageError(message, hint="sample with an agent that decides step by step")
    if chosen.lock.agent_class is AgentClass.REFERENCE:
        message = f"{chosen.lock.name} plays each solution from its start, and not from the middle"
        raise UsageError(message, hint="sample with the agent whose chances you want to know")
    require_held(chosen, spec.budget)
    request = RunRequest(
        suite=plan.source.suite(),
        tasks=plan.tasks,
        agent=chosen.maker,
        agent_lock=chosen.lock,
        settings=spec.settings(),
        headless=headless,
        rollouts=plan.rollouts,
    )
    require_meant(is_meant=is_meant, episodes=request.episodes, workers=spec.workers_at_first)
    return request


async def write_down(
    request: RunRequest, registry: SiteRegistry, engine: Engine, out: Path | str | None, runs: Path
) -> RunFolder:
    """Make the run's folder with its lock; `out`, or one of its own in `runs`."""
    await share_budget(await begun_with(request, registry, engine), registry, engine)
    lock = await make_lock(request, registry, engine)
    return RunFolder.create(runs / lock.run if out is None else Path(out), lock, request.suite)


def resumed_request(
    folder: RunFolder,
    registry: SiteRegistry,
    *,
    agent: AgentChoice | None = None,
    options: Mapping[str, object],
    changes: Mapping[str, object],
    headless: bool,
    again: frozenset[UnscoredReason] = frozenset(),
) -> RunRequest:
    """Return what a run that goes on plays: what its lock says, with these changes."""
    lock, suite = folder.lock(), folder.suite()
    changes = {**changes, "browser": _named_again(lock, changes.get("browser"), headless=headless)}
    settings = lock.settings(**{"budget": lock.current_limits, **changes})
    if not headless and lock.live_pool is None:
        settings = settings.model_copy(update={"browser": None})  # a look at it, offline
    chosen = agent_of_lock(lock.agent, agent, options)
    require_held(chosen, settings.budget)
    request = RunRequest(
        suite=suite,
        tasks=tasks_of(lock, suite),
        agent=chosen.maker,
        agent_lock=lock.agent,
        settings=settings,
        headless=headless,
        recording=replies_for(chosen),
        rollouts=lock.rollouts,
        again=again,
    )
    asked = [name for name, value in changes.items() if value is not None]
    refuse_idle_pace(request, asked, registry)
    return request


def _named_again(lock: RunLock, named: object, *, headless: bool) -> BrowserEntry | None:
    """Return the browser of a run that goes on, whose secret address may be named again."""
    used = lock.browser_used
    if not headless and lock.live_pool is not None and (used is None or not used.headed):
        message = f"run {lock.run} began online in {lock.live_pool}: --headed is another browser"
        raise UsageError(message, hint="omit --headed, or start a new run")
    if named is None:
        return None
    entry = RunSettings.of(worlds=lock.worlds, browser=named).browser
    began = BrowserEntry(use=kind_by_version(lock.browser)) if used is None else used.entry
    if entry is None or entry.shown != began.shown:
        message = f"run {lock.run} began in {lock.browser_pool}, and goes on there"
        raise UsageError(message, hint="omit --browser, or start a new run")
    return began.model_copy(update={"use": entry.use})


def read_reasons(names: Iterable[str]) -> frozenset[UnscoredReason]:
    """Return the reasons of some names, for which episodes are unscored."""
    found: set[UnscoredReason] = set()
    for name in names:
        if name not in set(UnscoredReason):
            message = f"no episode is unscored for a reason '{name}'"
            raise UsageError(message, hint=offered(name, list(UnscoredReason)))
        found.add(UnscoredReason(name))
    return frozenset(found)


def require_held(agent: ChosenAgent, limits: SpendingLimits) -> None:
    """Refuse a limit that could not be held with this agent."""
    asked = (
        (Metered.USD, "--max-usd", limits.max_usd),
        (Metered.TOKENS, "--max-tokens", limits.max_tokens),
    )
    for metered, flag, value in asked:
        if value is None or (metered in agent.metered and agent.replay is None):
            continue
        if agent.replay is not None:
            raise UsageError(f"{flag} has no effect: a replay spends nothing")
        if Metered.TOKENS in agent.metered:
            name = agent.lock.name
            message = f"{flag} cannot be held: nobody says what the model of {name} costs"
            raise UsageError(message, hint="give a table of prices with --prices FILE")
        message = f"{flag} has no effect: the agent {agent.lock.name} does not say what it spends"
        hint = "an agent of your own says so by its attribute `metered`, a set of 'tokens', 'usd'"
        raise UsageError(message, hint=hint)


def require_meant(*, is_meant: bool, episodes: int, workers: int) -> None:
    """Refuse sizes that are more likely a slip of the hand, unless they are said to be meant."""
    if is_meant or (episodes <= MOST_EPISODES and workers <= MOST_WORKERS):
        return
    message = f"{counted(episodes, 'episode')} with {counted(workers, 'worker')} would be played;"
    message += f" more than {MOST_EPISODES:,} episodes or {MOST_WORKERS} workers are rarely meant"
    raise UsageError(message, hint="--yes plays them all the same, in Python yes=True")


def refuse_offline_origins(settings: RunSettings) -> None:
    """Refuse options about live origins where none can be visited."""
    if settings.canary_age is not None and not settings.canary:
        raise UsageError("--canary-age has no effect without --canary", hint="add --canary")
    if World.ONLINE in settings.worlds:
        return
    if settings.canary:
        message = "--canary looks at live origins: it has no effect without --online"
        raise UsageError(message, hint="add --online, or omit --canary")
    for option, given in (("--staged", settings.staged), ("--resolve", settings.resolve)):
        if given:
            message = f"{option} says where --online leads: it has no effect without --online"
            raise UsageError(message, hint=f"add --online, or leave {option} away")


def refuse_without_effect(
    request: RunRequest, asked: Collection[str], registry: SiteRegistry
) -> None:
    """Refuse options about live origins, replicas or a browser that the chosen tasks do not use.

    Args:
        request: what would be played.
        asked: the names of the settings that were asked for.
        registry: the known sites.
    """
    _refuse_live(request, registry)
    _refuse_watching_nothing(request)
    beside = "--agent-cmd" if isinstance(request.agent, AgentCommand) else None
    refuse_out_of_reach(request.settings, request.tasks, registry, beside=beside)
    refuse_misplaced_arm(request, registry)
    refuse_idle_pace(request, asked, registry)


def refuse_idle_pace(request: RunRequest, asked: Collection[str], registry: SiteRegistry) -> None:
    """Refuse options about replicas where the chosen tasks visit none that they could be about."""
    replicas = {
        name for world in request.worlds for name in request.upstreams(registry, world).replicas
    }
    stateful = {name for name in replicas if registry.site(name).stateful}
    if "memory" in asked and not replicas:
        raise UsageError("--memory has no effect: the chosen tasks visit no replica")
    for name in ("spares", "strategy"):
        if name in asked and not stateful:
            message = f"--{name} has no effect: the chosen tasks visit no replica that holds state"
            raise UsageError(message)


def _refuse_watching_nothing(request: RunRequest) -> None:
    if any(task.recorded is None for task in request.tasks):
        return
    settings = request.settings
    wanted = (
        ("--record-requests", settings.record_requests),
        ("--trace", settings.trace),
        ("--browser", settings.browser is not None),
    )
    for option, is_given in wanted:
        if is_given:
            raise UsageError(f"{option} has no effect: no chosen task is played in a browser")


def refuse_out_of_reach(
    settings: RunSettings, tasks: Sequence[Task], registry: SiteRegistry, *, beside: str | None
) -> None:
    """Refuse what a browser at an address could not be given: replicas, files, a driver beside.

    Args:
        settings: of a run, or of one episode.
        tasks: that are played.
        registry: the known sites.
        beside: the option that lets a program drive the browser beside Arena; None where none does.
    """
    entry = settings.browser
    if entry is None or not entry.kind.is_remote:
        return
    where = f"the browser {entry.shown}"
    if settings.trace and entry.kind is BrowserKind.PROFILE:
        raise UsageError(f"{where} has cookies, which traces would hold", hint="omit --trace")
    if beside is not None:
        message = f"{where} has no network of its own, which a program that drives it must have"
        raise UsageError(message, hint=f"use a browser of this machine with {beside}")
    for task in tasks:
        if World.ONLINE not in task.worlds:
            continue
        replicas = registry.upstreams(task.sites, World.ONLINE, staged=False).replicas
        if replicas:
            message = f"{where} cannot play {task.id}: {listed(replicas)} has no live origin,"
            message += " and its replica is on this machine's loopback"
            raise UsageError(message, hint="choose other tasks, or a browser of this machine")
        if task.files:
            message = f"{where} cannot play {task.id}: the files to upload are on this machine"
            raise UsageError(message, hint="choose other tasks, or a browser of this machine")


def refuse_episode_browser(
    choice: WorldChoice, task: Task, registry: SiteRegistry, *, endpoint: str | None
) -> None:
    """Refuse a browser that one episode cannot be played in, before anything is started."""
    entry = choice.settings.browser
    if entry is not None and task.recorded is not None:
        message = f"a browser has no effect: '{task.id}' is played in none"
        raise UsageError(message, hint="omit it")
    browser_for(choice.settings, headless=choice.headless)
    beside = None if endpoint is None else f"endpoint='{endpoint}'"
    refuse_out_of_reach(choice.settings, (task,), registry, beside=beside)


def refuse_misplaced_arm(request: RunRequest, registry: SiteRegistry) -> None:
    """Refuse an arm where it changes nothing, or would change what a check reads."""
    if not request.settings.vary:
        return
    for task in request.tasks:
        why = misplaced_arm(task, request.settings.arm, registry)
        if why is not None and World.OFFLINE in task.worlds:
            arm = arm_label(request.settings.vary)
            message = f"the arm {arm} cannot be played on {task.id}: {why}"
            raise UsageError(message, hint="choose other tasks, or omit --vary")


def misplaced_arm(
    task: Task, variations: Sequence[Variation], registry: SiteRegistry
) -> str | None:
    """Return why an arm is of no use on a task; None where it can be played."""
    upstreams = registry.upstreams(task.sites, World.OFFLINE, staged=False)
    if World.OFFLINE not in task.worlds:
        return "it does not run offline, and live sites are never rewritten"
    if task.recorded is not None or not upstreams.replicas:
        return "it visits no replica in a browser, so nothing is varied"
    return _unfit_for(task, variations)


def _unfit_for(task: Task, variations: Sequence[Variation]) -> str | None:
    """Return what of a task an arm could not change, or would change for its checks."""
    content = content_in(variations)
    if content is not None and content not in task.contents:
        known = offered(content, sorted(task.contents), intro="it has")
        return f"its suite sets no content '{content}' up on a site that it visits; {known}"
    unfit = _unfit_labels(task, labels_in(variations))
    if unfit is not None:
        return unfit
    arm = Arm(variations)
    if arm.window is not None and task.miniwob is not None:
        return "the size of its window is part of its page"
    if arm.is_flaky and counts_refusals(task):
        return "a page that network=flaky refused could count as visited: it is judged by addresses"
    if arm.alters_answers and is_judged_by_answers(task):
        return (
            "it is judged by what the site answered, "
            "which only network=slow, look=mobile, page=moved and labels leave as it is"
        )
    return None


def _unfit_labels(task: Task, name: str | None) -> str | None:
    """Return why labels cannot be renamed by the table of that name; None where they can."""
    if name is None:
        return None
    table = table_named(name, task.labels)
    if not table:
        known = offered(name, sorted({*task.labels, *BUILT_IN}), intro="it has")
        return f"its suite has no table of labels '{name}'; {known}"
    if task.miniwob is not None:
        return "the words of its page are part of what it asks for"
    renamed = renamed_value(task, table)
    if renamed is None:
        return None
    return f"{renamed[0]} expects '{renamed[1]}', which labels={name} renames"


def _refuse_live(request: RunRequest, registry: SiteRegistry) -> None:
    live = request.settings.model_copy(update={"staged": False})
    visited = _visited(replace(request, settings=live), registry)
    if request.settings.staged and not any(map(_can_be_staged, visited)):
        message = "--staged has no effect: no chosen task visits a site with a staged live origin"
        raise UsageError(message)
    left = {place for one in _visited(request, registry) if (place := _place_on_the_web(one))}
    for resolve in request.settings.resolves:
        if (resolve.host, resolve.port) not in left:
            message = f"--resolve {resolve} has no effect: the run visits no such live origin"
            shown = ", ".join(f"{host}:{port}" for host, port in sorted(left)) or "none"
            hint = f"live origins that are visited and not staged: {shown}"
            raise UsageError(message, hint=hint)
        left.remove((resolve.host, resolve.port))


def _visited(request: RunRequest, registry: SiteRegistry) -> Iterator[Upstream]:
    for world in request.worlds:
        yield from request.upstreams(registry, world).by_site.values()


def _can_be_staged(upstream: Upstream) -> bool:
    match upstream:
        case ReplicaUpstream() | TapeUpstream():
            return False
        case LiveUpstream(live=live) | StagedUpstream(live=live):
            return live.staged is not None
        case _:
            assert_never(upstream)


def _place_on_the_web(upstream: Upstream) -> tuple[str, int] | None:
    """Return host and port that are looked up; None for what is on this machine."""
    match upstream:
        case ReplicaUpstream() | StagedUpstream() | TapeUpstream():
            return None
        case LiveUpstream(live=live):
            return live.host, live.port
        case _:
            assert_never(upstream)
