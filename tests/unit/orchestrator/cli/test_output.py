"""Result on stdout, progress on stderr, one document with `--json`, no colour into a pipe."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
from quick_cases import SLOW, quick_first
from support.agents.arena_process import Ended, arena
from support.runs.made_run import make_run
from support.tasks.small_suites import bells, write_suite

from arena_core.errors import StoreError
from arena_core.plugins import ARENA
from orchestrator.cli.console import Column, Console

Call = Callable[..., Ended]

ESCAPE = "\x1b"


@SLOW
@pytest.mark.parametrize(
    "words",
    [
        ("tasks", "list", "{suite}"),
        ("tasks", "show", "bells", "--suite", "{suite}"),
        ("tasks", "lint", "{suite}"),
        ("report", "{run}"),
        ("score", "{run}"),
        ("score", "{run}", "--verdicts"),
    ],
    ids=" ".join,
)
def test_json_is_one_document_and_text_has_no_colour_codes(
    call: Call, tmp_path: Path, words: tuple[str, ...]
) -> None:
    suite = write_suite(tmp_path, bells("bells"))
    folder = make_run(tmp_path / "run")
    filled = [word.format(suite=suite, run=folder.path) for word in words]
    plain, as_json = call(*filled), call(*filled, "--json")
    assert plain.code == as_json.code == 0, plain.err
    assert as_json.document is not None
    assert ESCAPE not in plain.out + plain.err + as_json.out + as_json.err
    assert plain.out.strip() != ""
    with pytest.raises(json.JSONDecodeError):
        json.loads(plain.out)


def test_lint_findings_are_a_document_even_where_they_are_errors(
    call: Call, tmp_path: Path
) -> None:
    ended = call("tasks", "lint", write_suite(tmp_path, bells("bells", sites=["nosite"])), "--json")
    assert ended.code == 5
    assert [one["severity"] for one in ended.document].count("error") >= 1
    assert "nosite" in ended.out
    assert "errors" in ended.err


@SLOW
def test_lint_counts_what_no_proof_says_and_names_it_where_asked(
    call: Call, tmp_path: Path
) -> None:
    detour = [{"do": "new_tab"}, {"do": "close_tab"}, {"do": "focus_tab", "index": 0}]
    tasks = [bells("bells"), bells("roams", detour=detour), bells("unsolved", reference=None)]
    suite = write_suite(tmp_path, *tasks)

    plain, named = call("tasks", "lint", suite), call("tasks", "lint", suite, "--unproved")
    found = call("tasks", "lint", suite, "--json").document

    assert "1 of 3 tasks has no reference: it cannot be proved" in plain.err
    assert "2 of 3 tasks have no second right path" in plain.err
    assert "1 of 3 tasks has no written detour" in plain.err
    assert "no second right path" not in plain.out
    assert named.out.count("no second right path") == 2
    notes = [(one["task"], one["message"][:13]) for one in found if one["severity"] == "note"]
    assert notes == [
        ("bells", "no second rig"),
        ("bells", "no written de"),
        ("roams", "no second rig"),
    ]
    [unsolved] = [one for one in found if "has no reference" in one["message"]]
    assert (unsolved["task"], unsolved["severity"]) == ("unsolved", "warning")


def test_a_score_can_be_read_check_by_check(call: Call, tmp_path: Path) -> None:
    said = call("score", make_run(tmp_path / "run").path, "--verdicts").out
    assert "online parts price: unmet (found 'it is £44.99', wanted '39.99'" in said
    assert "offline parts price: met" in said


@SLOW
def test_a_report_in_the_terminal_holds_both_worlds_and_what_is_left(
    call: Call, tmp_path: Path
) -> None:
    said = call("report", make_run(tmp_path / "run").path).out
    [parts] = [line for line in said.splitlines() if line.startswith("parts ")]
    assert "where the worlds part: layout 1, content 1, unknown 1" in said
    assert "parts: step 1, layout: type " in said
    assert parts.split()[1] == "success"
    assert "failure" in parts
    assert parts.rstrip().endswith("price")
    assert "online (staged)" in said
    assert "staged live origins, not the real web: shop" in said
    assert "worlds agree on 33%" in said
    assert "1 episode is left: arena eval --resume" in said


@SLOW
def test_a_report_of_the_oracle_says_everywhere_that_it_is_no_contestant(
    call: Call, tmp_path: Path
) -> None:
    path = make_run(tmp_path / "run").path
    note = "reference agent, not a contestant"
    lines = call("report", path).out.splitlines()
    assert lines[0] == f"oracle: {note}"
    assert f"the figures are of oracle: {note}" in lines[1:]
    assert call("report", path, "--json").document["agent_note"] == note
    assert f"the scores are of oracle: {note}" in call("score", path).err
    page = (path / "report.html").read_text(encoding="utf-8")
    assert f"(oracle: {note})" in page or f"oracle ({note})" in page
    assert f"<b>{note.capitalize()}.</b>" in page


@SLOW
def test_an_episode_that_cannot_be_read_is_named_and_blocks_no_other(
    call: Call, tmp_path: Path
) -> None:
    folder = make_run(tmp_path / "run")
    before = call("report", folder.path, "--json").document
    (folder.evidence_folder("online-agrees-r0-a1") / "evidence.json").write_bytes(b"\xff{")
    ended = call("report", folder.path)
    assert ended.code == StoreError.exit_code
    assert "the evidence of 1 of 11 episodes cannot be read" in ended.err
    assert "online-agrees-r0-a1/evidence.json: is not what this version" in ended.out
    assert f"played again by arena eval --resume {folder.path}" in ended.out
    after = call("report", folder.path, "--json").document
    was, now = before["totals"]["online"], after["totals"]["online"]
    assert now["episodes"] == was["episodes"]
    assert now["scored"] == was["scored"] - 1
    assert now["unscored"] == {**was["unscored"], "unreadable": 1}
    assert now["bounds"] != was["bounds"]
    assert len(after["unreadable"]) == 1
    assert "counts as unscored" in (folder.path / "report.html").read_text(encoding="utf-8")
    scored = call("score", folder.path)
    assert scored.code == StoreError.exit_code
    assert "10 episodes scored, 0 differ from what the run wrote down" in scored.err
    assert "online-agrees-r0-a1/evidence.json" in scored.err
    assert scored.out.count("unscored: unreadable") == 1


@SLOW
def test_a_run_whose_ledger_is_empty_is_never_an_empty_report(call: Call, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    folder.ledger_path.write_bytes(b"")
    ended = call("report", folder.path)
    assert ended.code == 0, ended.err
    assert "the ledger knows nothing of 11 attempts whose evidence is there" in ended.out
    assert "worlds agree on 33%" in ended.out


@SLOW
@pytest.mark.parametrize("words", quick_first([["--help"], ["report", "run"], ["eval", "--fast"]]))
def test_a_program_in_a_pipe_gets_no_colour_codes(tmp_path: Path, words: list[str]) -> None:
    """With a real pipe, in a terminal that could show colours."""
    colourful = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    make_run(tmp_path / "run")
    ended = arena(*words, cwd=tmp_path, env=colourful)
    assert (ended.out + ended.err).strip() != ""
    assert ESCAPE not in ended.out + ended.err


def test_help_names_every_command(call: Call) -> None:
    said = call("--help").out
    for command in ("doctor", "build", "up", "reset", "eval", "report", "score", "tasks"):
        assert f" {command} " in said


HEAVY = (
    "aiohttp",
    "docker",
    "jinja2",
    "openai",
    "playwright",
    "pydantic",
    "pymysql",
    "requests",
    "trustme",
    "yaml",
)


@SLOW
@pytest.mark.parametrize(("option", "said"), [("--help", "eval"), ("--version", ARENA)])
def test_help_and_version_import_nothing_heavy(option: str, said: str) -> None:
    """What `arena --help` imports is what makes it slow."""
    watched = f"""
import sys
from orchestrator.cli import entry
sys.argv = ["arena", "{option}"]
try:
    entry.main()
except SystemExit:
    pass
print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)
"""
    ended = subprocess.run(
        [sys.executable, "-c", watched], capture_output=True, text=True, check=True, timeout=60
    )
    assert said in ended.stdout
    assert ended.stderr.strip() == "[]"


def test_the_version_is_one_line_with_the_packages_name(call: Call) -> None:
    ended = call("--version")
    assert (ended.code, ended.out) == (0, f"{ARENA} {version(ARENA)}\n")


def test_nothing_that_a_page_says_controls_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    hostile = "a\x1b[2Kb\x07\x9b31m\tc\n\rd"
    console = Console()
    console.line(hostile)
    console.warn(hostile)
    console.note(hostile)
    console.table([Column("title")], [[hostile.replace("\n", "")]], None)
    written = capsys.readouterr()
    for text in (written.out, written.err):
        assert not any(ord(one) < 32 and one not in "\t\n" for one in text)
        assert not any(127 <= ord(one) < 160 for one in text)
        assert r"a\x1b[2Kb\x07\x9b31m" in text
