"""The one importer of openai: asks a model for a reply, and says clearly why there is none."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from arena_core.errors import ContextExceededError, ModelError
from arena_core.foreign import ForeignError, read_json
from orchestrator.agents.model import faults
from orchestrator.agents.model.completion import Completion, ReplyBody
from orchestrator.agents.model.faults import Refusal, kind_of
from orchestrator.agents.model.messages import ChatRole, Message, Question, ToolSpec, is_renamed
from orchestrator.agents.model.options import DEADLINE_S, ModelOptions, Parameter
from orchestrator.agents.model.transport import (
    MOST_BYTES,
    AnswerTooLongError,
    asked_pause,
    backoff,
    read_bounded,
    refused_connection,
)
from orchestrator.agents.model_exchange import (
    Answers,
    ExchangeCollector,
    ModelExchange,
    current_collector,
)

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

_LOG = logging.getLogger(__name__)
_MOST_DEPTH = 500
# A pause that an endpoint asks for is no failed attempt, if it is one: the deadline bounds it.
_A_PAUSE_S = 0.5


class ModelClient:
    """A model behind an endpoint; opened at the first question, shared by many episodes.

    What it bounds: the attempts, each attempt's time, and the time for all together with the pauses
    between them. After a permanent refusal it asks nothing more, and raises that refusal again.
    Every question and what came of it is handed to whoever collects exchanges.
    """

    def __init__(self, options: ModelOptions) -> None:
        self._options = options
        self._sdk: AsyncOpenAI | None = None
        self._untaken: set[Parameter] = set()
        self._refusal: ModelError | None = None
        self._has_replied = False
        self._has_seen_images = False

    def __repr__(self) -> str:
        return f"ModelClient({self._options.name!r} at {self._options.url})"

    @property
    def dropped(self) -> frozenset[str]:
        """The parameters that the endpoint would not take: replies are less repeatable then."""
        return frozenset(one for one in self._untaken if not is_renamed(one))

    @property
    def has_replied(self) -> bool:
        """Whether the model gave a reply before: endpoint, key and name are right then."""
        return self._has_replied

    async def ask(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        *,
        seed: int | None = None,
    ) -> Completion:
        """Return the model's reply to a conversation.

        Args:
            messages: oldest first.
            tools: functions that it may call instead of saying something.
            seed: asks the endpoint to sample repeatably; many honour it only roughly.
        """
        if self._refusal is not None:
            raise faults.again(self._refusal)
        question = Question.of(self._options, messages, tools, seed)
        began = time.monotonic()
        asked: dict[str, object] = {
            "prompt_chars": question.prompt_chars,
            "images": len(question.images),
            "messages": len(messages),
        }
        collector = current_collector()
        if collector is not None and collector.answers is not None:
            return self._replayed(question, collector, collector.answers)
        occurrence = collector.occurrence(question.sha256) if collector else 0
        reply: str | None = None
        body: ReplyBody | None = None
        try:
            reply = await self._fetch(question)
            body = self._read(reply)
            exchange = self._exchange(question, began, occurrence, reply, body)
            completion = self._completion(body, exchange)
        except ModelError as failure:
            exchange = self._exchange(question, began, occurrence, reply, body, error=failure)
            _collect(exchange)
            asked["seconds"] = exchange.seconds
            _LOG.warning("no reply: %s", failure.message.splitlines()[0], extra=asked)
            raise
        _collect(completion.exchange)
        got: dict[str, object] = {
            "reply_chars": len(completion.text),
            "thinking_chars": len(completion.thinking),
            "tool_calls": len(completion.tool_calls),
            "input_tokens": completion.input_tokens,
            "output_tokens": completion.output_tokens,
            "seconds": completion.exchange.seconds,
        }
        _LOG.info("%s replied", self._options.name, extra=asked | got)
        self._has_replied = True
        self._has_seen_images |= bool(question.images)
        return completion

    def no_content(self, replies: int) -> ModelError:
        return faults.no_content(self._options, replies)

    def never_fits(self, cause: ContextExceededError) -> ModelError:
        """Note that not even the shortest prompt fits the model, and return the error for it."""
        self._refusal = faults.never_fits(cause)
        return self._refusal

    async def close(self) -> None:
        """Close the connections; safe to repeat."""
        sdk, self._sdk = self._sdk, None
        if sdk is not None:
            await sdk.close()

    def _replayed(
        self, question: Question, collector: ExchangeCollector, answers: Answers
    ) -> Completion:
        occurrence = collector.occurrence(question.sha256)
        body = question.body
        found = answers.answer(collector.episode, question.sha256, occurrence, body)
        images = {name: image.data for name, image in question.images.items()}
        exchange = replace(
            found, request=body, images=images, occurrence=occurrence, replayed_from=answers.run
        )
        collector.add(exchange)
        if exchange.reply is None:
            error = ContextExceededError if exchange.is_too_long else ModelError
            raise error(exchange.error or "no reply came")
        completion = self._completion(self._read(exchange.reply), exchange)
        self._has_replied = True
        return completion

    async def _fetch(self, question: Question) -> str:
        if self._options.is_replay:
            raise faults.asked_outside_of_a_replay(self._options)
        # A heavy import (about a second), paid only by runs that talk to a model.
        import openai  # noqa: PLC0415

        last: list[str] = []
        try:
            async with asyncio.timeout(self._options.deadline_s) as limit:
                return await self._insist(question, limit, last)
        # The library's errors carry the request with its key, so none is kept as a cause.
        except TimeoutError:
            nobody = await refused_connection(self._options.url)
            if nobody is not None:
                raise faults.unreachable(self._options, nobody, len(last)) from None
            raise faults.out_of_time(self._options, last[-1] if last else None) from None
        except AnswerTooLongError:
            raise faults.too_long(self._options, MOST_BYTES) from None
        except openai.APITimeoutError:
            raise faults.stalled(self._options, len(last)) from None
        except openai.APIConnectionError as cause:
            raise faults.unreachable(self._options, cause, len(last)) from None
        except openai.APIStatusError as cause:
            status, text = cause.status_code, cause.response.text
            raise self._refused(question, status, text, len(last)) from None
        except openai.OpenAIError as cause:
            raise faults.other(self._options, cause) from None

    async def _insist(self, question: Question, limit: asyncio.Timeout, last: list[str]) -> str:
        """Ask until there is an answer, the refusal does not pass, or the attempts are used up.

        What came of each attempt is added to `last`.
        """
        import openai  # noqa: PLC0415

        failed = 0
        while True:
            pause: float | None = None
            try:
                return await self._send(question)
            except openai.APIStatusError as refusal:
                if self._leave_out_refused_parameter(question, refusal):
                    continue
                body = refusal.response.text
                last.append(f"it answered {refusal.status_code}: {body}")
                if self._kind(question, refusal.status_code, body) is not Refusal.PASSING:
                    raise
                pause = asked_pause(refusal.response.headers)
                self._require_time(limit, pause, refusal)
                failed += pause is None or pause < _A_PAUSE_S
                if failed > self._options.retries:
                    raise
            except openai.APIConnectionError as broken:
                failed += 1
                last.append(str(broken.__cause__ or broken))
                if failed > self._options.retries:
                    raise
            await asyncio.sleep(backoff(failed - 1) if pause is None else pause)

    async def _send(self, question: Question) -> str:
        answer: bytes = await self._opened().post(
            "/chat/completions", cast_to=bytes, body=question.sent(self._untaken)
        )
        return self._redacted(answer.decode("utf-8", errors="replace"))

    def _redacted(self, text: str) -> str:
        """Take out the key, should an endpoint quote it: what came back is kept."""
        key = self._options.key
        return text if key is None else text.replace(key.get_secret_value(), "***")

    def _require_time(
        self, limit: asyncio.Timeout, pause: float | None, refusal: APIStatusError
    ) -> None:
        """Refuse to wait where the deadline is over before the endpoint wants to be asked again."""
        ends_at = limit.when()
        if pause is None or ends_at is None:
            return
        left_s = ends_at - asyncio.get_running_loop().time()
        if pause >= left_s:
            status, body = refusal.status_code, refusal.response.text
            raise faults.must_wait(self._options, status, body, wait_s=pause, left_s=left_s)

    def _opened(self) -> AsyncOpenAI:
        if self._sdk is None:
            from openai import AsyncOpenAI, DefaultAsyncHttpxClient  # noqa: PLC0415

            key = self._options.key
            self._sdk = AsyncOpenAI(
                api_key=key.get_secret_value() if key else "none",
                base_url=self._options.url,
                timeout=self._options.attempt_s,
                max_retries=0,  # it would cut a long Retry-After short
                http_client=DefaultAsyncHttpxClient(
                    trust_env=not self._options.is_local, event_hooks={"response": [read_bounded]}
                ),
            )
        return self._sdk

    def _leave_out_refused_parameter(self, question: Question, refusal: APIStatusError) -> bool:
        """Note the parameter that a 400 or 422 is about; False where it is about no such thing."""
        text = refusal.response.text
        if refusal.status_code not in {400, 422}:
            return False
        if self._kind(question, refusal.status_code, text) is not Refusal.PROMPT:
            return False
        for parameter in Parameter:
            named = refusal.param == parameter or parameter in text
            is_free = is_renamed(parameter) or parameter not in self._options.insisted
            is_asked = parameter in question.body and parameter not in self._untaken
            if named and is_free and is_asked:
                self._untaken.add(parameter)
                _LOG.warning("%s does not take %s: left out", self._options.name, parameter)
                return True
        return False

    def _kind(self, question: Question, status: int, body: str) -> Refusal:
        is_new_to_images = bool(question.images) and not self._has_seen_images
        return kind_of(status, body, has_images=is_new_to_images)

    def _refused(self, question: Question, status: int, body: str, attempts: int) -> ModelError:
        """Return the error of a refusal, and keep a permanent one.

        What is said of one request is permanent only where no other was ever taken: then it is the
        model's name or a parameter that the endpoint refuses, and not one page's text.
        """
        kind = self._kind(question, status, body)
        if kind is Refusal.CONTEXT:
            return faults.context_exceeded(self._options, status, body)
        if kind is Refusal.IMAGES:
            self._refusal = faults.takes_no_images(self._options, status, body)
            return self._refusal
        is_permanent = kind is Refusal.PERMANENT or (
            kind is Refusal.PROMPT and not self._has_replied
        )
        refused = faults.refused(
            self._options, status, body, is_permanent=is_permanent, attempts=attempts
        )
        if is_permanent:
            self._refusal = refused
        return refused

    def _read(self, reply: str) -> ReplyBody:
        try:
            return ReplyBody.model_validate_json(reply)
        except ValidationError as cause:
            with suppress(ForeignError, ValidationError):
                # What pydantic's own parser refuses may be the model's: half a code point, depth.
                body = read_json(reply, most_depth=_MOST_DEPTH, most_chars=len(reply))
                return ReplyBody.model_validate(body)
            raise faults.garbage(self._options, reply, cause) from None

    def _exchange(
        self,
        question: Question,
        began: float,
        occurrence: int,
        reply: str | None,
        body: ReplyBody | None,
        *,
        error: ModelError | None = None,
    ) -> ModelExchange:
        usage = body.usage.usage if body and body.usage else None
        price = self._options.price
        return ModelExchange(
            request=question.body,
            images={name: image.data for name, image in question.images.items()},
            left_out=tuple(sorted(self._untaken)),
            reply=reply,
            error=error.message if error else None,
            is_too_long=isinstance(error, ContextExceededError),
            usage=usage,
            usd=price.price.cost(usage) if price and usage else None,
            seconds=round(time.monotonic() - began, 3),
            occurrence=occurrence,
        )

    def _completion(self, body: ReplyBody, exchange: ModelExchange) -> Completion:
        if not body.choices:
            raise faults.no_choices(self._options)
        choice = body.choices[0]
        if choice.finish_reason == "content_filter":
            raise faults.filtered(self._options)
        return Completion(
            text=choice.message.text,
            thinking=choice.message.thinking,
            tool_calls=choice.message.calls,
            model=body.model,
            is_cut=choice.finish_reason == "length",
            usage=exchange.usage,
            usd=exchange.usd,
            exchange=exchange,
        )


def _collect(exchange: ModelExchange) -> None:
    collector = current_collector()
    if collector is not None:
        collector.add(exchange)


QUESTION: Final = "This is a test of the connection. Reply with the word: ready"
# Room for the thinking of a model that thinks; none answers without end.
_MOST_TOKENS: Final = 1024


async def check_model(options: ModelOptions) -> Completion:
    """Ask a model one question, with the parameters of its agents, and return what it said.

    The question is asked by a client of its own: that this one is answered says nothing of the
    agents' questions, which may have images and functions.
    """
    most = options.max_completion_tokens or _MOST_TOKENS
    client = ModelClient(replace(options, max_completion_tokens=most))
    try:
        return await client.ask([Message(ChatRole.USER, QUESTION)])
    finally:
        await client.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCheck:
    """What came of one question to a model.

    Attributes:
        model: as it was asked for.
        url: base URL of the endpoint.
        answered_as: the name that the endpoint gave itself, often with a date; None where none.
        reply: what it said; a model that thinks may have said nothing yet.
        seconds: how long that took.
        input_tokens, output_tokens: as reported; None where the endpoint does not count.
        usd: what it cost; None where no price is known.
        price: what the model costs, in words, with date and source; None where nobody knows.
    """

    model: str
    url: str
    answered_as: str | None
    reply: str
    seconds: float
    input_tokens: int | None
    output_tokens: int | None
    usd: float | None
    price: str | None


async def ask_once(
    model: str | None,
    url: str | None,
    *,
    temperature: float | None,
    deadline_s: float | None,
    prices: str | None,
) -> ModelCheck:
    """Ask a model one question; arguments and errors are those of `Arena.check_model`."""
    options = ModelOptions.of(
        model,
        url,
        os.environ,
        temperature=temperature,
        prices=prices,
        deadline_s=DEADLINE_S if deadline_s is None else deadline_s,
    )
    said = await check_model(options)
    return ModelCheck(
        model=options.name,
        url=options.url,
        answered_as=said.model,
        reply=said.text,
        seconds=said.exchange.seconds,
        input_tokens=said.input_tokens,
        output_tokens=said.output_tokens,
        usd=said.usd,
        price=str(options.price) if options.price else None,
    )
