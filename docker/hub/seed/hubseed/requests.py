"""Pull requests: those whose branches the forge's histories merged, and open ones from forks."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

from forgeseed import code
from forgeseed.clock import LAST, later
from forgeseed.code import Module
from forgeseed.people import Person
from forgeseed.projects import Project

from hubseed.chronicle import Chronicle, Merged
from hubseed.issues import Note
from hubseed.sources import token, words

_NUMBERS = ("No", "One commit", "Two commits", "Three commits", "Four commits", "Five commits")
# Who has a fork with a branch that no pull request asks for yet.
WAITING = {"tide-tables": "tom.ashworth", "inkwell": "tom.ashworth", "map-routing": "ines.ferreira"}


@dataclass(frozen=True, slots=True)
class Work:
    """What somebody committed on top of the main branch, in a fork of their own.

    Attributes:
        base: the mark of the commit that it begins at.
        files: path and content, one commit each.
    """

    owner: Person
    branch: str
    base: int
    when: datetime
    commits: tuple[tuple[str, str, str], ...]


@dataclass(slots=True)
class Request:
    """One pull request."""

    project: Project
    title: str
    body: str
    author: Person
    made: datetime
    branch: str
    work: Work | None = None
    merged: Merged | None = None
    status: str = "Open"
    closed: datetime | None = None
    closer: Person | None = None
    assignee: Person | None = None
    tags: list[str] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    inline: tuple[Person, datetime, str] | None = None
    number: int = 0

    @property
    def uid(self) -> str:
        """The key that Pagure would draw."""
        return token(f"request/{self.project.identifier}/{self.number}", 32)

    @property
    def touched(self) -> datetime:
        """When it was last changed."""
        times = [self.made, *(note.when for note in self.notes)]
        times += [self.closed] if self.closed else []
        times += [self.inline[1]] if self.inline else []
        return max(times)


def requests(project: Project, told: Chronicle, people: tuple[Person, ...]) -> list[Request]:
    """Return a project's pull requests, oldest first."""
    rng = Random(f"hub/requests/{project.identifier}")
    made = [_of_branch(rng, project, told, one) for one in told.merged() if one.commits]
    authors = _authors(rng, project, people)
    waiting = WAITING.get(project.identifier)
    for place in range(min(rng.randint(2, 4), len(told.standings))):
        author = next(one for one in authors if one.login != waiting)
        authors.remove(author)
        made.append(_of_fork(rng, project, told, author, is_open=place == 0 or rng.random() < 0.6))
    return sorted(made, key=lambda one: one.made)


def waiting_work(project: Project, told: Chronicle, people: tuple[Person, ...]) -> Work | None:
    """Return the branch of a fork that no pull request asks for yet."""
    login = WAITING.get(project.identifier)
    if login is None:
        return None
    owner = next(one for one in people if one.login == login)
    return _work(Random(f"hub/waiting/{project.identifier}"), told, owner)[0]


def _authors(rng: Random, project: Project, people: tuple[Person, ...]) -> list[Person]:
    team = [person for person, _ in project.team]
    others = [one for one in people if one not in team and not one.locked and one.about]
    crowd = team[1:] + (rng.sample(others, 4) if project.is_public else [])
    return rng.sample(crowd, len(crowd))


def _of_branch(rng: Random, project: Project, told: Chronicle, merged: Merged) -> Request:
    said = words()["pull"]["merged"]
    first, last, merge = merged.commits[0], merged.commits[-1], merged.merge
    subject = first.message.split("\n")[0]
    kind = "Feature" if merged.branch.startswith("feature/") else "Fix"
    slots = {
        "Branch": kind,
        "subject": subject[0].lower() + subject[1:],
        "commits": _NUMBERS[min(len(merged.commits), 5)],
        "thing": told.thing_of(first.files[0][0]),
    }
    made = min(last.when + timedelta(minutes=rng.randint(3, 240)), merge.when)
    request = Request(
        project,
        rng.choice(said["title"]).format(**slots),
        rng.choice(said["body"]).format(**slots),
        first.author,
        made,
        merged.branch,
        merged=merged,
        status="Merged",
        closed=merge.when,
        closer=merge.author,
    )
    reviewers = [one for one in project.committers if one is not first.author]
    if rng.random() < 0.7:
        when = made + (merge.when - made) * rng.random()
        request.notes.append(
            Note(rng.choice(reviewers), when, rng.choice(said["review"]).format(**slots))
        )
    return request


def _of_fork(
    rng: Random, project: Project, told: Chronicle, author: Person, *, is_open: bool
) -> Request:
    work, kind, slots = _work(rng, told, author)
    said, more = words()["pull"][kind], words()["pull"]["words"]
    made = min(work.when + timedelta(minutes=rng.randint(5, 90)), LAST)
    request = Request(
        project,
        work.commits[0][0],
        rng.choice(said["body"]).format(**slots),
        author,
        made,
        work.branch,
        work=work,
    )
    reviewers = [one for one in project.committers if one is not author]
    moment = made
    if rng.random() < 0.8:
        moment = later(rng, moment, 1)
        reviewer = rng.choice(reviewers)
        request.notes.append(Note(reviewer, moment, rng.choice(said["review"]).format(**slots)))
        if rng.random() < 0.6:
            request.inline = (reviewer, moment, rng.choice(said["inline"]).format(**slots))
        if rng.random() < 0.7:
            moment = later(rng, moment, 1)
            request.notes.append(Note(author, moment, rng.choice(more["answer"])))
    if rng.random() < 0.4:
        request.assignee = rng.choice(reviewers)
    if kind == "grow":
        request.tags.append("enhancement")
    if not is_open and moment < LAST:
        request.closed = later(rng, moment, 2)
        request.closer = rng.choice(reviewers)
        request.status = "Closed"
        request.notes.append(Note(request.closer, request.closed, rng.choice(more["closing"])))
    return request


def _work(rng: Random, told: Chronicle, owner: Person) -> tuple[Work, str, dict[str, Any]]:
    """Change one module as it stood after one of the latest commits."""
    standing = rng.choice(told.standings)
    held = copy.deepcopy(rng.choice([one for one in standing.modules.values() if one.functions]))
    kind, slots = _edited(rng, held)
    title = rng.choice(words()["pull"][kind]["title"]).format(**slots)
    commits = [(title, held.path, held.text())]
    if rng.random() < 0.3:
        place = rng.randrange(len(held.functions))
        if not held.functions[place].said:
            code.changed(held, place, said=True)
            commits.append((f"Say what {held.functions[place].label} does", held.path, held.text()))
    branch = f"{kind}-{slots['function'].replace('_', '-')}"
    when = min(standing.when + timedelta(minutes=rng.randint(30, 600)), LAST)
    return Work(owner, branch, standing.mark, when, tuple(commits)), kind, slots


def _edited(rng: Random, held: Module) -> tuple[str, dict[str, Any]]:
    slots: dict[str, Any] = {"thing": held.thing, "Thing": held.thing[0].upper() + held.thing[1:]}
    if rng.random() < 0.4 and (made := code.added(rng, held)):
        return "grow", {**slots, "function": made.label}
    place = rng.randrange(len(held.functions))
    one = held.functions[place]
    to = rng.choice([limit for limit in code.LIMITS if limit != one.limit])
    code.changed(held, place, limit=to)
    kind = "raise" if to > one.limit else "lower"
    return kind, {**slots, "function": one.label, "old": one.limit, "to": to}
