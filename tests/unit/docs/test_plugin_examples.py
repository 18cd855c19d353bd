"""The plug-ins that the documentation shows to copy work as they stand there."""

from __future__ import annotations

import asyncio
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from quick_cases import SLOW
from support.runs.made_run import make_run
from support.runs.make_evidence import make_evidence
from support.tasks.code_blocks import ROOT, blocks_of
from support.tasks.plugged import install

from arena_core.plugins import Group
from evaluators.checks import Check
from evaluators.evidence import Located
from evaluators.plugin_checks import matcher_breaches
from evaluators.scores import score
from orchestrator import Arena
from orchestrator.browser.observation import AxTree, Node
from orchestrator.browser.observations.forms import OBSERVATIONS


def install_shown(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install what a page shows: a module that its first line names, and its entry points."""
    modules: dict[str, str] = {}
    groups: dict[Group, dict[str, str]] = {}
    for block in blocks_of(ROOT / "docs" / page):
        if block.mark != ("tested", Path(__file__).relative_to(ROOT).as_posix()):
            continue
        if block.language == "python":
            modules[block.lines[0].removeprefix("# ").removesuffix(".py")] = block.text
        else:
            points = tomllib.loads(block.text)["project"]["entry-points"]
            groups |= {Group(group): named for group, named in points.items()}
    install(folder, f"shown-{len(page)}", groups, modules=modules)
    monkeypatch.syspath_prepend(str(folder))


def test_the_matcher_of_the_page_is_met_whatever_the_case_of_letters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_shown("checks.md", tmp_path, monkeypatch)
    assert matcher_breaches({"how": "begins", "value": "ket"}) == ()
    document: dict[str, Any] = {
        "name": "kettle",
        "when": "end",
        "locate": {"by": "answer"},
        "match": {"how": "begins", "value": "ket"},
    }
    for answer, outcome in (("Kettle", "success"), ("Teapot", "failure")):
        located = [Located(check="kettle", values=(answer,))]
        evidence = make_evidence(answer=answer, located=located)
        found = score([Check.model_validate(document)], evidence)
        assert str(found.outcome) == outcome


@SLOW
def test_the_exporter_of_the_page_writes_a_row_for_each_episode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_shown("exports.md", tmp_path / "packages", monkeypatch)
    run = make_run(tmp_path / "run")
    done = Arena().runs.export(
        run.path, "markdown", tmp_path / "out.md", options={"title": "Monday"}
    )
    lines = (tmp_path / "out.md").read_text().splitlines()
    assert lines[0] == "# Monday"
    assert len(lines) - 4 == done.episodes > 0


def test_the_form_of_the_page_lists_headings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_shown("bring-your-agent.md", tmp_path, monkeypatch)
    tree = AxTree(nodes=(_node(3, "heading", "Kettles"), _node(4, "link", "Red kettle")))

    async def axtree() -> AxTree:
        return tree

    page: Any = SimpleNamespace(axtree=axtree)
    assert asyncio.run(OBSERVATIONS.load("outline").observe(page)) == ["[3] Kettles"]


def _node(number: int, role: str, name: str) -> Node:
    return Node(id=number, depth=1, role=role, name=name)
