"""Rows of accounts, of projects and of who belongs to them."""

from __future__ import annotations

from random import Random

from forgeseed.clock import NOW
from forgeseed.people import Person
from forgeseed.projects import Project
from forgeseed.tables import Tables

ADMINISTRATOR = 1
MODULES = (
    "issue_tracking", "time_tracking", "news", "documents", "files",
    "wiki", "repository", "boards", "calendar", "gantt",
)  # fmt: skip
ABOUT, WEBSITE, TOWN, STATUS = 1, 2, 3, 4  # custom fields of accounts
STATUSES = (
    "On leave until Monday", "Reviewing, slowly", "At the repair café on Thursdays", "Busy",
    "Back in November", "Answers mail, not calls", "Night shift this week", "Writing documentation",
)  # fmt: skip
KNOWN = 10  # the accounts that people log in as are among these: they follow nobody yet
PREFERENCES = "---\n:no_self_notified: '1'\n:comments_sorting: asc\n:warn_on_leaving_unsaved: '0'\n"
REPOSITORIES = "/srv/forge/state/repositories"


def add_people(tables: Tables, people: tuple[Person, ...]) -> None:
    """Add accounts with their addresses, preferences, keys and what they say of themselves."""
    _add_custom_fields(tables)
    for person in people:
        tables.add(
            "users", id=person.id, login=person.login, hashed_password=person.hashed_password,
            firstname=person.first, lastname=person.last, admin=person.id == ADMINISTRATOR,
            status=3 if person.locked else 1, last_login_on=None, language="en",
            created_on=person.since, updated_on=person.since, type="User",
            mail_notification="none", salt=person.salt, must_change_passwd=False,
            passwd_changed_on=person.since,
        )  # fmt: skip
        tables.add(
            "email_addresses", user_id=person.id, address=person.mail, is_default=True, notify=True,
            created_on=person.since, updated_on=person.since,
        )  # fmt: skip
        tables.add(
            "user_preferences", user_id=person.id, hide_mail=False, time_zone=None,
            others=PREFERENCES,
        )  # fmt: skip
        for action in ("api", "feeds"):
            tables.add(
                "tokens", user_id=person.id, action=action, value=person.key(action),
                created_on=person.since, updated_on=person.since,
            )  # fmt: skip
        rng = Random(f"forge/status/{person.login}")
        status = rng.choice(STATUSES) if rng.random() < 0.15 else ""
        said = {ABOUT: person.about, WEBSITE: "", TOWN: person.town, STATUS: status}
        for field, value in said.items():
            tables.add(
                "custom_values", customized_type="Principal", customized_id=person.id,
                custom_field_id=field, value=value,
            )  # fmt: skip


def _add_custom_fields(tables: Tables) -> None:
    for place, (name, kind) in enumerate(
        (("About me", "text"), ("Website", "link"), ("Town", "string"), ("Status", "string")),
        start=1,
    ):
        tables.add(
            "custom_fields", type="UserCustomField", name=name, field_format=kind,
            is_required=False, is_for_all=False, is_filter=False, position=place, searchable=False,
            default_value="", editable=True, visible=True, multiple=False, format_store="--- {}\n",
        )  # fmt: skip


def add_follows(tables: Tables, projects: tuple[Project, ...]) -> None:
    """Let some of each project's people follow who leads it."""
    rng = Random("forge/follows")
    pairs = dict.fromkeys(
        (project.team[0][0].id, person.id)
        for project in projects
        for person, _ in project.team[1:]
        if rng.random() < 0.3 and not person.locked and person.id > KNOWN
    )
    for followed, follower in pairs:
        tables.add(
            "watchers", watchable_type="Principal", watchable_id=followed, user_id=follower
        )  # fmt: skip


def add_projects(tables: Tables, projects: tuple[Project, ...]) -> None:
    """Add projects with their members, modules, labels, versions and repositories."""
    bounds = _nested(projects)
    ids = {project.identifier: project.id for project in projects}
    for project in projects:
        left, right = bounds[project.identifier]
        tables.add(
            "projects", id=project.id, name=project.name, description=project.about, homepage="",
            is_public=project.is_public, parent_id=ids.get(project.parent),
            created_on=project.since, updated_on=project.since, identifier=project.identifier,
            status=1, lft=left, rgt=right, inherit_members=False,
        )  # fmt: skip
        for module in MODULES:
            if module != "repository" or project.code:
                tables.add("enabled_modules", project_id=project.id, name=module)
        for tracker in (1, 2, 3):
            tables.add("projects_trackers", project_id=project.id, tracker_id=tracker)
        for person, role in project.team:
            since = max(project.since, person.since)
            member = tables.add(
                "members", user_id=person.id, project_id=project.id, created_on=since,
                mail_notification=False,
            )  # fmt: skip
            tables.add("member_roles", member_id=member, role_id=role, inherited_from=None)
        _add_plans(tables, project)


def _add_plans(tables: Tables, project: Project) -> None:
    for label, name in project.labels:
        tables.add("issue_categories", id=label, project_id=project.id, name=name)
    for version in project.versions:
        made = min(max(version.made, project.since), NOW)
        tables.add(
            "versions", id=version.id, project_id=project.id, name=version.name, description="",
            effective_date=version.due, created_on=made, updated_on=made, wiki_page_title="",
            status=version.status, sharing="none",
        )  # fmt: skip
    if project.code:
        where = f"{REPOSITORIES}/{project.identifier}.git"
        tables.add(
            "repositories", project_id=project.id, type="Repository::Git", is_default=True,
            url=where, root_url=where,
            identifier="", path_encoding="", log_encoding=None, created_on=project.since,
            extra_info=None,
        )  # fmt: skip


def _nested(projects: tuple[Project, ...]) -> dict[str, tuple[int, int]]:
    """Return the bounds of each project in Redmine's nested set, which is ordered by name."""
    found: dict[str, tuple[int, int]] = {}
    place = 0

    def walk(parent: str) -> None:
        nonlocal place
        below = [one for one in projects if one.parent == parent]
        for project in sorted(below, key=lambda one: one.name.lower()):
            place += 1
            left = place
            walk(project.identifier)
            place += 1
            found[project.identifier] = (left, place)

    walk("")
    return found
