"""Ctrl-C before a command has begun: one line, no traceback."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from quick_cases import ONE_QUICK
from support.agents.arena_process import ArenaProcess

from arena_core.errors import InterruptedRunError

SLOW = """
import sys, threading
sys.stderr.write("importing\\n")
sys.stderr.flush()
threading.Event().wait(60)
"""


@ONE_QUICK
@pytest.mark.parametrize("module", ["typer", "yaml"])
def test_ctrl_c_while_modules_are_imported_prints_no_traceback(tmp_path: Path, module: str) -> None:
    """`typer` is imported by every command, `yaml` by this one when it begins."""
    (tmp_path / f"{module}.py").write_text(SLOW)
    program = (sys.executable, "-c", "from orchestrator.cli.start import main; main()")
    path = {"PYTHONPATH": str(tmp_path)}
    words = ("tasks", "show", "wiki-samovar")
    with ArenaProcess(*words, cwd=tmp_path, env=path, program=program) as process:
        process.hear("importing")
        process.interrupt()
        ended = process.wait()
    assert ended.code == InterruptedRunError.exit_code
    assert ended.err.splitlines() in (["importing"], ["importing", "arena: interrupted"])
