"""A proof takes the questions out of a play, or moves them behind its writes: neither passes."""

from __future__ import annotations

from support.runs.make_evidence import make_evidence, make_step, stop_step

from arena_core.actions import AskUser
from arena_core.worlds import World
from evaluators.evidence import RequestNote
from evaluators.user import UserReply
from orchestrator.authoring.proof.attacks import attacks_fail
from orchestrator.authoring.proof.rules import Played, scored
from orchestrator.episode.snapshot import EpisodeSnapshot
from tasks.schema import Task

ASKED = {"by": "user", "slot": "which"}
FIRST = {
    "name": "asked",
    "when": "end",
    "locate": ASKED,
    "match": {"how": "exact", "value": "first"},
}


def play(*also: str) -> Played:
    """Play a task whose user is asked at its first step, and that is written at its second."""
    others = [{"locate": ASKED, "match": {"how": "exact", "value": one}} for one in also]
    task = Task.model_validate(
        {
            "id": "pin",
            "family": "navigation",
            "intent": "Pin the note about the dentist.",
            "sites": ["shop"],
            "start": ["shop:/"],
            "worlds": ["offline"],
            "checks": [{**FIRST, "any_of": others}],
            "reference": [{"do": "ask", "question": "Which?"}, {"do": "back"}, {"do": "stop"}],
        }
    )
    reply = UserReply(text="It is the first.", slot="which")
    asked = make_step(1, action=AskUser(question="Which?")).model_copy(update={"reply": reply})
    note = RequestNote(method="POST", url="http://shop/pin", site="shop", may_write=True)
    wrote = make_step(2).model_copy(update={"notes": (note,)})
    evidence = make_evidence(make_step(0), asked, wrote, stop_step(3))
    return Played(
        task=task,
        world=World.OFFLINE,
        evidence=evidence,
        score=scored(task, evidence),
        untouched=EpisodeSnapshot(step=1, located=(), asked=(), moved={}),
        before_last=None,
    )


def test_a_task_that_wants_a_question_refuses_who_never_asked_or_too_late() -> None:
    assert [one for one in attacks_fail(play()) if "asked" in one.message] == []


def test_a_check_that_takes_silence_or_a_late_question_as_well_is_a_finding() -> None:
    for also, said in (("never", "nobody asked passes"), ("late", "the user asked after the deed")):
        found = [one.message for one in attacks_fail(play(also))]
        assert any(one.startswith(said) for one in found), found
