"""A model endpoint without a model: real HTTP, OpenAI's chat-completions API, replies by script.

It runs in a thread, so that tests of any event loop and whole `arena` processes can talk to it::

    with ScriptedModel([Says.action(Click(element=3)), Fails(500), Says("…")]) as model:
        make_agent("chat", {"model": "scripted", "model_url": model.url})

Requests are checked as the real API checks them, and kept in `model.requests`. A script may also
be a function from the request to a reply, where several episodes ask in an order nobody knows.
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from arena_core.actions import Action
from orchestrator.agents.model.client import QUESTION

STALL_LIMIT_S = 30.0


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ImageUrl(_Body):
    url: str = Field(pattern="^data:image/(png|jpeg|webp);base64,[A-Za-z0-9+/]+=*$")


class Part(_Body):
    """A part of a content that is a list: a text or an image."""

    type: Literal["text", "image_url"]
    text: str | None = Field(default=None, min_length=1)
    image_url: ImageUrl | None = None

    @model_validator(mode="after")
    def _has_what_it_says(self) -> Self:
        if (self.type == "text") != (self.text is not None):
            message = "a part has its type's field and no other"
            raise ValueError(message)
        if (self.type == "image_url") != (self.image_url is not None):
            message = "a part has its type's field and no other"
            raise ValueError(message)
        return self


class CalledFunction(_Body):
    name: str = Field(min_length=1)
    arguments: str


class Called(_Body):
    id: str = Field(min_length=1)
    type: Literal["function"]
    function: CalledFunction
    index: int | None = None  # of who streams, and sends back what came


class Message(_Body):
    """One message as it was sent."""

    role: str = Field(pattern="^(system|user|assistant|tool)$")
    parts: Annotated[str, Field(min_length=1)] | tuple[Part, ...] | None = Field(
        default=None, alias="content"
    )
    tool_calls: tuple[Called, ...] | None = None
    tool_call_id: str | None = None
    name: str | None = None  # of the tool: some clients say it again

    @model_validator(mode="after")
    def _is_of_its_role(self) -> Self:
        if self.parts is None and not (self.role == "assistant" and self.tool_calls):
            message = "content may be null only beside tool calls"
            raise ValueError(message)
        if (self.role == "tool") != (self.tool_call_id is not None):
            message = "a tool's message, and no other, names its call"
            raise ValueError(message)
        if self.role != "user" and self.images:
            message = "images are taken from users only"
            raise ValueError(message)
        return self

    @property
    def content(self) -> str:
        """Its text."""
        if self.parts is None or isinstance(self.parts, str):
            return self.parts or ""
        return "\n".join(part.text for part in self.parts if part.text is not None)

    @property
    def images(self) -> tuple[bytes, ...]:
        """The bytes of its images."""
        if self.parts is None or isinstance(self.parts, str):
            return ()
        urls = [part.image_url.url for part in self.parts if part.image_url is not None]
        return tuple(base64.b64decode(url.partition(",")[2], validate=True) for url in urls)


class Function(_Body):
    name: str = Field(pattern="^[a-zA-Z0-9_-]{1,64}$")
    description: str = ""
    parameters: dict[str, JsonValue]


class Tool(_Body):
    type: Literal["function"]
    function: Function


class ChatRequest(_Body):
    """The body of a request, with the headers that matter."""

    model: str = Field(min_length=1)
    messages: tuple[Message, ...] = Field(min_length=1)
    tools: tuple[Tool, ...] = ()
    temperature: float | None = Field(default=None, ge=0, le=2)
    frequency_penalty: float | None = Field(default=None, ge=-2, le=2)
    response_format: dict[str, JsonValue] | None = None
    seed: int | None = None
    n: int = Field(default=1, ge=1)
    logprobs: bool | None = None
    reasoning_effort: str | None = Field(default=None, pattern="^(minimal|low|medium|high)$")
    max_completion_tokens: int | None = Field(default=None, ge=1)
    max_tokens: int | None = Field(default=None, ge=1)
    parallel_tool_calls: bool | None = None
    stream: bool = False
    stream_options: dict[str, JsonValue] | None = None
    authorization: str = Field(default="", exclude=True)

    @model_validator(mode="after")
    def _answers_every_call(self) -> Self:
        called = [one.id for message in self.messages for one in message.tool_calls or ()]
        answered = [one.tool_call_id for one in self.messages if one.tool_call_id is not None]
        if called != answered:
            message = f"tool calls {called} are answered by {answered}"
            raise ValueError(message)
        return self

    @property
    def prompt(self) -> str:
        """All that the model was told, in one text."""
        return "\n\n".join(message.content for message in self.messages)

    @property
    def images(self) -> tuple[bytes, ...]:
        """All images that it was shown."""
        return tuple(image for message in self.messages for image in message.images)


@dataclass(frozen=True, slots=True)
class Says:
    """A sound reply; tokens of None leave `usage` out, as some servers do.

    `usage` holds what some servers say beside the two counts.
    """

    text: str
    input_tokens: int | None = 100
    output_tokens: int | None = 10
    finish_reason: str = "stop"
    usage: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def action(cls, action: Action, thought: str = "because") -> Self:
        """Return a reply in the chat agent's action space."""
        return cls(json.dumps({"thought": thought, "action": action.model_dump(mode="json")}))


