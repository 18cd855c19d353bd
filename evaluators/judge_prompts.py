"""The texts that judges are asked with, read from `evaluators/prompts`."""

from __future__ import annotations

from importlib.resources import files
from string import Template

import yaml
from pydantic import BaseModel, ConfigDict

from evaluators.judgements import JudgeQuestion


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
