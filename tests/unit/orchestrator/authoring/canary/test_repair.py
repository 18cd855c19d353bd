"""Repairs are proposed where the page says what is meant, and left to a person elsewhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.canary.plays import (
    CLICKED,
    KETTLE,
    OPENED,
    SAMOVAR,
    STOPPED,
    gave_up,
    make_evidence,
    make_play,
    make_step,
    make_task,
    right_play,
)

from arena_core.actions import Click
from arena_core.errors import StoreError, TaskError, UsageError
from arena_core.worlds import World
from orchestrator.api.repairs import SuiteRepair, repair_suite
from orchestrator.authoring.canary.findings import Play, finding_of
from orchestrator.authoring.canary.history import (
    CanaryPlace,
    History,
    LookTerms,
    Origins,
    document_of,
    history_file,
)
from orchestrator.authoring.canary.repair import Repair, repair_of
from tasks.loader import load_suite
from tasks.schema import Task

RENAMED = replace(KETTLE, tree=KETTLE.tree.replace('"Samovar"', '"Samovars"'))
FAR = replace(KETTLE, tree='[1] link "Xyz"')
TWINS = replace(KETTLE, tree='[1] link "Samovar A"\n[2] link "Samovar B"')


def proposed(play: Play) -> Repair:
    found = repair_of(play.task, play.world, document_of(finding_of(play)))
    assert found is not None
    return found


def changes_of(play: Play) -> list[tuple[tuple[Any, ...], Any]]:
    return [(tuple(one.at), one.new) for one in proposed(play).changes]


def test_what_holds_needs_no_repair() -> None:
    play = right_play()
    assert repair_of(play.task, play.world, document_of(finding_of(play))) is None


def test_a_renamed_element_gets_its_new_name_in_the_world_that_was_looked_at() -> None:
    new = {"offline": "Samovar", "online": "Samovars"}
    assert changes_of(gave_up(page=RENAMED)) == [(("reference", 0, "name"), new)]
    alone = gave_up(page=RENAMED, task=make_task(worlds=["online"]))
    assert changes_of(alone) == [(("reference", 0, "name"), "Samovars")]


def test_key_nodes_that_ask_for_the_element_follow() -> None:
    node = {
        "name": "link",
        "when": "step",
        "locate": {"by": "element", "event": "click", "role": "link"},
        "match": {"how": "exact", "value": "Samovar"},
    }
    task = make_task(worlds=["online"])
    task = make_task(worlds=["online"], checks=[task.model_dump(mode="json")["checks"][0], node])
    assert changes_of(gave_up(page=RENAMED, task=task)) == [
        (("reference", 0, "name"), "Samovars"),
        (("checks", 1, "match", "value"), "Samovars"),
    ]


@pytest.mark.parametrize(("page", "why"), [(FAR, "no element|only"), (TWINS, "as alike")])
def test_a_guess_is_left_to_a_person(page: Any, why: str) -> None:
    found = proposed(gave_up(page=page))
    assert found.changes == ()
    assert any(part in found.by_hand for part in why.split("|"))


def test_a_page_that_moved_gives_a_new_value_where_only_one_was_found() -> None:
    moved = make_step(1, "https://en.wikipedia.org/wiki/Samowar", action=Click(element=3))
    evidence = make_evidence(OPENED, moved, STOPPED.model_copy(update={"visits": ()}))
    [(at, new)] = changes_of(make_play(evidence, KETTLE, SAMOVAR))
    assert at == ("checks", 0, "match", "value")
    assert new["online"] == "wiki:/article/Samowar"


def test_an_answer_that_left_the_page_is_a_persons_to_mend() -> None:
    changed = replace(SAMOVAR, tree=SAMOVAR.tree.replace("47", "52"))
    evidence = make_evidence(OPENED, CLICKED, STOPPED)
    found = proposed(make_play(evidence, KETTLE, changed, then=(KETTLE, SAMOVAR)))
    assert found.changes == ()
    assert "the answer" in found.by_hand


# whole suites


def suite_at(tmp_path: Path, task: Task) -> Path:
    document = task.model_dump(mode="json", exclude_unset=True)
    path = tmp_path / "small.yaml"
    whole = {"suite": "small", "version": 1, "title": "Small", "tasks": [document]}
    path.write_text(yaml.safe_dump(whole, sort_keys=False), encoding="utf-8")
    return path


def looked(tmp_path: Path, path: Path, page: Any = RENAMED) -> None:
    task = load_suite(str(path)).tasks[0]
    place = CanaryPlace(suite="small", origins=Origins.LIVE, browser="chromium")
    terms = LookTerms(place=place, at="2026-01-01", suite_version=1, images={}, browser="")
    with History.at(history_file(tmp_path)) as history:
        history.add(terms, [(task, finding_of(gave_up(page=page, task=task)))])


def repair(tmp_path: Path, path: Path, *, accept: bool = False) -> SuiteRepair:
    return repair_suite(str(path), (), origins="live", accept=accept, history=tmp_path)


def test_nothing_is_changed_until_a_person_accepts_the_diff(tmp_path: Path) -> None:
    path = suite_at(tmp_path, make_task(worlds=["online"]))
    before = path.read_bytes()
    looked(tmp_path, path)
    shown = repair(tmp_path, path)
    assert path.read_bytes() == before
    assert not shown.is_written
    added = [line for line in shown.diff.splitlines() if line.startswith("+ ")]
    assert [line.split(":")[0].strip("+ ") for line in added] == ["revision", "name"]
    assert "+version: 2" in shown.diff
    written = repair(tmp_path, path, accept=True)
    assert written.is_written
    suite = load_suite(str(path))
    assert (suite.version, suite.tasks[0].revision) == (2, 2)
    assert getattr(suite.tasks[0].reference_actions[0], "name", None) == "Samovars"
    assert sorted(one.name for one in tmp_path.iterdir() if one.name.startswith(".")) == []


def test_what_was_changed_since_the_look_is_not_repaired_by_it(tmp_path: Path) -> None:
    path = suite_at(tmp_path, make_task(worlds=["online"]))
    looked(tmp_path, path)
    assert repair(tmp_path, path, accept=True).is_written
    again = repair(tmp_path, path, accept=True)
    assert (again.proposed, again.by_hand, again.is_written) == ((), (), False)
    assert load_suite(str(path)).version == 2


def test_a_repair_that_would_change_anything_else_is_taken_back(tmp_path: Path) -> None:
    path = suite_at(tmp_path, make_task(worlds=["online"]))
    text = path.read_text(encoding="utf-8").replace("reference:", "reference: &shared")
    first, _, rest = text[text.index("- id") :].partition("  reference: &shared")
    assert rest
    other = f"{first.replace('id: samovar', 'id: other')}  reference: *shared\n"
    path.write_text(text + other, encoding="utf-8")
    before = path.read_bytes()
    looked(tmp_path, path)
    with pytest.raises(TaskError, match="'other': the repair would change reference"):
        repair(tmp_path, path, accept=True)
    assert path.read_bytes() == before


def test_what_cannot_be_repaired_is_refused_or_told(tmp_path: Path) -> None:
    path = suite_at(tmp_path, make_task(worlds=["online"]))
    with pytest.raises(StoreError, match="looked at nothing"):
        repair(tmp_path, path)
    looked(tmp_path, path, page=FAR)
    found = repair(tmp_path, path, accept=True)
    assert (found.proposed, found.is_written, found.diff) == ((), False, "")
    assert [one.task for one in found.by_hand] == ["samovar"]
    with pytest.raises(UsageError, match="no origins"):
        repair_suite(str(path), (), origins="lives", accept=False, history=tmp_path)
    with pytest.raises(UsageError, match="ships with Arena"):
        repair_suite("demo", (), origins="live", accept=True, history=tmp_path)
    assert World.ONLINE in load_suite(str(path)).tasks[0].worlds
