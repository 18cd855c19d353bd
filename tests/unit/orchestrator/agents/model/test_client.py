from __future__ import annotations

import asyncio
import gzip
import json
import logging
import re
import socket
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quick_cases import SLOW
from support.agents.foreign_values import CASES, JSON_TEXTS, objects
from support.agents.model_questions import HELLO, KEY, ask, error_of, options
from support.agents.scripted_model import (
    Fails,
    HangsUp,
    Says,
    Script,
    ScriptedModel,
    Sends,
    Stalls,
)
from support.worlds.fake_world import FakeWorld, attempt_at, browsing_task

from arena_core.errors import ContextExceededError, ModelError
from evaluators.evidence import Evidence
from orchestrator.agents.action_spaces.arena_json import Reply, read_reply
from orchestrator.agents.model.client import ModelClient
from orchestrator.agents.model.completion import Completion
from orchestrator.agents.model.messages import ChatRole, Message
from orchestrator.agents.model.options import Parameter
from orchestrator.agents.model.transport import MOST_BYTES
from orchestrator.agents.model_exchange import ExchangeCollector, TokenUsage, collecting, spent_on
from orchestrator.browser.observation import Observation
from orchestrator.episode.record import EpisodeRecord

StartModel = Callable[[Script], ScriptedModel]


async def test_a_reply_comes_with_the_tokens_as_reported(scripted_model: StartModel) -> None:
    model = scripted_model([Says("hi", input_tokens=21, output_tokens=3)])
    reply = await ask(options(model.url), seed=7)
    assert reply == Completion(
        text="hi",
        model="scripted-2025-01-01",
        usage=TokenUsage(input_tokens=21, output_tokens=3),
    )
    [request] = model.requests
    assert [(message.role, message.content) for message in request.messages] == [
        ("system", "be brief"),
        ("user", "hello"),
    ]
    assert (request.model, request.temperature, request.seed) == ("scripted", 0.0, 7)
    assert request.authorization == f"Bearer {KEY}"


async def test_an_endpoint_that_does_not_count_tokens_reports_none(
    scripted_model: StartModel,
) -> None:
    model = scripted_model([Says("hi", input_tokens=None)])
    reply = await ask(options(model.url))
    assert (reply.input_tokens, reply.output_tokens) == (None, None)


async def test_a_reply_cut_at_the_length_limit_is_marked(scripted_model: StartModel) -> None:
    model = scripted_model([Says("hi", finish_reason="length")])
    assert (await ask(options(model.url))).is_cut


@pytest.mark.parametrize("fault", [Fails(500), Fails(503), Fails(429), HangsUp()])
async def test_a_passing_fault_is_tried_again(
    scripted_model: StartModel, fault: Fails | HangsUp
) -> None:
    model = scripted_model([fault, Says("hi")])
    assert (await ask(options(model.url))).text == "hi"
    assert len(model.requests) == 2


async def test_retry_after_is_honoured(scripted_model: StartModel) -> None:
    model = scripted_model([Fails(429, headers={"retry-after": "0.7"}), Says("hi")])
    started = time.monotonic()
    await ask(options(model.url))
    # Without the header the first pause is half a second at most.
    assert time.monotonic() - started >= 0.7


async def test_attempts_are_bounded(scripted_model: StartModel) -> None:
    model = scripted_model(lambda _: Fails(500, "out of memory"))
    error = await error_of(ask(options(model.url)))
    assert len(model.requests) == 3
    assert "answered 500 in 3 attempts" in error.message
    assert "out of memory" in error.message


async def test_a_refusal_says_how_often_it_was_really_asked(scripted_model: StartModel) -> None:
    spent = Fails(429, code="insufficient_quota")
    model = scripted_model(lambda _: spent)
    error = await error_of(ask(options(model.url)))
    assert len(model.requests) == 1
    assert "answered 429: " in error.message
    model = scripted_model([Fails(503), spent])
    error = await error_of(ask(options(model.url)))
    assert "answered 429 in 2 attempts: " in error.message


async def test_a_pause_that_is_too_long_says_what_is_left_of_the_deadline(
    scripted_model: StartModel,
) -> None:
    waits = Fails(429, headers={"retry-after": "0.7"})
    model = scripted_model(lambda _: waits)
    error = await error_of(ask(options(model.url, deadline_s=1.0)))
    found = re.search(r"asks to wait 0.7 s, and only (0\.\d) s of the 1 s", error.message)
    assert found is not None, error.message
    assert float(found[1]) < 0.7


async def test_a_connection_that_is_refused_until_the_deadline_is_no_slow_reply() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        error = await error_of(ask(options(url, retries=9, deadline_s=0.3)))
    assert f"model 'scripted' at {url} cannot be reached" in error.message
    assert "no reply" not in error.message
    assert "is the endpoint running" in error.hint


