"""Fills the hub: rows, and a repository for each project and fork.

usage: python3 -m hubseed
"""

from __future__ import annotations

from datetime import datetime

from forgeseed.fastimport import stream
from forgeseed.issues import Issue as Ticket
from forgeseed.issues import issues as tickets
from forgeseed.people import Person, people
from forgeseed.projects import Project, projects
from pagure.config import config
from pagure.lib import model
from sqlalchemy.util import OrderedSet

from hubseed.accounts import add_accounts, add_groups
from hubseed.chronicle import Chronicle
from hubseed.git import create, finish, git
from hubseed.issues import add_issue, issues
from hubseed.projects import add_admirers, add_fork, add_project
from hubseed.requests import Request, requests, waiting_work
from hubseed.rows import Rows
from hubseed.rows_requests import add_request, commit_work, span_of
from hubseed.sources import REPOSITORIES, words


class _Filled:
    """The hub while it is filled."""

    def __init__(self) -> None:
        self.rows = Rows()
        self.people = people()
        self.ids = add_accounts(self.rows, self.people)
        every = projects(self.people)
        self.projects = [one for one in every if one.identifier in words()["projects"]]
        self.numbers = {
            one.identifier: add_project(self.rows, one, self.ids) for one in self.projects
        }
        add_groups(self.rows, self.people, self.ids, self.numbers)
        add_admirers(self.rows, tuple(self.projects), self.people, self.ids, self.numbers)
        asked = tickets(every)
        for project in self.projects:
            self._add_content(project, [one for one in asked if one.project is project])

    def _add_content(self, project: Project, asked: list[Ticket]) -> None:
        told = Chronicle(project, asked)
        marks = create(project.identifier, stream(told.history))
        number = self.numbers[project.identifier]
        tags = {
            row["tag"]: row["id"]
            for row in self.rows.of("tags_colored")
            if row["project_id"] == number
        }
        own, pulls = issues(project), requests(project, told, self.people)
        for place, one in enumerate(sorted([*own, *pulls], key=lambda one: one.made), start=1):
            one.number = place
        for issue in own:
            add_issue(self.rows, issue, number, tags, self.ids)
        for request in pulls:
            self._add_request(project, request, marks, tags)
        if waiting := waiting_work(project, told, self.people):
            self._fork(project, waiting.owner, waiting.when)
            folder, _ = commit_work(project.identifier, waiting, marks)
            finish(folder, is_public=project.is_public)
        finish(REPOSITORIES / f"{project.identifier}.git", is_public=project.is_public)

    def _add_request(
        self, project: Project, request: Request, marks: dict[int, str], tags: dict[str, int]
    ) -> None:
        folder = REPOSITORIES / f"{project.identifier}.git"
        number = source = self.numbers[project.identifier]
        commits: list[str] = []
        place = folder
        if request.work:
            source = self._fork(project, request.author, request.work.when)
            place, commits = commit_work(project.identifier, request.work, marks)
        span = span_of(request, marks, commits, place)
        if request.work:
            git(
                folder,
                "fetch",
                "-q",
                str(place),
                f"{request.branch}:refs/pull/{request.number}/head",
            )
            finish(place, is_public=project.is_public)
        else:
            git(folder, "update-ref", f"refs/pull/{request.number}/head", span.last)
        add_request(self.rows, request, span, number, source, tags, self.ids)

    def _fork(self, project: Project, owner: Person, since: datetime) -> int:
        parent = self.numbers[project.identifier]
        return add_fork(self.rows, project, parent, self.ids[owner.login], since)


def _order_indexes() -> None:
    """Let a table's indexes be made in the order of their names, not of their addresses."""
    for table in model.BASE.metadata.tables.values():
        table.indexes = OrderedSet(sorted(table.indexes, key=lambda index: str(index.name)))


def main() -> None:
    """Make the tables and fill them."""
    _order_indexes()
    model.create_tables(config["DB_URL"], None, acls=config["ACLS"])
    filled = _Filled()
    filled.rows.write()
    counted = ("users", "projects", "issues", "issue_comments", "tags_issues_colored",
               "pull_requests", "pull_request_comments", "stargazers")  # fmt: skip
    print(", ".join(f"{len(filled.rows.of(table))} {table}" for table in counted))


main()
