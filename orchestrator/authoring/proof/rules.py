"""What the play of one task must show; each proof says in one sentence what it found wrong.

The references are played once, and `ProofRecorder` looks in between. What an agent would have left
behind that did nothing, or stopped early, is made from these looks: `idle` differs from the first
look in nothing but its moment, so that a second episode would prove no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from arena_core.actions import Infeasible, Stop
from arena_core.errors import TaskError
from arena_core.worlds import World
from evaluators.checks import Check, Look, match
from evaluators.evidence import Ended, Evidence, StepEvidence, UnscoredReason
from evaluators.fields import When
from evaluators.lint import Location, TaskFault, warning
from evaluators.locators.base import LookingLocator, Subject
from evaluators.locators.page import PageLocator
from evaluators.responses import response_of
from evaluators.scores import Score, score
from evaluators.verdicts import CheckStatus, OutcomeKind, verdicts
from orchestrator.episode.snapshot import EpisodeSnapshot
from tasks.instances import computed_fault
from tasks.near_misses import lookups_of, near_faults
from tasks.reference import GiveUp, StopWith
from tasks.schema import Family, Task
from tasks.work import need_lookups, work_faults

START_PAGE: Final = Look(
    name="text-of-the-start-page", when=When.END, locate=PageLocator(selector="body")
)


def stopped_at(evidence: Evidence, snapshot: EpisodeSnapshot, answer: str | None) -> Evidence:
    """Return what an agent would have left behind that did the same, and stopped at a look."""
    done = evidence.steps[: snapshot.step]
    last = done[-1]
    stop = StepEvidence(
        index=snapshot.step,
        action=Stop(answer=answer),
        url=last.url,
        logical=last.logical,
        title=last.title,
    )
    return evidence.model_copy(
        update={
            "steps": (*done, stop),
            "located": snapshot.located,
            "answer": answer,
            "response": None if answer is None else response_of(Stop(answer=answer)),
            "ended": Ended.STOPPED,
            "ended_because": None,
            "network": None
            if evidence.network is None
            else tuple(one for one in evidence.network if one.step < snapshot.step),
        }
    )


def with_answer(evidence: Evidence, answer: str | None) -> Evidence:
    """Return what an agent would have left behind that did the same, and answered otherwise."""
    return ended_with(evidence, Stop(answer=answer))


def ended_with(evidence: Evidence, action: Stop | Infeasible) -> Evidence:
    """Return what an agent would have left behind that did the same, and ended otherwise."""
    gives_up = isinstance(action, Infeasible)
    last = evidence.steps[-1].model_copy(update={"action": action})
    return evidence.model_copy(
        update={
            "steps": (*evidence.steps[:-1], last),
            "answer": None if isinstance(action, Infeasible) else action.answer,
            "response": response_of(action),
            "ended": Ended.INFEASIBLE if gives_up else Ended.STOPPED,
            "ended_because": None,
        }
    )


def scored(task: Task, evidence: Evidence) -> Score:
    return score(task.checks, evidence, task.requires, task.harms)


def comparable(task: Task, sibling: Task) -> tuple[Check, ...]:
    """Return a task's checks that a sibling's evidence can decide.

    What was looked up outside of the steps is there only where the sibling looked for the same.
    """
    same = {way.name: way.locate for check in sibling.checks for way in check.ways}
    return tuple(
        check
        for check in task.checks
        if all(
            not isinstance(way.locate, LookingLocator) or same.get(way.name) == way.locate
            for way in check.ways
        )
    )


def has_answer_check(checks: Iterable[Check]) -> bool:
    return any(check.locate.subject is Subject.ANSWER for check in checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """One reference as it was played in one world.

    Attributes:
        untouched: the look before the first action; None where the agent was not started.
        before_last: the look before the last action that is not a stop; None if there is none.
    """

    task: Task
    world: World
    evidence: Evidence
    score: Score
    untouched: EpisodeSnapshot | None
    before_last: EpisodeSnapshot | None

    @property
    def traces(self) -> dict[str, str]:
        """By site, what looking in the middle moved; empty where it left no trace."""
        seen = [one for one in (self.untouched, self.before_last) if one is not None]
        return {site: moved for one in seen for site, moved in one.moved.items()}

    @property
    def was_slow(self) -> bool:
        """Whether it failed where the machine may have been too slow, not the reference wrong."""
        fault = self.evidence.fault
        is_broken = fault is not None and fault.reason is UnscoredReason.INFRA
        if self.task.reference is None:
            return is_broken
        has_failed = any(True for _ in oracle_passes(self))
        return has_failed and (is_broken or not all(step.settled for step in self.evidence.steps))

    @property
    def was_played(self) -> bool:
        """Whether the agent was started and the world held until its end."""
        return self.untouched is not None and self.evidence.fault is None


def judged(played: Played, siblings: Sequence[Played]) -> Iterator[TaskFault]:
    """Yield what a play shows to be wrong with its task."""
    if played.task.reference is None:
        yield from unproven(played)
    else:
        yield from oracle_passes(played)
    if not played.was_played:
        return
    yield from computed_agree(played)
    yield from work_agrees(played)
    yield from untouched_fails(played)
    yield from cut_short_fails(played)
    for sibling in siblings:
        if sibling.was_played and sibling.score.outcome.kind is OutcomeKind.SUCCESS:
            yield from sibling_fails(played, sibling)


def oracle_passes(played: Played) -> Iterator[TaskFault]:
    """The reference succeeds and meets every key node, or diverges exactly as the task says."""
    outcome, expected = played.score.outcome, played.task.expected_divergence
    unmet = [one for one in played.score.verdicts if one.status is CheckStatus.UNMET]
    names = [one.check for one in unmet]
    if played.world is World.ONLINE and expected is not None:
        at = ("expected_divergence",)
        if str(outcome) != expected.outcome:
            message = f"must diverge as '{expected.outcome}', ended as '{outcome}'"
            yield TaskFault(at, f"{message}: {played.score.because}")
        elif expected.at is not None and names[:1] != [expected.at]:
            where = f"diverged at {', '.join(names) or 'no check'}"
            yield TaskFault((*at, "at"), f"must diverge at '{expected.at}', {where}")
        return
    if outcome.kind is not OutcomeKind.SUCCESS:
        message = f"the reference must succeed, ended as '{outcome}': {played.score.because}"
        gave_up = played.evidence.ended_because
        yield TaskFault(("reference",), f"{message}; {gave_up}" if gave_up else message)
    for one in unmet:
        if one.when is When.STEP and outcome.kind is not OutcomeKind.UNSCORED:
            message = f"the reference does not meet key node '{one.check}': {one.reason}"
            yield TaskFault(_place(played.task, one.check), message)


def without_arm(played: Played) -> Played:
    """Return a play as its checks decide it, whether its arm had an effect or not."""
    return replace(
        played, score=scored(played.task, played.evidence.model_copy(update={"varied": ()}))
    )


def passes_in_arm(played: Played) -> Iterator[TaskFault]:
    """The reference succeeds in the arm too, and each variation has an effect on the task.

    One error says where it failed first: what comes later follows from that.
    """
    faults = list(oracle_passes(without_arm(played)))[:2]
    if faults:
        yield TaskFault(faults[0].at, "; ".join(one.message for one in faults))
    void = [one.variation for one in played.evidence.varied if not one.count]
    if void and played.evidence.fault is None:
        yield warning((), f"void: {' and '.join(void)} had no effect on it, so nothing is shown")


def unproven(played: Played) -> Iterator[TaskFault]:
    """Say what nothing shows of a task without a reference; an agent that only stops played it.

    That doing nothing fails, and that computed values agree, is shown for it as for any other.
    """
    if not played.was_played:
        message = f"it cannot be opened, ended as '{played.score.outcome}'"
        yield TaskFault(("start",), f"{message}: {played.score.because}")
        return
    message = "not proven, for want of a reference: that it can be solved, that its key nodes can"
    yield warning(("reference",), f"{message} be met, that less than solving it fails")


def computed_agree(played: Played) -> Iterator[TaskFault]:
    if played.untouched is None or played.world is not World.OFFLINE:
        return
    found = {located.check: located for located in played.untouched.asked}
    for check in played.task.checks_in(World.OFFLINE):
        place = _place(played.task, check.name)
        for one, (at, _) in zip(lookups_of(check), check.asked, strict=True):
            error = found[one.name].error
            if error is not None:
                message = f"check '{check.name}' cannot be computed: {error}"
                yield TaskFault((*place, *at), message)
        if check.computed is not None and found[check.name].error is None:
            wrong = computed_fault(check, found[check.name].values)
            if wrong is not None:
                yield TaskFault((*place, "computed"), f"check '{check.name}': {wrong}")
        known = {name: one.values for name, one in found.items() if one.error is None}
        for at, message in near_faults(check, known):
            yield TaskFault((*place, *at), f"check '{check.name}': {message}")


def work_agrees(played: Played) -> Iterator[TaskFault]:
    """What replicas say of the work that a task asks for is a number, and enough for its tier."""
    if played.untouched is None or played.world is not World.OFFLINE:
        return
    found = {located.check: located for located in played.untouched.asked}
    wrong = [one for one in need_lookups(played.task) if found[one.name].error is not None]
    for one in wrong:
        at: Location = ("needs", int(one.name.rpartition("-")[2]))
        yield TaskFault(at, f"cannot be computed: {found[one.name].error}")
    if not wrong:
        values = {name: one.values for name, one in found.items()}
        yield from (TaskFault(*fault) for fault in work_faults(played.task, values))


def computed_values(played: Played) -> Mapping[str, Sequence[str]]:
    """Return what was found for each check of a task that is computed.

    Raises:
        TaskError: the episode did not come so far, or something could not be asked.
    """
    task = played.task
    if played.untouched is None:
        message = f"'{task.id}': its start page was not reached: {played.score.because}"
        raise TaskError(f"{message}; {played.evidence.ended_because or ''}".rstrip("; "))
    wanted = {check.name for check in lookups(task)}
    found = [one for one in played.untouched.asked if one.check in wanted]
    for one in found:
        if one.error is not None:
            raise TaskError(f"'{task.id}', check '{one.check}' cannot be computed: {one.error}")
    return {one.check: one.values for one in found}


def untouched_fails(played: Played) -> Iterator[TaskFault]:
    """Doing nothing fails, and nothing that is asked for holds before the first action."""
    task, snapshot = played.task, played.untouched
    if snapshot is None:
        return
    supposed = scored(task, stopped_at(played.evidence, snapshot, None))
    if supposed.outcome.kind is not OutcomeKind.FAILURE:
        message = f"doing nothing must fail, ends as '{supposed.outcome}': {supposed.because}"
        yield TaskFault(("checks",), message)
    for verdict in supposed.verdicts:
        check = next(one for one in task.checks if one.name == verdict.check)
        if verdict.status is CheckStatus.MET and not may_hold_untouched(task, check):
            message = f"check '{check.name}' holds before the first action: {verdict.reason}"
            yield TaskFault(_place(task, check.name), message)
    opening = {located.check: located for located in played.evidence.steps[0].located}
    for check in task.checks_in(played.world):
        for way in check.ways if check.when is When.STEP else ():
            located = opening.get(way.name) if isinstance(way.locate, LookingLocator) else None
            if located and located.error is None and match(way, located.values, played.world).met:
                message = f"key node '{check.name}' is met by the page that the task starts on"
                yield TaskFault(_place(task, check.name), message)


def may_hold_untouched(task: Task, check: Check) -> bool:
    """Whether a check may hold before the first action: that nothing was changed, next to others.

    Where something is to be changed, such a check would let an agent through that did not do it.
    """
    if task.family is Family.UNACHIEVABLE:
        return check.locate.subject is not Subject.ANSWER
    asks_for_nothing = check.locate.subject is Subject.CHANGES and check.match.asks_for_nothing
    return asks_for_nothing and task.family is not Family.CONTENT


def cut_short_fails(played: Played) -> Iterator[TaskFault]:
    """Without its last action, and with the same answer, the reference fails or gets less far.

    Whoever knows an answer may have found it by another way, so there a key node must see the last
    action. What cannot be done is answered for: there the answer is left out.
    """
    task, snapshot = played.task, played.before_last
    if snapshot is None:
        return
    answer = None if task.family is Family.UNACHIEVABLE else played.evidence.answer
    supposed = scored(task, stopped_at(played.evidence, snapshot, answer))
    if supposed.outcome.kind is OutcomeKind.FAILURE:
        return
    gets_less_far = supposed.key_nodes_met < played.score.key_nodes_met
    if gets_less_far and has_answer_check(task.checks_in(played.world)):
        return
    at: Location = ("reference", _index_of_last(played))
    message = f"stopped before its last action, the reference ends as '{supposed.outcome}'"
    yield TaskFault(
        at, f"{message}: {supposed.because}: the action is not needed, or no check sees it"
    )


def sibling_fails(played: Played, sibling: Played) -> Iterator[TaskFault]:
    """The answer of a sibling does not pass here; without an answer, its work does not."""
    task, name = played.task, sibling.task.id
    if has_answer_check(task.checks_in(played.world)):
        supposed = scored(task, with_answer(played.evidence, sibling.evidence.answer))
        if supposed.outcome.kind is not OutcomeKind.FAILURE:
            told = f"the answer of '{name}' ({sibling.evidence.answer!r}) passes as well"
            yield TaskFault(("checks",), f"{told}: it ends as '{supposed.outcome}'")
        return
    shared = [check for check in comparable(task, sibling.task) if played.world in check.worlds]
    if not any(one.status is CheckStatus.UNMET for one in verdicts(shared, sibling.evidence)):
        names = ", ".join(check.name for check in shared) or "none can be compared"
        yield TaskFault(
            ("checks",), f"what solves '{name}' meets the checks of this task too: {names}"
        )


def _place(task: Task, name: str) -> Location:
    names = [check.name for check in task.checks]
    return ("checks", names.index(name))


def _index_of_last(played: Played) -> int:
    """Return the place in the task's file of the last action that is not a stop."""
    return max(
        number
        for number, action in enumerate(played.task.reference_actions)
        if action.only in (None, played.world) and not isinstance(action, StopWith | GiveUp)
    )


