"""The hub's issues: others than the forge's, told in the same way, with several tags each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from random import Random

from forgeseed.clock import LAST, later, moments, stamp
from forgeseed.matter import Matter, matter_of
from forgeseed.people import Person
from forgeseed.projects import Project
from forgeseed.tales import Plot, Said, tell
from forgeseed.talk import FIXED, OPEN, REFUSED
from forgeseed.wording import Wording, pass_over, subject_of

from hubseed.rows import Rows
from hubseed.sources import token

_KINDS = {"Bug": "bug", "Feature": "enhancement", "Support": "question"}
_NOTE, _LAST_NOTE = "note", "last note"  # where words will stand
_PRIORITIES = {1: 3, 2: 2, 3: 1}  # the forge's
_SINCE = datetime(2026, 1, 5, 8, 0, tzinfo=LAST.tzinfo)


@dataclass(slots=True)
class Note:
    """A comment; Pagure marks those that it writes itself."""

    who: Person
    when: datetime
    text: str
    by_pagure: bool = False


@dataclass(slots=True)
class Issue:
    """One issue; its number comes from its place among the project's issues and pull requests."""

    project: Project
    title: str
    matter: Matter
    author: Person
    made: datetime
    thing: str
    tags: list[str]
    priority: int
    milestone: str | None
    assignee: Person | None = None
    ended: str = ""
    closed: datetime | None = None
    closer: Person | None = None
    private: bool = False
    content: str = ""
    notes: list[Note] = field(default_factory=list)
    number: int = 0

    @property
    def uid(self) -> str:
        """The key that Pagure would draw."""
        return token(f"issue/{self.project.identifier}/{self.number}", 32)


def issues(project: Project) -> list[Issue]:
    """Return a project's issues, oldest first."""
    rng = Random(f"hub/issues/{project.identifier}")
    seen: set[str] = set()
    made = moments(rng, rng.randint(24, 46), max(project.since, _SINCE))
    return [_issue(rng, project, moment, seen) for moment in made]


def _issue(rng: Random, project: Project, moment: datetime, seen: set[str]) -> Issue:
    while True:
        tracker = rng.choices(tuple(_KINDS), (11, 7, 3))[0]
        wording = Wording(rng, project)
        kind, title = subject_of(rng, wording, project, tracker)
        if title not in seen:
            seen.add(title)
            break
    matter = matter_of(project, kind, wording)
    pass_over(rng, wording, "Goods" if "product" in wording.drawn else tracker)
    versions = [one.name for one in project.versions if one.due > moment.date()]
    made = Issue(
        project=project,
        title=title,
        matter=matter,
        author=rng.choice(project.team)[0],
        made=moment,
        thing=wording.drawn["thing"],
        tags=[_KINDS[tracker]],
        priority=rng.choice((1, 2, 2, 2, 3)),
        milestone=versions[0] if versions and rng.random() < 0.5 else None,
        private=rng.random() < 0.02,
    )
    if rng.random() < 0.8:
        made.tags.append(rng.choice(project.labels)[1].lower())
    _live(rng, made, tracker)
    _tell(made)
    return made


def _tell(issue: Issue) -> None:
    """Put the words in, now that it is known who says something and how it ends."""
    outcome = {"": OPEN, "Fixed": FIXED}.get(issue.ended, REFUSED)
    waiting = [note for note in issue.notes if not note.by_pagure]
    plot = Plot(
        f"hub/{issue.project.identifier}/{issue.title}",
        issue.matter,
        issue.author,
        issue.assignee,
        issue.made,
        outcome,
        _PRIORITIES[issue.priority],
        [Said(one.who, one.when, ends=one.text == _LAST_NOTE) for one in waiting],
    )
    issue.content, notes = tell(plot)
    told = {id(note): text for note, text in zip(waiting, notes, strict=True)}
    issue.notes = [replace(one, text=told.get(id(one), one.text)) for one in issue.notes]