@dataclass(frozen=True, slots=True)
class Calls:
    """A reply that calls functions instead of saying something: names with their arguments."""

    calls: tuple[tuple[str, str], ...]
    text: str | None = None
    input_tokens: int = 100
    output_tokens: int = 10

    @classmethod
    def one(cls, name: str, **arguments: object) -> Self:
        """Return a call of one function."""
        return cls(((name, json.dumps(arguments)),))


@dataclass(frozen=True, slots=True)
class Fails:
    """An error in the API's format; by default it asks for a retry at once."""

    status: int
    message: str = "scripted failure"
    param: str | None = None
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=lambda: {"retry-after-ms": "1"})


@dataclass(frozen=True, slots=True)
class Sends:
    """A body as it is, with a status of success."""

    body: bytes
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def message(cls, finish_reason: str = "stop", **message: object) -> Self:
        """Return a completion with a message as some server writes it."""
        choice = {"index": 0, "message": message, "finish_reason": finish_reason}
        return cls(json.dumps({"choices": [choice]}).encode())


@dataclass(frozen=True, slots=True)
class Stalls:
    """No answer until the client leaves or the server closes."""


@dataclass(frozen=True, slots=True)
class BreaksOff:
    """Half of an answer: the connection ends before what was announced."""

    body: bytes = b'{"choices": [{"message": {"role": "assistant", "content": "I cli'


@dataclass(frozen=True, slots=True)
class HangsUp:
    """The connection ends without an answer."""


ScriptedReply = Says | Calls | Fails | Sends | Stalls | BreaksOff | HangsUp
READY = Says("ready", input_tokens=17, output_tokens=1)
Script = Iterable[ScriptedReply] | Callable[[ChatRequest], ScriptedReply]


class ScriptedModel:
    """A server on 127.0.0.1; a context manager.

    Args:
        script: replies in order, or a function. Asked beyond its end, it fails with a 400 that says
            so, which no client tries again.
        key: what `Authorization` must bear; None takes anything.
        checked: the reply to the question that is asked before a run. That is in `checks`, and not
            in `requests`: scripts are about what agents ask.
    """

    def __init__(
        self, script: Script, *, key: str | None = None, checked: ScriptedReply = READY
    ) -> None:
        self.requests: list[ChatRequest] = []
        self.checks: list[ChatRequest] = []
        self._checked = checked
        self._reply = script if callable(script) else _in_order(script)
        self._key = key
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        """The base URL for `--model-url`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, path: str, body: bytes, authorization: str) -> ScriptedReply:
        """Check a request as the API does, keep it, and return the script's reply."""
        if self._key is not None and authorization != f"Bearer {self._key}":
            # Some servers quote what they were given; a client must not pass that on.
            return Fails(401, f"Incorrect API key provided: {authorization}")
        if path != "/v1/chat/completions":
            return Fails(404, f"Unknown request URL: POST {path}")
        try:
            request = ChatRequest.model_validate_json(body)
        except ValidationError as wrong:
            return Fails(400, f"Invalid request: {wrong.errors()[0]['msg']}")
        request = request.model_copy(update={"authorization": authorization})
        with self._lock:
            if request.prompt == QUESTION:
                self.checks.append(request)
                return self._checked
            self.requests.append(request)
            return self._reply(request)

    def wait_for_closing(self) -> None:
        """Hold a stalled answer until the test is over."""
        self._closing.wait(STALL_LIMIT_S)