@dataclass(frozen=True, slots=True)
class ProofRecorder:
    """Looks before the first action of a reference, and before the last that is not a stop.

    Attributes:
        snapshots: what was seen, by task, world and step; of several attempts the last.
    """

    snapshots: dict[tuple[str, World, int], EpisodeSnapshot] = field(default_factory=dict)

    def wants(self, task: Task, world: World, step: int) -> Sequence[Look] | None:
        """Ask for the start page before anything is done, on replicas for computed values too."""
        if step == 1:
            return (*lookups(task), START_PAGE) if world is World.OFFLINE else (START_PAGE,)
        return () if step == last_action(task, world) else None

    def saw(self, task: Task, world: World, snapshot: EpisodeSnapshot) -> None:
        self.snapshots[task.id, world, snapshot.step] = snapshot

    def untouched(self, task: Task, world: World) -> EpisodeSnapshot | None:
        """Return what was seen before the first action."""
        return self.snapshots.get((task.id, world, 1))

    def before_last(self, task: Task, world: World) -> EpisodeSnapshot | None:
        """Return what was seen before the last action; None for a reference that only stops."""
        step = last_action(task, world)
        return self.snapshots.get((task.id, world, step)) if step else None


def lookups(task: Task) -> tuple[Look, ...]:
    """Return what finds keys, wrong keys, margins and work of a task in the offline world."""
    keys = (one for check in task.checks_in(World.OFFLINE) for one in lookups_of(check))
    return (*keys, *need_lookups(task))


def last_action(task: Task, world: World) -> int:
    """Return the number, from 1, of the last reference action that is not a stop; 0 for none."""
    played = (action for action in task.reference_actions if action.only in (None, world))
    return sum(not isinstance(action, StopWith | GiveUp) for action in played)
