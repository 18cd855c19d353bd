"""The part of `Arena` about judges: models that judge free text of a run, or a labelled set."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.api.runs import RunOperations
from orchestrator.work_events import WorkEnded, WorkPlanned, WorkStep

if TYPE_CHECKING:
    from orchestrator.judging.agreement_set import JudgeAgreement, LabelledText
    from orchestrator.judging.judge import Judge, JudgeOptions
    from orchestrator.judging.judged_run import JudgedRun


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeChoice:
    """A model that judges.

    Attributes:
        model: as its endpoint calls it.
        url: base URL of the endpoint; as for agents where omitted, and so the key.
        votes: how often each question is asked, an odd number; the majority decides.
        temperature: 0 where omitted, and 1 where there are several votes: they would all be equal.
        max_usd: what may be spent on it; no question is begun once it is.
        prices: a table of what models cost, before Arena's own.
    """

    model: str
    url: str | None = None
    votes: int = 1
    temperature: float | None = None
    max_usd: float | None = None
    prices: str | None = None

    def options(self) -> JudgeOptions:
        """Return how the judge is reached.

        Raises:
            UsageError: there is no key, the URL is none, or the votes would not decide.
            InputError: `prices` names no table of prices.
        """
        from orchestrator.judging.judge import JudgeOptions
        from orchestrator.model.options import ModelOptions

        heat = self.temperature
        if heat is None and self.votes > 1:
            heat = 1.0
        model = ModelOptions.of(
            self.model, self.url, os.environ, temperature=heat, prices=self.prices
        )
        return JudgeOptions(model=model, votes=self.votes, max_usd=self.max_usd)


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


class JudgingOperations(RunOperations):
    """Asks judges."""

    async def judge(
        self,
        run: Path | str,
        judge: JudgeChoice,
        *,
        readings: Sequence[str] = (),
        anew: bool = False,
    ) -> JudgedRun:
        """Let a model judge what a run's finished episodes leave to judges.

        Replies are kept in the run's folder as soon as they come, and asked for once: a call that
        was broken off goes on where it was. Outcomes that they change are written down.

        Args:
            run: its folder.
            judge: the model.
            readings: compatible readings whose questions are put too, by name.
            anew: ask again what was answered before; the later reply counts.

        Raises:
            StoreError: the run cannot be read or written, or another process writes it.
            UsageError: there is no key, or the votes would not decide.
            UnknownNameError, PluginError: there is no such reading, or it cannot be used.
        """
        from evaluators.readings.base import READINGS
        from orchestrator.judging.judge import Judge
        from orchestrator.judging.judged_run import judge_run
        from orchestrator.store.run_folder import RunFolder

        chosen = tuple(READINGS.load(name) for name in readings)
        asked = Judge(judge.options())
        try:
            return await judge_run(
                RunFolder.open(Path(run)),
                asked,
                readings=chosen,
                anew=anew,
                on_judged=lambda done, total: self._on_event(
                    WorkStep("judge", f"{done} of {total} questions answered", done, total)
                ),
            )
        finally:
            await asked.close()

    async def check_judge(
        self, labelled: Path | str, judge: JudgeChoice, second: JudgeChoice | None = None
    ) -> JudgeReport:
        """Say how far a judge agrees with labelled texts, and with a second judge.

        Args:
            labelled: a YAML, JSON or JSON-lines file of {rubric, reference, text, label}.
            judge: whose verdicts are compared with the labels.
            second: whose verdicts are compared with the first's.

        Raises:
            InputError: the file cannot be read, or an entry is wrong.
            ModelError: a judge did not answer a question.
        """
        from orchestrator.judging.agreement_set import agree, load_labelled
        from orchestrator.judging.judge import Judge

        texts = load_labelled(Path(labelled))
        self._on_event(WorkPlanned(len(texts) * (1 if second is None else 2)))
        first = await self._verdicts(Judge(judge.options()), texts)
        other = None if second is None else await self._verdicts(Judge(second.options()), texts)
        ids = [text.id for text in texts]
        return JudgeReport(
            labels=agree(ids, first, [text.label == "right" for text in texts]),
            judges=None if other is None else agree(ids, first, other),
            texts=texts,
        )

    async def _verdicts(self, judge: Judge, texts: Sequence[LabelledText]) -> list[bool | None]:
        from arena_core.worlds import World
        from evaluators.judgements import replies_of

        questions = [
            question
            for text in texts
            for question in text.matcher.questions((text.text,), World.OFFLINE)
        ]
        try:
            session = await judge.judge(questions, lambda one: self._on_event(WorkEnded(one.key)))
        finally:
            await judge.close()
        if session.failure is not None:
            raise session.failure
        replies = replies_of(session.judgements)
        return [text.said(replies) for text in texts]
