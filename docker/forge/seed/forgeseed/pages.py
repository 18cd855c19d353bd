"""What people wrote beside the issues: wiki pages, news, threads."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from random import Random

from forgeseed.clock import DAY, later, moments
from forgeseed.people import Person
from forgeseed.projects import Project
from forgeseed.sources import vocabulary
from forgeseed.wording import HOURS, WEEKDAYS, Wording


@dataclass(frozen=True, slots=True)
class Page:
    """A wiki page: its versions, oldest first, each with author, time and comment."""

    project: Project
    title: str
    versions: tuple[tuple[Person, datetime, str, str], ...]


@dataclass(frozen=True, slots=True)
class News:
    """A piece of news of a project."""

    project: Project
    title: str
    text: str
    author: Person
    made: datetime


@dataclass(frozen=True, slots=True)
class Post:
    """A message on a board."""

    author: Person
    made: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Thread:
    """A topic with its answers; the first post opens it."""

    project: Project
    board: str
    subject: str
    posts: tuple[Post, ...]


def _wording(rng: Random, project: Project) -> Wording:
    team = project.committers
    second, third = team[1], team[2]
    return Wording(
        rng,
        project,
        second=second.name,
        third=third.name,
        label=project.labels[0][1],
        days=str(rng.randint(2, 9)),
        width=str(rng.choice((50, 60, 72))),
        weekday=rng.choice(WEEKDAYS),
        hour=rng.choice(HOURS),
        phone=str(rng.randint(100, 999)),
        meeting=str(rng.choice(project.versions).due),
        version=rng.choice(project.versions).name,
    )


def wiki(projects: tuple[Project, ...]) -> list[Page]:
    """Return every project's wiki, its start page first."""
    made = []
    for project in projects:
        rng = Random(f"forge/wiki/{project.identifier}")
        for told in vocabulary("pages")["wiki"]:
            text = _wording(rng, project).of(told["text"])
            times = moments(rng, rng.choice((1, 1, 2, 3)), project.since)
            versions = []
            for place, moment in enumerate(times):
                author = rng.choice(project.committers)
                whole = place == len(times) - 1
                shown = text if whole else text.rsplit("\n\n", 1)[0]
                versions.append((author, moment, shown, "" if place == 0 else "completed"))
            made.append(Page(project, told["title"], tuple(versions)))
    return made


def news(projects: tuple[Project, ...]) -> list[News]:
    """Return all news in the order of time."""
    made = []
    told = vocabulary("pages")["news"]
    for project in projects:
        rng = Random(f"forge/news/{project.identifier}")
        for moment in moments(rng, rng.randint(2, 5), project.since + 30 * DAY):
            wording = _wording(rng, project)
            title = wording.of(rng.choice(told["titles"]))[:60]
            author = rng.choice(project.committers)
            made.append(News(project, title, wording.of(rng.choice(told["texts"])), author, moment))
    return sorted(made, key=lambda one: (one.made, one.project.id))


def threads(projects: tuple[Project, ...]) -> list[Thread]:
    """Return the threads of all boards, by project."""
    made = []
    told = vocabulary("pages")["boards"]
    for project in projects:
        rng = Random(f"forge/boards/{project.identifier}")
        seen: set[str] = set()
        for moment in moments(rng, rng.randint(3, 6), project.since + 10 * DAY):
            subject = _wording(rng, project).of(rng.choice(told["topics"]))
            if subject in seen:
                continue
            seen.add(subject)
            posts, when = [], moment
            for _ in range(rng.randint(1, 5)):
                author = rng.choice([person for person, _ in project.team])
                text = _wording(rng, project).of(rng.choice(told["posts"]))
                posts.append(Post(author, when, text))
                when = later(rng, when, 2)
            made.append(Thread(project, rng.choice(told["names"]), subject, tuple(posts)))
    return made
