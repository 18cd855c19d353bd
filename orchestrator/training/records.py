"""A sample as a record: messages, or AutoWebGLM's source and target."""

from __future__ import annotations

import json
from typing import Any, Final

from orchestrator.training.samples import IMAGES, Message, Removed, Sample, Shape

MESSAGES: Final = {
    "messages": "the conversation as the model was sent it, its reply last; `weight` is 1 on that"
    " reply and 0 on earlier ones, which may be wrong",
    "source, target": "in the shape `autowebglm`: the prompt, and the reply, as one text each",
    "tools": "the functions that were offered, as JSON text; empty where there were none",
    "images": "files of the prompt's images, in order",
}


def text_shape(sample: Sample, shape: Shape) -> str | Removed | None:
    """Return the prompt as one text where that shape is asked for; None for the chat shape."""
    if shape == "chat":
        return None
    text = sample.one_text
    reply = sample.reply.get("content")
    if text is None or not isinstance(reply, str) or "tool_calls" in sample.reply:
        return Removed.OTHER_SHAPE
    return text


def record_of(sample: Sample, shape: Shape) -> dict[str, Any]:
    """Return the fields that a model is trained on."""
    if shape == "autowebglm":
        return {"source": sample.one_text, "target": sample.reply["content"]}
    return {
        "messages": [*(_weighed(one, 0) for one in sample.prompt), _weighed(sample.reply, 1)],
        **beside(sample),
    }


def beside(sample: Sample) -> dict[str, Any]:
    """Return what goes with messages: functions as JSON text, and the places of images."""
    tools = [dict(one) for one in sample.tools]
    return {
        "tools": json.dumps(tools, ensure_ascii=False) if tools else "",
        "images": [f"{IMAGES}/{name}" for name in sample.pictures],
    }


def _weighed(message: Message, weight: int) -> Message:
    return {**message, "weight": weight} if message.get("role") == "assistant" else message
