"""Figures are the same bytes each time, hold every name, and are left out where they are empty."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from make_findings import AGENTS, LONG_AGENTS, make_findings

from arena_core.errors import StoreError
from arena_core.worlds import World
from orchestrator.figures.agreement import agreement
from orchestrator.figures.differences import differences
from orchestrator.figures.forest import forest
from orchestrator.figures.heat_map import heat_map
from orchestrator.figures.style import drawing, lines_in, marks_of, names_of, save, wrapped
from orchestrator.figures.tables import ANSWERS, CELLS, latex, markdown
from orchestrator.figures.writing import FIGURES, write_figures
from orchestrator.studies.findings import Cell

ALL = {"forest", "differences", "heat-map", "worlds", "slices", "cost"}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every figure and table of a small study, by the file's name."""
    folder = tmp_path_factory.mktemp("figures")
    return {path.name: path for path in write_figures(make_findings(AGENTS[:2], tasks=2), folder)}


def test_every_figure_is_svg_and_pdf_with_its_letters_in_it(written: Mapping[str, Path]) -> None:
    assert {name for name in written if name.endswith((".svg", ".pdf"))} == {
        f"{name}.{form}" for name in ALL for form in ("svg", "pdf")
    }
    assert ET.parse(written["forest.svg"]).getroot().tag.endswith("svg")  # noqa: S314 - our own
    assert b"<text" not in written["forest.svg"].read_bytes()  # letters are drawn
    assert b"/FontFile2" in written["forest.pdf"].read_bytes()  # TrueType letters are embedded


def test_the_same_findings_give_the_same_bytes(written: Mapping[str, Path], tmp_path: Path) -> None:
    with drawing():
        again = save(forest(make_findings(AGENTS[:2], tasks=2)), tmp_path, "forest")

    for path in again:
        assert path.read_bytes() == written[path.name].read_bytes()


def test_what_has_nothing_to_show_is_left_out() -> None:
    analysis = replace(make_findings(AGENTS[:1], (World.OFFLINE,), tasks=3), answers=())

    assert (agreement(analysis), differences(analysis)) == (None, None)
    assert ANSWERS.rows(analysis) == []


def test_a_study_of_which_nothing_is_scored_is_drawn() -> None:
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

    with drawing():
        drawn = {name for name, draw in FIGURES.items() if draw(analysis) is not None}
    assert drawn == {"forest", "heat-map"}


def test_thousands_of_tasks_and_names_of_any_letters_are_drawn(tmp_path: Path) -> None:
    made = make_findings(LONG_AGENTS[:2], (World.OFFLINE,), tasks=3)
    many = tuple(
        replace(task, task=f"{task.task}-{number}") for number in range(400) for task in made.tasks
    )
    strange = replace(made, tasks=many, title="$x$ 画 <b>")

    with drawing():
        figure = heat_map(strange)
        assert figure is not None
        svg, _ = save(figure, tmp_path, "heat-map")
    assert svg.stat().st_size < 500_000


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
