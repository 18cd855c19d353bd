"""Recordings made by hand: events, steps and folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from evaluators.changes import ChangeKind, RowChange, change_as_text
from evaluators.evidence import ActedElement, ElementEvent, StepEvidence, UrlVisit
from orchestrator.authoring.recorder.elements import PageElements
from orchestrator.authoring.recorder.reading import actions_of, visit_of
from orchestrator.authoring.recorder.recording import (
    RecordedStep,
    Recording,
    RecordingEnd,
    RecordingFolder,
    RecordingHead,
    picture_name,
)
from orchestrator.browser.observation import Node

PAGE = "wiki:/article/Kettle"
HEAD = RecordingHead(name="samovar-town", sites=("wiki",), start=(PAGE,))


def event(
    kind: str,
    tag: str = "button",
    *,
    role: str | None = None,
    name: str = "",
    value: str | None = None,
    path: str = "",
    page: str | None = PAGE,
    trusted: bool = True,
) -> ActedElement:
    """An event; the path is that of one element for each tag and name."""
    roles = {"a": "link", "select": "combobox", "input": "textbox", "textarea": "textbox"}
    return ActedElement(
        event=ElementEvent(kind),
        path=path or f"#{tag}-{name or role}",
        tag=tag,
        role=role or roles.get(tag, tag),
        name=name,
        text=name,
        value=value,
        logical=page,
        trusted=trusted,
    )


def page_of(*named: tuple[str, str, str], logical: str = PAGE) -> PageElements:
    """A page with elements of these roles, names and paths."""
    nodes = tuple(
        Node(id=number, depth=0, role=role, name=name)
        for number, (role, name, _) in enumerate(named, start=1)
    )
    paths = {path: node for (_, _, path), node in zip(named, nodes, strict=True)}
    return PageElements(logical, nodes, paths)


def step_of(
    number: int,
    acted: Sequence[ActedElement] = (),
    visits: Sequence[str] = (),
    *,
    page: str = PAGE,
    changes: Mapping[str, Sequence[RowChange]] | None = None,
    title: str = "Kettle",
) -> RecordedStep:
    went = tuple(
        UrlVisit(tab=0, url=f"http://wiki.arena.test/{one}", logical=one, status=200)
        for one in visits
    )
    evidence = StepEvidence(
        index=number,
        action=None,
        url=f"http://wiki.arena.test/{visits[-1] if visits else page}",
        logical=visits[-1] if visits else page,
        title=title,
        visits=went,
        acted=tuple(acted),
        screenshot=picture_name(number),
    )
    return RecordedStep(
        evidence=evidence,
        actions=actions_of(acted, PageElements()) if acted else visit_of(went) if number else (),
        changes={site: tuple(map(change_as_text, rows)) for site, rows in (changes or {}).items()},
        heading=title,
    )


def recording_of(
    *steps: RecordedStep,
    head: RecordingHead = HEAD,
    end: RecordingEnd | None = None,
    folder: Path = Path("nowhere"),
) -> Recording:
    opening = step_of(0, page=head.start[0])
    return Recording(folder, head, (opening, *steps), end or RecordingEnd())


def looked_up() -> Recording:
    """Somebody followed one link."""
    click = event("click", "a", name="Samovar")
    return recording_of(step_of(1, [click], ["wiki:/article/Samovar"], title="Samovar"))


def row(table: str, key: str, before: str | None, after: str | None) -> RowChange:
    """A row of one column besides its key."""
    made = {(True, False): ChangeKind.REMOVED, (False, True): ChangeKind.ADDED}
    kind = made.get((before is not None, after is not None), ChangeKind.CHANGED)
    return RowChange(
        table=table,
        kind=kind,
        key={"id": key},
        before=None if before is None else {"id": key, "state": before},
        after=None if after is None else {"id": key, "state": after},
        changed=("state",) if kind is ChangeKind.CHANGED else (),
    )


def write(recording: Recording, folder: Path, *, ended: bool = True) -> Path:
    """Write a recording as the recorder does, with a picture of each step."""
    kept = RecordingFolder.create(folder, recording.head)
    for step in recording.steps:
        kept.keep(step, b"RIFF-webp")
    if ended:
        kept.close(recording.end or RecordingEnd())
    return folder
