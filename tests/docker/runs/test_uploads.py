"""A task's own file through a whole episode: it is uploaded, and the site shows what is in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.runs.run_at import RunAt
from support.tasks.small_suites import write_suite

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow(minutes=3)]

RIGHT = "tide-table.txt"
WRONG = "shopping-list.txt"
SAID = "Evening tide at Merrow: 19:42"


def upload(name: str, file: str) -> dict[str, object]:
    """A task whose reference uploads one of its two files; only the tide table is right."""
    return {
        "id": name,
        "family": "content",
        "intent": "Add the file with the tide table to the newspaper's media library.",
        "sites": ["cms"],
        "roles": {"cms": "administrator"},
        "start": ["cms:/wp-admin/media-new.php?browser-uploader"],
        "worlds": ["offline"],
        "files": [RIGHT, WRONG],
        "checks": [
            {
                "name": "named",
                "when": "end",
                "locate": {
                    "by": "db",
                    "site": "cms",
                    "sql": "SELECT post_title FROM wp_posts WHERE post_type = 'attachment'"
                    " ORDER BY ID DESC LIMIT 1",
                },
                "match": {"how": "exact", "value": "tide-table"},
            },
            {
                "name": "served",
                "when": "end",
                "locate": {
                    "by": "page",
                    "at": f"cms:/wp-content/uploads/2026/10/{RIGHT}",
                    "selector": "body",
                },
                "match": {"how": "exact", "value": SAID},
            },
        ],
        "reference": [
            {"do": "upload", "role": "button", "name": "Upload", "files": [file]},
            # The field is called Upload as well, and stands before the button that sends it.
            {"do": "click", "role": "button", "name": "Upload", "nth": 1},
            {"do": "stop"},
        ],
    }


def test_the_oracle_uploads_a_file_of_the_task_and_another_file_is_no_success(
    run: RunAt, tmp_path: Path
) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / RIGHT).write_text(SAID, encoding="utf-8")
    (files / WRONG).write_text("bread, salt", encoding="utf-8")
    suite = write_suite(tmp_path, upload("right", RIGHT), upload("wrong", WRONG))
    done = run.play(suite, "--agent", "oracle")
    assert done.code == 0, done.err
    outcomes = {task: outcome for task, _, _, outcome in run.ledger()}
    assert outcomes == {"right": "success", "wrong": "failure"}, run.evidence("right")
    located = {one.check: one.values for one in run.evidence("wrong").located}
    assert located["named"] == ("shopping-list",)
