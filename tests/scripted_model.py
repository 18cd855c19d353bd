"""A model endpoint without a model: real HTTP, OpenAI's chat-completions API, replies by script.

It runs in a thread, so that tests of any event loop and whole `arena` processes can talk to it::

    with ScriptedModel([Says.action(Click(element=3)), Fails(500), Says("…")]) as model:
        make_agent("chat", {"model": "scripted", "model_url": model.url})

Requests are checked as the real API checks them, and kept in `model.requests`. A script may also
be a function from the request to a reply, where several episodes ask in an order nobody knows.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from arena_core.actions import Action

STALL_LIMIT_S = 30.0


class Message(BaseModel):
    """One message as it was sent."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    role: str = Field(pattern="^(system|user|assistant)$")
    content: str = Field(min_length=1)


class ChatRequest(BaseModel):
    """The body of a request, with the headers that matter."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(min_length=1)
    messages: tuple[Message, ...] = Field(min_length=1)
    temperature: float | None = Field(default=None, ge=0, le=2)
    seed: int | None = None
    authorization: str = Field(default="", exclude=True)

    @property
    def prompt(self) -> str:
        """All that the model was told, in one text."""
        return "\n\n".join(message.content for message in self.messages)


@dataclass(frozen=True, slots=True)
class Says:
    """A sound reply; tokens of None leave `usage` out, as some servers do."""

    text: str
    input_tokens: int | None = 100
    output_tokens: int | None = 10
    finish_reason: str = "stop"

    @classmethod
    def action(cls, action: Action, thought: str = "because") -> Self:
        """Return a reply in the chat agent's grammar."""
        return cls(json.dumps({"thought": thought, "action": action.model_dump(mode="json")}))


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

    @classmethod
    def message(cls, finish_reason: str = "stop", **message: object) -> Self:
        """Return a completion with a message as some server writes it."""
        choice = {"index": 0, "message": message, "finish_reason": finish_reason}
        return cls(json.dumps({"choices": [choice]}).encode())


@dataclass(frozen=True, slots=True)
class Stalls:
    """No answer until the client leaves or the server closes."""


@dataclass(frozen=True, slots=True)
class HangsUp:
    """The connection ends without an answer."""


ScriptedReply = Says | Fails | Sends | Stalls | HangsUp
Script = Iterable[ScriptedReply] | Callable[[ChatRequest], ScriptedReply]


class ScriptedModel:
    """A server on 127.0.0.1; a context manager.

    Args:
        script: replies in order, or a function. Asked beyond its end, it fails with a 400 that says
            so, which no client tries again.
        key: what `Authorization` must bear; None takes anything.
    """

    def __init__(self, script: Script, *, key: str | None = None) -> None:
        self.requests: list[ChatRequest] = []
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
            self.requests.append(request)
            return self._reply(request)

    def wait_for_closing(self) -> None:
        """Hold a stalled answer until the test is over."""
        self._closing.wait(STALL_LIMIT_S)


def _in_order(script: Iterable[ScriptedReply]) -> Callable[[ChatRequest], ScriptedReply]:
    replies = iter(script)
    return lambda _: next(replies, Fails(400, "the script has ended"))


def _handler_of(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = STALL_LIMIT_S

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            reply = model.answer(self.path, body, self.headers.get("Authorization", ""))
            match reply:
                case Says():
                    self._send(200, _completion(reply))
                case Fails():
                    error = {"message": reply.message, "param": reply.param, "code": reply.code}
                    self._send(reply.status, json.dumps({"error": error}).encode(), reply.headers)
                case Sends():
                    self._send(200, reply.body, {"Content-Type": reply.content_type})
                case Stalls():
                    model.wait_for_closing()
                    self.close_connection = True
                case HangsUp():
                    self.close_connection = True

        def _send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
            self.send_response(status)
            sent = {"Content-Type": "application/json"} | dict(headers or {})
            # Connections end with their answer: none outlives the test that made it.
            sent |= {"Content-Length": str(len(body)), "Connection": "close"}
            for name, value in sent.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Keep quiet."""

    return Handler


def _completion(reply: Says) -> bytes:
    message = {"role": "assistant", "content": reply.text, "refusal": None}
    body: dict[str, object] = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted-2025-01-01",
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason}],
    }
    if reply.input_tokens is not None and reply.output_tokens is not None:
        body["usage"] = {
            "prompt_tokens": reply.input_tokens,
            "completion_tokens": reply.output_tokens,
            "total_tokens": reply.input_tokens + reply.output_tokens,
        }
    return json.dumps(body).encode()
