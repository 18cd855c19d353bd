"""`how: semantic`: a model judges a value by a rubric."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import ClassVar, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from arena_core.worlds import World
from evaluators.fields import PerWorld, in_world
from evaluators.judgements import JudgeQuestion, Replies
from evaluators.matchers.base import Form, JudgedMatcher, Matched
from evaluators.values.text import normalise, shown

PROMPT: Final = "semantic"
VERSION: Final = 1
_MOST_VALUES: Final = 5
_MOST_LETTERS: Final = 4000
_FENCE: Final = re.compile(r"\A```(?:json)?\s*\n(.*)\n```\Z", re.DOTALL)


class _Verdict(BaseModel):
    """What a judge replies; nothing beside it, so that a text which it quotes is no verdict."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reason: str = ""
    verdict: Literal["right", "wrong"]


class SemanticMatcher(JudgedMatcher):
    """Met where a judge, a model, finds a value right by the rubric.

    Use it only where the answer is free text that no typed answer can say. An empty value, one of
    more than 4,000 characters and more than five values are never put to a judge, and are no match.

    Attributes:
        rubric: when a text is right, in whole sentences; the judge sees neither intent nor page.
        reference: one right text.
    """

    is_whole: ClassVar[bool] = False
    is_computable: ClassVar[bool] = False

    how: Literal["semantic"] = "semantic"
    rubric: str | PerWorld[str] = Field(min_length=10)
    reference: str | PerWorld[str] | None = None

    def questions(self, values: Sequence[str], world: World) -> Iterator[JudgeQuestion]:
        if self._unfit(values) is None:
            yield from (self._question(value, world) for value in _judgeable(values))

    def match_judged(
        self, values: Sequence[str], world: World, replies: Replies, form: Form = str
    ) -> Matched:
        """Say whether the judges find one of the values right; a tie is no verdict."""
        del form
        expected = f"what the rubric asks for: {shown(in_world(self.rubric, world))}"
        unfit = self._unfit(values)
        if unfit is not None:
            return Matched(met=False, reason=unfit, expected=expected)
        undecided: str | None = None
        against = "no judge was asked"
        for value in _judgeable(values):
            said = replies.get(self._question(value, world).key)
            votes = [_read(reply, value) for reply in said or ()]
            right = sum(vote is not None and vote.verdict == "right" for vote in votes)
            wrong = sum(vote is not None and vote.verdict == "wrong" for vote in votes)
            tally = f"{right} of {len(votes)} votes" if len(votes) > 1 else "the judge"
            if right > len(votes) - right:
                because = next((one.reason for one in votes if one and one.verdict == "right"), "")
                reason = f"{tally} found {shown(value)} right{_clause(because)}"
                return Matched(met=True, reason=reason, expected=expected)
            if wrong > len(votes) - wrong:
                because = next((one.reason for one in votes if one and one.verdict == "wrong"), "")
                against = f"{shown(value)} was judged wrong{_clause(because)}"
            elif not votes:
                undecided = f"nobody judged {shown(value)}: `arena judge run` asks a model"
            else:
                undecided = f"the judge's replies on {shown(value)} give no verdict"
        if undecided is not None:
            return Matched(met=False, reason=undecided, expected=expected, is_undecided=True)
        return Matched(met=False, reason=against, expected=expected)

    def _question(self, value: str, world: World) -> JudgeQuestion:
        """Return the question; all that others wrote stands in one JSON text that it cannot end."""
        asked = {
            "rubric": in_world(self.rubric, world),
            "reference": None if self.reference is None else in_world(self.reference, world),
            "text": value,
        }
        return JudgeQuestion(PROMPT, VERSION, {"question": json.dumps(asked, ensure_ascii=True)})

    def _unfit(self, values: Sequence[str]) -> str | None:
        """Say why nothing is put to a judge; None where something is."""
        fitting = _judgeable(values)
        if not fitting:
            return "found nothing to judge"
        if len(fitting) > _MOST_VALUES:
            return f"found {len(fitting)} values, and at most {_MOST_VALUES} are judged"
        longest = max(map(len, fitting))
        if longest > _MOST_LETTERS:
            return f"found a text of {longest} characters, and at most {_MOST_LETTERS} are judged"
        return None


def _judgeable(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if normalise(value)))


def _read(reply: str, judged: str) -> _Verdict | None:
    """Return the verdict of a reply that is one JSON object; None for any other.

    An object that names a member twice holds two verdicts. One that finds the text right and stands
    in the text is the text's own: the judge repeats it.
    """
    text = reply.strip()
    fenced = _FENCE.match(text)
    text = fenced.group(1) if fenced else text
    try:
        verdict = _Verdict.model_validate_json(text)
        members = json.loads(text, object_pairs_hook=list)
    except ValueError:  # pydantic's ValidationError is one
        return None
    if len(members) != len(verdict.model_fields_set):
        return None
    is_repeated = verdict.verdict == "right" and _squeezed(text) in _squeezed(judged)
    return None if is_repeated else verdict


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _clause(because: str) -> str:
    """Return a judge's reason as the end of a sentence of ours: one line, cut, without a stop."""
    said = " ".join(because.split()).rstrip(".")
    return f": {shown(said)}" if said else ""
