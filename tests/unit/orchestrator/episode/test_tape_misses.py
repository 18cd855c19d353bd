"""Which misses of a gateway's journal an episode writes down, and as whose."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.tapes.making import WIKI
from support.worlds.fake_world import FakeWorld, attempt_at, browsing_task

from arena_core.worlds import World
from evaluators.evidence import UnscoredReason
from evaluators.tape_misses import MissedBy
from orchestrator.episode.faults import start_fault
from orchestrator.episode.record import EpisodeRecord
from orchestrator.gateway.journal import GatewayJournal
from orchestrator.gateway.taped import Exactness


def missed(journal: GatewayJournal, by: MissedBy, place: str = "/wiki/Tea") -> None:
    pending = journal.begin("GET", f"{WIKI}{place}", site="wiki", live=False)
    pending.missed = by
    pending.finish(504)


def asked_by(*misses: MissedBy, **how: bool) -> list[MissedBy]:
    record = EpisodeRecord(attempt_at(browsing_task()), FakeWorld().environment())
    journal = GatewayJournal()
    for by in misses:
        missed(journal, by)
    journal.begin("GET", f"{WIKI}/wiki/Kettle", site="wiki", live=False).finish(200)
    record.note_misses(3, journal, **how)
    record.note_misses(4, journal, **how)  # which finds nothing new
    assert {one.step for one in record.tape_misses} <= {3}
    return [one.by for one in record.tape_misses]


def test_each_miss_is_written_down_once() -> None:
    assert asked_by(MissedBy.PAGE, MissedBy.PART) == [MissedBy.PAGE, MissedBy.PART]


def test_answers_are_counted_by_how_exactly_they_match() -> None:
    record = EpisodeRecord(attempt_at(browsing_task()), FakeWorld().environment())
    journal = GatewayJournal()
    for exactness in (Exactness.EXACT, Exactness.EXACT, Exactness.RULE):
        pending = journal.begin("GET", f"{WIKI}/wiki/Tea", site="wiki", live=False)
        pending.taped = exactness
        pending.finish(200)
    record.note_misses(1, journal)

    assert record.evidence(None, None).tape_answers == {"exact": 2, "rule": 1}


def test_what_a_check_opened_is_the_checks() -> None:
    given = (MissedBy.ADDRESS, MissedBy.PAGE, MissedBy.PART, MissedBy.DATA)

    assert asked_by(*given, is_check=True) == [
        MissedBy.CHECK,
        MissedBy.CHECK,
        MissedBy.PART,
        MissedBy.DATA,
    ]


def test_what_scripts_of_an_outside_program_may_have_asked_for_excuses_nobody() -> None:
    given = (MissedBy.PAGE, MissedBy.DATA, MissedBy.PART)

    assert asked_by(*given, is_led=False) == [
        MissedBy.ADDRESS,
        MissedBy.ADDRESS,
        MissedBy.PART,
    ]


@pytest.mark.parametrize("status", [504, 404])
def test_a_start_page_that_is_not_on_the_tape_is_a_miss_and_no_lost_page(
    status: int,
) -> None:
    world = FakeWorld().environment()
    upstreams = world.registry.upstreams(["wiki"], World.OFFLINE, taped={"wiki"})
    world = replace(world, upstreams=upstreams)

    fault = start_fault(world, [(f"{WIKI}/wiki/Tea", status)])

    assert fault is not None
    is_miss = fault.reason is UnscoredReason.TAPE_MISS
    assert is_miss is (status == 504)
