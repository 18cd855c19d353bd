"""Checkpoints of an episode: servers, pages and record at one step, and how branches begin there.

A branch is equal to its checkpoint or there is none: its replicas by their fingerprints, its page
by what an agent sees of it, literally.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, assert_never

from arena_core.errors import StateError, UsageError
from evaluators.evidence import Branch, TriedWay
from orchestrator.browser.observation import AXTREE, IN_VIEWPORT
from orchestrator.browser.observations.equality import first_difference
from orchestrator.episode.resources import recorded_for
from orchestrator.episode.steps import SETTLE_DEADLINE_S
from sites.upstreams import ReplicaUpstream

if TYPE_CHECKING:
    from arena_core.actions import Action
    from arena_core.worlds import World
    from orchestrator.browser.observation import Observation
    from orchestrator.browser.session.page_state import BrowserState
    from orchestrator.episode.environment import AttemptSpec, EpisodeEnvironment
    from orchestrator.episode.protocol import EpisodeProtocol
    from orchestrator.episode.record import RecordSoFar
    from orchestrator.episode.steps import StepPlayer
    from orchestrator.sandbox.reset.state import TakenState
    from orchestrator.sandbox.reset.watch import Mark
    from tasks.schema import Limits, Task


class PageWay(StrEnum):
    """How the pages of a checkpoint come back, the cheapest way first.

    `document`: each tab loads the response that its document was made of, and its fields, scroll
    and storage are put back. `actions`: the tab loads it too, and what was done on that document is
    done again; its scripts are answered as they were. `start`: the start pages are opened, and all
    actions done again.
    """

    DOCUMENT = "document"
    ACTIONS = "actions"
    START = "start"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """All of an episode at one step.

    Attributes:
        name: for whoever reads the evidence of its branches.
        suite, task, world: what it was taken of.
        played: see `played_digest`.
        limits, seed, viewport: what may have been asked for in place of the task's own; see
            `AttemptSpec` and `tasks.schema.Task`.
        images: the ids of the images that its replicas ran, by site, those without state too.
        root: the id of the episode that it was taken of, or that this one goes on from.
        began: by site that holds state, the state that the episode began in; None is golden.
        sites: by site that holds state, its state at the checkpoint.
        pages: the browser's; None where a page's own protocol runs, which only doing all actions
            again brings back.
        seen: what the agent saw last.
        record: everything that was written down until then.
        document_step: the step that led to the document in the current tab.
        left_s: what is left of the task's time.
    """

    name: str
    suite: str
    task: str
    world: World
    played: str
    limits: Limits
    seed: int | None
    viewport: tuple[int, int] | None
    images: Mapping[str, str]
    root: str
    began: Mapping[str, TakenState | None]
    sites: Mapping[str, TakenState]
    pages: BrowserState | None
    seen: Observation
    record: RecordSoFar
    document_step: int
    left_s: float

    @property
    def step(self) -> int:
        """The last step that its branches share."""
        return self.record.steps[-1].index

    @property
    def actions(self) -> tuple[Action, ...]:
        """What was done until then."""
        return tuple(one.action for one in self.record.steps if one.action is not None)

    @property
    def ways(self) -> tuple[PageWay, ...]:
        """How its pages may come back, the cheapest way first."""
        if self.pages is None:
            return (PageWay.START,)
        acted = self.actions[self.document_step :]
        left_out = set()
        if any(action.kind == "upload" for action in self.actions):
            left_out.add(PageWay.DOCUMENT)  # no page shows all of a file that was chosen
        has_tree = not {AXTREE, AXTREE + IN_VIEWPORT}.isdisjoint(self.seen.parts)
        if not acted or len(self.pages.tabs) > 1 or not has_tree:  # it tells elements by the tree
            left_out.add(PageWay.ACTIONS)
        return tuple(way for way in PageWay if way not in left_out)

    def done_again(self, way: PageWay) -> tuple[Action, ...]:
        """Return the actions that bring its pages back."""
        match way:
            case PageWay.DOCUMENT:
                return ()
            case PageWay.ACTIONS:
                return self.actions[self.document_step :]
            case PageWay.START:
                return self.actions
            case _:
                assert_never(way)

    def states(self, way: PageWay) -> Mapping[str, TakenState]:
        """Return what the replicas of a branch are leased in, by site; others are golden."""
        match way:
            case PageWay.DOCUMENT | PageWay.ACTIONS:
                return self.sites
            case PageWay.START:
                return {site: state for site, state in self.began.items() if state is not None}
            case _:
                assert_never(way)

    def require_fits(
        self,
        task: Task,
        world: World,
        viewport: tuple[int, int] | None,
        observations: Collection[str],
    ) -> None:
        """Raise UsageError where an episode that is played so cannot go on from it."""
        if (self.task, self.world) != (task.id, world):
            message = f"the checkpoint '{self.name}' is of '{self.task}' {self.world}"
            raise UsageError(f"{message}, and the episode of '{task.id}' {world}")
        if self.played != played_digest(task, viewport):
            message = f"the checkpoint '{self.name}' is of '{task.id}' with another definition"
            hint = "its suite was changed, or the episode has another seed, limit or viewport"
            raise UsageError(message, hint=hint)
        if set(observations) != self.seen.parts.keys():
            forms = ", ".join(sorted(self.seen.parts))
            message = f"the checkpoint '{self.name}' shows {forms}, and the episode another form"
            raise UsageError(message, hint=f"observations of the episode: {forms}")

    def branch(self, way: PageWay, tried: tuple[TriedWay, ...]) -> Branch:
        """Return what the evidence of a branch says of it, and of the ways that came before."""
        return Branch(
            root=self.root,
            checkpoint=self.name,
            step=self.step,
            pages=way,
            replayed=len(self.done_again(way)),
            states={site: taken.digest for site, taken in self.sites.items()},
            tried=tried,
        )


def played_digest(task: Task, viewport: tuple[int, int] | None) -> str:
    """Return SHA-256 over a task as it is played, limits, checks and window included."""
    return hashlib.sha256(f"{task.model_dump_json()}\n{viewport}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Branching:
    """What a checkpoint is taken of.

    Attributes:
        name, root, left_s: see `Checkpoint`.
        goes_on: the checkpoint that the episode itself goes on from, and how its pages came back.
    """

    name: str
    root: str
    left_s: float
    goes_on: tuple[Checkpoint, PageWay] | None

    def document_step(self, pages: BrowserState | None) -> int:
        """Return the step that led to the document in the current tab.

        A session counts its own actions: those of a branch begin where its pages came back.
        """
        done = next((tab.actions for tab in pages.tabs if tab.is_current), 0) if pages else 0
        if self.goes_on is None or self.goes_on[1] is PageWay.START:
            return done
        mark, way = self.goes_on
        if done == 0:
            return mark.document_step
        return done + (mark.step if way is PageWay.DOCUMENT else mark.document_step)


async def take_checkpoint(
    player: StepPlayer, branching: Branching, protocol: EpisodeProtocol, last: Observation
) -> Checkpoint | StateError:
    """Take a checkpoint of an episode, or return why none can be taken: no fault of the episode.

    Args:
        player: of the episode, between two steps.
        last: what its agent saw last.
    """
    session, record, journal = player.resources.session, player.record, player.resources.journal
    task = record.spec.task
    try:
        _refuse(record.spec, record.environment)
        if not await session.settle(SETTLE_DEADLINE_S):
            message = f"{session.url} does not come to rest"
            return StateError(message, hint="take it after a later step")
        began = journal.mark()
        pages = await session.capture() if protocol.record is None else None
        step = record.steps[-1].index
        seen = await session.observe(step, last.last_error, player.forms)
        seen = replace(seen, reply=last.reply)
        sites = await record.environment.lease.take_states()
        asked = [one.url for one in journal.since(began) if one.site is not None]
        if asked:
            message = f"a page asked for {asked[0]} while the checkpoint was taken"
            return StateError(message, hint="take it again")
    except StateError as refused:
        return refused
    return Checkpoint(
        name=branching.name,
        suite=record.spec.suite,
        task=task.id,
        world=record.environment.world,
        played=played_digest(task, record.spec.viewport),
        limits=task.limits,
        seed=None if task.miniwob is None else task.miniwob.seed,
        viewport=record.spec.viewport,
        images={
            site: replica.placement.image_id
            for site, replica in record.environment.replicas.items()
        },
        root=branching.root,
        began=record.environment.lease.began,
        sites=sites,
        pages=pages,
        seen=seen,
        record=record.so_far(),
        document_step=branching.document_step(pages),
        left_s=branching.left_s,
    )


def _refuse(spec: AttemptSpec, environment: EpisodeEnvironment) -> None:
    """Raise StateError where an episode is one that nobody can go back in."""
    task = spec.task
    live = [
        name
        for name, upstream in environment.upstreams.by_site.items()
        if not isinstance(upstream, ReplicaUpstream)
    ]
    if live:
        message = f"'{task.id}' visits {', '.join(live)} live: nobody can go back there"
        raise StateError(message, hint="take checkpoints offline")
    if spec.vary:
        message = f"'{task.id}' is played in the arm {' '.join(map(str, spec.vary))}"
        raise StateError(
            f"{message}, which counts its pages", hint="take checkpoints without --vary"
        )
    if recorded_for(task, environment.world, every=spec.records_requests):
        message = f"'{task.id}' is judged by its recorded requests, which no branch can share"
        raise StateError(message, hint="a task without checks by `network` has checkpoints")


async def come_back(
    player: StepPlayer, mark: Checkpoint, way: PageWay, protocol: EpisodeProtocol
) -> tuple[Observation, str | None]:
    """Bring the pages of a checkpoint back in a session that was just opened.

    Returns:
        What is seen then, and why that is not the checkpoint's; None where it is.
    """
    environment, session = player.record.environment, player.resources.session
    before = await environment.database.marks()
    try:
        differs = await _bring_back(player, mark, way, protocol)
    except StateError as refused:
        differs = refused.message
    seen = await session.observe(mark.step, mark.seen.last_error, player.forms)
    seen = replace(seen, reply=mark.seen.reply)
    await session.end_answers()
    session.drain()
    differs = first_difference(mark.seen, seen) or differs
    if differs is not None:
        return seen, f"the page is not equal: {differs}"
    if way is PageWay.START:
        return seen, await _other_state(environment, mark)
    after = await environment.database.marks()
    return seen, next(_written(mark, before, after), None)


async def _bring_back(
    player: StepPlayer, mark: Checkpoint, way: PageWay, protocol: EpisodeProtocol
) -> str | None:
    """Open the pages and do again what that way takes; say what differs meanwhile, if it shows.

    Ids of elements are given in order of sight: those of before are taken over where the pages are
    the same.
    """
    session, seen = player.resources.session, mark.record.seen
    match way:
        case PageWay.DOCUMENT:
            await session.restore()
            await session.settle(SETTLE_DEADLINE_S)
            is_same = await session.adopt_ids()
            return None if is_same else "a tab shows something else"
        case PageWay.ACTIONS:
            await session.restore(with_fields=False)
            await session.settle(SETTLE_DEADLINE_S)
            await session.adopt_ids(seen[mark.document_step])
        case PageWay.START:
            await protocol.start(session)
            await session.settle(SETTLE_DEADLINE_S)
            await session.observe(0, None, player.forms)
        case _:
            assert_never(way)
    again = mark.done_again(way)
    for step, action in enumerate(again, start=mark.step - len(again) + 1):
        error = await session.act(action)
        await session.settle(SETTLE_DEADLINE_S)
        await session.observe(step, error, player.forms)
        if way is PageWay.ACTIONS:
            await session.adopt_ids(seen[step])
        await protocol.look()
    return None


def _written(
    mark: Checkpoint, before: Mapping[str, Mark], after: Mapping[str, Mark]
) -> Iterator[str]:
    """Yield which replicas may not be in the checkpoint's state any more: the pages wrote."""
    for site in mark.sites:
        if site not in before or site not in after:
            yield f"nothing shows whether site '{site}' was written to"
            continue
        moved = after[site].moved_since(before[site])
        if moved is not None and not after[site].moved_by_itself(before[site]):
            yield f"site '{site}' was written to as its page came back: {moved}"


async def _other_state(environment: EpisodeEnvironment, mark: Checkpoint) -> str | None:
    """Say which replica is not in the checkpoint's state; None where all are."""
    for site, taken in (await environment.lease.take_states()).items():
        if taken.digest != mark.sites[site].digest:
            differences = taken.fingerprint.differences(mark.sites[site].fingerprint)
            return f"site '{site}' is not in the same state: {'; '.join(differences[:3])}"
    return None
