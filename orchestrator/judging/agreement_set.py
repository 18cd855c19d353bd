"""How far a judge agrees with people who labelled answers, and with a second judge."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from arena_core.errors import InputError
from arena_core.worlds import World
from evaluators.judgements import Replies
from evaluators.matchers.semantic import SemanticMatcher
from orchestrator.stats.agreement import cohen_kappa
from orchestrator.stats.rates import Rate, rate_of


class LabelledText(BaseModel):
    """A text that a person found right or wrong by a rubric.

    Attributes:
        id: as reports name it; its number in the file where it has none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = ""
    rubric: str = Field(min_length=10)
    reference: str | None = None
    text: str
    label: Literal["right", "wrong"]

    @property
    def matcher(self) -> SemanticMatcher:
        """What would judge it as the answer of an episode."""
        return SemanticMatcher(rubric=self.rubric, reference=self.reference)

    def said(self, replies: Replies) -> bool | None:
        """Return whether the judge found it right; None where it gave no verdict."""
        matched = self.matcher.match_judged((self.text,), World.OFFLINE, replies)
        return None if matched.is_undecided else matched.met


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAgreement:
    """How far two agree on a set of texts: a judge and the labels, or two judges.

    Attributes:
        rate: share of the texts with two verdicts on which they agree.
        kappa: Cohen's; None where it is undefined.
        wrong_accepts, wrong_rejects: ids that only the first, or only the second, found right.
        undecided: ids without two verdicts; they count in neither figure.
    """

    rate: Rate
    kappa: float | None
    wrong_accepts: tuple[str, ...]
    wrong_rejects: tuple[str, ...]
    undecided: tuple[str, ...]


def load_labelled(path: Path) -> tuple[LabelledText, ...]:
    """Read labelled texts: a YAML or JSON list, or JSON lines.

    Raises:
        InputError: the file cannot be read, holds nothing, or an entry is wrong; names the field.
    """
    try:
        text = path.read_text(encoding="utf-8")
        is_lines = path.suffix in {".jsonl", ".ndjson"}
        found = _json_lines(text) if is_lines else yaml.safe_load(text)
    except (OSError, UnicodeDecodeError, ValueError, yaml.YAMLError) as cause:
        message = f"{path}: cannot be read: {' '.join(str(cause).split())}"
        raise InputError(message) from cause
    try:
        entries = TypeAdapter(tuple[LabelledText, ...]).validate_python(found)
    except ValidationError as cause:
        first = cause.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole file"
        message = f"{path}: {where}: {first['msg']}"
        hint = (
            "a list of {rubric, text, label: right or wrong}, with a reference where there is one"
        )
        raise InputError(message, hint=hint) from cause
    if not entries:
        message = f"{path}: holds no labelled texts"
        raise InputError(message)
    named = (one.model_copy(update={"id": one.id or str(n)}) for n, one in enumerate(entries, 1))
    return tuple(named)


def agree(
    ids: Sequence[str], first: Sequence[bool | None], second: Sequence[bool | None]
) -> JudgeAgreement:
    """Compare two sequences of verdicts on the same texts."""
    pairs = list(zip(ids, first, second, strict=True))
    known = [(name, a, b) for name, a, b in pairs if a is not None and b is not None]
    both = sum(1 for _, a, b in known if a and b)
    neither = sum(1 for _, a, b in known if not a and not b)
    accepts = tuple(name for name, a, b in known if a and not b)
    rejects = tuple(name for name, a, b in known if b and not a)
    return JudgeAgreement(
        rate=rate_of([float(a == b) for _, a, b in known]),
        kappa=cohen_kappa(both, len(accepts), len(rejects), neither) if known else None,
        wrong_accepts=accepts,
        wrong_rejects=rejects,
        undecided=tuple(name for name, a, b in pairs if a is None or b is None),
    )


def _json_lines(text: str) -> list[object]:
    return [json.loads(line) for line in text.splitlines() if line.strip()]
