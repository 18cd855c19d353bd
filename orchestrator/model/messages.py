"""What is said to a model: messages of text and images, and the functions that it may call."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, assert_never

from pydantic import JsonValue

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
    """One message of a conversation.

    Attributes:
        tool_calls: what an assistant's message called.
        tool_call_id: the call that a tool's message answers.
    """

    role: ChatRole
    content: str | tuple[Part, ...]
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None

    @property
    def text(self) -> str:
        """All its text, parts joined by line breaks."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content if isinstance(part, TextPart))

    @property
    def images(self) -> tuple[ImagePart, ...]:
        """Its images, in order."""
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
    """Return a function in the API's form."""
    described: dict[str, JsonValue] = {
        "name": tool.name,
        "description": whole_text(tool.description),
        "parameters": dict(tool.parameters),
    }
    return {"type": "function", "function": described}


def images_of(messages: Iterable[Message]) -> dict[str, ImagePart]:
    """Return the images of a conversation by file name, each once."""
    return {image.file_name: image for message in messages for image in message.images}


def with_images(value: JsonValue, images: Mapping[str, ImagePart]) -> JsonValue:
    """Return a body in which data URIs stand for the file names of images again."""
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
