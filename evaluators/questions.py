"""What judges must be asked before an episode can be scored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from evaluators.checks import Check
from evaluators.evidence import Evidence
from evaluators.fields import When
from evaluators.judgements import JudgeQuestion
from evaluators.matchers.base import JudgedMatcher


def judge_questions(checks: Iterable[Check], evidence: Evidence) -> Iterator[JudgeQuestion]:
    """Yield the questions that the checks of an episode leave to judges, answered or not."""
    for check in checks:
        if evidence.world not in check.worlds:
            continue
        for way in check.ways:
            if isinstance(way.match, JudgedMatcher):
                for values in _moments(way, evidence):
                    yield from way.match.questions(values, evidence.world)


def _moments(check: Check, evidence: Evidence) -> Iterator[Sequence[str]]:
    """Yield what the check's locator found at the end, or at each step of a key node."""
    if check.when is When.END:
        yield check.locate.at_end(check.name, evidence).values
        return
    for step in evidence.steps:
        if step.index > 0:
            yield check.locate.at_step(check.name, step).values
