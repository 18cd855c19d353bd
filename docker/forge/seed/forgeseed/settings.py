"""How this forge is set up, as Redmine keeps its settings."""

from __future__ import annotations

from forgeseed.clock import OPENED
from forgeseed.rows_people import MODULES
from forgeseed.tables import Tables, typed

WELCOME = """
The forge of Port Merrow: software of its shop, its newspaper, its museum, its map, its forum and
its town council, and tools that people here make.

Other sites of the town: [Harbour & Pine](http://shop.arena.test/),
[The Merrow Gazette](http://cms.arena.test/), [Waypost](http://forum.arena.test/).
"""
SETTINGS = {
    "app_title": "Merrow Forge",
    "welcome_text": typed(WELCOME.strip()),
    "host_name": "forge.arena.test",
    "protocol": "http",
    "text_formatting": "markdown",
    "default_language": "en",
    "force_default_language_for_anonymous": "1",
    "force_default_language_for_loggedin": "1",
    "date_format": "%Y-%m-%d",
    "time_format": "%H:%M",
    "rest_api_enabled": "1",
    "jsonp_enabled": "0",
    "autofetch_changesets": "0",
    "sys_api_enabled": "0",
    "gravatar_enabled": "0",
    "self_registration": "3",
    "lost_password": "0",
    "autologin": "0",
    "session_lifetime": "0",
    "session_timeout": "0",
    "login_required": "0",
    "wiki_compression": "",
    "thumbnails_enabled": "0",
    "notified_events": "--- []\n",
    "enabled_scm": "---\n- Git\n",
    "per_page_options": "25,50,100",
    "commit_logs_formatting": "1",
    "issue_group_assignment": "0",
    "default_projects_public": "1",
    "default_projects_modules": "---\n" + "".join(f"- {name}\n" for name in MODULES),
    "default_notification_option": "none",
    "user_format": "firstname_lastname",
    "sequential_project_identifiers": "0",
    "timelog_required_fields": "--- []\n",
    # While the history is read at build, "fixes" only links; bake/finish.sql makes it close.
    "commit_ref_keywords": "refs,references,see,fixes,closes",
    "commit_cross_project_ref": "0",
}  # fmt: skip


def add_settings(tables: Tables) -> None:
    """Add all settings that differ from Redmine's own."""
    for name, value in SETTINGS.items():
        tables.add("settings", name=name, value=value, updated_on=OPENED)
