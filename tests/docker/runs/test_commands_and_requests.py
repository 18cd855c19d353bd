"""Checks by command, by function and by request, each of a whole episode on a real replica.

Work done passes, work undone fails, and what a check's own command does to the replica is never
taken for the agent's doing, nor found by the next episode.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.agents.way_player import AGENT, write_ways
from support.runs.run_at import RunAt
from support.tasks.plugged import install
from support.tasks.small_suites import Entry, write_suite

from arena_core.plugins import Group
from evaluators.verdicts import CheckStatus
from orchestrator.runs.store.rescoring import rescore
from orchestrator.runs.store.run_folder import RunFolder

pytestmark = [pytest.mark.docker, pytest.mark.browser]

DONE, UNDONE = 0, 1
NEW_TITLES = "SELECT title FROM desk_note WHERE id > 120"
DB = "mariadb --socket=/run/tools/mariadb.sock --user=arena --skip-column-names tools -e"
TITLES = f"{DB} '{NEW_TITLES}'"
# The application's own account may write; a check must not.
SPOILT = "UPDATE desk_note SET title = 0x73706F696C74 WHERE id = 36"
SPOILS = f"{DB} '{SPOILT}'; {TITLES}"
WRITES_A_FILE = f"echo mark >/tmp/mark; {TITLES}"

# What a suite's package brings: the titles that an episode's requests sent, if they are stored.
FUNCTION = """
from urllib.parse import parse_qs

def stored_and_sent(evidence, arguments):
    looks = [one for one in evidence.located if one.check == arguments["look"]]
    stored = {value for one in looks for value in one.values}
    sent = [
        title
        for request in evidence.network or ()
        if request.method == "POST" and request.request_body
        for title in parse_qs(request.request_body).get("title", [])
    ]
    return [title for title in sent if title in stored]
"""


def note(name: str, *checks: dict[str, Any], **more: Any) -> Entry:
    """Write a note with the title `Buy rope`."""
    return {
        "id": name,
        "family": "content",
        "intent": "Make a note on my scratchpad with the title Buy rope.",
        "sites": ["tools"],
        "roles": {"tools": "emma"},
        "start": ["tools:/notes/new"],
        "worlds": ["offline"],
        "checks": [{"when": "end", **one} for one in checks],
        **more,
    }


def by_shell(command: str, **more: str) -> dict[str, Any]:
    return {
        "name": "stored",
        "locate": {"by": "shell", "site": "tools", "command": command, **more},
        "match": {"how": "exact", "value": "Buy rope"},
    }


NOTHING_ELSE: dict[str, Any] = {
    "name": "nothing-else",
    "locate": {"by": "db_delta", "site": "tools"},
    "match": {
        "how": "delta",
        "changes": [{"table": "desk_note", "kind": "added", "columns": {"title": "Buy rope"}}],
    },
}
BY_NETWORK: dict[str, Any] = {
    "name": "sent",
    "locate": {
        "by": "network",
        "url": "tools:/notes/new",
        "method": "POST",
        "body": {"title": "Buy rope"},
    },
    "match": {"how": "exact", "value": "1"},
}
TASKS = (
    note("shell", by_shell(TITLES, read="lines"), NOTHING_ELSE),
    note("network", BY_NETWORK, NOTHING_ELSE),
    note(
        "python",
        {
            "name": "both",
            "locate": {
                "by": "python",
                "function": "stored-and-sent",
                "arguments": {"look": "original-titles"},
            },
            "match": {"how": "exact", "value": ["Buy rope"]},
        },
        NOTHING_ELSE,
        BY_NETWORK,
        looks=[
            {
                "name": "original-titles",
                "when": "end",
                "locate": {"by": "db", "site": "tools", "sql": NEW_TITLES},
            }
        ],
    ),
    note("spoils", by_shell(SPOILS, read="lines"), NOTHING_ELSE),
    note("writes-a-file", by_shell(WRITES_A_FILE, read="lines"), NOTHING_ELSE),
)


@pytest.mark.slow(minutes=2)
def test_work_is_told_from_none_and_from_what_a_checks_command_did(
    run: RunAt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package"
    points = {Group.FUNCTIONS: {"stored-and-sent": "notes_checks:stored_and_sent"}}
    install(package, "notes-checks", points, modules={"notes_checks": FUNCTION})
    monkeypatch.setenv("PYTHONPATH", str(package))
    write = [
        {"do": "type", "role": "textbox", "name": "Title", "text": "Buy rope"},
        {"do": "type", "role": "textbox", "name": "Text", "text": "Twenty metres."},
        {"do": "click", "role": "button", "name": "Save note"},
        {"do": "stop"},
    ]
    write_ways(run.cwd, {str(one["id"]): [write, [{"do": "stop"}]] for one in TASKS})
    played = run.play(write_suite(tmp_path, *TASKS), *AGENT, "--repeats", "2")
    assert played.code == 0, played.err

    found = {(row.key.task, row.key.repeat): row.score for row in rescore(RunFolder.open(run.path))}
    for task in ("shell", "network", "python"):
        for repeat, outcome in ((DONE, "success"), (UNDONE, "failure")):
            scored = found[task, repeat]
            assert str(scored.outcome) == outcome, scored.verdicts
    for task in ("spoils", "writes-a-file"):
        done, undone = found[task, DONE], found[task, UNDONE]
        stored, nothing_else = done.verdicts
        assert stored.status is CheckStatus.UNKNOWN
        assert "the command changed the replica of 'tools'" in stored.reason
        assert str(done.outcome) == "unscored: check_error"
        # What was compared with golden was the agent's doing alone, here and in the next episode.
        assert nothing_else.status is CheckStatus.MET, nothing_else.reason
        assert str(undone.outcome) == "failure"
        assert undone.verdicts[1].reason.startswith("nothing changed in tools")
