"""A judge: a model that answers the questions which a run's episodes leave open."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from arena_core.errors import ModelError, UsageError
from arena_core.task_group import task_group
from evaluators.judgements import Judgement, JudgeQuestion, asked_with, replies_of
from evaluators.scorers.base import Scorer
from evaluators.verdicts import judge_questions
from orchestrator.agents.model.client import ModelClient
from orchestrator.agents.model.completion import split_thinking
from orchestrator.agents.model.messages import ChatRole, Message
from orchestrator.agents.model.options import ModelOptions
from orchestrator.runs.store.evidence_files import add_judgements, read_judgements
from orchestrator.runs.store.ledger import AttemptState
from orchestrator.runs.store.rescoring import ScoredEpisode, rescore
from orchestrator.runs.store.run_folder import RunFolder

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
        """Refuse votes that could be a tie."""
        if not (1 <= self.votes <= MOST_VOTES and self.votes % 2):
            message = (
                f"{self.votes} votes can end in a tie: choose an odd number from 1 to {MOST_VOTES}"
            )
            raise UsageError(message)


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
        heat = self.temperature
        if heat is None and self.votes > 1:
            heat = 1.0
        model = ModelOptions.of(
            self.model, self.url, os.environ, temperature=heat, prices=self.prices
        )
        return JudgeOptions(model=model, votes=self.votes, max_usd=self.max_usd)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSession:
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
    ) -> JudgeSession:
        """Put questions, four at a time, or one where there is a budget.

        `on_judged` is called for each as soon as it is answered. What the model does not answer is
        left out: a missing reply is not a verdict.
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
        return JudgeSession(judgements=tuple(judged), failure=failure)

    def _require_budget(self) -> None:
        limit = self._options.max_usd
        if limit is not None and self._spent_usd >= limit:
            message = f"the judge's budget is spent: ${self._spent_usd:.4f} of ${limit:g}"
            hint = "to judge the rest: arena judge run RUN with a larger --max-usd"
            raise ModelError(message, hint=hint, is_permanent=True)

    def _pay(self, judgement: Judgement) -> ModelError | None:
        """Add the cost of a judgement; return an error if it is unknown and a limit is set."""
        self._spent_usd += judgement.usd or 0.0
        if self._options.max_usd is None or judgement.usd is not None:
            return None
        message = f"--max-usd cannot be enforced: the price of {judgement.model} is unknown"
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
            replies.append(split_thinking(said.text).reply)
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
    session: JudgeSession
    changed: tuple[ScoredEpisode, ...]


async def judge_run(
    folder: RunFolder,
    judge: Judge,
    *,
    scorers: tuple[Scorer, ...] = (),
    anew: bool = False,
    on_judged: Callable[[int, int], None],
) -> JudgedRun:
    """Put the questions of a run's finished episodes to a judge, and write outcomes down anew.

    Args:
        scorers: whose questions are put too.
        anew: also what was answered before; the later reply counts.
    """
    before = () if anew else read_judgements(folder.path)
    known = replies_of(before)
    scored = rescore(folder)
    wanted = {one.key: one for episode in scored for one in _questions(episode, scorers)}
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


def _questions(episode: ScoredEpisode, scorers: tuple[Scorer, ...]) -> Iterator[JudgeQuestion]:
    yield from judge_questions(episode.task.checks, episode.evidence)
    original = episode.task.original
    if original is not None:
        for scorer in scorers:
            if original.format in scorer.formats:
                yield from scorer.questions(original, episode.evidence)


def _write_outcomes(folder: RunFolder) -> tuple[ScoredEpisode, ...]:
    """Bring the ledger in step with the scores, and return what changed."""
    changed = tuple(episode for episode in rescore(folder) if not episode.is_same)
    if not changed:
        return ()
    with folder.writing() as ledger:
        numbers = {attempt.folder: attempt.number for attempt in ledger.finished()}
        for episode in changed:
            outcome = str(episode.score.outcome)
            ledger.end(episode.key, numbers[episode.folder], AttemptState.FINISHED, outcome)
    return changed
