from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from support.agents.model_questions import HELLO, ask, error_of, options
from support.agents.scripted_model import (
    BreaksOff,
    Calls,
    Fails,
    Says,
    Script,
    ScriptedModel,
    Sends,
)

from orchestrator.agents.model.client import ModelClient
from orchestrator.agents.model.messages import ChatRole, ImagePart, Message, TextPart, ToolSpec
from orchestrator.agents.model.options import Parameter
from orchestrator.agents.model_exchange import ExchangeCollector, TokenUsage, collecting

StartModel = Callable[[Script], ScriptedModel]

PIXEL = b"\x89PNG not really"
LOOK = (Message(ChatRole.USER, (TextPart("what is this?"), ImagePart(PIXEL))),)


async def test_images_are_sent_as_data_uris_and_kept_by_hash(scripted_model: StartModel) -> None:
    model = scripted_model([Says("a kettle")])
    client = ModelClient(options(model.url))
    completion = await client.ask(LOOK)
    await client.close()
    [request] = model.requests
    assert request.images == (PIXEL,)
    assert request.prompt == "what is this?"
    kept = json.dumps(completion.exchange.request)
    assert "base64" not in kept
    name = f"image-{hashlib.sha256(PIXEL).hexdigest()}.png"
    assert name in kept
    assert completion.exchange.images == {name: PIXEL}


async def test_functions_are_offered_called_and_answered(scripted_model: StartModel) -> None:
    model = scripted_model([Calls((("click", '{"element": 12'),)), Says("done")])
    client = ModelClient(options(model.url))
    tool = ToolSpec("click", "clicks", {"type": "object", "properties": {}})
    first = await client.ask(HELLO, (tool,))
    [call] = first.tool_calls
    # The arguments are what came, be they no JSON: they are for the action space to judge.
    assert (call.name, call.arguments) == ("click", '{"element": 12')
    answer = (
        Message(ChatRole.ASSISTANT, first.text, tool_calls=first.tool_calls),
        Message(ChatRole.TOOL, "that is no JSON", tool_call_id=call.id),
    )
    await client.ask((*HELLO, *answer), (tool,))
    await client.close()
    assert [one.function.name for one in model.requests[0].tools] == ["click"]
    assert model.requests[1].messages[2].tool_calls is not None
    assert model.requests[1].messages[3].tool_call_id == call.id


async def test_tokens_of_thinking_caches_and_pictures_are_read(scripted_model: StartModel) -> None:
    counted = {
        "prompt_tokens_details": {"cached_tokens": 64, "image_tokens": 20, "audio_tokens": None},
        "completion_tokens_details": {"reasoning_tokens": 7},
    }
    model = scripted_model([Says("hi", usage=counted)])
    assert (await ask(options(model.url))).usage == TokenUsage(
        input_tokens=100, output_tokens=10, cached_tokens=64, image_tokens=20, reasoning_tokens=7
    )


async def test_thinking_that_is_counted_beside_the_reply_is_output_too(
    scripted_model: StartModel,
) -> None:
    counted = {"total_tokens": 140, "completion_tokens_details": {"reasoning_tokens": 30}}
    model = scripted_model([Says("hi", usage=counted)])
    assert (await ask(options(model.url))).output_tokens == 40


@pytest.mark.parametrize("usage", ["{}", "null", '{"prompt_tokens": 3}'])
async def test_half_a_count_is_none(scripted_model: StartModel, usage: str) -> None:
    body = f'{{"choices": [{{"message": {{"content": "hi"}}}}], "usage": {usage}}}'
    model = scripted_model([Sends(body.encode())])
    completion = await ask(options(model.url))
    assert (completion.text, completion.input_tokens) == ("hi", None)


async def test_a_reasoning_model_gets_its_parameters(scripted_model: StartModel) -> None:
    model = scripted_model([Says("hi")])
    asked = replace(options(model.url), reasoning_effort="low", max_completion_tokens=900)
    await ask(asked)
    [request] = model.requests
    assert (request.reasoning_effort, request.max_completion_tokens) == ("low", 900)
    assert request.max_tokens is None


async def test_the_length_limit_goes_under_its_older_name_where_only_that_is_known(
    scripted_model: StartModel,
) -> None:
    refusal = Fails(400, "Unrecognized request argument supplied: max_completion_tokens")
    model = scripted_model([refusal, Says("hi"), Says("again")])
    insisted = frozenset({Parameter.MAX_TOKENS})
    asked = replace(options(model.url), max_completion_tokens=900, insisted=insisted)
    client = ModelClient(asked)
    first = await client.ask(HELLO)
    await client.ask(HELLO)
    await client.close()
    assert [one.max_tokens for one in model.requests] == [None, 900, 900]
    assert [one.max_completion_tokens for one in model.requests] == [900, None, None]
    assert first.exchange.request["max_completion_tokens"] == 900
    assert first.exchange.left_out == ("max_completion_tokens",)
    assert client.dropped == frozenset()


