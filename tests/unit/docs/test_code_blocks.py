"""Every code block of the documentation is run by a test, or says why not."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.agents.arena_process import Ended
from support.tasks.code_blocks import ROOT, Block, Kind, all_blocks, blocks_of

BLOCKS = all_blocks()


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_a_block_is_run_or_says_why_not(block: Block) -> None:
    assert block.mark is not None, "`<!-- run: … -->` or `<!-- not run: … -->` is missing before it"
    how, what = block.mark
    if how == "tested":
        assert (ROOT / what).is_file()
    if how == "run":
        assert what in set(Kind)


@SLOW
@pytest.mark.parametrize("block", [one for one in BLOCKS if one.kind is Kind.UNIT], ids=str)
def test_commands_that_need_no_engine_do_what_the_page_says(
    block: Block, call: Callable[..., Ended]
) -> None:
    for line in block.lines:
        program, *words = shlex.split(line, comments=True)
        assert program == "arena"
        ended = call(*words)
        assert ended.code == 0, f"{line}: {ended.err}"


def test_blocks_and_their_marks_are_found(tmp_path: Path) -> None:
    """The tests above would pass on anything if this failed."""
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- run: unit -->\n```bash\narena doctor\n```\n\n"
        "<!-- not run: shows a picture -->\n\n```text\nx\n```\n"
        "<!-- run: unit -->\nwords between\n```\ny\n```\n"
    )
    assert [(one.language, one.text, one.mark) for one in blocks_of(page)] == [
        ("bash", "arena doctor", ("run", "unit")),
        ("text", "x", ("not run", "shows a picture")),
        ("", "y", None),
    ]
