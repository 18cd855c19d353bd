"""The chat agent and the endpoint behind it: sound, refusing, stalling, talking nonsense."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from quick_cases import SLOW, quick_first
from support.agents.scripted_model import (
    READY,
    ChatRequest,
    Fails,
    HangsUp,
    Says,
    Script,
    ScriptedModel,
    ScriptedReply,
    Sends,
    Stalls,
)
from support.runs.run_at import RunAt
from support.tasks.small_suites import bells, solve_bells, write_suite

from arena_core.errors import ModelError, NothingScoredError
from evaluators.evidence import Ended

pytestmark = [pytest.mark.docker, pytest.mark.browser]

StartModel = Callable[[Script], ScriptedModel]
CHAT = ("--agent", "chat", "--model", "scripted", "--model-url")


def test_a_model_solves_a_task_end_to_end(
    run: RunAt, tmp_path: Path, scripted_model: StartModel
) -> None:
    model = scripted_model(solve_bells)
    played = run.play(write_suite(tmp_path, bells("bells")), *CHAT, model.url)
    assert played.code == 0, played.err
    assert run.attempts() == [("finished", "success")]
    evidence = run.evidence("bells")
    assert evidence.agent == "chat (scripted)"
    assert (evidence.input_tokens, evidence.output_tokens) == (200, 20)
    assert len(model.requests) == 2
    assert all("carillon" in request.prompt for request in model.requests)


@pytest.mark.parametrize(
    ("reply", "reason"),
    quick_first(
        [
            (HangsUp(), "127.0.0.1"),
            (Sends(b"<html>login please</html>", "text/html"), "127.0.0.1"),
            (Stalls(), "127.0.0.1"),
        ]
    ),
    ids=["hangs-up", "garbage", "stalls"],
)
def test_a_broken_endpoint_leaves_the_task_unscored_with_the_reason(
    run: RunAt, tmp_path: Path, scripted_model: StartModel, reply: ScriptedReply, reason: str
) -> None:
    model = scripted_model(lambda _: reply)
    suite = write_suite(tmp_path, bells("bells"))
    options = ("--attempts", "1", "--model-deadline", "2")
    played = run.play(suite, *options, *CHAT, model.url)
    assert played.code == NothingScoredError.exit_code, played.err
    assert "none of 1 episode could be scored" in played.err
    assert run.attempts() == [("finished", "unscored: infra")]
    fault = run.evidence("bells").fault
    assert fault is not None
    assert reason in fault.message
    assert fault.message in played.err
    assert "Traceback" not in played.err


@SLOW
def test_a_key_that_is_refused_ends_the_run_at_once_and_the_run_goes_on_when_it_is_mended(
    run: RunAt, tmp_path: Path, scripted_model: StartModel
) -> None:
    keys = ["wrong"]

    def locked(request: ChatRequest) -> ScriptedReply:
        return Fails(401, "Incorrect API key") if keys else solve_bells(request)

    model = scripted_model(locked)
    suite = write_suite(tmp_path, bells("bells"), bells("after"), bells("last"))
    refused = run.play(suite, "--workers", "2", *CHAT, model.url, "--temperature", "0.5")
    assert refused.code == ModelError.exit_code, refused.err
    assert refused.out == ""
    assert "answered 401" in refused.err
    assert "set OPENAI_API_KEY; then: arena eval --resume run" in refused.err
    assert len(model.requests) <= 2  # each worker's first question at most
    assert {state for state, _ in run.attempts()} <= {"started", "abandoned"}
    assert run.containers() == ()
    assert "3 episodes are left" in (run.path / "report.html").read_text(encoding="utf-8")
    assert run.lock.agent.options["temperature"] == 0.5
    keys.clear()
    played = run.resume()
    assert played.code == 0, played.err
    assert [one for one in run.attempts() if one[0] == "finished"] == [("finished", "success")] * 3
    assert {request.temperature for request in model.requests} == {0.5}


@SLOW
def test_a_context_that_is_exhausted_is_the_agents_failure_with_that_reason(
    run: RunAt, tmp_path: Path, scripted_model: StartModel
) -> None:
    def forgetful(request: ChatRequest) -> ScriptedReply:
        is_first = "- nothing yet" in request.prompt
        return solve_bells(request) if is_first else Fails(400, "maximum context length is 9")

    model = scripted_model(forgetful)
    played = run.play(write_suite(tmp_path, bells("bells")), *CHAT, model.url)
    assert played.code == 0, played.err
    assert run.attempts() == [("finished", "failure")]
    evidence = run.evidence("bells")
    assert evidence.ended is Ended.AGENT_GAVE_UP
    assert "context window" in (evidence.ended_because or "")
    assert "context window" in played.err


@pytest.mark.parametrize("fault", ["nobody serves it", "wrong key", "unknown model"])
def test_a_model_that_cannot_be_asked_is_one_line_before_a_container_starts(
    run: RunAt, tmp_path: Path, fault: str
) -> None:
    key = "another" if fault == "wrong key" else None
    checked = Fails(404, "no such model") if fault == "unknown model" else READY
    with ScriptedModel(solve_bells, key=key, checked=checked) as model:
        url = "http://127.0.0.1:9/v1" if fault == "nobody serves it" else model.url
        suite = write_suite(tmp_path, bells("bells"))
        refused = run.play(suite, "--model-deadline", "3", *CHAT, url)
        assert refused.code == ModelError.exit_code, refused.err
        assert url in refused.err
        assert "then: arena eval --resume run" in refused.err
        assert "Traceback" not in refused.err
        assert "starting" not in refused.err
        assert run.attempts() == []
        assert run.containers() == ()
        assert model.requests == []


@SLOW
def test_a_model_that_talks_nonsense_gives_up_and_that_is_its_own_failure(
    run: RunAt, tmp_path: Path, scripted_model: StartModel
) -> None:
    model = scripted_model(lambda _: Says("I would rather talk about the weather."))
    played = run.play(write_suite(tmp_path, bells("bells")), *CHAT, model.url)
    assert played.code == 0, played.err
    assert run.attempts() == [("finished", "failure")]
    evidence = run.evidence("bells")
    assert evidence.ended is Ended.AGENT_GAVE_UP
    assert "weather" in (evidence.ended_because or "")
    assert "weather" in played.err
    assert len(model.requests) == 3
