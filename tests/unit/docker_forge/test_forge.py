"""The forge that is baked has the size, the people and the order in time that its site promises."""

from __future__ import annotations

import re
from collections import Counter
from importlib import import_module
from types import SimpleNamespace

import pytest
from quick_cases import SLOW

clock = import_module("forgeseed.clock")
history = import_module("forgeseed.history")
issues = import_module("forgeseed.issues")
pages = import_module("forgeseed.pages")
people = import_module("forgeseed.people")
projects = import_module("forgeseed.projects")
relations = import_module("forgeseed.relations")
rows = import_module("forgeseed.rows")

# Redmine writes these itself, as YAML; no form holds them as they are.
SERIALISED = {("user_preferences", "others"), ("custom_fields", "format_store")}


def write_a_forge() -> SimpleNamespace:
    accounts = people.people()
    held = projects.projects(accounts)
    asked = issues.issues(held)
    histories = [
        history.history(project, [one for one in asked if one.project is project])
        for project in held
        if project.code
    ]
    return SimpleNamespace(people=accounts, projects=held, issues=asked, histories=histories)


@pytest.fixture(scope="module")
def forge() -> SimpleNamespace:
    return write_a_forge()


@SLOW
def test_it_has_what_its_manifest_says(forge: SimpleNamespace) -> None:
    assert len(forge.people) == 300
    assert len(forge.projects) == 40
    assert len(forge.issues) == 4000
    assert len(forge.histories) == 30
    assert sum(len(one.commits) for one in forge.histories) > 3000
    assert sum(not project.is_public for project in forge.projects) == 7


@pytest.mark.slow(minutes=1)
def test_it_is_the_same_whenever_it_is_written(forge: SimpleNamespace) -> None:
    again = write_a_forge()
    assert [(one.subject, one.touched) for one in again.issues] == [
        (one.subject, one.touched) for one in forge.issues
    ]
    assert [one.commits for one in again.histories] == [one.commits for one in forge.histories]


def test_everything_lies_before_now_and_nobody_answers_before_the_question(
    forge: SimpleNamespace,
) -> None:
    for issue in forge.issues:
        times = [issue.made, *(entry.when for entry in issue.entries)]
        assert times == sorted(times)
        assert issue.project.since < issue.made
        assert times[-1] < clock.NOW
        assert all(spent.on <= clock.NOW.date() for spent in issue.spent)
    assert all(commit.when < clock.NOW for one in forge.histories for commit in one.commits)


def test_an_issue_is_closed_where_its_status_says_so(forge: SimpleNamespace) -> None:
    for issue in forge.issues:
        assert (issue.closed is not None) == (issue.status in issues.ENDED)
        said = [
            new for entry in issue.entries for key, _, new in entry.changes if key == "status_id"
        ]
        assert not said or said[-1] == str(issue.status)


def test_only_members_work_on_issues_and_only_committers_commit(forge: SimpleNamespace) -> None:
    for issue in forge.issues:
        members = {person.id for person, _ in issue.project.team}
        assert {issue.author.id, *(entry.who.id for entry in issue.entries)} <= members
    for made in forge.histories:
        assert {one.author for one in made.commits} <= set(made.project.committers)


def test_a_commit_names_issues_of_its_project_that_exist_by_then(forge: SimpleNamespace) -> None:
    by_id = {issue.id: issue for issue in forge.issues}
    named = 0
    for made in forge.histories:
        for commit in made.commits:
            _, _, number = commit.message.partition("s #")
            if number:
                issue = by_id[int(number)]
                assert issue.project is made.project
                assert issue.made <= commit.when
                named += 1
    assert named > 1000


def test_a_history_has_branches_merges_and_releases(forge: SimpleNamespace) -> None:
    for made in forge.histories:
        marks = {commit.mark: commit for commit in made.commits}
        for commit in made.commits:
            assert all(marks[parent].when <= commit.when for parent in commit.parents)
        assert any(len(commit.parents) == 2 for commit in made.commits)
        assert len({commit.branch for commit in made.commits}) > 1
        assert made.tags


def test_each_commit_changes_a_file_of_its_first_parent(forge: SimpleNamespace) -> None:
    for made in forge.histories:
        trees: dict[int, dict[str, str]] = {}
        for commit in made.commits:
            before = trees[commit.parents[0]] if commit.parents else {}
            after = {**before, **dict(commit.files)}
            assert after != before, commit.message
            trees[commit.mark] = after


def test_the_known_accounts_have_the_roles_that_the_manifest_tells(forge: SimpleNamespace) -> None:
    managed = Counter(
        person.login for project in forge.projects for person in project.of_role(projects.MANAGER)
    )
    developed = Counter(
        person.login for project in forge.projects for person in project.of_role(projects.DEVELOPER)
    )
    assert managed["ines.ferreira"] == 6
    assert developed["tom.ashworth"] == 6
    assert len({person.login for person in forge.people}) == 300


def test_issues_are_related_within_their_project_once(forge: SimpleNamespace) -> None:
    by_id = {issue.id: issue for issue in forge.issues}
    made = relations.relations(forge.issues)
    pairs = {frozenset((one.first, one.second)) for one in made}
    assert len(pairs) == len(made) == relations.RELATIONS
    assert all(by_id[one.first].project is by_id[one.second].project for one in made)


def test_every_project_has_a_wiki_that_starts_with_its_name(forge: SimpleNamespace) -> None:
    written = pages.wiki(forge.projects)
    starts = [page for page in written if page.title == "Wiki"]
    assert [page.versions[-1][2].splitlines()[0] for page in starts] == [
        f"# {project.name}" for project in forge.projects
    ]
    assert not [page for page in written if "{" in page.versions[-1][2]]


@SLOW
def test_saving_a_form_unchanged_keeps_every_line_end(forge: SimpleNamespace) -> None:
    tables = rows.filled(forge.people, forge.projects, forge.issues)
    texts = [
        (table, column, cell)
        for table in tables
        for row in tables.rows(table)
        for column, cell in row.items()
        if isinstance(cell, str)
        and (table, column) not in SERIALISED
        and not (table == "settings" and cell.startswith("---"))
    ]
    assert sum("\r\n" in cell for _, _, cell in texts) > 4000
    odd = re.compile(r"(?<!\r)\n|\r(?!\n)")
    assert {(table, column) for table, column, cell in texts if odd.search(cell)} == set()


def test_no_project_ends_an_address_in_a_colon_that_redmine_would_link(
    forge: SimpleNamespace,
) -> None:
    assert not [one.about for one in forge.projects if re.search(r"https?://\S*:(\s|$)", one.about)]
