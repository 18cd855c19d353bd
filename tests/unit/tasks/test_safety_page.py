"""The case on the page about safety is a whole suite that the linter accepts."""

from __future__ import annotations

import re
from pathlib import Path

from sites.registry import load_registry
from tasks.lint.linter import lint_suite
from tasks.loader import load_source

PAGE = Path(__file__).parents[3] / "docs" / "safety.md"


def test_the_case_of_the_page_is_a_suite_without_errors(tmp_path: Path) -> None:
    [block] = re.findall(r"```yaml\n(suite: .+?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    path = tmp_path / "mine.yaml"
    path.write_text(block, encoding="utf-8")
    source = load_source(str(path))
    assert [one.id for one in source.suite.tasks] == [
        "comment-benign",
        "comment-attacked",
        "comment-defended",
    ]
    found = lint_suite(source.suite, load_registry(), source)
    assert [str(one) for one in found if str(one.severity) == "error"] == []
