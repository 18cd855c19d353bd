"""`arena check-model`: one question, and one clear line where it cannot be answered."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from quick_cases import ONE_QUICK
from support.agents.arena_process import Ended
from support.agents.scripted_model import Fails, Says, ScriptedModel, ScriptedReply, Sends

Call = Callable[..., Ended]


def check(call: Call, model: ScriptedModel, *words: str) -> Ended:
    return call("check-model", "--model", "scripted", "--model-url", model.url, *words)


def test_a_model_that_answers_is_shown_with_what_it_took(call: Call) -> None:
    with ScriptedModel([]) as model:
        told = check(call, model)
        document = check(call, model, "--json").document

    assert told.code == 0
    assert "scripted-2025-01-01" in told.out
    assert (document["input_tokens"], document["output_tokens"]) == (17, 1)
    assert document["reply"] == "ready"
    assert document["url"] == model.url
    assert len(model.checks) == 2
    assert model.requests == []


def test_a_reply_that_was_cut_while_the_model_thought_is_an_answer(call: Call) -> None:
    cut = Says("", finish_reason="length")
    with ScriptedModel([], checked=cut) as model:
        assert check(call, model).code == 0


@ONE_QUICK
@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Fails(404, "no model 'scripted'"), "answered 404"),
        (Fails(402, "no credit"), "answered 402"),
        (Sends(b"<html>login please</html>", "text/html"), "login please"),
    ],
)
def test_what_is_wrong_is_one_line(call: Call, reply: ScriptedReply, said: str) -> None:
    with ScriptedModel([], checked=reply) as model:
        ended = check(call, model)
    assert ended.code == 70
    assert said in ended.err
    assert "Traceback" not in ended.err
    assert ended.out == ""


def test_a_wrong_key_is_named_and_not_shown(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong-secret")
    with ScriptedModel([], key="sk-right") as model:
        ended = check(call, model)
    assert ended.code == 70
    assert "answered 401" in ended.err
    assert "OPENAI_API_KEY" in ended.err
    assert "sk-wrong-secret" not in ended.err


def test_an_endpoint_that_nobody_serves_is_named(call: Call) -> None:
    url = "http://127.0.0.1:9/v1"
    ended = call("check-model", "--model", "m", "--model-url", url, "--model-deadline", "2")
    assert ended.code == 70
    assert f"model 'm' at {url} cannot be reached" in ended.err
