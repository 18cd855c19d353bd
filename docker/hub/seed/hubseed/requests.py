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
from hubseed.reviews import Diff, Edit, Words, edit_between
from hubseed.sources import token, words

# From how many texts the stream once chose that also draws people and dates. It still does, so that these stay as they are.
_TITLES, _APPROVALS, _BODIES, _REVIEWS, _REMARKS, _ANSWERS, _CLOSINGS = 1, 4, 2, 3, 2, 4, 3
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


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment at a line of the diff: the first new one that holds `line`."""

    who: Person
    when: datetime
    text: str
    line: str


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
    inline: Remark | None = None
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
        times += [self.inline.when] if self.inline else []
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
    first, last, merge = merged.commits[0], merged.commits[-1], merged.merge
    path = first.files[0][0]
    edits = [told.edits[one.mark] for one in merged.commits if one.mark in told.edits]
    diff = Diff(edits, told.thing_of(path), path, project.code, len(merged.commits))
    said = Words(f"{project.identifier}/{merged.branch}", diff)
    made = min(last.when + timedelta(minutes=rng.randint(3, 240)), merge.when)
    rng.choice(range(_TITLES))
    rng.choice(range(_TITLES))
    request = Request(
        project,
        said.title(),
        said.merged(),
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
        request.notes.append(Note(rng.choice(reviewers), when, said.approval()))
        rng.choice(range(_APPROVALS))
    return request


def _of_fork(
    rng: Random, project: Project, told: Chronicle, author: Person, *, is_open: bool
) -> Request:
    work, kind, diff = _work(rng, told, author)
    said = Words(f"{project.identifier}/{author.login}/{work.branch}", diff)
    made = min(work.when + timedelta(minutes=rng.randint(5, 90)), LAST)
    request = Request(
        project,
        work.commits[0][0],
        said.asked(),
        author,
        made,
        work.branch,
        work=work,
    )
    rng.choice(range(_BODIES))
    reviewers = [one for one in project.committers if one is not author]
    moment = made
    if rng.random() < 0.8:
        moment = later(rng, moment, 1)
        reviewer = rng.choice(reviewers)
        question, answer = said.question()
        request.notes.append(Note(reviewer, moment, question))
        rng.choice(range(_REVIEWS))
        if rng.random() < 0.6:
            request.inline = Remark(reviewer, moment, *said.inline())
            rng.choice(range(_REMARKS))
        if rng.random() < 0.7:
            moment = later(rng, moment, 1)
            request.notes.append(Note(author, moment, answer))
            rng.choice(range(_ANSWERS))
    if rng.random() < 0.4:
        request.assignee = rng.choice(reviewers)
    if kind == "grow":
        request.tags.append("enhancement")
    if not is_open and moment < LAST:
        request.closed = later(rng, moment, 2)
        request.closer = rng.choice(reviewers)
        request.status = "Closed"
        request.notes.append(Note(request.closer, request.closed, said.closing()))
        rng.choice(range(_CLOSINGS))
    return request


def _work(rng: Random, told: Chronicle, owner: Person) -> tuple[Work, str, Diff]:
    """Change one module as it stood after one of the latest commits."""
    standing = rng.choice(told.standings)
    held = copy.deepcopy(rng.choice([one for one in standing.modules.values() if one.functions]))
    before = list(held.functions)
    kind, slots = _edited(rng, held)
    edits = [edit_between(before, held.functions)]
    title = rng.choice(words()["pull"][kind]).format(**slots)
    commits = [(title, held.path, held.text())]
    if rng.random() < 0.3:
        place = rng.randrange(len(held.functions))
        if not held.functions[place].said:
            code.changed(held, place, said=True)
            edits.append(Edit("say", held.functions[place]))
            commits.append((f"Say what {held.functions[place].label} does", held.path, held.text()))
    branch = f"{kind}-{slots['function'].replace('_', '-')}"
    when = min(standing.when + timedelta(minutes=rng.randint(30, 600)), LAST)
    work = Work(owner, branch, standing.mark, when, tuple(commits))
    known = [one for one in edits if one]
    return work, kind, Diff(known, held.thing, held.path, held.language, len(commits))


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
