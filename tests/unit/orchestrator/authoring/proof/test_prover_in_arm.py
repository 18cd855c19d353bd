"""A suite is proven in an arm: each reference and other path is played there, offline, or named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.runs.make_evidence import ANSWER, make_check, make_evidence, make_step, stop_step

from arena_core.errors import UsageError
from arena_core.worlds import World
from evaluators.evidence import Varied
from evaluators.scores import score
from orchestrator.api.arena import Arena
from orchestrator.authoring.proof.prover import Prover
from orchestrator.authoring.proof.rules import Played, ProofRecorder
from sites.registry import load_registry
from tasks.schema import Suite, Task
from tasks.sources import SuiteSource

ARM = ("look=dark@v1",)
STOP = {"do": "stop", "answer": "42"}


def make_task(name: str, **fields: Any) -> Task:
    given = {
        "id": name,
        "family": "information",
        "intent": "What does it cost?",
        "sites": ["shop"],
        "start": ["shop:/"],
        "checks": [make_check(ANSWER, "42", name="price")],
        "reference": [{"do": "press", "keys": "Tab"}, STOP],
    }
    return Task.model_validate(given | fields)


class Table:
    """Plays in place of Arena: each task ends with the answer that stands here."""

    def __init__(self, **answers: str) -> None:
        self.answers = answers
        self.played: list[str] = []

    async def play(
        self,
        suite: Suite,
        tasks: tuple[Task, ...],
        _: Path,
        hook: ProofRecorder | None,
    ) -> tuple[Played, ...]:
        assert hook is None  # nobody looks in between: an arm rests while a check looks
        return tuple(map(self._played, tasks))

    def _played(self, task: Task) -> Played:
        self.played.append(task.id)
        assert task.worlds == (World.OFFLINE,)
        answer = self.answers.get(task.id, "42")
        seen = make_evidence(make_step(0, at="shop:/"), stop_step(1), answer=answer)
        count = 0 if answer == "void" else 2
        evidence = seen.model_copy(update={"varied": (Varied(variation=ARM[0], count=count),)})
        return Played(
            task=task,
            world=World.OFFLINE,
            evidence=evidence,
            score=score(task.checks, evidence, task.requires),
            untouched=None,
            before_last=None,
        )


async def prove(
    monkeypatch: pytest.MonkeyPatch, table: Table, *tasks: Task
) -> dict[str, list[str]]:
    """Prove tasks in the arm; return what is said of each."""
    monkeypatch.setattr(Prover, "_play", lambda _, *given: table.play(*given))
    nobody: Any = None
    prover = Prover(registry=load_registry(()), engine=nobody, on_event=lambda _: None, vary=ARM)
    suite = Suite.model_validate(
        {"suite": "mine", "title": "Mine", "version": 1, "tasks": list(tasks)}
    )
    found: dict[str, list[str]] = {}
    for one in await prover.prove_in_arm(SuiteSource(suite), tasks):
        found.setdefault(one.task, []).append(f"{one.severity}: {one.message}")
    return found


async def test_what_the_arm_breaks_is_an_error_that_names_arm_and_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = await prove(monkeypatch, Table(broken="43"), make_task("sound"), make_task("broken"))
    [said] = found.pop("broken")
    assert said.startswith("error: offline, look=dark: the reference must succeed, ended as")
    assert "check 'price'" in said
    assert found == {}


async def test_a_second_path_is_played_in_the_arm_too(monkeypatch: pytest.MonkeyPatch) -> None:
    other = {"name": "by-search", "reference": [{"do": "press", "keys": "Enter"}, STOP]}
    table = Table(**{"path-0-0": "43"})
    found = await prove(monkeypatch, table, make_task("two", other_paths=[other]), make_task("one"))
    assert table.played == ["two", "one", "path-0-0"]
    [said] = found["two"]
    assert said.startswith("error: offline, look=dark: the other path 'by-search'")
    assert "one" not in found


async def test_what_the_arm_does_not_touch_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table(untouched="void")
    found = await prove(
        monkeypatch,
        table,
        make_task("untouched", checks=[make_check(ANSWER, "void", name="price")]),
        make_task("live", worlds=["online"]),
        make_task("unsolved", reference=None),
    )
    assert table.played == ["untouched"]
    assert {name: len(said) for name, said in found.items()} == dict.fromkeys(found, 1)
    assert found["untouched"][0].startswith("warning: offline, look=dark: void: look=dark@v1 had")
    assert "not played in the arm: it does not run offline" in found["live"][0]
    assert "not played in the arm: it has no reference" in found["unsolved"][0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"vary": ["look=dark"]}, "vary: has no effect without --prove"),
        ({"vary": ["look=drak"], "prove": True}, "there is no such variation"),
        ({"vary": ["look=dark", "look=large"], "prove": True}, "exclude each other"),
    ],
)
async def test_an_arm_that_says_nothing_is_refused(given: dict[str, Any], said: str) -> None:
    async with Arena() as arena:
        with pytest.raises(UsageError, match=said):
            await arena.suites.lint("demo", **given)
