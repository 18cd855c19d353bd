"""A judge: puts questions to a model and keeps every reply."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from arena_core.errors import ModelError, UsageError
from arena_core.task_group import task_group
from evaluators.judge_prompts import asked_with
from evaluators.judgements import Judgement, JudgeQuestion
from orchestrator.agents.thinking import put_aside
from orchestrator.model.client import ModelClient
from orchestrator.model.messages import ChatRole, Message
from orchestrator.model.options import ModelOptions

_LOG = logging.getLogger(__name__)
_AT_ONCE: Final = 4
MOST_VOTES: Final = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions:
    """Which model judges, and how often it is asked the same.

    Attributes:
        votes: replies to each question; odd, so that they decide.
        max_usd: no question is begun once this is spent; the last one may overshoot it.
    """

    model: ModelOptions
    votes: int = 1
    max_usd: float | None = None

    def __post_init__(self) -> None:
        """Refuse votes that could be a tie.

        Raises:
            UsageError: `votes` is even, or none of 1 to 9.
        """
        if not (1 <= self.votes <= MOST_VOTES and self.votes % 2):
            message = f"{self.votes} votes do not decide: take an odd number from 1 to {MOST_VOTES}"
            raise UsageError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What came of putting questions to a judge.

    Attributes:
        judgements: of the questions that got all their replies.
        failure: why the others did not; None where there are none.
    """

    judgements: tuple[Judgement, ...]
    failure: ModelError | None = None


class Judge:
    """Asks a model; close it after use. A question is asked once, however often it comes."""

    def __init__(self, options: JudgeOptions) -> None:
        self._options = options
        self._client = ModelClient(options.model)
        # One after the other where there is a budget: what is under way is not paid yet.
        self._places = asyncio.Semaphore(_AT_ONCE if options.max_usd is None else 1)
        self._spent_usd = 0.0

    async def judge(
        self, questions: Iterable[JudgeQuestion], on_judged: Callable[[Judgement], None]
    ) -> Session:
        """Put questions, four at a time, or one where there is a budget.

        `on_judged` is called for each as soon as it is answered. What the model does not answer is
        left out: a missing reply is no verdict.
        """
        asked = {question.key: question for question in questions}
        failures: list[ModelError] = []
        judged: list[Judgement] = []

        async def put(question: JudgeQuestion) -> None:
            async with self._places:
                if failures and failures[0].is_permanent:
                    return
                try:
                    self._require_budget()
                    judgement = await self._put(question)
                except ModelError as failure:
                    failures.append(failure)
                    _LOG.warning("not judged: %s", failure.message.splitlines()[0])
                    return
            judged.append(judgement)
            on_judged(judgement)
            unknown = self._pay(judgement)
            if unknown is not None:
                failures.append(unknown)

        async with task_group() as group:
            for question in asked.values():
                group.create_task(put(question))
        permanent = [one for one in failures if one.is_permanent]
        failure = next(iter(permanent or failures), None)
        return Session(judgements=tuple(judged), failure=failure)

    def _require_budget(self) -> None:
        limit = self._options.max_usd
        if limit is not None and self._spent_usd >= limit:
            message = f"the judge's budget is spent: ${self._spent_usd:.4f} of ${limit:g}"
            hint = "arena judge run RUN with a larger --max-usd asks the rest"
            raise ModelError(message, hint=hint, is_permanent=True)

    def _pay(self, judgement: Judgement) -> ModelError | None:
        """Count what a judgement cost; return why nothing more may be asked where nobody knows."""
        self._spent_usd += judgement.usd or 0.0
        if self._options.max_usd is None or judgement.usd is not None:
            return None
        message = f"--max-usd cannot be held: nobody knows what a reply of {judgement.model} costs"
        return ModelError(message, hint="name its price with --prices", is_permanent=True)

    async def _put(self, question: JudgeQuestion) -> Judgement:
        prompt = asked_with(question)
        system = [Message(ChatRole.SYSTEM, prompt.system)] if prompt.system else []
        messages = [*system, Message(ChatRole.USER, prompt.user)]
        replies: list[str] = []
        tokens_in = tokens_out = 0
        costs: list[float | None] = []
        for vote in range(self._options.votes):
            said = await self._client.ask(messages, seed=vote)
            replies.append(put_aside(said.text).reply)
            tokens_in += said.input_tokens or 0
            tokens_out += said.output_tokens or 0
            costs.append(said.usd)
        known = [cost for cost in costs if cost is not None]
        return Judgement(
            key=question.key,
            prompt=question.prompt,
            version=question.version,
            model=self._options.model.name,
            replies=tuple(replies),
            input_tokens=tokens_in,
            output_tokens=tokens_out,
            usd=sum(known) if len(known) == len(costs) else None,
        )

    async def close(self) -> None:
        """Close the connections; safe to repeat."""
        await self._client.close()