async def test_a_refused_connection_names_endpoint_and_cause() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        error = await error_of(ask(options(url, retries=0)))
    assert f"model 'scripted' at {url} cannot be reached" in error.message
    assert "refused" in error.message or "attempts failed" in error.message
    assert "--model-url" in error.hint


async def test_a_stall_ends_at_the_deadline_of_one_attempt(scripted_model: StartModel) -> None:
    model = scripted_model([Stalls()])
    started = time.monotonic()
    error = await error_of(ask(options(model.url, attempt_s=0.2, retries=0)))
    assert time.monotonic() - started < 3
    assert "did not answer within 0.2 s" in error.message


async def test_all_attempts_together_have_a_deadline(scripted_model: StartModel) -> None:
    model = scripted_model(lambda _: Stalls())
    started = time.monotonic()
    error = await error_of(
        ask(options(model.url, attempt_s=0.2, deadline_s=0.5, retries=1000)),
    )
    assert "gave no reply within 0.5 s, retries included" in error.message
    assert time.monotonic() - started < 3


async def test_a_refused_key_is_said_without_the_key(scripted_model: StartModel) -> None:
    with ScriptedModel([], key="another") as model:
        error = await error_of(ask(options(model.url)))
    assert "answered 401: " in error.message
    assert "Incorrect API key provided: Bearer ***" in error.message
    assert "OPENAI_API_KEY" in error.hint


@pytest.mark.parametrize(
    ("status", "next_step", "is_permanent"),
    [
        (401, "OPENAI_API_KEY", True),
        (402, "credit", True),
        (403, "OPENAI_API_KEY", True),
        (404, "/v1", True),
        (405, "--model", True),
        (400, "--model", True),
        (422, "--model", True),
        (408, "accepts", False),
        (429, "limit", False),
        (500, "log", False),
        (503, "log", False),
    ],
)
async def test_a_status_comes_with_its_own_next_step_and_says_whether_it_passes(
    scripted_model: StartModel, status: int, next_step: str, *, is_permanent: bool
) -> None:
    model = scripted_model(lambda _: Fails(status))
    error = await error_of(ask(options(model.url)))
    assert f"answered {status}" in error.message
    assert next_step in error.hint
    assert error.is_permanent == is_permanent


async def test_after_a_permanent_refusal_nothing_more_is_asked(scripted_model: StartModel) -> None:
    model = scripted_model([Fails(403, "no access"), Says("hi")])
    client = ModelClient(options(model.url))
    for _ in range(3):
        error = await error_of(client.ask(HELLO))
        assert error.is_permanent
        assert "no access" in error.message
    await client.close()
    assert len(model.requests) == 1


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_one_request_that_is_refused_after_a_reply_refuses_no_other(
    scripted_model: StartModel, status: int
) -> None:
    model = scripted_model([Says("hi"), Fails(status, "odd text"), Says("hi")])
    client = ModelClient(options(model.url))
    await client.ask(HELLO)
    assert not (await error_of(client.ask(HELLO))).is_permanent
    await client.ask(HELLO)
    await client.close()


@pytest.mark.parametrize(
    "refusal",
    [
        Fails(400, "no words", code="context_length_exceeded"),
        Fails(400, "This model's maximum context length is 8192 tokens. However, you"),
        Fails(400, "However, the model's context length is only 1024 tokens"),
        Fails(500, "too much", code="exceed_context_size_error"),
        Fails(400, "the request exceeds the available context size"),
        Fails(400, "prompt is too long: 210000 tokens > 200000 maximum"),
        Fails(422, "`inputs` must have less than 4096 tokens. Given: 5000"),
        Fails(400, "The input token count (9) exceeds the maximum number of tokens allowed (8)."),
    ],
)
async def test_an_exhausted_context_is_told_from_other_refusals(
    scripted_model: StartModel, refusal: Fails
) -> None:
    model = scripted_model(lambda _: refusal)
    error = await error_of(ask(options(model.url, retries=0)))
    assert isinstance(error, ContextExceededError)
    assert not error.is_permanent
    assert refusal.message in error.message


async def test_a_quota_that_is_used_up_does_not_pass(scripted_model: StartModel) -> None:
    model = scripted_model(lambda _: Fails(429, "pay first", code="insufficient_quota"))
    error = await error_of(ask(options(model.url, retries=0)))
    assert error.is_permanent
    assert "quota" in error.hint


async def test_a_text_that_a_filter_refuses_is_about_this_text_alone(
    scripted_model: StartModel,
) -> None:
    model = scripted_model(lambda _: Fails(400, "filtered", code="content_filter"))
    assert not (await error_of(ask(options(model.url)))).is_permanent


