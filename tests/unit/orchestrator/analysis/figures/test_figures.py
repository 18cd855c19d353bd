"""Figures are the same bytes each time, hold every name, and are left out where they are empty."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from quick_cases import SLOW
from support.studies.make_findings import AGENTS, LONG_AGENTS, make_findings
from support.studies.plain_reports import plain_reports

from arena_core.errors import StoreError
from arena_core.worlds import World
from orchestrator.analysis.figures.agreement import agreement
from orchestrator.analysis.figures.cost import cost
from orchestrator.analysis.figures.forest import differences, forest, pairs
from orchestrator.analysis.figures.slices import heat_map
from orchestrator.analysis.figures.style import (
    drawing,
    lines_in,
    marks_of,
    names_of,
    new_figure,
    save,
    signed_points,
    wrapped,
)
from orchestrator.analysis.figures.tables import ANSWERS, CELLS, latex, markdown
from orchestrator.analysis.figures.writing import FIGURES, write_figures
from orchestrator.analysis.stats.results import Cell

ALL = {"forest", "differences", "pairs", "heat-map", "worlds", "slices", "cost"}


def drawn(folder: Path) -> tuple[Path, Path]:
    """Draw one figure of a small study into a new folder."""
    folder.mkdir()
    with drawing():
        return save(forest(make_findings(AGENTS[:2], tasks=2)), folder, "forest")


@pytest.fixture(scope="module")
def forests(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One figure as SVG and PDF."""
    return drawn(tmp_path_factory.mktemp("figures") / "first")


@SLOW
@pytest.mark.parametrize("are_drawn", [False, pytest.param(True, marks=SLOW)])
def test_every_figure_is_svg_and_pdf(tmp_path: Path, *, are_drawn: bool) -> None:
    with nullcontext() if are_drawn else plain_reports():
        written = write_figures(make_findings(AGENTS[:2], tasks=2), tmp_path)

    figures = {path.name for path in written if path.suffix in {".svg", ".pdf"}}
    assert figures == {f"{name}.{form}" for name in ALL for form in ("svg", "pdf")}
    assert figures <= {path.name for path in tmp_path.iterdir()}


@SLOW
def test_a_figure_has_its_letters_in_it(forests: tuple[Path, Path]) -> None:
    svg, pdf = forests

    assert ET.parse(svg).getroot().tag.endswith("svg")  # noqa: S314 - our own
    assert b"<text" not in svg.read_bytes()  # letters are drawn
    assert b"/FontFile2" in pdf.read_bytes()  # TrueType letters are embedded


@SLOW
def test_the_same_findings_give_the_same_bytes(forests: tuple[Path, Path], tmp_path: Path) -> None:
    again = drawn(tmp_path / "again")

    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in forests]


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
    nothing: dict[str, Any] = {"effect": None, "interval": None, "p": None, "differences": ()}
    answers = tuple(replace(one, **nothing) for one in made.answers)
    analysis = replace(made, cells=cells, tasks=tasks, answers=answers, agreement=(), slices=())

    with drawing():
        drawn = {name for name, draw in FIGURES.items() if draw(analysis) is not None}
    assert drawn == {"forest", "heat-map"}


@SLOW
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


def test_points_have_a_sign_and_no_minus_zero() -> None:
    said = [signed_points(one, digits=1) for one in (0.123, -0.05, -0.0001)]
    assert said == ["+12.3", "−5.0", "0.0"]


def test_cost_is_drawn_only_where_there_is_some() -> None:
    made = make_findings(AGENTS[:2], tasks=3)
    paid = replace(made.cells[0].spending, usd_per_episode=None, tokens_per_episode=0.0)
    free = replace(made, cells=(replace(made.cells[0], spending=paid),))

    def titles(figure: Any) -> list[str]:
        return [axes.get_xlabel().partition(" per")[0] for axes in figure.axes] if figure else []

    with drawing():
        assert titles(cost(made)) == ["US dollars", "tokens", "seconds"]
        assert titles(cost(free)) == ["seconds"]


def test_each_pair_that_the_answer_counts_is_drawn_from_the_largest_to_the_smallest() -> None:
    made = make_findings(AGENTS[:2], tasks=3)
    answer = replace(made.answers[0], differences=(-0.2, 0.0, 1.0, 0.6))

    with drawing():
        figure: Any = pairs(replace(made, answers=(answer,)))
        [axes] = figure.axes
        heights = [list(patch.get_data().values) for patch in axes.patches]

    assert heights == [[1.0, 0.6, 0, 0], [0, 0, 0, -0.2]]
    assert "first better in 2, equal in 1, second better in 1" in axes.get_title(loc="left")
    assert pairs(replace(made, answers=(replace(answer, differences=()),))) is None


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


@SLOW
def test_importing_figures_does_not_import_matplotlib() -> None:
    script = (
        "import sys, orchestrator.analysis.figures.writing\n"
        "import orchestrator.analysis.studies.analysis\n"
        "print(sorted({'matplotlib', 'scipy', 'statsmodels', 'numpy'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


@SLOW
def test_the_last_digits_of_a_layout_change_no_byte(tmp_path: Path) -> None:
    """Its solver gives others in another process, and names in an SVG are hashes of places."""
    written = []
    for nudge in (0.0, 1e-13):
        with drawing():
            figure = new_figure(2.0)
            axes = figure.subplots()
            axes.plot([0, 1], [0, 1])
            figure.set_layout_engine("none")
            axes.set_position((0.1 + nudge, 0.1, 0.8, 0.8))
            written.append([path.read_bytes() for path in save(figure, tmp_path, "figure")])
    assert written[0] == written[1]
