"""What one play of a reference shows of its task: a pure function of what the play left behind."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum
from http import HTTPStatus
from typing import Final

from arena_core.worlds import World
from evaluators.evidence import Ended, Evidence, UnscoredReason
from evaluators.scores import Score
from evaluators.verdicts import CheckStatus, OutcomeKind, Verdict
from orchestrator.authoring.canary.nearest import Candidate, nearest, path_of
from orchestrator.authoring.canary.reference import (
    ANSWER,
    LOGIN,
    START_PAGE,
    Failed,
    answer_is_seen,
    asks_to_log_in,
    described,
    failed_action,
    kind_of_check,
    kinds_of,
    target_of,
)
from orchestrator.episode.page_view import PageView
from orchestrator.episode.walls import Wall, WallKind, wall_on
from orchestrator.runs.attempts import ended_at
from tasks.schema import Task


class CanaryStatus(StrEnum):
    """Whether a task holds.

    `valid`: its reference was played, and met every check that applies. `drifted`: it was played,
    and the site is no longer as the task says. `blocked`: the site let nobody in. `unreachable`:
    the site did not answer, or with a failure of its own. `unknown`: nothing is known: it has no
    reference, or Arena's own machinery failed.
    """

    VALID = "valid"
    DRIFTED = "drifted"
    BLOCKED = "blocked"
    UNREACHABLE = "unreachable"
    UNKNOWN = "unknown"

    @property
    def is_bad(self) -> bool:
        """Whether an agent that failed this task then cannot be blamed."""
        return self in {CanaryStatus.DRIFTED, CanaryStatus.BLOCKED, CanaryStatus.UNREACHABLE}


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFinding:
    """What became of one check.

    Attributes:
        kind: what it is made of: `key node url exact`, `end check answer answer`.
        status: `met`, `unmet` or `unknown`.
        step: the first step that met a key node.
    """

    check: str
    kind: str
    status: str
    expected: str
    found: str
    step: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Where a task and its site differ.

    Attributes:
        at: `reference action 2`, `check 'open'`, `start page`.
        kind: what drifted, for statistics: `reference click`, `key node url exact`.
        expected: what the task says.
        found: what is there now.
        nearest: elements of the page that may be the one that is missing.
        action: the number of the reference action; None where it is none.
        check: the name of the check; None where it is none.
        values: what the check found, value by value.
    """

    at: str
    kind: str
    expected: str
    found: str
    nearest: tuple[Candidate, ...] = ()
    action: int | None = None
    check: str | None = None
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFinding:
    """What one look at a task found.

    Attributes:
        because: one sentence.
        wall: what blocks it.
        answer_seen: whether the reference's answer stood on a page that the play saw; None for a
            task without an answer. A play says the answer by heart: only this shows that the site
            still says it.
        url: where the play ended.
        screenshot: the last picture of the play, as a path; None where there is none.
        evidence: the folder of the play's evidence; None where nothing was played.
        pages: how many documents the play loaded.
        retry_at: before when the site does not want to be asked again, UTC in ISO 8601; None where
            it does not say.
        is_bug: a bug of Arena's broke the play off.
        is_restless: a page of the play did not come to rest in time.
    """

    task: str
    world: World
    status: CanaryStatus
    because: str
    nodes: tuple[NodeFinding, ...] = ()
    kinds: tuple[str, ...] = ()
    drift: Drift | None = None
    wall: Wall | None = None
    answer_seen: bool | None = None
    url: str = ""
    screenshot: str | None = None
    evidence: str | None = None
    pages: int = 0
    retry_at: str | None = None
    is_bug: bool = False
    is_restless: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """One play of a task's reference.

    Attributes:
        pages: what was seen, oldest first.
        then: the pages of the last play that was valid; none where there is none.
    """

    task: Task
    world: World
    evidence: Evidence
    score: Score
    pages: tuple[PageView, ...] = ()
    then: tuple[PageView, ...] = ()


def not_played(task: Task, world: World, because: str) -> TaskFinding:
    """Return the finding of a task that nobody played: nothing is known of it."""
    return TaskFinding(
        task=task.id,
        world=world,
        status=CanaryStatus.UNKNOWN,
        because=because,
        kinds=kinds_of(task, world),
    )


def finding_of(play: Play) -> TaskFinding:
    """Return what a play shows: valid only where it met every check that applies in its world."""
    found, steps = _finding_of(play), play.evidence.steps
    said = steps[-1].retry_after if steps else None
    if said is None or found.status not in {CanaryStatus.BLOCKED, CanaryStatus.UNREACHABLE}:
        return found
    until = retry_at(said, ended_at(play.evidence))
    if until is None:
        return found
    named = until.isoformat(timespec="seconds")
    return replace(found, retry_at=named, because=f"{found.because}, until {named}")


