"""Writes the forge's content: content.sql, and a stream for each repository.

usage: python3 -m forgeseed TARGET
"""

from __future__ import annotations

import sys
from pathlib import Path

from forgeseed.fastimport import stream
from forgeseed.history import history
from forgeseed.issues import issues
from forgeseed.people import people
from forgeseed.projects import projects
from forgeseed.rows import filled


def main(target: Path) -> None:
    """Write everything below the target."""
    accounts = people()
    held = projects(accounts)
    asked = issues(held)
    tables = filled(accounts, held, asked)
    streams = target / "streams"
    streams.mkdir(parents=True)
    (target / "content.sql").write_text("\n".join(tables.statements()) + "\n", encoding="utf-8")
    commits = 0
    for project in held:
        if project.code:
            made = history(project, [one for one in asked if one.project is project])
            commits += len(made.commits)
            (streams / f"{project.identifier}.git").write_bytes(stream(made))
    counted = ("users", "projects", "members", "issues", "journals", "time_entries", "messages")
    told = ", ".join(f"{tables.count(table)} {table}" for table in counted)
    print(f"{told}, {commits} commits")


main(Path(sys.argv[1]))
