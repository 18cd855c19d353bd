"""The projects as rows: who may do what in them, what they plan, who stars and watches them."""

from __future__ import annotations

import json
from datetime import datetime
from random import Random

from forgeseed.clock import stamp
from forgeseed.people import Person
from forgeseed.projects import DEVELOPER, MANAGER, REPORTER, Project

from hubseed.rows import Rows
from hubseed.sources import token, words

_ACCESS = {MANAGER: "admin", DEVELOPER: "commit", REPORTER: "ticket"}
_AREA = "#566573"


def owner_of(project: Project) -> Person:
    """Return who owns a project: the first of those who manage it."""
    return project.of_role(MANAGER)[0]


def add_project(rows: Rows, project: Project, ids: dict[str, int]) -> int:
    """Add a project with its members and tags; return its id."""
    owner = owner_of(project)
    milestones = {
        one.name: {"date": one.due.isoformat(), "active": one.status == "open"}
        for one in project.versions
    }
    priorities = {"": ""} | {
        str(place): name for place, name in enumerate(words()["priorities"], start=1)
    }
    number = _add_row(
        rows,
        owner=ids[owner.login],
        name=project.identifier,
        since=project.since,
        description=project.about,
        private=not project.is_public,
        _milestones=json.dumps(milestones),
        _milestones_keys=json.dumps([one.name for one in project.versions]),
        _priorities=json.dumps(priorities),
        default_priority="Normal",
        _close_status=json.dumps(words()["close_status"]),
    )
    for person, role in project.team:
        if person is not owner:
            rows.add(
                "user_projects",
                project_id=number,
                user_id=ids[person.login],
                access=_ACCESS[role],
            )
    for name, told in words()["tags"].items():
        _add_tag(rows, project, number, name, told["about"], told["color"])
    for _, label in project.labels:
        _add_tag(rows, project, number, label.lower(), f"About {label.lower()}", _AREA)
    return number


def add_fork(rows: Rows, project: Project, parent: int, owner: int, since: datetime) -> int:
    """Add somebody's fork of a project; return its id."""
    return _add_row(
        rows,
        owner=owner,
        name=project.identifier,
        since=since,
        description=project.about,
        private=not project.is_public,
        is_fork=True,
        parent_id=parent,
    )


def add_admirers(
    rows: Rows, projects: tuple[Project, ...], people: tuple[Person, ...], ids: dict[str, int],
    numbers: dict[str, int],
) -> None:  # fmt: skip
    """Add stars and watches; the more people a project has, the more like it."""
    rng = Random("hub/admirers")
    for project in projects:
        team = [person for person, _ in project.team]
        crowd = list(people) if project.is_public else team
        liked = rng.sample(
            crowd, min(len(crowd), rng.randint(2, 8) + len(team) * rng.randint(0, 2))
        )
        for person in sorted(liked, key=lambda one: one.id):
            rows.add(
                "stargazers", project_id=numbers[project.identifier], user_id=ids[person.login]
            )
        watching = rng.sample(team, rng.randint(1, len(team) // 2))
        for person in sorted(watching, key=lambda one: one.id):
            rows.add(
                "watchers",
                project_id=numbers[project.identifier],
                user_id=ids[person.login],
                watch_issues=True,
                watch_commits=rng.random() < 0.5,
            )


def tag_id(rows: Rows, project: int, name: str) -> int:
    """Return the id of one of a project's tags."""
    return next(
        row["id"]
        for row in rows.of("tags_colored")
        if row["project_id"] == project and row["tag"] == name
    )


def _add_row(
    rows: Rows, *, owner: int, name: str, since: datetime, private: bool, **more: object
) -> int:
    whole = {"is_fork": False, "parent_id": None, "default_priority": None, **more}
    number = rows.add(
        "projects",
        user_id=owner,
        name=name,
        url="",
        hook_token=token(f"hook/{owner}/{name}", 40).upper(),
        read_only=False,
        private=private,
        date_created=stamp(since),
        date_modified=stamp(since),
        **whole,
    )
    rows.of("projects")[-1]["id"] = number
    # Pagure adds it at the first change, which would then show among the changed rows.
    rows.add("project_locks", project_id=number, lock_type="WORKER")
    return number


def _add_tag(rows: Rows, project: Project, number: int, name: str, about: str, color: str) -> None:
    made = rows.add(
        "tags_colored",
        tag=name,
        tag_description=about,
        project_id=number,
        tag_color=color,
        date_created=stamp(project.since),
    )
    rows.of("tags_colored")[-1]["id"] = made