@pytest.mark.parametrize("parameter", [Parameter.TEMPERATURE, Parameter.SEED])
async def test_a_parameter_that_a_person_asked_for_is_not_left_out(
    scripted_model: StartModel, parameter: Parameter
) -> None:
    model = scripted_model(lambda _: Fails(400, f"Unsupported parameter: '{parameter}'"))
    asked = replace(options(model.url), insisted=frozenset({parameter}))
    error = await error_of(ask(asked, seed=7))
    assert error.is_permanent
    assert f"leave out --{parameter}" in error.hint
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>lab portal</html>",
        b"\xff\xfe\x00",
        b"[]",
        b'{"error": {"message": "overloaded"}}',
        b'{"choices": "none"}',
        b'{"choices": [{"message": {"content": 7}}]}',
    ],
)
async def test_a_garbage_body_is_quoted(scripted_model: StartModel, body: bytes) -> None:
    model = scripted_model([Sends(body)])
    error = await error_of(ask(options(model.url)))
    assert "sent no chat completion" in error.message
    assert len(error.message) < 600


async def test_a_garbage_page_is_garbage_whatever_its_type(scripted_model: StartModel) -> None:
    model = scripted_model([Sends(b"<html>lab portal</html>", content_type="text/html")])
    assert "lab portal" in (await error_of(ask(options(model.url)))).message


def gzipped(body: bytes) -> Sends:
    return Sends(gzip.compress(body), headers={"Content-Encoding": "gzip"})


