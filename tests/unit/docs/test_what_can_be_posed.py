"""The page on what can be posed says what its table says, row by row and in sum."""

from __future__ import annotations

import csv
from collections import Counter
from typing import Final

import pytest
from support.tasks.code_blocks import ROOT

from sites.registry import load_registry

PAGE: Final = (ROOT / "docs" / "what-can-be-posed.md").read_text()
KINDS: Final = ("full", "weak", "none")
SUITES: Final = {"webarena": 812, "webchorearena": 532}


def rows(suite: str) -> list[dict[str, str]]:
    with (ROOT / "docs" / "assets" / "what-can-be-posed.csv").open(newline="") as file:
        return [row for row in csv.DictReader(file) if row["suite"] == suite]


def cells(first: str) -> list[str]:
    """Return the rest of the page's only table row that begins with a cell."""
    found = [line for line in PAGE.splitlines() if line.startswith(f"| {first} |")]
    assert len(found) == 1, first
    return [cell.strip() for cell in found[0].strip("|").split("|")[1:]]


def sums(listed: list[dict[str, str]]) -> list[str]:
    tasks: Counter[str] = Counter()
    for row in listed:
        tasks[row["kind"]] += int(row["tasks"])
    return [str(tasks.total()), *(str(tasks[kind]) for kind in KINDS)]


@pytest.mark.parametrize("suite", SUITES)
def test_each_template_stands_once_and_all_tasks_are_counted(suite: str) -> None:
    names = [row["template"] for row in rows(suite)]

    assert len(set(names)) == len(names)
    assert sum(int(row["tasks"]) for row in rows(suite)) == SUITES[suite]


def test_a_template_is_posed_on_sites_that_there_are_or_on_no_site() -> None:
    known = set(load_registry([]).sites)
    for row in [*rows("webarena"), *rows("webchorearena")]:
        on = row["on"].split()
        assert set(on) <= known, row
        assert bool(on) == (row["kind"] not in {"none", "unread"}), row
        assert row["asks"], row
        assert row["how"], row


def test_the_totals_of_the_page_are_the_sums_of_the_table() -> None:
    listed = rows("webarena")

    assert {row["kind"] for row in listed} <= set(KINDS)
    assert cells("**all**") == sums(listed)
    for group in {row["of"] for row in listed}:
        assert cells(group) == sums([row for row in listed if row["of"] == group])
    total, full, weak, none = sums(listed)
    says = f"{int(full) + int(weak)} of {total} tasks can be posed: {full} fully, {weak} weakly."
    assert f"{says} {none} cannot." in PAGE


def test_the_page_names_each_template_that_is_weak_or_cannot_be_posed() -> None:
    for row in rows("webarena"):
        start = f"| {row['template']} | {row['tasks']} | {row['of']} | {row['asks']} |"
        assert (start in PAGE) == (row["kind"] != "full"), row


def test_the_groups_of_webchorearena_stand_on_the_page() -> None:
    listed = rows("webchorearena")
    for row in listed:
        assert cells(row["template"]) == [row["tasks"], row["kind"], row["how"]]
    read = sum(int(row["tasks"]) for row in listed if row["kind"] != "unread")
    assert f"At least {read} of 532 can be posed." in PAGE
    assert f"The\n{532 - read} of kind" in PAGE