def _in_order(script: Iterable[ScriptedReply]) -> Callable[[ChatRequest], ScriptedReply]:
    replies = iter(script)
    return lambda _: next(replies, Fails(400, "the script has ended"))


def _handler_of(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:  # noqa: C901 - a case each
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = STALL_LIMIT_S

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            reply = model.answer(self.path, body, self.headers.get("Authorization", ""))
            match reply:
                case Says() | Calls() if json.loads(body).get("stream"):
                    sent = {"Content-Type": "text/event-stream"}
                    self._send(200, _events(json.loads(_completion(reply))), sent)
                case Says() | Calls():
                    self._send(200, _completion(reply))
                case Fails():
                    error = {"message": reply.message, "param": reply.param, "code": reply.code}
                    self._send(reply.status, json.dumps({"error": error}).encode(), reply.headers)
                case Sends():
                    sent = {"Content-Type": reply.content_type, **reply.headers}
                    self._send(200, reply.body, sent)
                case BreaksOff():
                    self._send(200, reply.body, {"Content-Length": str(len(reply.body) + 500)})
                case Stalls():
                    model.wait_for_closing()
                    self.close_connection = True
                case HangsUp():
                    self.close_connection = True

        def _send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
            self.send_response(status)
            # Connections end with their answer: none outlives the test that made it.
            sent = {"Content-Length": str(len(body)), "Connection": "close"}
            sent |= {"Content-Type": "application/json"} | dict(headers or {})
            for name, value in sent.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(ConnectionError):  # a client may break off what is too long for it
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Keep quiet."""

    return Handler


def _completion(reply: Says | Calls) -> bytes:
    message: dict[str, object] = {"role": "assistant", "content": reply.text, "refusal": None}
    finish_reason = reply.finish_reason if isinstance(reply, Says) else "tool_calls"
    if isinstance(reply, Calls):
        message["tool_calls"] = [
            {
                "id": f"call_{number}_{name}",
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for number, (name, arguments) in enumerate(reply.calls)
        ]
    body: dict[str, object] = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted-2025-01-01",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
    }
    if reply.input_tokens is not None and reply.output_tokens is not None:
        usage: dict[str, object] = {
            "prompt_tokens": reply.input_tokens,
            "completion_tokens": reply.output_tokens,
            "total_tokens": reply.input_tokens + reply.output_tokens,
        }
        body["usage"] = usage | (dict(reply.usage) if isinstance(reply, Says) else {})
    return json.dumps(body).encode()


def _events(whole: dict[str, Any]) -> bytes:
    """Return a completion as a stream of one chunk, with its usage in another."""
    [choice] = whole.pop("choices")
    delta = choice.pop("message")
    for number, call in enumerate(delta.get("tool_calls", ())):
        call["index"] = number
    usage = {"usage": whole.pop("usage", None), "choices": []}
    chunk = whole | {"object": "chat.completion.chunk"}
    sent = [chunk | {"choices": [choice | {"delta": delta}]}, chunk | usage]
    lines = [*(json.dumps(one) for one in sent), "[DONE]"]
    return "".join(f"data: {one}\n\n" for one in lines).encode()
