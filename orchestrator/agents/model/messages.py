"""What is said to a model: messages, the functions that it may call, and the whole request."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final, Self, assert_never

from pydantic import JsonValue

from orchestrator.agents.model.options import ModelOptions, Parameter

_ENDINGS: Final = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/webp": "webp",
    "image/gif": "gif",
}


class ChatRole(StrEnum):
    """Whose words a chat message holds; `tool`: what came of a function that was called."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text beside images."""

    text: str


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An image; it is sent as a data URI."""

    data: bytes
    media_type: str = "image/png"

    @property
    def file_name(self) -> str:
        """The name that stands for it in the evidence: by the hash of its bytes, so kept once."""
        ending = _ENDINGS.get(self.media_type, "bin")
        return f"image-{hashlib.sha256(self.data).hexdigest()}.{ending}"


Part = TextPart | ImagePart


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A function that the model called; `arguments` is the text as it came, never evaluated."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A function that a model may call; `parameters` is a JSON Schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: ChatRole
    content: str | tuple[Part, ...]
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content if isinstance(part, TextPart))

    @property
    def images(self) -> tuple[ImagePart, ...]:
        if isinstance(self.content, str):
            return ()
        return tuple(part for part in self.content if isinstance(part, ImagePart))

    def body(self) -> dict[str, JsonValue]:
        """Return it in the API's form, with each image's file name instead of its data."""
        # A call without words has no content: an empty one is refused by some endpoints.
        content = self._content() if self.content or not self.tool_calls else None
        body: dict[str, JsonValue] = {"role": self.role.value, "content": content}
        if self.tool_calls:
            body["tool_calls"] = [_call_body(call) for call in self.tool_calls]
        if self.tool_call_id is not None:
            body["tool_call_id"] = self.tool_call_id
        return body

    def _content(self) -> JsonValue:
        if isinstance(self.content, str):
            return whole_text(self.content)
        return [_part_body(part) for part in self.content]


def tool_body(tool: ToolSpec) -> dict[str, JsonValue]:
    described: dict[str, JsonValue] = {
        "name": tool.name,
        "description": whole_text(tool.description),
        "parameters": dict(tool.parameters),
    }
    return {"type": "function", "function": described}


def images_of(messages: Iterable[Message]) -> dict[str, ImagePart]:
    return {image.file_name: image for message in messages for image in message.images}


def with_images(value: JsonValue, images: Mapping[str, ImagePart]) -> JsonValue:
    if isinstance(value, list):
        return [with_images(one, images) for one in value]
    if not isinstance(value, dict):
        return value
    url = value.get("url")
    if isinstance(url, str) and url in images:
        return {**value, "url": _data_uri(images[url])}
    return {name: with_images(one, images) for name, one in value.items()}


def whole_text(text: str) -> str:
    """Return a text that JSON over HTTP can carry: a page may hold half a code point."""
    return text.encode("utf-8", errors="replace").decode()


def _part_body(part: Part) -> dict[str, JsonValue]:
    match part:
        case TextPart():
            return {"type": "text", "text": whole_text(part.text)}
        case ImagePart():
            return {"type": "image_url", "image_url": {"url": part.file_name}}
        case _:
            assert_never(part)


def _call_body(call: ToolCall) -> dict[str, JsonValue]:
    function: JsonValue = {"name": call.name, "arguments": whole_text(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _data_uri(image: ImagePart) -> str:
    return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode('ascii')}"


# What endpoints that do not know `max_completion_tokens` call it.
_OLDER_NAMES: Mapping[Parameter, str] = {Parameter.MAX_TOKENS: "max_tokens"}


@dataclass(frozen=True, kw_only=True)
class Question:
    """A request, apart from what a certain endpoint takes of it.

    Attributes:
        body: in the API's form, messages last; the file name of each image for its data.
    """

    body: Mapping[str, JsonValue]
    images: Mapping[str, ImagePart]
    prompt_chars: int

    @classmethod
    def of(
        cls,
        options: ModelOptions,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        seed: int | None,
    ) -> Self:
        parameters: dict[Parameter, JsonValue] = {
            Parameter.TEMPERATURE: options.temperature,
            Parameter.SEED: seed,
            Parameter.REASONING_EFFORT: options.reasoning_effort,
            Parameter.MAX_TOKENS: options.max_completion_tokens,
        }
        body: dict[str, JsonValue] = {"model": options.name}
        body |= {name.value: value for name, value in parameters.items() if value is not None}
        if tools:
            body["tools"] = [tool_body(tool) for tool in tools]
        body["messages"] = [message.body() for message in messages]
        return cls(
            body=body,
            images=images_of(messages),
            prompt_chars=sum(len(message.text) for message in messages),
        )

    @cached_property
    def sha256(self) -> str:
        """The hash of the body: equal requests have one hash, whatever endpoint they go to."""
        return hash_of(self.body)

    def sent(self, untaken: Collection[Parameter]) -> dict[str, JsonValue]:
        sent: dict[str, JsonValue] = {}
        for name, value in self.body.items():
            parameter = Parameter(name) if name in set(Parameter) else None
            if parameter is None or parameter not in untaken:
                sent[name] = with_images(value, self.images)
            elif parameter in _OLDER_NAMES:
                sent[_OLDER_NAMES[parameter]] = value
        return sent


def is_renamed(parameter: Parameter) -> bool:
    """Whether an endpoint that does not take a parameter may know it by an older name."""
    return parameter in _OLDER_NAMES


def hash_of(body: Mapping[str, JsonValue]) -> str:
    """Return SHA-256 over a request's body, whatever the order of its keys."""
    text = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", errors="replace")).hexdigest()
