"""Episodes of agents that look at nothing: the start page, and an answer without content."""

from __future__ import annotations

import json
from collections.abc import Iterator

from arena_core.actions import Stop
from evaluators.evidence import Evidence
from evaluators.network import RequestRecord
from evaluators.responses import response_of
from evaluators.scores import score
from support.runs.make_evidence import make_evidence, make_step
from tasks.schema import Task


def blind_answers(task: Task) -> Iterator[str]:
    """Yield what says nothing that was looked for."""
    yield from ("", " ", "N/A", "None", "null", "done", "I do not know", ".*")
    yield from ("^.*$", "[]", "{}", task.intent, f"The answer is: {task.intent}")
    data: object
    for kind in ("retrieve", "navigate", "mutate"):
        for data in (None, [], [None], "N/A", ["N/A"], "^.*$", ["^.*$"], [task.intent], [{}]):
            told: dict[str, object] = {"task_type": kind, "status": "SUCCESS"}
            yield json.dumps({**told, "retrieved_data": data, "error_details": None})


def blind_episode(task: Task, said: str) -> Evidence:
    """Return an episode that ends on the start page."""
    start = str(task.start[0]) if task.start else "home:/"
    site, _, path = start.partition(":")
    request = RequestRecord(
        index=0,
        step=0,
        method="GET",
        url=f"http://{site}.arena.test{path}",
        logical=start,
        site=site,
        status=200,
    )
    stop = Stop(answer=said)
    last = make_step(1, start).model_copy(update={"action": stop})
    played = make_evidence(make_step(0, start), last, answer=said)
    return played.model_copy(update={"network": (request,), "response": response_of(stop)})


def passed_blindly(task: Task) -> str | None:
    """Return the first such answer by which a task is a success; None where there is none."""
    ways = [way for check in task.checks for way in check.ways]
    is_asked = any(way.locate.by == "answer" for way in ways)
    for said in blind_answers(task) if is_asked else ("done",):
        if str(score(task.checks, blind_episode(task, said)).outcome) == "success":
            return said
    return None
