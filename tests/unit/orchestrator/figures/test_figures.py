"""Figures are the same bytes each time, hold every name, and are left out where they are empty."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from make_findings import AGENTS, LONG_AGENTS, make_findings

from arena_core.errors import StoreError
from arena_core.worlds import World
from orchestrator.figures.style import lines_in, marks_of, names_of, wrapped
from orchestrator.figures.tables import ANSWERS, CELLS, latex, markdown
from orchestrator.figures.writing import write_figures
from orchestrator.studies.findings import Cell

ALL = {"forest", "differences", "heat-map", "worlds", "slices", "cost"}


def test_every_figure_is_svg_and_pdf_and_the_same_bytes_each_time(tmp_path: Path) -> None:
    analysis = make_findings(AGENTS[:2], tasks=4)

    written = write_figures(analysis, tmp_path / "one")
    again = write_figures(analysis, tmp_path / "two")

    assert {path.stem for path in written if path.suffix == ".svg"} == ALL
    assert {path.stem for path in written if path.suffix == ".pdf"} == ALL
    assert [path.read_bytes() for path in written] == [path.read_bytes() for path in again]
    for path in written:
        if path.suffix == ".svg":
            ET.parse(path)  # noqa: S314 - our own
        if path.suffix == ".pdf":
            assert b"/FontFile2" in path.read_bytes()  # TrueType letters are embedded


def test_one_world_has_no_figure_of_agreement_and_no_answers_no_differences(
    tmp_path: Path,
) -> None:
    analysis = replace(make_findings(AGENTS[:1], (World.OFFLINE,), tasks=3), answers=())

    written = {path.name for path in write_figures(analysis, tmp_path)}

    assert "forest.svg" in written
    assert not {"worlds.svg", "differences.svg", "answers.tex"} & written


def test_a_study_of_which_nothing_is_scored_is_drawn(tmp_path: Path) -> None:
    made = make_findings(AGENTS[:2], tasks=3)
    cells = tuple(
        replace(one, success=None, wilson=None, clustered=None, bounds=None) for one in made.cells
    )
    tasks = tuple(
        replace(
            task,
            success=None,
            cells=tuple(replace(one, successes=0, scored=0) for one in task.cells),
        )
        for task in made.tasks
    )
    answers = tuple(replace(one, effect=None, interval=None, p=None) for one in made.answers)
    analysis = replace(made, cells=cells, tasks=tasks, answers=answers, agreement=(), slices=())

    written = {path.name for path in write_figures(analysis, tmp_path)}

    assert {"forest.svg", "heat-map.svg"} <= written
    assert not {"differences.svg", "worlds.svg", "slices.svg", "cost.svg"} & written


def test_thousands_of_tasks_and_names_of_any_letters_are_drawn(tmp_path: Path) -> None:
    made = make_findings(LONG_AGENTS[:2], (World.OFFLINE,), tasks=3)
    many = tuple(
        replace(task, task=f"{task.task}-{number}") for number in range(400) for task in made.tasks
    )
    strange = replace(made, tasks=many, title="$x$ 画 <b>")

    assert write_figures(strange, tmp_path)


def test_a_folder_that_cannot_be_written_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreError, match="figures cannot be written there"):
        write_figures(make_findings(AGENTS[:1], tasks=2), tmp_path / "file")


def test_a_long_agents_name_is_cut_and_its_world_never_is() -> None:
    cells = [Cell("m" * 200, suite, world) for suite in ("demo", "own") for world in World]

    names = names_of(cells, 30)

    assert len(set(names.values())) == 4
    for cell, name in names.items():
        assert " ".join(name.split()).endswith(f", {cell.suite}, {cell.world}")
        assert lines_in(name) <= 3


def test_agents_differ_by_marker_and_not_by_colour_alone() -> None:
    marks = marks_of([f"agent {number}" for number in range(12)])

    assert len({mark.marker for mark in marks.values()}) == 12


def test_a_name_without_a_break_is_folded() -> None:
    assert max(map(len, wrapped("x" * 90, 30).splitlines())) <= 30


def test_latex_and_markdown_escape_every_letter_that_means_something() -> None:
    analysis = make_findings((r"a\b_{c}$x$%#&~^|<i>[z]`*", "b"), tasks=4)

    tex, md = latex(CELLS, CELLS.rows(analysis)), markdown(CELLS, CELLS.rows(analysis))

    body = tex.partition("\\midrule\n")[2].partition("\\bottomrule")[0]
    assert r"a\textbackslash{}b\_\{c\}\$x\$\%\#\&\textasciitilde{}\textasciicircum{}" in body
    assert not re.search(r"(?<!\\)[%#_]", body)
    assert {line.count(" & ") for line in body.splitlines()} == {len(CELLS.titles) - 1}
    cells_a_line = {len(re.findall(r"(?<!\\)\|", line)) for line in md.splitlines()}
    assert cells_a_line == {len(CELLS.titles) + 1}
    assert r"\<i\>" in md


def test_the_table_of_answers_says_what_was_registered_and_what_is_undecided() -> None:
    analysis = make_findings(AGENTS[:2], tasks=20)

    rows = ANSWERS.rows(analysis)

    assert [row[1] for row in rows] == [
        "yes" if one.question.registered else "no" for one in analysis.answers
    ]
    assert {row[-1] for row in rows} <= {"first better", "second better", "equivalent", "undecided"}


def test_importing_figures_does_not_import_matplotlib() -> None:
    script = (
        "import sys, orchestrator.figures.writing, orchestrator.studies.analysis\n"
        "print(sorted({'matplotlib', 'scipy', 'statsmodels', 'numpy'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
