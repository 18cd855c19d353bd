"""What judges are asked, the prompts they are asked with, and what they replied."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib.resources import files
from string import Template

import yaml
from pydantic import BaseModel, ConfigDict


class Judgement(BaseModel):
    """A question to a judge, by its key, and every reply to it.

    Attributes:
        key: of the `JudgeQuestion`.
        prompt, version: of the text that it was asked with.
        model: that replied, as its endpoint calls it.
        replies: as they came, one a vote.
        input_tokens, output_tokens, usd: of all votes; `usd` is None where no price is known.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    prompt: str
    version: int
    model: str
    replies: tuple[str, ...]
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None


@dataclass(frozen=True)  # without slots: the key is kept
class JudgeQuestion:
    """What a model is asked to judge.

    Attributes:
        prompt, version: of the text that it is asked with (`evaluators/prompts`).
        inputs: what that text is filled with, by name. Nothing else reaches the judge: no page, no
            trace of the agent's or of the reference's.
    """

    prompt: str
    version: int
    inputs: Mapping[str, str]

    @cached_property
    def key(self) -> str:
        """SHA-256 of all of it, as hex: equal questions share their replies."""
        whole = {"prompt": self.prompt, "version": self.version, "inputs": dict(self.inputs)}
        return sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


# The replies to a question, by its key.
Replies = Mapping[str, tuple[str, ...]]


def replies_of(judgements: Iterable[Judgement]) -> Replies:
    """Return the replies by key; of two judgements on one question the later counts."""
    return {one.key: one.replies for one in judgements}


class _PromptFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    system: str | None = None
    user: str


class JudgePrompt(BaseModel):
    """What a judge is sent.

    Attributes:
        system: None where the published code sends none.
    """

    model_config = ConfigDict(frozen=True)

    system: str | None
    user: str


def asked_with(question: JudgeQuestion) -> JudgePrompt:
    """Return the text of a question, its inputs filled in once: an input names no other input."""
    source = files("evaluators.prompts") / f"{question.prompt}-{question.version}.yaml"
    prompt = _PromptFile.model_validate(yaml.safe_load(source.read_text(encoding="utf-8")))
    user = Template(prompt.user).substitute(question.inputs)
    return JudgePrompt(system=prompt.system, user=user)
