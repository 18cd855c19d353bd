"""A run that measured nothing, or something else than it was to, does not end as if it had."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_run import make_run

from arena_core.errors import AgentCrashedError, InternalError, NothingScoredError
from arena_core.worlds import World
from evaluators.evidence import Ended, EpisodeFault, UnscoredReason
from orchestrator.report.ending import require_sound
from orchestrator.report.html import render_html
from orchestrator.report.run_report import read_run
from orchestrator.store.run_folder import RunFolder


def test_a_run_without_any_score_ends_with_an_exit_code_of_its_own(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    require_sound(read_run(folder))
    for name in folder.evidence_names():
        (folder.evidence_folder(name) / "evidence.json").unlink()
    with pytest.raises(NothingScoredError) as caught:
        require_sound(read_run(folder))
    assert "none of 11 episodes could be scored" in caught.value.message
    assert "the first, agrees: unscored: unreadable" in caught.value.hint


def test_one_score_in_one_world_is_enough(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    for name in folder.evidence_names()[1:]:
        (folder.evidence_folder(name) / "evidence.json").unlink()
    require_sound(read_run(folder))


def change(folder: RunFolder, name: str, **update: object) -> None:
    """Let an episode have ended in another way."""
    found = folder.evidence(name)
    path = folder.evidence_folder(name) / "evidence.json"
    path.write_text(found.model_copy(update=update).model_dump_json(), encoding="utf-8")


BUG = EpisodeFault(reason=UnscoredReason.INTERNAL, message="KeyError: 'x'", place="a/b.py:7 act")


def test_one_bug_ends_a_run_with_its_own_exit_code_and_says_where(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    change(folder, "offline-agrees-r0-a1", ended=None, fault=BUG)
    report = read_run(folder)
    with pytest.raises(InternalError) as caught:
        require_sound(report)
    assert caught.value.exit_code == 99
    assert "ended 1 of 11 episodes" in caught.value.message
    assert "KeyError: 'x' at a/b.py:7 act" in caught.value.hint
    assert str(folder.log_path) in caught.value.hint
    assert (UnscoredReason.INTERNAL, 1) in report.summaries[World.OFFLINE].unscored
    page = " ".join(render_html(report).split())
    assert "<b>A bug of Arena's</b> ended 1 episode, which counts as unscored" in page
    assert "agrees: KeyError: &#39;x&#39; at a/b.py:7 act" in page


def test_the_same_bug_in_every_episode_is_told_as_a_bug(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    for name in folder.evidence_names():
        change(folder, name, ended=None, fault=BUG)
    with pytest.raises(InternalError, match="ended 11 of 11 episodes"):
        require_sound(read_run(folder))


def test_an_agent_that_crashed_is_scored_and_told_and_has_an_exit_code(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    why = "KeyError: 'price' at mine/agent.py:12 decide"
    change(
        folder,
        "offline-agrees-r0-a1",
        ended=Ended.AGENT_CRASHED,
        ended_because=why,
        answer=None,
        steps=(),
    )
    report = read_run(folder)
    with pytest.raises(AgentCrashedError) as caught:
        require_sound(report)
    assert caught.value.exit_code == 73
    assert "crashed in 1 of 11 episodes" in caught.value.message
    assert caught.value.hint == f"the first, agrees: {why}"
    [crashed] = report.crashed
    assert str(crashed.score.outcome) == "failure"
    assert "mine/agent.py:12 decide" in render_html(report)
