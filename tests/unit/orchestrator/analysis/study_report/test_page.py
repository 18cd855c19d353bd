"""The page of a study, and that texts stay texts in it."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quick_cases import SLOW
from support.runs.tiny_run import SUITE, make_lock
from support.studies.made_study import ATTACK, UNREADABLE
from support.studies.make_findings import LONG_AGENTS, make_findings

from arena_core.errors import StoreError
from arena_core.worlds import World
from orchestrator.analysis.study_report.page import (
    ReportedRun,
    as_call,
    as_json,
    write_study_report,
)
from orchestrator.runs.store.run_folder import RunFolder


@pytest.fixture(scope="module")
def text(study: Any) -> str:
    agents = ("careful", *LONG_AGENTS)
    path = write_study_report(make_findings(agents), study.runs, study.report)
    assert path == study.report / "index.html"
    return path.read_text(encoding="utf-8")


def _between(text: str, start: str, end: str) -> str:
    return text.split(start, 1)[1].split(end, 1)[0]


@SLOW
def test_the_policy_allows_the_page_s_own_script_and_style_and_nothing_else(text: str) -> None:
    policy = html.unescape(_between(text, 'Content-Security-Policy" content="', '">'))
    script = text.rsplit("<script>", 1)[1].split("</script>", maxsplit=1)[0]
    style = _between(text, "<style>", "</style>")
    for name, content in (("script-src", script), ("style-src", style)):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert text.count("<script") == 2
    assert " style=" not in text
    assert re.search(r"<\w[^>]*\son\w+=", text.split("<script", maxsplit=1)[0]) is None
    assert re.search(r"(?:src|href)=\"(?:https?:)?//", text) is None


def test_registered_and_exploratory_answers_stand_apart(text: str) -> None:
    registered = _between(text, "<h3>Registered questions</h3>", "<h3>Exploratory</h3>")
    exploratory = _between(text, "<h3>Exploratory</h3>", '<section aria-labelledby="cells">')
    found = make_findings(("careful", *LONG_AGENTS)).answers
    for answer in found:
        place, other = registered, exploratory
        if not answer.question.registered:
            place, other = other, place
        assert html.escape(answer.sentence, quote=True).replace("&#x27;", "&#39;") in place
        assert f"Figures of {html.escape(answer.question.id)}" not in other


def test_a_question_says_what_it_is_held_at(text: str) -> None:
    assert "± 5 points?\n <small>agent careful" in re.sub(r"\n\s*", "\n ", text)
    assert "<small>offline world" in text


def test_what_is_pending_and_unreadable_is_said_first(text: str) -> None:
    head = _between(text, "<header>", "</header>")
    assert "Not finished: 2 episodes of 24 are still to be played" in head
    notes = _between(text, 'id="notes-heading"', "</section>")
    assert "1 episode; it counts as unscored" in notes
    assert "Live origins were staged" in notes


@SLOW
def test_every_episode_has_a_file_that_names_itself(study: Any, text: str) -> None:
    index = json.loads(_between(text, 'id="index">', "</script>"))
    files = sorted((study.report / "episodes").rglob("*.js"))
    assert len(files) == len(index["rows"]) == 22
    for path in files:
        call = path.read_text(encoding="ascii")
        name = path.relative_to(study.report / "episodes").with_suffix("").as_posix()
        assert call.startswith(f'arenaEpisode("{name}",')
    assert study.report / "episodes" / "1" / f"{UNREADABLE}.js" in files
    assert "evidence.json" in (study.report / "episodes" / "1" / f"{UNREADABLE}.js").read_text()


@SLOW
def test_a_run_without_an_episode_is_all_pending(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "runs" / "one", make_lock(), SUITE)
    run = ReportedRun(label="idle", folder=folder)
    findings = make_findings(("idle",), (World.OFFLINE,))
    text = write_study_report(findings, [run], tmp_path / "report").read_text(encoding="utf-8")
    assert "1 episode of 1 is still to be played" in text
    assert "none ended" in text
    assert "Do the worlds agree?" not in text


@SLOW
def test_a_cell_is_called_by_the_label_of_its_suite(study: Any, tmp_path: Path) -> None:
    run = ReportedRun(label="a", folder=study.runs[1].folder, suite="hard half")
    text = write_study_report(make_findings(), [run], tmp_path / "r").read_text(encoding="utf-8")
    index = json.loads(_between(text, 'id="index">', "</script>"))
    assert {task["suite"] for task in index["tasks"]} == {"hard half"}


@SLOW
def test_figures_beside_are_linked(study: Any, tmp_path: Path) -> None:
    folder = tmp_path / "r"
    beside = [Path("figures/forest plot.svg"), folder / "tables.tex"]
    path = write_study_report(make_findings(), study.runs, folder, beside=beside)
    text = path.read_text(encoding="utf-8")
    assert '<a href="figures/forest%20plot.svg">forest plot.svg</a>' in text
    assert "<img" not in text
    assert '<a href="tables.tex">tables.tex</a>' in text


@SLOW
def test_figures_of_a_relative_folder_are_linked_from_it(
    study: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    beside = [Path("r/figures/forest.svg")]
    path = write_study_report(make_findings(), study.runs, Path("r"), beside=beside)
    text = path.read_text(encoding="utf-8")
    assert '<a href="figures/forest.svg">' in text
    assert re.findall('<img src="([^"]*)"', text) == ["figures/forest.svg"]


def test_a_folder_that_cannot_be_written_is_one_line(study: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        write_study_report(make_findings(), study.runs, tmp_path / "file" / "report")


DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(DOCUMENTS)
def test_documents_come_back_and_hold_nothing_that_html_or_a_line_knows(document: object) -> None:
    text = as_json(document)
    assert json.loads(text) == document
    assert re.search(r"[<>&\u0080-\U0010ffff\n]", text) is None


def test_an_attack_is_one_string_of_a_call() -> None:
    call = as_call("show", ATTACK, {"__proto__": ATTACK})
    name, document = json.loads(f"[{call.removeprefix('show(').removesuffix(');' + chr(10))}]")
    assert name == ATTACK
    assert json.loads(document) == {"__proto__": ATTACK}
    assert "</script" not in call


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_json([float("nan")])
