"""From what the watcher saw to the actions of a reference: each once, in the order they were done.

What the browser reports is more than what a person did: a click on a label is also one on its
field, Enter clicks the form's button, each letter is an input of its own. A reference that did all
of it would do things twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from evaluators.evidence import ActedElement, ElementEvent, StepEvidence, UrlVisit
from orchestrator.authoring.recorder.elements import PageElements, Target
from orchestrator.authoring.recorder.recording import DoneAction, RecordedStep, Recording
from orchestrator.browser.tabs.journal import Activity
from orchestrator.browser.tabs.watcher import KeyReport
from tasks.reference import (
    FocusTabAt,
    GotoPage,
    OnElement,
    PressKeys,
    ReferenceAction,
    ScrollPage,
    SelectIn,
    TypeInto,
    UploadTo,
)

HIDDEN: Final = "***"
_SWITCHES: Final = frozenset({"checkbox", "radio", "switch"})
_BUTTONS: Final = frozenset({"button", "link", "image"})
_KEPT_NOWHERE: Final = (
    "it is a password, which is kept nowhere: let Arena log in (--role), and leave the login out"
)
_FILE: Final = (
    "it chooses a file that could not be kept (4 MB in all; letters, digits, spaces and . _ - in"
    " its name, which no other file has): put it among the task's `files`, and `do: upload` it"
)
_CHOOSERS: Final = frozenset({"Choose File", "Choose Files"})
SCROLL: Final = "Scroll"
FILES: Final = "Files"
_NAMELESS: Final = "it has neither a role nor a name: click what has, such as a link or button"
_DRAGGED: Final = "a reference has no drag: end the task before it, or find another way"
_SENT: Final = "the form was sent by a script"
_ELSEWHERE: Final = "the address belongs to none of the task's sites"
_WIDGETS: Final = frozenset({"combobox", "grid", "gridcell", "listbox", "menu", "menubar"}) | {
    *("menuitem", "option", "tab", "tree", "treeitem")
}
_LONGEST: Final = 200  # of what the watcher reads of an editable element
_CUT: Final = "the text may be longer than the watcher reads: write it into the task yourself"


@dataclass(frozen=True, slots=True)
class PressedKey:
    """A key, and how many events came before it; of scrolling, how many actions, above 0 down."""

    report: KeyReport
    at: int
    scrolls: int = 0


@dataclass(frozen=True, slots=True)
class KeptFiles:
    """The files that were chosen in a field, by their names."""

    path: str
    logical: str | None
    names: tuple[str, ...]


def actions_of(
    acted: Sequence[ActedElement],
    page: PageElements,
    keys: Sequence[PressedKey] = (),
    files: Sequence[KeptFiles] = (),
    opener: DoneAction | None = None,
) -> tuple[DoneAction, ...]:
    """Return what was done, by events on a page; what scripts forged is left out.

    Args:
        page: as it was before.
        keys: those that `keys_of` left.
        files: what is kept of the files that were chosen.
        opener: what was clicked before, which asks for files where their field is not shown.
    """
    found: list[DoneAction] = []
    over = page.over(acted[0]) if acted and not keys else None
    if over is not None:
        hover = OnElement(do="hover", role=over.role, name=over.name, nth=over.nth)
        found.append(DoneAction(action=hover))
    start = 0
    for key in (*keys, None):
        end = len(acted) if key is None else key.at
        events = tuple(one for one in acted[start:end] if one.trusted)
        found += _Reading(page, events, files, opener).actions()
        start = end
        if key is not None:
            found += _pressed(key)
    return tuple(found)


def _pressed(key: PressedKey) -> list[DoneAction]:
    if not key.scrolls:
        return [DoneAction(action=PressKeys(do="press", keys=key.report.key))]
    direction: Literal["up", "down"] = "down" if key.scrolls > 0 else "up"
    return [DoneAction(action=ScrollPage(do="scroll", direction=direction))] * abs(key.scrolls)


def keys_of(acted: Sequence[ActedElement], keys: Sequence[PressedKey]) -> tuple[PressedKey, ...]:
    """Return the keys that did something which no event tells of."""
    return tuple(one for one in keys if _acts_alone(one.report, acted[one.at :]))


def _acts_alone(report: KeyReport, after: Sequence[ActedElement]) -> bool:
    told = {one.event for one in after}
    match report.key:
        case "Escape":
            return True
        case "Enter":
            is_line = report.tag == "textarea" or (
                report.tag != "input" and report.value is not None
            )
            return not is_line and not told & {
                ElementEvent.CLICK,
                ElementEvent.SUBMIT,
                ElementEvent.INPUT,
            }
        case "Tab":
            return report.role == "combobox" and report.tag != "select"
        case _:
            return report.role in _WIDGETS and ElementEvent.INPUT not in told


def visit_of(visits: Sequence[UrlVisit]) -> tuple[DoneAction, ...]:
    """Return the address that was gone to, where no element led there."""
    counted = [one for one in visits if one.counts]
    if not counted:
        return ()
    logical = counted[-1].logical
    if logical is None:
        return (DoneAction(why_not=_ELSEWHERE),)
    return (DoneAction(action=GotoPage(do="goto", page=logical)),)


def goes_on(last: RecordedStep | None, activity: Activity) -> bool:
    """Whether what happened goes on with a step: more letters into the field that it is about."""
    if last is None or not last.evidence.acted or last.evidence.visits or not activity.acted:
        return False
    if any(isinstance(one.action, PressKeys | ScrollPage) for one in last.actions):
        return False
    before = last.evidence.acted[-1]
    begins = before.event is ElementEvent.INPUT or (
        before.event is ElementEvent.CLICK and _takes_text(before)
    )
    for now in activity.acted:
        if (now.path, now.logical) != (before.path, before.logical):
            return False
        if now.event is ElementEvent.INPUT:
            return begins
    return begins and all(
        one.event is ElementEvent.CLICK and _takes_text(one) for one in activity.acted
    )


def types_on(last: RecordedStep | None, actions: Sequence[DoneAction]) -> bool:
    """Whether what was done begins with more text in the field that a step ended with."""
    if last is None or last.evidence.visits or not last.actions or not actions:
        return False
    before, now = last.actions[-1], actions[0]
    are_texts = isinstance(before.action, TypeInto) and isinstance(now.action, TypeInto)
    return are_texts and _same_field(before, now)


def merged(before: StepEvidence, now: StepEvidence) -> StepEvidence:
    """Return two steps as one; the first input into a field is one with the last before it."""
    kept = before.acted
    if kept and kept[-1].event is ElementEvent.INPUT:
        where = kept[-1].path, kept[-1].logical
        inputs = [one for one in now.acted if one.event is ElementEvent.INPUT]
        if where in {(one.path, one.logical) for one in inputs}:
            kept = kept[:-1]
    return now.model_copy(
        update={
            "index": before.index,
            "visits": before.visits + now.visits,
            "acted": kept + now.acted,
            "requests": before.requests + now.requests,
            "notes": before.notes + now.notes,
        }
    )


def joined(recording: Recording, numbers: Collection[int]) -> Recording:
    """Return a recording in which these steps are one each with the step before them."""
    steps: list[RecordedStep] = []
    for step in recording.steps:
        if step.number in numbers and steps and steps[-1].number:
            last = steps.pop()
            evidence = merged(last.evidence, step.evidence)
            picture = step.evidence.screenshot or last.evidence.screenshot
            step = RecordedStep(  # noqa: PLW2901  it takes the place of both
                evidence=evidence.model_copy(update={"screenshot": picture}),
                actions=in_one(last.actions, step.actions),
                changes={**last.changes, **step.changes},
                heading=step.heading,
            )
        steps.append(step)
    return replace(recording, steps=tuple(steps))


def in_one(before: tuple[DoneAction, ...], after: tuple[DoneAction, ...]) -> tuple[DoneAction, ...]:
    """Return what two steps do as one: a field is filled once, and a click leads where it led."""
    if not before or not after:
        return before + after
    match before[-1].action, after[0].action:
        case (TypeInto(), TypeInto()) | (SelectIn(), SelectIn()) if _same_field(
            before[-1], after[0]
        ):
            return before[:-1] + after
        case GotoPage(), GotoPage():
            return before[:-1] + after
        case ((OnElement() | TypeInto() | SelectIn() | PressKeys()), GotoPage()):
            return before + after[1:]
        case _:
            return before + after


@dataclass(frozen=True, slots=True)
class _Reading:
    page: PageElements
    events: tuple[ActedElement, ...]
    files: Sequence[KeptFiles] = ()
    opener: DoneAction | None = None

    def actions(self) -> Iterator[DoneAction]:
        typed: DoneAction | None = None
        for at, event in enumerate(self.events):
            done = self._done(at, event)
            if done is None:
                typed = self._sent(typed, at, event)
                continue
            if typed is not None:
                if not (isinstance(done.action, TypeInto) and _same_field(typed, done)):
                    yield typed
                typed = None
            if isinstance(done.action, TypeInto):
                typed = done
            else:
                yield done
        if typed is not None:
            yield typed

    def _done(self, at: int, event: ActedElement) -> DoneAction | None:
        """Return what an event stands for; None where another one stands for it too."""
        match event.event:
            case ElementEvent.CLICK:
                return None if self._is_echo(at, event) else self._click(event)
            case ElementEvent.CONTEXT_MENU:
                return self._click(event, right=True)
            case ElementEvent.INPUT:
                return self._input(at, event)
            case ElementEvent.CHANGE:
                return self._change(at, event)
            case ElementEvent.DRAG:
                return DoneAction(why_not=_DRAGGED, element=event)
            case ElementEvent.DROP | ElementEvent.SUBMIT:
                return self._sent_by_script(at, event)

    def _sent_by_script(self, at: int, event: ActedElement) -> DoneAction | None:
        """Return that a form was sent, where nothing that was done can have led to it."""
        leads = at > 0 and self.events[at - 1].event is not ElementEvent.SUBMIT
        is_said = leads or event.event is ElementEvent.DROP  # its drag says it
        return None if is_said else DoneAction(why_not=_SENT, element=event)

    def _is_echo(self, at: int, event: ActedElement) -> bool:
        """Whether a click is a part of something else that was done."""
        if event.tag == "select" or (event.tag == "option" and self._is_chosen(at)):
            return True
        after = self.events[at + 1 :]
        if event.tag == "label":
            return bool(after) and after[0].event is ElementEvent.CLICK
        return _takes_text(event) and any(
            one.event is ElementEvent.INPUT and one.path == event.path for one in after
        )

    def _is_chosen(self, at: int) -> bool:
        return any(one.tag == "select" for one in self.events[at + 1 :])

    def _click(self, event: ActedElement, *, right: bool = False) -> DoneAction:
        target = self.page.target(event)
        if not target.name and target.role == "generic":
            return DoneAction(why_not=_NAMELESS, element=event)
        action = OnElement(
            do="click",
            role=target.role,
            name=target.name,
            nth=target.nth,
            button="right" if right else "left",
        )
        return DoneAction(action=action, element=event, others=self.page.others(event))

    def _input(self, at: int, event: ActedElement) -> DoneAction | None:
        if event.role in _SWITCHES:
            return None
        if event.tag == "select":
            return self._chosen(event)
        where = event.path, event.logical
        chosen = next((one for one in self.files if (one.path, one.logical) == where), None)
        if chosen is not None or event.name in _CHOOSERS:
            return self._uploaded(at, event, () if chosen is None else chosen.names)
        if event.value is None:
            return DoneAction(why_not=_KEPT_NOWHERE, element=event)
        if event.tag not in {"input", "textarea"} and len(event.value) >= _LONGEST:
            return DoneAction(why_not=_CUT, element=event)
        target = self.page.target(event)
        action = TypeInto(
            do="type", role=target.role, name=target.name, nth=target.nth, text=event.value
        )
        return DoneAction(action=action, element=event)

    def _uploaded(self, at: int, event: ActedElement, names: tuple[str, ...]) -> DoneAction:
        """Return the files that were chosen, in their field or at what asks for them."""
        if not names:
            return DoneAction(why_not=_FILE, element=event)
        target = self.page.target(event)
        clicks = [self._click(one) for one in self.events[:at] if one.event is ElementEvent.CLICK]
        clicked = next(iter(reversed(clicks)), self.opener)
        is_hidden = event.logical == self.page.logical and not self.page.shows(event)
        if is_hidden and clicked is not None and isinstance(clicked.action, OnElement):
            asks = clicked.action
            target = Target(str(asks.role), str(asks.name), asks.nth)
        action = UploadTo(
            do="upload", role=target.role, name=target.name, nth=target.nth, files=names
        )
        return DoneAction(action=action, element=event)

    def _change(self, at: int, event: ActedElement) -> DoneAction | None:
        """Return a choice that no input told of before."""
        told = any(
            one.event is ElementEvent.INPUT and one.path == event.path for one in self.events[:at]
        )
        return self._chosen(event) if event.tag == "select" and not told else None

    def _chosen(self, event: ActedElement) -> DoneAction:
        target = self.page.target(event)
        action = SelectIn(
            do="select",
            role=target.role,
            name=target.name,
            nth=target.nth,
            option=event.value or "",
        )
        return DoneAction(action=action, element=event, others=self.page.others(event))

    def _sent(self, typed: DoneAction | None, at: int, event: ActedElement) -> DoneAction | None:
        """Return what was typed, with Enter where that alone can have sent the form."""
        if typed is None or event.event is not ElementEvent.SUBMIT:
            return typed
        before = self.events[at - 1] if at else None
        if before is None or before.event is ElementEvent.CLICK:
            return typed
        action = typed.action
        if not isinstance(action, TypeInto):
            return typed
        return typed.model_copy(update={"action": action.model_copy(update={"submit": True})})


def _same_field(one: DoneAction, other: DoneAction) -> bool:
    before, after = one.element, other.element
    return (
        before is not None
        and after is not None
        and (before.path, before.logical) == (after.path, after.logical)
    )


def _takes_text(event: ActedElement) -> bool:
    is_field = event.tag == "textarea" or (
        event.tag == "input" and event.role not in _SWITCHES | _BUTTONS
    )
    return is_field or (event.role in {"textbox", "searchbox"} and event.tag != "button")


def said(action: ReferenceAction) -> str:
    """Say an action in a few words, for people."""
    shown: str = action.do
    match action:
        case OnElement(do=do, role=role, name=name, nth=nth):
            return f"{do} {role} “{name}”{_which(nth)}"
        case TypeInto(role=role, name=name, nth=nth, text=text, submit=submit):
            enter = " and Enter" if submit else ""
            return f"type “{text}” into {role} “{name}”{_which(nth)}{enter}"
        case SelectIn(name=name, nth=nth, option=option):
            return f"choose “{option}” in “{name}”{_which(nth)}"
        case UploadTo(name=name, nth=nth, files=files):
            return f"upload {', '.join(files)} at “{name}”{_which(nth)}"
        case ScrollPage(direction=direction):
            shown = f"scroll {direction}"
        case GotoPage(page=page):
            shown = f"go to {page}"
        case PressKeys(keys=keys):
            shown = f"press {keys}"
        case FocusTabAt(index=index):
            shown = f"go to tab {index}"
        case _:
            pass
    return shown


def _which(nth: int) -> str:
    return f" (number {nth + 1} of that name)" if nth else ""
