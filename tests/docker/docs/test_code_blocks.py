"""The commands and programs of the documentation, on real replicas, in the order of each page."""

from __future__ import annotations

import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from support.agents.arena_process import arena
from support.tasks.code_blocks import Block, Kind, all_blocks

pytestmark = [pytest.mark.docker, pytest.mark.browser]
LIMIT_S = 300.0

BLOCKS = all_blocks()


@pytest.mark.parametrize("block", [one for one in BLOCKS if one.kind is Kind.DOCKER], ids=str)
def test_commands_do_what_the_page_says(block: Block, tmp_path: Path) -> None:
    for line in block.lines:
        if not line.strip() or line.startswith("#"):
            continue
        program, *words = shlex.split(line, comments=True)
        assert program == "arena"
        ended = arena(*words, cwd=tmp_path, limit_s=LIMIT_S)
        assert ended.code == 0, f"{line}: {ended.err}"


@pytest.mark.parametrize("block", [one for one in BLOCKS if one.kind is Kind.PYTHON], ids=str)
def test_programs_run_as_they_stand_on_the_page(block: Block, tmp_path: Path) -> None:
    source = block.text
    if "async with" in source:
        head, _, body = source.partition("\n\n")
        source = "\n".join(
            [
                "import asyncio",
                head,
                "async def main() -> None:",
                textwrap.indent(body, "    "),
                "asyncio.run(main())",
            ]
        )
    done = subprocess.run(
        [sys.executable, "-c", source],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
