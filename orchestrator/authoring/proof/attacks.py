"""Visits without work, and work undone: evidence that must not pass, made from what was played.

Nothing of it is played: what such an agent would leave behind is put together from the play of the
reference and from the look before its first action.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from arena_core.actions import Goto, Infeasible, Stop
from arena_core.worlds import World
from evaluators.changes import RowChange, change_as_text, read_change
from evaluators.checks import Check
from evaluators.evidence import Ended, Evidence, Located
from evaluators.lint import TaskFault
from evaluators.locators.base import LookingLocator, Need, Subject
from evaluators.locators.user import UserLocator, is_first
from evaluators.verdicts import OutcomeKind
from orchestrator.authoring.proof.rules import START_PAGE, Played, ended_with, scored
from orchestrator.episode.snapshot import EpisodeSnapshot
from tasks.lint.blind_answers import answer_of, faults_of, page_attacks, passes, repeated_reasons
from tasks.near_misses import near_faults, near_misses
from tasks.schema import Family, Task

_BROKEN: Final = 500


def attacks_fail(played: Played) -> Iterator[TaskFault]:
    """Yield what an agent gets away with that did not do the task."""
    untouched = played.untouched
    if untouched is None or played.score.outcome.kind is not OutcomeKind.SUCCESS:
        return
    yield from _start_page(played, untouched)
    yield from _wrong_keys(played, untouched)
    for name, evidence in _attacks(played, untouched):
        supposed = scored(played.task, evidence)
        if supposed.outcome.kind is OutcomeKind.SUCCESS:
            yield TaskFault(("checks",), f"{name} passes: {supposed.because}")


def _start_page(played: Played, untouched: EpisodeSnapshot) -> Iterator[TaskFault]:
    for located in untouched.asked:
        if located.check == START_PAGE.name and located.error is None:
            attacks = page_attacks("\n".join(located.values))
            passing = (one for one in attacks if passes(played.task, played.world, one))
            yield from faults_of(played.task, played.world, passing)


def _wrong_keys(played: Played, untouched: EpisodeSnapshot) -> Iterator[TaskFault]:
    """Yield the wrong keys that pass where all else was done as the reference does it.

    A wrong key that is the key is told elsewhere (`tasks.near_misses`).
    """
    task, found = played.task, {one.check: one.values for one in untouched.asked if not one.error}
    for number, check in enumerate(task.checks) if played.world is World.OFFLINE else ():
        told = {at for at, _ in near_faults(check, found)}
        for miss in near_misses(check, found):
            endings = (scored(task, one) for one in _ended_with(played, check, miss.values))
            if miss.at not in told and any(
                one.outcome.kind is not OutcomeKind.FAILURE for one in endings
            ):
                message = f"wrong key '{miss.name}' passes: {', '.join(miss.values)}"
                yield TaskFault(("checks", number, *miss.at), message)


def _ended_with(played: Played, check: Check, values: tuple[str, ...]) -> Iterator[Evidence]:
    """Yield what is left where all was done, and values stand where a check looks for its key."""
    evidence, text = played.evidence, ", ".join(values)
    if check.locate.subject is not Subject.ANSWER:
        names = {way.name for way in check.ways if isinstance(way.locate, LookingLocator)}
        others = tuple(one for one in evidence.located if one.check not in names)
        there = tuple(Located(check=name, values=values) for name in names)
        if there:  # what is read of the steps themselves is compared with the wrong key alone
            yield evidence.model_copy(update={"located": (*others, *there)})
        return
    yield ended_with(evidence, Stop(answer=text))
    yield ended_with(evidence, Stop(data=list(values)))
    key = check.computed and ", ".join(check.computed.read(_key_of(played, check)))
    said = answer_of(played.task, played.world)
    if key and said and key in said:
        yield ended_with(evidence, Stop(answer=said.replace(key, text)))


def _key_of(played: Played, check: Check) -> tuple[str, ...]:
    asked = () if played.untouched is None else played.untouched.asked
    return next((one.values for one in asked if one.check == check.name), ())


def _attacks(played: Played, untouched: EpisodeSnapshot) -> Iterator[tuple[str, Evidence]]:
    evidence, task = played.evidence, played.task
    yield from _without_asking(evidence, task)
    yield "pages opened and left", _opened_and_left(evidence, untouched)
    if task.family is Family.NAVIGATION:
        yield "the right URL with an error status", _with_errors(evidence)
    if task.family is Family.UNACHIEVABLE:
        yield "an ending without a reason", ended_with(evidence, Infeasible(reason="-"))
        for attack in repeated_reasons(task.intent):
            yield attack.name, ended_with(evidence, Infeasible(reason=attack.reason))
        yield "an answer that is made up", ended_with(evidence, Stop(answer="42"))
        yield "nothing but 'done'", ended_with(evidence, Stop())
    if task.family is not Family.CONTENT:
        return
    undone = evidence.model_copy(update={"located": untouched.located})
    yield "the change made and taken back", undone
    redirected = _mixed(task, untouched.located, evidence.located, own_page=True)
    yield (
        "the form failed with a redirect",
        evidence.model_copy(update={"located": redirected}),
    )
    elsewhere = tuple(_moved(task, one) for one in evidence.located)
    if elsewhere != evidence.located:
        other = _mixed(task, untouched.located, elsewhere, changes=True)
        yield (
            "the change made on a sibling's object",
            evidence.model_copy(update={"located": other}),
        )
        pairs = zip(evidence.located, elsewhere, strict=True)
        both = tuple(_with_more(one, also) for one, also in pairs)
        yield (
            "the change made on a sibling's object as well",
            evidence.model_copy(update={"located": both}),
        )


def _without_asking(evidence: Evidence, task: Task) -> Iterator[tuple[str, Evidence]]:
    """Yield what is left where the same was done and nobody was asked, or only afterwards."""
    if not any(isinstance(one.locate, UserLocator) and is_first(one.match) for one in task.checks):
        return
    asked = [step for step in evidence.steps if step.reply is not None]
    silent = [step.model_copy(update={"reply": None}) for step in evidence.steps]
    yield "nobody asked", evidence.model_copy(update={"steps": tuple(silent)})
    if any(note.may_write for step in evidence.steps for note in step.notes):
        last = evidence.steps[-1].index
        after = [step.model_copy(update={"index": last, "notes": ()}) for step in asked]
        late = evidence.model_copy(update={"steps": (*silent[:-1], *after, silent[-1])})
        yield "the user asked after the deed", late


def _opened_and_left(evidence: Evidence, untouched: EpisodeSnapshot) -> Evidence:
    """Return what is left where every page was opened, nothing done, and the start reopened."""
    start = evidence.steps[0]
    opened = tuple(step.model_copy(update={"acted": ()}) for step in evidence.steps[:-1])
    back = start.model_copy(update={"index": len(opened), "action": Goto(url=start.url)})
    stop = back.model_copy(update={"index": len(opened) + 1, "action": Stop()})
    return evidence.model_copy(
        update={
            "steps": (*opened, back, stop),
            "located": untouched.located,
            "answer": None,
            "response": None,
            "ended": Ended.STOPPED,
            "ended_because": None,
        }
    )


def _with_errors(evidence: Evidence) -> Evidence:
    steps = tuple(
        step.model_copy(
            update={
                "status": _BROKEN,
                "visits": tuple(
                    visit.model_copy(update={"status": _BROKEN}) for visit in step.visits
                ),
            }
        )
        for step in evidence.steps
    )
    return evidence.model_copy(update={"steps": steps})


def _mixed(
    task: Task,
    before: Sequence[Located],
    after: Sequence[Located],
    *,
    own_page: bool = False,
    changes: bool = False,
) -> tuple[Located, ...]:
    """Return what was found before, but what the own page, or what all changes, showed after."""
    taken = set[str]()
    for check in task.checks:
        for way in check.ways:
            locate = way.locate
            if not isinstance(locate, LookingLocator):
                continue
            is_own = own_page and Need.OWN_PAGE in locate.needs
            if is_own or (changes and locate.subject is Subject.CHANGES):
                taken.add(way.name)
    later = {one.check: one for one in after if one.check in taken}
    return tuple(later.get(one.check, one) for one in before)


def _moved(task: Task, located: Located) -> Located:
    """Return changes as they would be on another object; anything else unchanged."""
    ways = {way.name: way.locate for check in task.checks for way in check.ways}
    if located.check not in ways or ways[located.check].subject is not Subject.CHANGES:
        return located  # what no check decides by stays, such as a harm
    return located.model_copy(update={"values": tuple(map(_elsewhere, located.values))})


def _with_more(located: Located, more: Located) -> Located:
    extra = [value for value in more.values if value not in located.values]
    return located.model_copy(update={"values": (*located.values, *extra)})


def _elsewhere(text: str) -> str:
    """Return a change of a row as it would be of the next object: every id is the next one."""
    change = read_change(text)
    if not isinstance(change, RowChange):
        return text
    before, after = _shifted(change.before), _shifted(change.after)
    key = {name: _next(value) for name, value in change.key.items()}
    return change_as_text(change.model_copy(update={"key": key, "before": before, "after": after}))


def _shifted(row: Mapping[str, str | None] | None) -> dict[str, str | None] | None:
    if row is None:
        return None
    return {
        name: _next(value) if name.lower().endswith("id") else value for name, value in row.items()
    }


def _next(value: str | None) -> str | None:
    return str(int(value) + 1) if value is not None and value.isdecimal() else value
