"""One request to a model: the body as it is meant, its hash, and the body that is sent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from pydantic import JsonValue

from orchestrator.model.messages import (
    ImagePart,
    Message,
    ToolSpec,
    images_of,
    tool_body,
    with_images,
)
from orchestrator.model.options import ModelOptions, Parameter

# What endpoints that do not know `max_completion_tokens` call it.
_OLDER_NAMES: Mapping[Parameter, str] = {Parameter.MAX_TOKENS: "max_tokens"}


@dataclass(frozen=True, kw_only=True)
class Question:
    """A request, apart from what a certain endpoint takes of it.

    Attributes:
        body: in the API's form, messages last; the file name of each image for its data.
        images: by that name.
        prompt_chars: letters of all its text.
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
        """Put a request together."""
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
        """Return the body for an endpoint that does not take some parameters."""
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
