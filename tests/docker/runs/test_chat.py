"""The chat agent and the endpoint behind it: sound, refusing, stalling, talking nonsense."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from quick_cases import SLOW, quick_first
from run_at import RunAt
from scripted_model import (
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
from small_suites import bells, solve_bells, write_suite

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
    assert "none of 1 episodes could be scored" in played.err
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


@SLOW
def test_an_endpoint_that_nobody_serves_is_named(run: RunAt, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, bells("bells"))
    url = "http://127.0.0.1:9/v1"
    played = run.play(suite, "--attempts", "1", "--model-deadline", "3", *CHAT, url)
    assert played.code == NothingScoredError.exit_code, played.err
    assert run.attempts() == [("finished", "unscored: infra")]
    assert url in played.err
    assert "Traceback" not in played.err


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
