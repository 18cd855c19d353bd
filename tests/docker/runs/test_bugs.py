"""A bug of Arena's in the middle of a run: told, placed, not tried again, and no other's matter."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.agents.arena_process import ArenaProcess, arena
from support.runs.run_at import RunAt
from support.tasks.small_suites import bells, write_suite

pytestmark = [pytest.mark.docker, pytest.mark.browser]

# `arena` with a bug in an agent of its own, which shows in the first episode alone.
BROKEN = """
from orchestrator.agents.builtin.oracle import OracleAgent
from orchestrator.cli.entry import main

right = OracleAgent.decide
asked = []

async def decide(self, observation):
    asked.append(observation)
    if len(asked) == 1:
        raise KeyError("seeded")
    return await right(self, observation)

OracleAgent.decide = decide
main()
"""


def test_a_bug_ends_its_episode_alone_and_the_command_with_its_own_code(
    run: RunAt, tmp_path: Path
) -> None:
    suite = write_suite(tmp_path, bells("bells"), bells("after"))
    words = ("eval", "--suite", suite, "--out", "run")
    program = (sys.executable, "-c", BROKEN)
    with ArenaProcess(*words, cwd=run.cwd, program=program) as process:
        played = process.wait()
    assert played.code == 99, played.err
    assert run.attempts() == [("finished", "unscored: internal"), ("finished", "success")]
    assert "a bug of Arena's ended 1 of 2 episodes" in played.err
    fault = run.evidence("bells").fault
    assert fault is not None
    assert fault.message == "KeyError: 'seeded'"
    assert fault.place is not None
    assert fault.place.startswith("orchestrator/episode/")
    assert f"offline bells: {fault.because}" in played.out
    assert run.containers() == ()
    told = [line for line in run.log() if "traceback" in line]
    assert [(line["level"], line["world"], line["episode"]) for line in told] == [
        ("error", "offline", "bells-r0")
    ]
    assert told[0]["place"] == fault.place
    assert "KeyError: 'seeded'" in told[0]["traceback"]
    assert "Traceback" not in played.err
    [leased, _] = [line for line in run.log() if line["message"].endswith("leased")]
    assert (leased["world"], leased["episode"], leased["site"]) == ("offline", "bells-r0", "wiki")
    [healthy] = [line for line in run.log() if line["message"] == "wiki: healthy"]
    assert (healthy["world"], healthy["site"]) == ("offline", "wiki")
    scored = arena("score", "run", "--json", cwd=run.cwd)
    assert {row["task"]: row["outcome"] for row in scored.document} == {
        "bells": "unscored: internal",
        "after": "success",
    }
