"""What a chat completion must hold, read strictly where Arena uses it and nowhere else."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class _Foreign(BaseModel):
    # The format is the endpoint's, which may add what it likes.
    model_config = ConfigDict(extra="ignore", frozen=True)


class Message(_Foreign):
    """What the model said; a refusal stands apart from the content."""

    content: str | None = None
    refusal: str | None = None


class Choice(_Foreign):
    """One reply, and why it ended."""

    message: Message
    finish_reason: str | None = None


class Usage(_Foreign):
    """Tokens as the endpoint counted them."""

    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)


class Completion(_Foreign):
    """The body of a successful answer."""

    choices: tuple[Choice, ...]
    model: str | None = None
    usage: Usage | None = None
