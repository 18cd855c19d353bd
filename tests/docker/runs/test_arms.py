"""Runs in arms on the real shop: the reference passes in each; one without effect is void."""

from __future__ import annotations

from pathlib import Path

import pytest
from quick_cases import SLOW
from support.agents.arena_process import arena
from support.runs.run_at import RunAt
from support.tasks.small_suites import profile, write_suite

pytestmark = [pytest.mark.docker, pytest.mark.browser]

STUDY = """\
name: arms
agents: {steady: {agent: oracle}}
worlds: [offline, online]
staged: true
suites: [{suite: demo, tasks: [wiki-bells-of-bruges]}]
repeats: 2
variations: {dark: [look=dark], void: [page=notice@99]}
questions:
  - {id: q, kind: difference, of: worlds, first: offline, second: online}
  - {id: dark, kind: non_inferiority, of: arms, first: dark, second: clean, margin: 0.05}
  - {id: void, kind: difference, of: arms, first: void, second: clean}
"""


def vary(*values: str) -> list[str]:
    return [word for value in values for word in ("--vary", value)]


def test_a_run_in_an_arm_passes_and_everything_says_so(run: RunAt, tmp_path: Path) -> None:
    arm = vary("look=dark", "page=notice@2", "network=slow@60,seed=3")
    played = run.play(write_suite(tmp_path, profile("profile")), *arm, "--json")
    assert played.code == 0, played.err
    assert played.document["totals"]["offline"]["success"] == 1.0
    assert run.lock.vary == ("look=dark@v1", "page=notice@2,v1", "network=slow@60,seed=3,v1")
    assert played.document["vary"] == list(run.lock.vary)
    counts = {one.variation: one.count for one in run.evidence("profile").varied}
    assert tuple(counts) == run.lock.vary
    assert counts["look=dark@v1"] == 2  # the start page and the profile
    assert counts["page=notice@2,v1"] == 1
    assert counts["network=slow@60,seed=3,v1"] >= 2
    report = (run.path / "report.html").read_text(encoding="utf-8")
    assert "Arm look=dark page=notice@2 network=slow@60,seed=3." in report


@SLOW
def test_an_arm_without_effect_is_void_when_it_is_scored_again_too(
    run: RunAt, tmp_path: Path
) -> None:
    suite = write_suite(tmp_path, profile("profile"))
    played = run.play(suite, *vary("page=notice@9"), "--json")
    assert played.document["totals"]["offline"]["success"] is None
    assert run.attempts() == [("finished", "unscored: void_arm")]
    [again] = arena("score", "run", "--json", cwd=run.cwd).document
    assert again["outcome"] == "unscored: void_arm"


NOTE = "SELECT title FROM desk_note WHERE id = 36"
RENAMED = "UPDATE desk_note SET title = 'Rope walk, all of it' WHERE id = 36"
NOTES = f"""\
suite: notes
version: 1
title: Notes in other words
contents:
  long: {{tools: [{{sql: "{RENAMED}"}}]}}
tasks:
  - id: plain
    family: navigation
    intent: Open the list of my notes and change none of them.
    sites: [tools]
    roles: {{tools: emma}}
    worlds: [offline]
    start: ["tools:/"]
    checks: &checks
      - name: list
        when: step
        locate: {{by: url}}
        match: {{how: exact, value: "tools:/notes"}}
      - name: title
        when: end
        locate: {{by: db, site: tools, sql: "{NOTE}"}}
        match: {{how: include, value: "Rope walk, all"}}
      - name: kept
        when: end
        locate: {{by: db_delta, site: tools}}
        match: {{how: delta, changes: []}}
    reference: [{{do: goto, page: "tools:/notes"}}, {{do: stop}}]
  - id: so-already
    family: navigation
    intent: Open the list of my notes and change none of them.
    sites: [tools]
    roles: {{tools: emma}}
    worlds: [offline]
    start: ["tools:/"]
    given: {{tools: [{{sql: "{RENAMED}"}}]}}
    checks: *checks
    reference: [{{do: goto, page: "tools:/notes"}}, {{do: stop}}]
"""


@SLOW
def test_a_content_is_set_up_and_void_where_it_makes_no_difference(
    run: RunAt, tmp_path: Path
) -> None:
    suite = tmp_path / "notes.yaml"
    suite.write_text(NOTES, encoding="utf-8")
    played = run.play(suite, *vary("content=long"), "--json")
    assert run.lock.vary == ("content=long@v1",), played.err
    plain, already = run.evidence("plain"), run.evidence("so-already")
    assert [one.count for one in plain.varied] == [1]
    assert [one.count for one in already.varied] == [0]
    assert [receipt.is_start for receipt in plain.receipts] == [True]
    outcomes = {outcome for _, outcome in run.attempts()}
    assert outcomes == {"success", "unscored: void_arm"}

    refused = arena(
        "eval", "--suite", str(suite), *vary("content=short"), "--out", "other", cwd=run.cwd
    )
    assert refused.code != 0
    assert "no content 'short'" in refused.err
    assert "long" in refused.err

    proven = arena("tasks", "lint", str(suite), "--prove", *vary("content=long"), cwd=run.cwd)
    assert proven.code == 0, proven.out + proven.err
    assert "so-already" in next(line for line in proven.out.splitlines() if "void" in line)


@pytest.mark.slow(minutes=4)
@pytest.mark.parametrize(
    "arm",
    [
        *("look=dark", "look=large", "look=mobile", "page=notice", "page=wall", "network=slow"),
        *("network=flaky", "network=flaky@100"),
    ],
)
def test_the_reference_passes_on_the_demos_shop_tasks(run: RunAt, arm: str) -> None:
    done = arena("eval", "shop-*", *vary(arm), "--out", "run", "--json", cwd=run.cwd)
    assert done.code == 0, done.err
    totals = done.document["totals"]["offline"]
    assert (totals["success"], totals["scored"]) == (1.0, totals["episodes"])


@SLOW
def test_a_study_plays_its_arms_offline_beside_the_clean_worlds(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    done = arena("study", "run", "study.yaml", "--out", "study", cwd=tmp_path)
    assert done.code == 0, done.err
    cells = arena("study", "status", "study", "--json", cwd=tmp_path).document["cells"]
    told = [(one["agent"], one["world"], one["done"], one["succeeded"]) for one in cells]
    assert told == [
        ("steady", "offline", 2, 2),
        ("steady", "online", 2, 2),
        ("steady [dark]", "offline", 2, 2),
        ("steady [void]", "offline", 2, 0),
    ]
    assert arena("study", "run", "study", cwd=tmp_path).code == 0  # nothing is played again
    report = arena("study", "report", "study", "--json", cwd=tmp_path).document
    robustness = {one["varied"]: one for one in report["robustness"]}
    assert robustness["steady [dark]"]["ratio"] == 1.0
    assert robustness["steady [void]"]["tasks"] == 0
    worlds, dark, void = report["answers"]
    for answer in (worlds, dark):
        assert (answer["first_rate"], answer["second_rate"], answer["episodes"]) == (1.0, 1.0, 4)
    assert (void["decision"], void["effect"], void["p"]) == ("undecided", None, None)
    assert void["bounds"] == {"low": -1.0, "high": 0.0}
    verified = arena("study", "verify", "study", "--json", cwd=tmp_path)
    assert (verified.code, verified.document["differences"]) == (0, []), verified.err
