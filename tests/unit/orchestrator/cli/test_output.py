"""Result on stdout, progress on stderr, one document with `--json`, no colour into a pipe."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from arena_process import arena
from made_run import make_run
from small_suites import bells, write_suite

ESCAPE = "\x1b"


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
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    suite = write_suite(tmp_path, bells("bells"))
    folder = make_run(tmp_path / "run")
    filled = [word.format(suite=suite, run=folder.path) for word in words]
    asked = {"FORCE_COLOR": "", "TERM": "xterm-256color"}
    plain = arena(*filled, cwd=tmp_path, env=asked)
    as_json = arena(*filled, "--json", cwd=tmp_path, env=asked)
    assert plain.code == as_json.code == 0, plain.err
    assert as_json.document is not None
    assert ESCAPE not in plain.out + plain.err + as_json.out + as_json.err
    assert plain.out.strip() != ""
    with pytest.raises(json.JSONDecodeError):
        json.loads(plain.out)


def test_lint_findings_are_a_document_even_where_they_are_errors(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, bells("bells", sites=["nosuchsite"]))
    ended = arena("tasks", "lint", suite, "--json", cwd=tmp_path)
    assert ended.code == 5
    assert [one["severity"] for one in ended.document].count("error") >= 1
    assert "nosuchsite" in ended.out
    assert "errors" in ended.err


def test_help_has_no_colour_codes_in_a_pipe_and_names_every_command(tmp_path: Path) -> None:
    ended = arena("--help", cwd=tmp_path)
    assert ended.code == 0
    assert ESCAPE not in ended.out
    for command in ("doctor", "build", "up", "reset", "eval", "report", "score", "tasks"):
        assert f" {command} " in ended.out


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


def test_help_imports_nothing_heavy() -> None:
    """What `arena --help` imports is what makes it slow."""
    watched = f"""
import sys
from orchestrator.cli import entry
sys.argv = ["arena", "--help"]
try:
    entry.main()
except SystemExit:
    pass
print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)
"""
    ended = subprocess.run(
        [sys.executable, "-c", watched], capture_output=True, text=True, check=True, timeout=60
    )
    assert "eval" in ended.stdout
    assert ended.stderr.strip() == "[]"
