"""A tape is refused where it could not answer, and a run goes on with the tape it began with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.runs.make_evidence import ANSWER, make_check
from support.runs.tiny_run import SUITE
from support.tapes.making import made, page

from arena_core.errors import InputError, UnknownNameError, UsageError
from arena_core.worlds import World
from orchestrator.agents.interface import AgentClass, AgentLock
from orchestrator.gateway.tapes.named import Fidelity, fidelity_path, keep_fidelity
from orchestrator.runs.request import RunRequest
from orchestrator.runs.spec import RunSettings
from orchestrator.runs.tapes import refuse_unfit_tapes, tape_locks
from sites.registry import load_registry
from sites.upstreams import TapeUpstream

FACED = make_check(ANSWER, {"offline": "a", "online": "b"}, name="faced")
ATLAS = load_registry(())
BOTH = tuple(World)


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    return made(tmp_path, page("/wiki/Kettle", "Kettle"))


def request_on(
    tape: Path | str, *sites: str, site: str = "wiki", worlds: Any = BOTH, **more: Any
) -> RunRequest:
    changes = {"sites": sites or ("wiki",), "worlds": worlds, **more}
    nobody: Any = None
    return RunRequest(
        suite=SUITE,
        tasks=(SUITE.tasks[0].model_copy(update=changes),),
        agent=nobody,
        agent_lock=AgentLock(name="a", kind="a", options={}, agent_class=AgentClass.BASELINE),
        settings=RunSettings(tape=(f"{site}={tape}",)),
    )


def test_a_taped_site_needs_no_replica(tape: Path) -> None:
    upstreams = request_on(tape, "wiki", "tools").upstreams(ATLAS, World.OFFLINE)

    assert isinstance(upstreams.of("wiki"), TapeUpstream)
    assert upstreams.replicas == ("tools",)
    assert upstreams.url("wiki:/article/Kettle") == "https://en.wikipedia.org/wiki/Kettle"


def test_a_fit_tape_may_be_played(tape: Path) -> None:
    refuse_unfit_tapes(request_on(tape, "wiki", "tools"), ATLAS)


@pytest.mark.parametrize(
    ("sites", "more", "why"),
    [
        (("tools",), {}, "no chosen task visits wiki offline"),
        (("wiki",), {"worlds": (World.OFFLINE,)}, "never runs online"),
        (("wiki", "shop"), {"checks": (FACED,)}, "a replica: check 'faced' expects other values"),
        (("wiki",), {"roles": {"wiki": "editor"}}, "needs a login on wiki"),
    ],
)
def test_what_no_tape_could_answer_is_refused(
    tape: Path, sites: tuple[str, ...], more: dict[str, Any], why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        refuse_unfit_tapes(request_on(tape, *sites, **more), ATLAS)


def test_a_tape_of_another_site_is_refused(tmp_path: Path) -> None:
    tape = made(tmp_path, page("/", "Kettles", origin="https://kettles.test"))

    with pytest.raises(InputError, match="holds nothing of") as refused:
        refuse_unfit_tapes(request_on(tape), ATLAS)
    assert "https://kettles.test" in refused.value.hint


def test_a_site_without_a_live_origin_has_no_tape(tape: Path) -> None:
    with pytest.raises(UsageError, match="no live origin"):
        refuse_unfit_tapes(request_on(tape, "tools", site="tools"), ATLAS)


def test_a_site_that_does_not_exist_is_named(tape: Path) -> None:
    with pytest.raises(UnknownNameError, match="wikki"):
        refuse_unfit_tapes(request_on(tape, site="wikki"), ATLAS)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"tape": ("wiki",)}, "SITE=FILE"),
        ({"tape": ("wiki=a", "wiki=b")}, "a site twice"),
        ({"tape": ("wiki=a",), "worlds": ("online",)}, "has no effect online"),
        ({"tape": ("wiki=a",), "vary": ("look=dark",)}, "stays as it was"),
    ],
)
def test_options_that_make_no_sense_are_refused(asked: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        RunSettings.of(**asked)


def test_a_lock_says_which_tape_it_was_and_how_far_that_carries(tape: Path) -> None:
    request = request_on(tape)
    unknown = tape_locks(request, "suite")["wiki"]
    assert unknown.fidelity is None
    found = Fidelity(
        suite="demo",
        suite_hash="suite",
        tape_sha256=unknown.sha256,
        at="2026-11-26",
        played=("a",),
        failed={"b": "why"},
    )
    keep_fidelity(tape, found)

    known = tape_locks(request, "suite")["wiki"]
    said = "fidelity: 1 of 2 references play (50%), 1 task here not tried"
    assert known.fidelity_in_words == said
    keep_fidelity(tape, found.model_copy(update={"played": (request.tasks[0].id,), "failed": {}}))
    of_its_task = tape_locks(request, "suite")["wiki"].fidelity_in_words
    assert of_its_task == "fidelity: 1 of 1 references play (100%)"
    assert tape_locks(request, "another")["wiki"].fidelity is None
    fidelity_path(tape).write_text("{", encoding="utf-8")
    assert tape_locks(request, "suite")["wiki"].fidelity is None
