"""4,000 issues: what they ask for, who works on them, how they end, and what is said meanwhile."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from random import Random

from forgeseed.clock import DAY, LAST, NOW, later, moments
from forgeseed.matter import Matter, matter_of
from forgeseed.people import Person
from forgeseed.projects import DEVELOPER, MANAGER, Project, Version
from forgeseed.tales import Plot, Said, tell
from forgeseed.talk import FIXED, OPEN, REFUSED
from forgeseed.wording import Wording, pass_over, subject_of

TOTAL = 4000
TRACKERS = {"Bug": 1, "Feature": 2, "Support": 3}
NEW, IN_PROGRESS, RESOLVED, FEEDBACK, CLOSED, REJECTED = range(1, 7)
ENDED = (CLOSED, REJECTED)
PRIORITIES = (1, 2, 2, 2, 2, 2, 2, 3, 3, 4, 5)
BIG = {"harbour-store": 3.0, "waypost": 2.2, "kettle-firmware": 1.8, "gazette-site": 1.8,
       "merrow-map": 1.6, "museum-catalogue": 1.6, "ropewalk": 1.5, "gazette-presses": 0.4,
       "lifeboat-log": 0.4, "summer-workshop": 0.4}  # fmt: skip
OUTCOMES = {CLOSED: FIXED, REJECTED: REFUSED}
NOTE, LAST_NOTE = "note", "last note"  # where words will stand
DEVELOPMENT, DESIGN = 9, 8
DID = (
    "looked for the cause", "wrote a test", "first patch", "review", "tried it on the bench",
    "talked to the front desk", "cleaned up", "documentation", "measured", "fixed the test",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entry:
    """What happened to an issue at one time: a note, changed attributes, or both."""

    who: Person
    when: datetime
    note: str
    changes: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Spent:
    """Time that somebody spent on an issue."""

    who: Person
    on: date
    hours: float
    activity: int
    said: str


@dataclass(slots=True)
class Issue:
    """One issue as it stands at the forge's now."""

    project: Project
    tracker: str
    subject: str
    matter: Matter
    author: Person
    made: datetime
    priority: int
    label: int | None
    description: str = ""
    assignee: Person | None = None
    version: Version | None = None
    status: int = NEW
    done: int = 0
    estimate: float | None = None
    due: date | None = None
    closed: datetime | None = None
    private: bool = False
    parent: Issue | None = None
    id: int = 0
    thing: str = ""
    entries: list[Entry] = field(default_factory=list)
    spent: list[Spent] = field(default_factory=list)

    @property
    def touched(self) -> datetime:
        """When it was last changed."""
        return max([self.made, *(entry.when for entry in self.entries)])


def issues(projects: tuple[Project, ...]) -> list[Issue]:
    """Return all issues in the order of their ids, which is that of time."""
    made: list[Issue] = []
    shares = [BIG.get(project.identifier, 0.9) for project in projects]
    left = TOTAL
    for place, project in enumerate(projects):
        count = round(left * shares[place] / sum(shares[place:]))
        left -= count
        made += _of_project(project, count)
    made.sort(key=lambda issue: (issue.made, issue.project.id))
    for number, issue in enumerate(made, start=1):
        issue.id = number
        _tell(issue)
    return made


def _tell(issue: Issue) -> None:
    """Put the words in, now that it is known who says something and how it ends."""
    entries = [entry for entry in issue.entries if entry.note]
    plot = Plot(
        f"{issue.project.identifier}/{issue.subject}",
        issue.matter,
        issue.author,
        issue.assignee,
        issue.made,
        OUTCOMES.get(issue.status, OPEN),
        issue.priority,
        [Said(one.who, one.when, ends=one.note == LAST_NOTE) for one in entries],
    )
    issue.description, notes = tell(plot)
    told = {id(entry): note for entry, note in zip(entries, notes, strict=True)}
    issue.entries = [replace(one, note=told.get(id(one), "")) for one in issue.entries]


def _of_project(project: Project, count: int) -> list[Issue]:
    rng = Random(f"forge/issues/{project.identifier}")
    seen: set[str] = set()
    made: list[Issue] = []
    for moment in moments(rng, count, project.since + DAY):
        issue = _issue(rng, project, moment, seen)
        _live(rng, issue)
        if len(made) > 10 and rng.random() < 0.05:
            _put_below(rng, issue, made)
        made.append(issue)
    return made


