from __future__ import annotations

import pytest

from arena_core.worlds import World
from evaluators.checks import Check
from evaluators.fields import PerWorld
from tasks.loader import load_source
from tasks.schema import Suite
from tasks.taped import mixed_fault, online_faces, taped_suite

DEMO = load_source("demo").suite
LIVE = {"wiki", "shop", "forum"}
ALONE = ("wiki-bells-of-bruges", "wiki-shimano-founded", "wiki-samovar", "wiki-crucible-steel")


@pytest.fixture(scope="module")
def taped() -> Suite:
    return taped_suite(DEMO, ALONE)


def test_a_task_has_the_live_face_where_all_its_live_sites_are_taped() -> None:
    assert online_faces(DEMO, {"wiki"}, LIVE) == ALONE
    assert len(online_faces(DEMO, {"wiki", "shop"}, LIVE)) > len(ALONE)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, None),
        ({"match": {"how": "number", "value": {"offline": 1, "online": 2}}}, "other values"),
        ({"worlds": ["online"]}, "online world alone"),
        ({"worlds": ["offline"]}, "offline world alone"),
        (
            {"worlds": ["offline"], "locate": {"by": "db", "site": "wiki", "sql": "SELECT 1"}},
            "alone",
        ),
        ({"worlds": ["offline"], "locate": {"by": "db", "site": "shop", "sql": "SELECT 1"}}, None),
    ],
)
def test_a_task_of_a_tape_and_a_replica_is_scored_where_no_face_matters(
    changes: dict[str, object], why: str | None
) -> None:
    task = next(one for one in DEMO.tasks if one.id == "both-cutlers-of-the-kettles-city")
    check = {"name": "c", "when": "end", "locate": {"by": "answer"}, **changes}
    check = {"match": {"how": "number", "value": 1}, **check}
    found = mixed_fault(
        task.model_copy(update={"checks": (Check.model_validate(check),)}), {"wiki"}
    )

    assert (found is None) if why is None else (why in (found or ""))


def test_tasks_elsewhere_stay_as_they_are(taped: Suite) -> None:
    for before, after in zip(DEMO.tasks, taped.tasks, strict=True):
        if before.id not in ALONE:
            assert after == before


def test_the_online_face_holds_in_both_worlds(taped: Suite) -> None:
    known = {task.id: task for task in DEMO.tasks}
    visited = [one for one in taped.tasks if one.id in ALONE]

    assert visited
    for task in visited:
        was = known[task.id]
        assert set(task.worlds) == set(World)
        names = [one.name for one in was.checks_in(World.ONLINE)]
        assert [one.name for one in task.checks_in(World.OFFLINE)] == names
        played = [one for one in was.reference_actions if one.only in {None, World.ONLINE}]
        assert len(task.reference_actions) == len(played)
        assert all(one.only is None for one in task.reference_actions)


def test_no_word_of_a_replica_is_left(taped: Suite) -> None:
    def faces(value: object) -> list[PerWorld[object]]:
        if isinstance(value, PerWorld):
            return [value]
        if isinstance(value, (list, tuple)):
            return [face for one in value for face in faces(one)]
        if hasattr(type(value), "model_fields"):
            return [face for _, one in value for face in faces(one)]  # type: ignore[attr-defined]
        return []

    tasks = [one for one in taped.tasks if one.id in ALONE]

    assert any(map(faces, [one for one in DEMO.tasks if "wiki" in one.sites]))
    assert all(face.offline == face.online for one in tasks for face in faces(one))


def test_twice_is_the_same_as_once(taped: Suite) -> None:
    assert taped_suite(taped, ALONE) == taped
