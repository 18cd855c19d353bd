"""A run and a study that are steered by `arena ctl`, as a second terminal does.

The scripted model is the clock: it is asked once per step, and gives orders while it is asked.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from quick_cases import SLOW
from support.agents.arena_process import Ended, arena
from support.agents.scripted_model import ChatRequest, Script, ScriptedModel, ScriptedReply
from support.runs.run_at import RunAt
from support.tasks.small_suites import bells, solve_bells, write_suite

from orchestrator.runs.store.lock import RunLock

pytestmark = [pytest.mark.docker, pytest.mark.browser]

StartModel = Callable[[Script], ScriptedModel]
TASKS = ("one", "two", "three")


class Terminal:
    """A model that solves every task, and gives orders when it is asked for the n-th time."""

    def __init__(self, cwd: Path, folder: str, orders: dict[int, tuple[str, ...]]) -> None:
        self.answers: list[Ended] = []
        self._cwd, self._folder, self._orders = cwd, folder, orders
        self._asked = 0

    def __call__(self, request: ChatRequest) -> ScriptedReply:
        self._asked += 1
        for order in self._orders.get(self._asked, ()):
            given = arena("ctl", self._folder, *order.split(), "--json", cwd=self._cwd)
            self.answers.append(given)
        return solve_bells(request)

    def states(self) -> list[dict[str, Any]]:
        assert [one.code for one in self.answers] == [0] * len(self.answers), self.answers
        return [json.loads(one.out) for one in self.answers]


def test_a_steered_run_ends_whole_and_says_so(
    run: RunAt, tmp_path: Path, scripted_model: StartModel
) -> None:
    suite = write_suite(tmp_path, *(bells(task) for task in TASKS))
    orders = {1: ("status", "pause", "stop offline-one-r0", "go"), 3: ("requeue", "workers 1")}
    terminal = Terminal(run.cwd, "run", orders)
    model = scripted_model(terminal)
    options = ("--agent", "chat", "--model", "scripted", "--model-url", model.url)
    ended = run.play(suite, *options)
    assert ended.code == 0, ended.err
    status, paused, stopping, going, queued, _ = terminal.states()
    assert [one["episode"] for one in status["playing"]] == ["offline-one-r0"]
    assert (paused["is_paused"], going["is_paused"]) == (True, False)
    assert stopping["playing"][0]["is_stopping"]
    assert queued["said"] == "1 episode in the queue again"
    assert run.ledger() == [
        ("one", 1, "abandoned", None),
        ("two", 1, "finished", "success"),
        ("three", 1, "finished", "success"),
        ("one", 2, "finished", "success"),
    ]
    steered = [one.order for one in run.lock.steered]
    assert steered == ["pause", "stop offline-one-r0", "go", "requeue", "workers 1"]
    said = [line["message"] for line in run.log() if "steered by" in line["message"]]
    assert len(said) == 5
    assert "steered while it was played: pause by" in " ".join(ended.out.split())
    page = (run.path / "report.html").read_text(encoding="utf-8")
    assert "<b>Steered.</b>" in page
    late = arena("ctl", "run", "pause", cwd=run.cwd)
    assert (late.code, "no process of this user plays it now" in late.err) == (80, True)


@SLOW
def test_workers_that_are_added_play_beside_the_first(
    run: RunAt, tmp_path: Path, scripted_model: StartModel
) -> None:
    playing: list[int] = []

    def until_two_play(request: ChatRequest) -> ScriptedReply:
        """Ask for a second worker, and answer the first step only when two episodes are played."""
        if not playing:
            ended = arena("ctl", "run", "workers", "2", "--json", cwd=run.cwd)
            assert ended.code == 0, ended.err
            while not playing or (playing[-1] < 2 and len(playing) < 60):
                status = arena("ctl", "run", "status", "--json", cwd=run.cwd).document
                playing.append(len(status["playing"]))
        return solve_bells(request)

    suite = write_suite(tmp_path, *(bells(task) for task in TASKS))
    model = scripted_model(until_two_play)
    ended = run.play(suite, "--agent", "chat", "--model", "scripted", "--model-url", model.url)
    assert ended.code == 0, ended.err
    assert playing[-1] == 2
    assert [row[2:] for row in run.ledger()] == [("finished", "success")] * 3
    assert [one.order for one in run.lock.steered] == ["workers 2"]


@SLOW
def test_a_steered_study_says_so_in_each_run_and_verifies(
    tmp_path: Path, scripted_model: StartModel
) -> None:
    write_suite(tmp_path, bells("one"))
    orders = {1: ("status", "stop offline-one-r0"), 2: ("requeue",)}
    terminal = Terminal(tmp_path, "made", orders)
    model = scripted_model(terminal)
    options = f"options: {{model: scripted, model_url: '{model.url}'}}"
    suite = next(tmp_path.glob("*.yaml"))
    (tmp_path / "study.yaml").write_text(
        f"name: made\nagents:\n  agent-a: {{agent: chat, {options}}}\n"
        f"  agent-b: {{agent: chat, {options}}}\n"
        f"suites: [{{suite: {suite.name}}}]\nworlds: [offline]\nrepeats: 1\n"
        "questions: [{id: q, kind: difference, of: agents, first: agent-a, second: agent-b}]\n"
    )
    played = arena("study", "run", "study.yaml", "--out", "made", cwd=tmp_path)
    assert played.code == 0, played.err
    [first] = [one["playing"][0]["run"] for one in terminal.states()[:1]]
    assert first in {"agent-a", "agent-b"}
    for label in ("agent-a", "agent-b"):
        path = tmp_path / "made" / "runs" / label / "lock.json"
        lock = RunLock.model_validate_json(path.read_bytes())
        assert [one.order.split()[0] for one in lock.steered] == ["stop", "requeue"]
    report = arena("study", "report", "made", "--json", cwd=tmp_path).document
    assert any("steered while it was played: stop" in note for note in report["notes"])
    verified = arena("study", "verify", "made", cwd=tmp_path)
    assert verified.code == 0, verified.out + verified.err