def _issue(rng: Random, project: Project, moment: datetime, seen: set[str]) -> Issue:
    while True:
        tracker = rng.choices(tuple(TRACKERS), (11, 7, 3))[0]
        wording = Wording(rng, project)
        kind, subject = subject_of(rng, wording, project, tracker)
        if subject not in seen:
            seen.add(subject)
            break
    matter = matter_of(project, kind, wording)
    pass_over(rng, wording, "Goods" if "product" in wording.drawn else tracker)
    version = next((one for one in project.versions if one.due > moment.date()), None)
    return Issue(
        project=project,
        tracker=tracker,
        subject=subject,
        matter=matter,
        author=rng.choice([person for person, _ in project.team]),
        made=moment,
        priority=rng.choice(PRIORITIES),
        label=rng.choice(project.labels)[0] if rng.random() < 0.85 else None,
        version=version if rng.random() < 0.6 else None,
        estimate=float(rng.choice((1, 2, 4, 8, 16))) if rng.random() < 0.3 else None,
        private=rng.random() < 0.01,
        thing=wording.drawn["thing"],
    )


def _live(rng: Random, issue: Issue) -> None:
    """Let people work on it until now, or until it is closed."""
    workers = issue.project.committers
    wording = Wording(rng, issue.project, thing=issue.thing)
    moment = issue.made
    if rng.random() < 0.78:
        issue.assignee = rng.choice(workers)
        if rng.random() < 0.6:  # else it was so from the start
            moment = later(rng, moment, 3)
            who = rng.choice(issue.project.of_role(MANAGER) or workers)
            change = ("assigned_to_id", "", str(issue.assignee.id))
            _enter(issue, Entry(who, moment, "", (change,)))
    for _ in range(rng.choice((0, 0, 1, 1, 2, 3))):
        moment = later(rng, moment, 9)
        speaker = rng.choice([person for person, _ in issue.project.team])
        pass_over(rng, Wording(rng, issue.project, thing=issue.thing), "any")
        _enter(issue, Entry(speaker, moment, NOTE))
    _end(rng, issue, moment, wording)
    if issue.assignee and issue.tracker != "Support" and rng.random() < 0.45:
        _spend(rng, issue)


def _end(rng: Random, issue: Issue, moment: datetime, wording: Wording) -> None:
    worker = issue.assignee or rng.choice(issue.project.committers)
    if issue.assignee and rng.random() < 0.75:
        moment = later(rng, moment, 8)
        _enter(issue, _status(issue, worker, moment, IN_PROGRESS, ""))
    age = (NOW - issue.made) / DAY
    fate = rng.random()
    if fate < min(0.86, 0.25 + age / 500):
        to = REJECTED if rng.random() < 0.09 else CLOSED
        note = LAST_NOTE if rng.random() < 0.6 or to == REJECTED else ""
        if note:
            pass_over(rng, wording, "rejecting" if to == REJECTED else "closing")
        moment = later(rng, moment, 12)
        _enter(issue, _status(issue, worker, moment, to, note))
        issue.closed = moment
        issue.done = 100 if to == CLOSED else issue.done
    elif fate < 0.93 and issue.assignee:
        to = rng.choice((RESOLVED, FEEDBACK))
        moment = later(rng, moment, 10)
        _enter(issue, _status(issue, worker, moment, to, ""))
        issue.done = 90 if to == RESOLVED else issue.done
    if issue.status == IN_PROGRESS:
        issue.done = rng.choice((10, 20, 30, 50, 70))
    if issue.status not in ENDED and rng.random() < 0.25:
        issue.due = (issue.made + timedelta(days=rng.randint(20, 400))).date()


def _status(issue: Issue, who: Person, moment: datetime, to: int, note: str) -> Entry:
    changes = [("status_id", str(issue.status), str(to))]
    if to == CLOSED:
        changes.append(("done_ratio", str(issue.done), "100"))
    issue.status = to
    return Entry(who, moment, note, tuple(changes))


def _enter(issue: Issue, entry: Entry) -> None:
    if not issue.entries or entry.when > issue.entries[-1].when:
        issue.entries.append(entry)
        return
    after = issue.entries[-1].when + timedelta(minutes=1)
    issue.entries.append(Entry(entry.who, after, entry.note, entry.changes))


def _spend(rng: Random, issue: Issue) -> None:
    first = issue.made
    last = min(issue.touched + 2 * DAY, LAST)
    for _ in range(rng.choice((1, 1, 2, 2, 3, 5))):
        who = issue.assignee if rng.random() < 0.8 else rng.choice(issue.project.of_role(DEVELOPER))
        on = first + (last - first) * rng.random()
        hours = rng.choice((0.25, 0.5, 0.5, 0.75, 1.0, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0))
        activity = DESIGN if rng.random() < 0.2 else DEVELOPMENT
        issue.spent.append(Spent(who or issue.author, on.date(), hours, activity, rng.choice(DID)))


def _put_below(rng: Random, issue: Issue, before: list[Issue]) -> None:
    """Make it part of an issue from shortly before, if that is open as long as this one."""
    parent = rng.choice(before[-10:])
    if parent.parent is None and parent.status not in ENDED and not parent.private:
        issue.parent = parent
