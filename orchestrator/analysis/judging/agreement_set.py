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
from arena_core.work_events import OnWork, WorkEnded, WorkPlanned
from arena_core.worlds import World
from evaluators.judgements import Replies, replies_of
from evaluators.matchers.semantic import SemanticMatcher
from orchestrator.analysis.judging.judge import Judge, JudgeChoice
from orchestrator.analysis.stats.agreement import cohen_kappa
from orchestrator.analysis.stats.rates import Rate, rate_of
from sites.documents import yaml_in_words
from sites.faults import mistakes


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
    """Read labelled texts: a YAML or JSON list, or JSON lines."""
    try:
        text = path.read_text(encoding="utf-8")
        is_lines = path.suffix in {".jsonl", ".ndjson"}
        found = _json_lines(text) if is_lines else yaml.safe_load(text)
    except (OSError, UnicodeDecodeError, ValueError, yaml.YAMLError) as cause:
        raise InputError(f"{path}: cannot be read: {yaml_in_words(cause)}") from cause
    try:
        entries = TypeAdapter(tuple[LabelledText, ...]).validate_python(found)
    except ValidationError as cause:
        first, *_ = mistakes(cause, found)
        where = ".".join(map(str, first.at)) or "the whole file"
        message = f"{path}: {where}: {first.message}"
        hint = (
            "a list of {rubric, text, label: right or wrong}, with a reference where there is one"
        )
        raise InputError(message, hint=hint) from cause
    if not entries:
        raise InputError(f"{path}: contains no labelled texts")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReport:
    """How far a judge is to be trusted on a set of labelled texts.

    Attributes:
        labels: agreement of the judge with the people who labelled.
        judges: of the judge with a second one; None where there is none.
        texts: what was judged.
    """

    labels: JudgeAgreement
    judges: JudgeAgreement | None
    texts: tuple[LabelledText, ...]


async def check_judge(
    labelled: Path, judge: JudgeChoice, second: JudgeChoice | None, on_work: OnWork
) -> JudgeReport:
    """Say how far judges agree; arguments and errors are those of `arena.runs.check_judge`."""
    texts = load_labelled(labelled)
    on_work(WorkPlanned(len(texts) * (1 if second is None else 2)))
    first = await _verdicts(Judge(judge.options()), texts, on_work)
    other = None if second is None else await _verdicts(Judge(second.options()), texts, on_work)
    ids = [text.id for text in texts]
    return JudgeReport(
        labels=agree(ids, first, [text.label == "right" for text in texts]),
        judges=None if other is None else agree(ids, first, other),
        texts=texts,
    )


async def _verdicts(
    judge: Judge, texts: Sequence[LabelledText], on_work: OnWork
) -> list[bool | None]:
    questions = [
        question
        for text in texts
        for question in text.matcher.questions((text.text,), World.OFFLINE)
    ]
    try:
        session = await judge.judge(questions, lambda one: on_work(WorkEnded(one.key)))
    finally:
        await judge.close()
    if session.failure is not None:
        raise session.failure
    replies = replies_of(session.judgements)
    return [text.said(replies) for text in texts]