def _finding_of(play: Play) -> TaskFinding:
    evidence, task = play.evidence, play.task
    found = TaskFinding(
        task=task.id,
        world=play.world,
        status=CanaryStatus.UNKNOWN,
        because=play.score.because,
        nodes=tuple(_node(task, verdict) for verdict in play.score.verdicts),
        kinds=kinds_of(task, play.world),
        answer_seen=answer_is_seen(task, play.world, play.pages),
        url=evidence.steps[-1].url if evidence.steps else "",
        pages=sum(not one.same_document for step in evidence.steps for one in step.visits),
        is_restless=not all(step.settled for step in evidence.steps),
    )
    if diverges := _expected_divergence(play):
        return replace(found, status=CanaryStatus.VALID, because=diverges)
    if evidence.fault is not None:
        nodes = tuple(replace(one, status=CheckStatus.UNKNOWN.value) for one in found.nodes)
        return _broken_off(play, replace(found, nodes=nodes))
    if evidence.ended is Ended.AGENT_GAVE_UP:
        return _gone_wrong(play, found)
    return _judged(play, found)


def _judged(play: Play, found: TaskFinding) -> TaskFinding:
    """Return the finding of a play whose reference came to its end, by its checks."""
    outcome = play.score.outcome
    if outcome.kind is OutcomeKind.UNSCORED and outcome.reason not in _OF_THE_SITE:
        return replace(found, is_bug=outcome.reason is UnscoredReason.INTERNAL)
    lacking = [one for one in play.score.verdicts if one.status is not CheckStatus.MET]
    if not lacking and outcome.kind is OutcomeKind.SUCCESS:
        expected = play.task.expected_divergence
        if expected is not None and play.world is World.ONLINE:
            drift = Drift(
                at="expected_divergence",
                kind="expected divergence",
                expected=expected.outcome,
                found="the reference succeeds online too",
            )
            return _drifted(found, drift)
        return _held(play, found)
    if lacking and all(one.status is CheckStatus.UNKNOWN for one in lacking):
        # It succeeded, and whether a key node still holds could not be looked at.
        return replace(found, because=f"check '{lacking[0].check}' {lacking[0].reason}")
    return _gone_wrong(play, found)


# A requirement that does not hold; a site that let the reference in no more.
_OF_THE_SITE: Final = frozenset({UnscoredReason.DRIFTED, UnscoredReason.BLOCKED})


def _held(play: Play, found: TaskFinding) -> TaskFinding:
    """Return a finding of a play that met everything: valid, unless its answer left the pages."""
    if found.answer_seen is not False or not play.then:
        return replace(found, status=CanaryStatus.VALID)
    if not answer_is_seen(play.task, play.world, play.then):
        return replace(found, status=CanaryStatus.VALID)
    drift = Drift(
        at="the answer",
        kind=ANSWER,
        expected="the reference's answer on a page that it visits, as before",
        found="no page that it visited says it any more",
    )
    return _drifted(found, drift)


def _expected_divergence(play: Play) -> str | None:
    """Return why a play ended as it must online, where the worlds diverge on purpose."""
    expected = play.task.expected_divergence
    if play.world is not World.ONLINE or expected is None:
        return None
    unmet = [one.check for one in play.score.verdicts if one.status is CheckStatus.UNMET]
    is_so = str(play.score.outcome) == expected.outcome
    if not is_so or (expected.at is not None and unmet[:1] != [expected.at]):
        return None
    return f"diverges online as the task says: {expected.outcome}"


def _broken_off(play: Play, found: TaskFinding) -> TaskFinding:
    """Return the finding of a play that broke off: unknown, unless a live site did it."""
    fault = play.evidence.fault
    if fault is None or fault.reason is UnscoredReason.INTERNAL:
        return replace(found, is_bug=fault is not None)
    if fault.unreachable is not None:
        return replace(found, status=CanaryStatus.UNREACHABLE)
    status = play.evidence.steps[0].status if play.evidence.steps else None
    match fault.reason:
        case UnscoredReason.BLOCKED:
            return _barred(play, found, status)
        case UnscoredReason.DRIFTED:
            at = LOGIN if status is None else START_PAGE
            drift = Drift(at=at, kind=at, expected="it lets the task begin", found=fault.message)
            return _drifted(found, drift)
        case UnscoredReason.NOT_FOUND_AT_START:
            return _failing(play, found, status)
        case _:
            return found


def _barred(play: Play, found: TaskFinding, status: int | None) -> TaskFinding:
    wall = _wall(play)
    if wall is None and status == HTTPStatus.SERVICE_UNAVAILABLE:
        return replace(found, status=CanaryStatus.UNREACHABLE)
    return _blocked(found, wall or Wall(WallKind.REFUSED, f"status {status}"))


def _failing(play: Play, found: TaskFinding, status: int | None) -> TaskFinding:
    """Return what a start page with an error means; of a replica's failures Arena is the owner."""
    is_failure = status is None or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    if is_failure and play.world is World.ONLINE:
        return replace(found, status=CanaryStatus.UNREACHABLE)
    if is_failure:
        return found
    said = play.evidence.fault.message if play.evidence.fault else found.because
    drift = Drift(at=START_PAGE, kind=START_PAGE, expected="a page to begin on", found=said)
    return _drifted(found, drift)


