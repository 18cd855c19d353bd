"""Every exit code of the error tree is in the help and in the documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena_core.errors import ArenaError
from orchestrator.cli.entry import _EXIT_CODES

TABLE = (Path(__file__).parents[4] / "docs" / "file-formats.md").read_text(encoding="utf-8")
_RANGE = re.compile(r"(\d+)(?:(?:-| to )(\d+))?")


def kinds(of: type[ArenaError] = ArenaError) -> Iterator[type[ArenaError]]:
    for kind in of.__subclasses__():
        yield kind
        yield from kinds(kind)


def codes_in(text: str) -> set[int]:
    found = _RANGE.findall(text)
    return {code for first, last in found for code in range(int(first), int(last or first) + 1)}


def in_the_table() -> set[int]:
    rows = re.findall(r"^\| ([\d, to]+) \|", TABLE, re.MULTILINE)
    return {code for row in rows for code in codes_in(row)}


KINDS = sorted(set(kinds()), key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", KINDS)
def test_an_exit_code_is_in_the_help_and_in_the_table(kind: type[ArenaError]) -> None:
    assert kind.exit_code in codes_in(_EXIT_CODES)
    assert kind.exit_code in in_the_table()