@SLOW
@pytest.mark.parametrize("sent", [Sends, gzipped], ids=["plain", "packed"])
async def test_an_answer_that_no_model_gives_is_broken_off(
    scripted_model: StartModel, sent: Callable[[bytes], Sends]
) -> None:
    begins = b'{"choices": [{"message": {"content": "'
    endless = sent(begins + b"na " * MOST_BYTES + b'"}}]}')
    long = sent(begins + b"na " * (MOST_BYTES // 4) + b'"}}]}')
    model = scripted_model([endless, long, Says("never asked")])
    error = await error_of(ask(options(model.url)))
    assert "sent an answer of more than 8 MiB" in error.message
    assert not error.is_permanent
    assert len(model.requests) == 1  # it would be as long again
    assert len((await ask(options(model.url))).text) == 3 * (MOST_BYTES // 4)


@SLOW
async def test_a_refusal_that_never_ends_is_broken_off_too(scripted_model: StartModel) -> None:
    model = scripted_model([Fails(500, "no " * MOST_BYTES)])
    assert "more than 8 MiB" in (await error_of(ask(options(model.url)))).message


async def test_a_completion_without_choices_is_an_error(scripted_model: StartModel) -> None:
    model = scripted_model([Sends(b'{"choices": []}')])
    assert "without choices" in (await error_of(ask(options(model.url)))).message


async def test_a_filtered_reply_is_an_error(scripted_model: StartModel) -> None:
    model = scripted_model([Says("", finish_reason="content_filter")])
    assert "content filter" in (await error_of(ask(options(model.url)))).message


async def test_a_refusal_is_what_the_model_said(scripted_model: StartModel) -> None:
    body = b'{"choices": [{"message": {"content": null, "refusal": "I will not"}}]}'
    model = scripted_model([Sends(body)])
    assert (await ask(options(model.url))).text == "I will not"


@pytest.mark.parametrize("parameter", ["temperature", "seed"])
async def test_a_parameter_that_the_endpoint_refuses_is_left_out_and_noted(
    scripted_model: StartModel, parameter: str
) -> None:
    refusal = Fails(400, f"Unsupported parameter: '{parameter}'", param=parameter)
    model = scripted_model([refusal, Says("hi"), Says("again")])
    client = ModelClient(options(model.url))
    assert (await client.ask(HELLO, seed=7)).text == "hi"
    assert (await client.ask(HELLO, seed=7)).text == "again"
    await client.close()
    assert client.dropped == {parameter}
    assert [getattr(request, parameter) for request in model.requests][1:] == [None, None]
    kept = {"temperature": "seed", "seed": "temperature"}[parameter]
    assert all(getattr(request, kept) is not None for request in model.requests)


async def test_an_endpoint_that_refuses_a_parameter_for_ever_is_asked_once_without_it(
    scripted_model: StartModel,
) -> None:
    model = scripted_model(lambda _: Fails(400, "I dislike your seed"))
    error = await error_of(ask(options(model.url), seed=7))
    assert "answered 400" in error.message
    assert len(model.requests) == 2


async def test_half_a_code_point_of_a_page_does_not_stop_the_question(
    scripted_model: StartModel,
) -> None:
    model = scripted_model([Says("hi")])
    client = ModelClient(options(model.url))
    await client.ask((Message(ChatRole.USER, "price \ud83d of ü"),))
    await client.close()
    assert model.requests[0].prompt == "price ? of ü"


async def test_the_key_shows_nowhere(
    scripted_model: StartModel, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    model = scripted_model([Fails(400, f"bad key {KEY}"), Sends(f"no {KEY} either".encode())])
    client = ModelClient(options(model.url))
    shown = [repr(client), repr(options(model.url)), str(options(model.url))]
    for _ in range(2):
        error = await error_of(client.ask(HELLO))
        shown += [error.message, error.hint, repr(error), str(error)]
        assert error.__cause__ is None
    await client.close()
    assert not [text for text in [*shown, caplog.text] if KEY in text]


async def test_one_client_serves_many_at_once_and_closes_twice(
    scripted_model: StartModel,
) -> None:
    model = scripted_model(lambda request: Says(request.messages[-1].content))
    client = ModelClient(options(model.url))
    async with asyncio.TaskGroup() as group:
        asked = [
            group.create_task(client.ask((Message(ChatRole.USER, f"question {number}"),)))
            for number in range(8)
        ]
    await client.close()
    await client.close()
    assert [task.result().text for task in asked] == [f"question {number}" for number in range(8)]


async def test_a_local_endpoint_is_not_asked_through_the_labs_proxy(
    scripted_model: StartModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    model = scripted_model([Says("hi")])
    assert (await ask(options(model.url))).text == "hi"


_ACTIONS = objects({"action": ['{"kind": "stop", "answer": "1891"}', '"stop"'], "thought": ['""']})
_SAID = _ACTIONS.map(json.dumps) | JSON_TEXTS
_CALL = objects({"id": ['"1"'], "function": ['{"name": "stop", "arguments": "{}"}']})
_FUNCTION = objects({"name": ['"stop"'], "arguments": ['"{}"', '{"answer": "1891"}']})
_MESSAGE = st.builds(
    '{{"content": {}, "reasoning": {}, "tool_calls": [{}], "function_call": {}}}'.format,
    _SAID,
    st.just("null") | JSON_TEXTS,
    _CALL,
    st.just("null") | _FUNCTION,
) | _SAID.map('{{"content": {}}}'.format)
_USAGE = objects(
    {
        "prompt_tokens": ["3"],
        "completion_tokens": ["4", str(10**400)],
        "total_tokens": ["7"],
        "prompt_tokens_details": ["{}"],
    }
)
_BODIES = JSON_TEXTS | st.builds(
    '{{"choices": [{{"message": {}, "logprobs": {}}}], "usage": {}}}'.format,
    _MESSAGE,
    st.just("-Infinity") | JSON_TEXTS,
    st.just("null") | _USAGE,
)


@SLOW
def test_whatever_an_endpoint_sends_is_a_reply_or_a_fault_of_its_own(
    scripted_model: StartModel,
) -> None:
    sent = [""]
    model = scripted_model(lambda _: Sends(sent[0].encode()))

    @settings(max_examples=CASES // 10)
    @given(bodies=st.lists(_BODIES, min_size=10, max_size=10))
    def holds(bodies: list[str]) -> None:
        asyncio.run(_all_replied(bodies))

    async def _all_replied(bodies: list[str]) -> None:
        client = ModelClient(options(model.url))
        for body in bodies:
            sent[0] = body
            await _replied(client)
        await client.close()

    holds()


async def _replied(client: ModelClient) -> None:
    record = EpisodeRecord(attempt_at(browsing_task()), FakeWorld().environment())
    collector = ExchangeCollector()
    with collecting(collector):
        try:
            said = await client.ask(HELLO)
        except ModelError as error:
            shown = (error.message + error.hint).encode()
            if error.is_permanent:
                pytest.fail(f"one reply ends the run: {shown!r}")
        else:
            (said.text + said.thinking).encode()
            seen = Observation(step=0, url="", title="", tabs=())
            read = read_reply(said, seen)
            if isinstance(read, Reply):
                action = read.action.model_dump_json()
                assert Reply.model_validate_json(f'{{"action": {action}}}').action == read.action
    exchanges = collector.take()
    record.keep_exchanges(exchanges)
    assert record.files()
    Evidence.model_validate_json(record.evidence(None, None).model_dump_json())
    spent = spent_on(exchanges, 0, 0, None)
    assert spent.tokens < 2**63


async def test_half_a_code_point_in_a_reply_is_the_models_and_the_reply_is_read(
    scripted_model: StartModel,
) -> None:
    model = scripted_model([Sends(b'{"choices": [{"message": {"content": "half \\ud83d"}}]}')])
    assert (await ask(options(model.url))).text == "half \ufffd"
