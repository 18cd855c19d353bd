"""The questions that a run's episodes leave to judges, and the outcomes that their replies give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from evaluators.judgements import Judgement, JudgeQuestion, replies_of
from evaluators.questions import judge_questions
from evaluators.readings.base import Reading
from orchestrator.judging.judge import Judge, Session
from orchestrator.store.judgement_lines import add_judgements, read_judgements
from orchestrator.store.ledger import AttemptState
from orchestrator.store.rescoring import ScoredTrial, rescore
from orchestrator.store.run_folder import RunFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRun:
    """What came of judging a run.

    Attributes:
        asked: how many questions were put; `known` were answered before.
        session: the replies, and why some are missing.
        changed: episodes whose outcome is another one now.
    """

    asked: int
    known: int
    session: Session
    changed: tuple[ScoredTrial, ...]


async def judge_run(
    folder: RunFolder,
    judge: Judge,
    *,
    readings: tuple[Reading, ...] = (),
    anew: bool = False,
    on_judged: Callable[[int, int], None],
) -> JudgedRun:
    """Put the questions of a run's finished episodes to a judge, and write outcomes down anew.

    Args:
        folder: the run.
        judge: that is asked.
        readings: whose questions are put too.
        anew: also what was answered before; the later reply counts.
        on_judged: called with how many are answered, of how many.

    Raises:
        StoreError: the run cannot be read or written, or another process writes it.
    """
    before = () if anew else read_judgements(folder.path)
    known = replies_of(before)
    scored = rescore(folder)
    wanted = {one.key: one for trial in scored for one in _questions(trial, readings)}
    open_ones = [question for key, question in wanted.items() if key not in known]
    done = 0

    def keep(judgement: Judgement) -> None:
        nonlocal done
        add_judgements(folder.path, [judgement])
        done += 1
        on_judged(done, len(open_ones))

    session = await judge.judge(open_ones, keep)
    return JudgedRun(
        asked=len(open_ones),
        known=len(wanted) - len(open_ones),
        session=session,
        changed=_write_outcomes(folder),
    )


def _questions(trial: ScoredTrial, readings: tuple[Reading, ...]) -> Iterator[JudgeQuestion]:
    yield from judge_questions(trial.task.checks, trial.evidence)
    original = trial.task.original
    if original is not None:
        for reading in readings:
            if original.format in reading.formats:
                yield from reading.questions(original, trial.evidence)


def _write_outcomes(folder: RunFolder) -> tuple[ScoredTrial, ...]:
    """Bring the ledger in step with the scores, and return what changed."""
    changed = tuple(trial for trial in rescore(folder) if not trial.is_same)
    if not changed:
        return ()
    with folder.writing() as ledger:
        numbers = {attempt.folder: attempt.number for attempt in ledger.finished()}
        for trial in changed:
            outcome = str(trial.score.outcome)
            ledger.end(trial.trial, numbers[trial.folder], AttemptState.FINISHED, outcome)
    return changed