def _gone_wrong(play: Play, found: TaskFinding) -> TaskFinding:
    """Return the finding of a play that went through and did not meet what it should."""
    wall = _wall(play)
    if wall is not None:
        return _blocked(found, wall)
    last = play.evidence.steps[-1] if play.evidence.steps else None
    status = None if last is None else last.status
    if status is not None and status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        because = f"{last.url if last else ''} answered {status}"
        is_live = play.world is World.ONLINE
        state = CanaryStatus.UNREACHABLE if is_live else CanaryStatus.UNKNOWN
        return replace(found, status=state, because=because)
    if play.evidence.ended in {Ended.DEADLINE, Ended.STEP_LIMIT}:
        because = f"the reference did not come to its end: {play.evidence.ended_because}"
        return replace(found, because=because)
    if play.evidence.ended is Ended.AGENT_GAVE_UP:
        return _drifted(found, _drift_at_action(play))
    return _drifted(found, _drift_at_check(play))


def _wall(play: Play) -> Wall | None:
    """Return the wall that the play ended at; replicas have none."""
    if play.world is not World.ONLINE or not play.pages:
        return None
    error = play.evidence.steps[-1].error if play.evidence.steps else None
    return wall_on(
        play.pages[-1],
        asks_to_log_in=asks_to_log_in(play.task, play.world),
        is_covered=" is covered by " in (error or ""),
    )


def _drift_at_action(play: Play) -> Drift:
    """Return the drift of a play whose reference could not go on."""
    failed = failed_action(play.task, play.world, play.evidence.steps)
    told = play.evidence.ended_because or play.score.because
    if failed is None:
        return Drift(at="reference", kind="reference", expected="it plays to its end", found=told)
    page = play.pages[-1] if play.pages else None
    place = f" on {page.url}" if page else ""
    found = failed.error or f"no such element{place}"
    return Drift(
        at=f"reference action {failed.number}",
        kind=f"reference {failed.action.do}",
        expected=described(failed.action, play.world),
        found=found,
        nearest=_candidates(play, failed, page),
        action=failed.number,
    )


def _candidates(play: Play, failed: Failed, page: PageView | None) -> tuple[Candidate, ...]:
    target = target_of(failed.action, play.world)
    if target is None or page is None:
        return ()
    before = play.then[failed.at] if failed.at < len(play.then) else None
    path = None if before is None else path_of(before.nodes, *target)
    return nearest(page.nodes, *target, path)


def _drift_at_check(play: Play) -> Drift:
    """Return the drift of a play that came to its end, and whose checks are not met."""
    required = [one for one in play.score.required if one.status is CheckStatus.UNMET]
    unmet = [one for one in play.score.verdicts if one.status is CheckStatus.UNMET]
    for verdict in (*required, *unmet):
        return Drift(
            at=f"{'requirement' if required else 'check'} '{verdict.check}'",
            kind=kind_of_check(play.task, verdict.check),
            expected=verdict.expected,
            found=_found(verdict),
            check=verdict.check,
            values=verdict.found,
        )
    because = play.score.because
    return Drift(at="the end", kind="end", expected="every check is met", found=because)


def _found(verdict: Verdict) -> str:
    return ", ".join(verdict.found) if verdict.found else verdict.reason


def _node(task: Task, verdict: Verdict) -> NodeFinding:
    return NodeFinding(
        check=verdict.check,
        kind=kind_of_check(task, verdict.check),
        status=verdict.status.value,
        expected=verdict.expected,
        found=_found(verdict),
        step=verdict.step,
    )


def _blocked(found: TaskFinding, wall: Wall) -> TaskFinding:
    because = f"{wall.kind}: {wall.sign}"
    return replace(found, status=CanaryStatus.BLOCKED, wall=wall, because=because)


def _drifted(found: TaskFinding, drift: Drift) -> TaskFinding:
    because = f"{drift.at}: expected {drift.expected}; found {drift.found}"
    if drift.nearest:
        because += f"; the nearest: {drift.nearest[0]}"
    if found.is_restless:
        because += " (a page did not come to rest in time)"
    return replace(found, status=CanaryStatus.DRIFTED, drift=drift, because=because)


# A site that says more is asked again after that long: it cannot shut a canary up for good.
LONGEST_RETRY: Final = timedelta(days=1)
_SECONDS: Final = re.compile(r"\d{1,20}", re.ASCII)


def retry_at(said: str, now: datetime) -> datetime | None:
    """Return when a site wants to be asked again; None for garbage and for what is past.

    Args:
        said: the header's value: seconds, or a date of HTTP.
    """
    text = said.strip()
    if _SECONDS.fullmatch(text):
        wait = timedelta(seconds=min(int(text), LONGEST_RETRY.total_seconds()))
        return now + wait if wait else None
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if date.tzinfo is None:  # `-0000`: UTC, and nobody knows where
        date = date.replace(tzinfo=UTC)
    return min(date, now + LONGEST_RETRY).astimezone(UTC) if date > now else None
