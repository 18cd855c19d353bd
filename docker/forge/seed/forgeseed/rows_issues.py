"""Rows of issues and of all that hangs on them."""

from __future__ import annotations

from forgeseed.issues import TRACKERS, Issue
from forgeseed.relations import relations, watchers
from forgeseed.tables import Tables


def add_issues(tables: Tables, issues: list[Issue]) -> None:
    """Add issues with their journals, times, relations and watchers."""
    bounds = _nested(issues)
    for issue in issues:
        root, left, right = bounds[issue.id]
        tables.add(
            "issues", id=issue.id, tracker_id=TRACKERS[issue.tracker], project_id=issue.project.id,
            subject=issue.subject, description=issue.description, due_date=issue.due,
            category_id=issue.label, status_id=issue.status,
            assigned_to_id=issue.assignee.id if issue.assignee else None,
            priority_id=issue.priority, author_id=issue.author.id, lock_version=len(issue.entries),
            fixed_version_id=issue.version.id if issue.version else None,
            created_on=issue.made, updated_on=issue.touched, start_date=issue.made.date(),
            done_ratio=issue.done, estimated_hours=issue.estimate,
            parent_id=issue.parent.id if issue.parent else None, root_id=root, lft=left, rgt=right,
            is_private=issue.private, closed_on=issue.closed,
        )  # fmt: skip
    _add_journals(tables, issues)
    _add_times(tables, issues)
    for relation in relations(issues):
        tables.add(
            "issue_relations", issue_from_id=relation.first, issue_to_id=relation.second,
            relation_type=relation.kind, delay=None,
        )  # fmt: skip
    for issue_id, person in watchers(issues):
        tables.add("watchers", watchable_type="Issue", watchable_id=issue_id, user_id=person)


def _add_journals(tables: Tables, issues: list[Issue]) -> None:
    happened = [(entry, issue) for issue in issues for entry in issue.entries]
    for entry, issue in sorted(happened, key=lambda pair: (pair[0].when, pair[1].id)):
        journal = tables.add(
            "journals", journalized_id=issue.id, journalized_type="Issue", user_id=entry.who.id,
            notes=entry.note, created_on=entry.when, private_notes=False,
        )  # fmt: skip
        for key, old, new in entry.changes:
            tables.add(
                "journal_details", journal_id=journal, property="attr", prop_key=key,
                old_value=old or None, value=new,
            )  # fmt: skip


def _add_times(tables: Tables, issues: list[Issue]) -> None:
    spent = [(one, issue) for issue in issues for one in issue.spent]
    for one, issue in sorted(spent, key=lambda pair: (pair[0].on, pair[1].id)):
        moment = f"{one.on} 17:30:00"
        tables.add(
            "time_entries", project_id=issue.project.id, author_id=one.who.id, user_id=one.who.id,
            issue_id=issue.id, hours=one.hours, comments=one.said, activity_id=one.activity,
            spent_on=one.on, tyear=one.on.year, tmonth=one.on.month,
            tweek=one.on.isocalendar().week, created_on=moment, updated_on=moment,
        )  # fmt: skip


def _nested(issues: list[Issue]) -> dict[int, tuple[int, int, int]]:
    """Return root and bounds of each issue in the nested set of its root."""
    parts: dict[int, list[int]] = {}
    for issue in issues:
        if issue.parent:
            parts.setdefault(issue.parent.id, []).append(issue.id)
    found: dict[int, tuple[int, int, int]] = {}
    for issue in issues:
        if issue.parent is None:
            below = parts.get(issue.id, [])
            found[issue.id] = (issue.id, 1, 2 * len(below) + 2)
            for place, part in enumerate(below):
                found[part] = (issue.id, 2 * place + 2, 2 * place + 3)
    return found