def _live(rng: Random, issue: Issue, tracker: str) -> None:
    """Let people work on it until now, or until it is closed."""
    moment = issue.made
    if rng.random() < 0.7:
        issue.assignee = rng.choice(issue.project.committers)
        who = issue.assignee
        moment = later(rng, moment, 2)
        text = f"**Metadata Update from @{who.login}**:\n- Issue assigned to {who.login}"
        issue.notes.append(Note(who, moment, text, by_pagure=True))
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        moment = later(rng, moment, 6)
        pass_over(rng, Wording(rng, issue.project, thing=issue.thing), "any")
        issue.notes.append(Note(rng.choice(issue.project.team)[0], moment, _NOTE))
    worker = issue.assignee or rng.choice(issue.project.committers)
    if rng.random() < 0.45 and moment < LAST:
        _close(rng, issue, worker, later(rng, moment, 10), tracker)
    else:
        _mark(rng, issue, tracker)


def _mark(rng: Random, issue: Issue, tracker: str) -> None:
    """Give an open issue what its state asks for."""
    if tracker == "Bug" and issue.notes and rng.random() < 0.25:
        issue.tags.append("needs info")
    elif rng.random() < 0.2:
        issue.tags.append("easyfix")
    if tracker == "Bug" and "since the last" in issue.title:
        issue.tags.append("regression")
    if issue.assignee and "needs info" not in issue.tags and rng.random() < 0.12:
        issue.tags.append("blocked")


def _close(rng: Random, issue: Issue, worker: Person, moment: datetime, tracker: str) -> None:
    fixed = rng.random() < 0.8
    issue.ended = "Fixed" if fixed else rng.choice(("Invalid", "Won't fix"))
    issue.closed, issue.closer = moment, worker
    wording = Wording(rng, issue.project, thing=issue.thing)
    if fixed:
        pass_over(rng, wording, "closing")
    else:
        rng.choice((_LAST_NOTE,))  # one word was to be had; the draw stays for those after it
    issue.notes.append(Note(worker, moment, _LAST_NOTE))
    text = (
        f"**Metadata Update from @{worker.login}**:\n"
        f"- Issue close_status updated to: {issue.ended}\n"
        "- Issue status updated to: Closed (was: Open)"
    )
    issue.notes.append(Note(worker, moment, text, by_pagure=True))
    if tracker == "Bug" and "since the last" in issue.title:
        issue.tags.append("regression")


def add_issue(
    rows: Rows, issue: Issue, project: int, tags: dict[str, int], ids: dict[str, int]
) -> None:
    """Add an issue with its comments and tags."""
    author = ids[issue.author.login]
    last = issue.notes[-1].when if issue.notes else issue.made
    rows.add(
        "issues",
        id=issue.number,
        uid=issue.uid,
        project_id=project,
        title=issue.title,
        content=typed(issue.content),
        user_id=author,
        assignee_id=ids[issue.assignee.login] if issue.assignee else None,
        status="Closed" if issue.closed else "Open",
        private=issue.private,
        priority=issue.priority,
        milestone=issue.milestone,
        close_status=issue.ended or None,
        date_created=stamp(issue.made),
        last_updated=stamp(last),
        closed_at=stamp(issue.closed) if issue.closed else None,
        closed_by_id=ids[issue.closer.login] if issue.closer else None,
    )
    for note in issue.notes:
        rows.add(
            "issue_comments",
            issue_uid=issue.uid,
            comment=note.text if note.by_pagure else typed(note.text),
            user_id=ids[note.who.login],
            notification=note.by_pagure,
            date_created=stamp(note.when),
        )
    for name in dict.fromkeys(issue.tags):
        rows.add(
            "tags_issues_colored",
            tag_id=tags[name],
            issue_uid=issue.uid,
            date_created=stamp(issue.made),
        )
    if issue.project.is_public and not issue.private:
        add_log(rows, author, project, "created", issue.made, issue.number, issue_uid=issue.uid)


def add_log(
    rows: Rows, who: int, project: int, what: str, when: datetime, number: int, **of: str
) -> None:
    """Add what the calendar on somebody's page shows."""
    rows.add(
        "pagure_logs",
        user_id=who,
        project_id=project,
        log_type=what,
        ref_id=str(number),
        date=when.date(),
        date_created=stamp(when),
        **{"issue_uid": None, "pull_request_uid": None, **of},
    )


def typed(text: str) -> str:
    """Return a text with the line ends that a browser sends."""
    return "\r\n".join(text.split("\n"))
