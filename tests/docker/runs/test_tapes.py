"""The staged encyclopedia, recorded and replayed: the same verdicts, and whose fault it is."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
from support.tasks.small_suites import bells, write_suite

from arena_core.actions import Action, Click, Goto, Stop
from arena_core.errors import InputError
from evaluators.evidence import Evidence
from evaluators.tape_misses import MissedBy
from orchestrator import Arena
from orchestrator.agents.interface import Assignment, Decision
from orchestrator.analysis.run_report.run_report import RunReport
from orchestrator.browser.observation import Observation
from orchestrator.runs.spec import Asked

pytestmark = [pytest.mark.docker, pytest.mark.browser]

WIKI = "https://en.wikipedia.org"
TASKS = ("wiki-bells-of-bruges", "wiki-crucible-steel")


def outcomes(report: RunReport) -> dict[str, str]:
    return {
        row.task.id: str(one.score.outcome)
        for row in report.rows
        for episodes in row.episodes.values()
        for one in episodes
    }


class Lost:
    """Goes where it is told, by address or by a link of the page, and answers wrongly."""

    def __init__(self, assignment: Assignment, *, link: str = "", address: str = "") -> None:
        self._link = link
        self._address = address

    async def decide(self, observation: Observation) -> Decision:
        """Act once, then stop."""
        link, self._link = self._link, ""
        address, self._address = self._address, ""
        if address:
            return Decision(Goto(url=address))
        if link:
            return Decision(_click(observation, link))
        return Decision(Stop(answer="wrong"))


def _click(observation: Observation, name: str) -> Action:
    node = next(one for one in observation.nodes if one.role == "link" and one.name == name)
    return Click(element=node.id or 0)


async def test_a_recorded_site_scores_as_it_did_and_says_what_it_lacks(tmp_path: Path) -> None:
    tape = tmp_path / "wiki.wacz"
    suite = write_suite(tmp_path, bells("bells", worlds=["offline", "online"]))
    async with Arena() as arena:
        recorded = await arena.tapes.record("wiki", tape, patterns=TASKS, staged=True)
        assert recorded.origins == (WIKI,)
        assert recorded.robots == (f"{WIKI}/robots.txt: none (404)",)
        with pytest.raises(InputError, match="is there already"):
            await arena.tapes.record("wiki", tape, patterns=TASKS, staged=True)

        found = await arena.tapes.verify("wiki", tape, patterns=TASKS)
        assert (sorted(found.played), found.failed) == (sorted(TASKS), {})

        taped = (f"wiki={tape}",)
        staged = await arena.run(
            "oracle", TASKS, worlds=("online",), staged=True, out=tmp_path / "staged"
        )
        played = await arena.run("oracle", TASKS, tape=taped, out=tmp_path / "played")
        assert outcomes(played) == outcomes(staged) == dict.fromkeys(TASKS, "success")
        assert played.lock.tapes["wiki"].sha256 == recorded.sha256
        assert played.lock.tapes["wiki"].fidelity == found
        assert played.lock.images == {}
        page = (tmp_path / "played" / "report.html").read_text(encoding="utf-8")
        assert "2 of 2 references play (100%)" in page

        async def lost(name: str, **options: str) -> Evidence:
            report = await arena.run(
                Lost, suite=str(suite), tape=taped, options=options, out=tmp_path / name
            )
            ends[name] = outcomes(report)["bells"]
            return report.rows[0].episodes[next(iter(report.rows[0].episodes))][0].outline

        ends: dict[str, str] = {}
        idle = await lost("idle")
        typed = await lost("typed", address=f"{WIKI}/wiki/Nonsense")
        led = await lost("led", link="Ghent")
        assert ends == {"idle": "failure", "typed": "failure", "led": "unscored: tape_miss"}
        assert MissedBy.PAGE not in {one.by for one in idle.tape_misses}
        assert MissedBy.ADDRESS in {one.by for one in typed.tape_misses}
        assert {one.by for one in led.tape_misses} >= {MissedBy.PAGE}

        shutil.copy(tape, tmp_path / "kept.wacz")
        tape.write_bytes(tape.read_bytes() + b"x")
        with pytest.raises(InputError, match="is another one now"):
            await arena.runs.resume(tmp_path / "played")


def verdicts(report: RunReport) -> dict[str, dict[str, str]]:
    return {
        row.task.id: {verdict.check: str(verdict.status) for verdict in one.score.verdicts}
        for row in report.rows
        for episodes in row.episodes.values()
        for one in episodes
    }


@pytest.mark.slow(minutes=5)
async def test_the_demo_scores_on_a_tape_of_the_staged_encyclopedia_as_on_it(
    tmp_path: Path,
) -> None:
    tape = tmp_path / "wiki.wacz"
    live: Asked = {"worlds": ("online",), "staged": True}
    on_tape: Asked = {"tape": (f"wiki={tape}",)}
    async with Arena() as arena:
        await arena.tapes.record("wiki", tape, staged=True)
        taped = await arena.run("oracle", out=tmp_path / "taped", **on_tape)
        staged = await arena.run("oracle", ("wiki-*", "both-*"), out=tmp_path / "staged", **live)
        lost = {
            name: await arena.run(Lost, ("wiki-*",), out=tmp_path / f"lost-{name}", **where)
            for name, where in (("taped", on_tape), ("staged", live))
        }

    assert len(outcomes(taped)) == 20
    assert set(outcomes(taped).values()) == {"success"}
    for task, found in verdicts(staged).items():
        # Of a shop that is a replica some checks ask its database, too.
        shared = {check: verdicts(taped)[task][check] for check in found}
        assert (shared, outcomes(staged)[task]) == (found, "success")
    assert outcomes(lost["taped"]) == outcomes(lost["staged"])
    assert set(outcomes(lost["taped"]).values()) == {"failure"}
    assert verdicts(lost["taped"]) == verdicts(lost["staged"])


async def test_a_study_on_a_tape_says_so(tmp_path: Path) -> None:
    tape = tmp_path / "wiki.wacz"
    (tmp_path / "study.yaml").write_text(
        "name: taped\nagents: {oracle: {agent: oracle}, idle: {agent: idle}}\n"
        f"suites: [{{suite: demo, tasks: [{TASKS[0]}]}}]\ntape: [wiki=wiki.wacz]\n"
    )
    async with Arena() as arena:
        await arena.tapes.record("wiki", tape, patterns=TASKS[:1], staged=True)
        await arena.tapes.verify("wiki", tape, patterns=TASKS[:1])
        progress = await arena.studies.run(tmp_path / "study.yaml", out=tmp_path / "study")
        assert progress.done == progress.total == 2
        report = arena.studies.report(tmp_path / "study").analysis
        assert "1 of 1 references play (100%)" in "\n".join((*report.notes, *report.methods))
        assert {one.cell.agent: one.success for one in report.cells} == {"oracle": 1, "idle": 0}
        (tmp_path / "more.yaml").write_text("agents: {again: {agent: oracle}}\n")
        await arena.studies.add(tmp_path / "study", tmp_path / "more.yaml")
        progress = await arena.studies.run(tmp_path / "study")
        assert progress.done == 3
        report = arena.studies.report(tmp_path / "study").analysis
        assert {one.cell.agent: one.success for one in report.cells}["again"] == 1
        assert arena.studies.verify(tmp_path / "study").differences == ()
        tape.write_bytes(tape.read_bytes() + b"x")
        with pytest.raises(InputError, match="is another one now"):
            await arena.studies.run(tmp_path / "study")


async def test_what_a_person_opens_is_recorded_until_he_stops(tmp_path: Path) -> None:
    stop = asyncio.Event()
    stop.set()
    async with Arena() as arena:
        recorded = await arena.tapes.record(
            "wiki",
            tmp_path / "wiki.wacz",
            patterns=TASKS[:1],
            staged=True,
            by_hand=True,
            headless=True,
            stop=stop,
        )

    assert recorded.pages == (f"{WIKI}/wiki/Belgium",)