async def test_an_effort_that_the_model_does_not_know_is_a_refusal(
    scripted_model: StartModel,
) -> None:
    model = scripted_model(lambda _: Fails(400, "Unsupported parameter: 'reasoning_effort'"))
    insisted = frozenset({Parameter.REASONING_EFFORT})
    asked = replace(options(model.url), reasoning_effort="low", insisted=insisted)
    error = await error_of(ask(asked))
    assert error.is_permanent
    assert "leave out --reasoning-effort" in error.hint


BLIND = [
    Fails(400, "Invalid content type. image_url is only supported by certain models."),
    Fails(400, "qwen2.5 is not a multimodal model"),
    Fails(400, "At most 0 image(s) may be provided in one request."),
    Fails(404, "No endpoints found that support image input"),
    Fails(422, "messages[0]: unknown variant `image_url`, expected `text`"),
    Fails(400, "Image input is not enabled for this model"),
    Fails(500, "image input is not supported - you may need to provide the mmproj"),
    Fails(500, "this model is missing data required for image input"),
]


@pytest.mark.parametrize("refusal", BLIND, ids=lambda one: one.message[:20])
async def test_a_model_that_takes_no_images_says_so_at_once_and_for_good(
    scripted_model: StartModel, refusal: Fails
) -> None:
    model = scripted_model([Says("hi"), refusal, Says("never asked")])
    client = ModelClient(options(model.url))
    await client.ask(HELLO)
    for _ in range(2):
        error = await error_of(client.ask(LOOK))
        assert error.is_permanent
        assert "takes no images" in error.message
        assert "--model that takes images" in error.hint
    await client.close()
    assert len(model.requests) == 2


@pytest.mark.parametrize(
    ("messages", "refusal"),
    [
        (HELLO, BLIND[0]),
        (LOOK, Fails(400, "You uploaded an unsupported image: its format is none of png, jpeg")),
    ],
)
async def test_what_is_said_of_one_image_or_of_none_is_about_this_request_alone(
    scripted_model: StartModel, messages: tuple[Message, ...], refusal: Fails
) -> None:
    model = scripted_model([Says("hi"), refusal])
    client = ModelClient(options(model.url))
    await client.ask(HELLO)
    assert not (await error_of(client.ask(messages))).is_permanent
    await client.close()


async def test_a_model_that_saw_an_image_before_is_not_blind(scripted_model: StartModel) -> None:
    model = scripted_model([Says("a kettle"), BLIND[0]])
    client = ModelClient(options(model.url))
    await client.ask(LOOK)
    assert not (await error_of(client.ask(LOOK))).is_permanent
    await client.close()


async def test_a_longer_retry_after_than_the_deadline_is_not_waited_for(
    scripted_model: StartModel,
) -> None:
    model = scripted_model([Fails(429, "busy", headers={"retry-after": "300"}), Says("hi")])
    started = time.monotonic()
    error = await error_of(ask(options(model.url)))
    assert time.monotonic() - started < 3
    assert "asks to wait 300 s" in error.message
    assert "--model-deadline" in error.hint
    assert not error.is_permanent


async def test_pauses_that_an_endpoint_asks_for_use_up_no_attempts(
    scripted_model: StartModel,
) -> None:
    busy = [Fails(429, headers={"retry-after-ms": "500"})] * 3
    model = scripted_model([*busy, Says("hi")])
    assert (await ask(options(model.url, retries=0))).text == "hi"


async def test_half_an_answer_is_asked_for_again(scripted_model: StartModel) -> None:
    model = scripted_model([BreaksOff(), Says("hi")])
    assert (await ask(options(model.url))).text == "hi"
    assert len(model.requests) == 2


async def test_a_stream_that_nobody_asked_for_is_no_completion(scripted_model: StartModel) -> None:
    half = b'data: {"choices": [{"delta": {"content": "I cl"}}]}\n\ndata: {"choi'
    model = scripted_model([Sends(half, "text/event-stream")])
    assert "sent no chat completion" in (await error_of(ask(options(model.url)))).message


async def test_what_was_asked_is_collected_also_where_nothing_sound_came_back(
    scripted_model: StartModel,
) -> None:
    model = scripted_model([Says("hi"), Sends(b"<html>lab portal</html>"), Fails(404, "no")])
    client = ModelClient(options(model.url))
    collector = ExchangeCollector()
    with collecting(collector):
        async with asyncio.TaskGroup() as group:
            group.create_task(client.ask(HELLO))
        for _ in range(2):
            await error_of(client.ask(HELLO))
    await client.close()
    sound, page, none = collector.take()
    assert collector.take() == ()
    assert sound.usage == TokenUsage(input_tokens=100, output_tokens=10)
    assert (page.reply, page.usage) == ("<html>lab portal</html>", None)
    assert "sent no chat completion" in (page.error or "")
    assert (none.reply, none.request) == (None, sound.request)
