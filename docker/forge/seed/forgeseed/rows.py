"""All rows of the forge."""

from __future__ import annotations

from forgeseed.issues import Issue
from forgeseed.people import Person
from forgeseed.projects import Project
from forgeseed.rows_issues import add_issues
from forgeseed.rows_pages import add_pages
from forgeseed.rows_people import add_follows, add_people, add_projects
from forgeseed.settings import add_settings
from forgeseed.tables import Tables


def filled(
    people: tuple[Person, ...], projects: tuple[Project, ...], issues: list[Issue]
) -> Tables:
    """Return the tables of a forge with these people, projects and issues."""
    tables = Tables()
    add_people(tables, people)
    add_projects(tables, projects)
    add_issues(tables, issues)
    add_follows(tables, projects)
    add_pages(tables, projects)
    add_settings(tables)
    return tables
