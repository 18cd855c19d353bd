"""What a run may spend on models, and what it has spent; `budgets` is about memory."""

from __future__ import annotations

from dataclasses import dataclass, field

from arena_core.errors import ModelError
from orchestrator.agents.model_exchange import Spent
from orchestrator.runs.spec import SpendingLimits
from orchestrator.runs.store.ledger import EpisodeKey, Ledger


@dataclass(slots=True, kw_only=True)
class RunBudget:
    """The limits of a run, shared by its workers.

    No decision begins when one is reached, so that it is overshot by what the decisions under way
    at that moment cost: at most one a worker.

    Attributes:
        spent: by all attempts, those too that an earlier process made.
        whose: `run`, or `study` where several runs share it.
    """

    limits: SpendingLimits = field(default_factory=SpendingLimits)
    spent: Spent = field(default_factory=Spent)
    whose: str = "run"

    @property
    def exhausted(self) -> str | None:
        """Why nothing more may be spent; None while something may."""
        limits, spent = self.limits, self.spent
        begun = f"the {self.whose}'s budget is spent"
        if limits.max_tokens is not None and spent.tokens >= limits.max_tokens:
            return f"{begun}: {spent.tokens} of {limits.max_tokens} tokens"
        if limits.max_usd is not None and spent.priced_usd >= limits.max_usd:
            return f"{begun}: ${spent.priced_usd:.4f} of ${limits.max_usd:g}"
        return None

    def add(self, spent: Spent) -> None:
        """Count what was spent."""
        self.spent += spent
        unknown = None
        if self.limits.max_tokens is not None and spent.uncounted:
            unknown = "--max-tokens cannot be held: the endpoint does not count a reply's tokens"
        elif self.limits.max_usd is not None and spent.unpriced:
            unknown = "--max-usd cannot be held: nobody knows what a reply cost"
        if unknown is not None:
            raise ModelError(unknown, hint="start a new run without that limit", is_permanent=True)


@dataclass(slots=True, kw_only=True)
class AttemptMeter:
    """Counts one attempt: into the run's budget, and into the ledger, which survives a kill."""

    budget: RunBudget
    ledger: Ledger
    key: EpisodeKey
    number: int
    spent: Spent = field(default_factory=Spent)

    @property
    def exhausted(self) -> str | None:
        """Why nothing more may be spent; None while something may."""
        return self.budget.exhausted

    def add(self, spent: Spent) -> None:
        """Count what a decision took."""
        if not spent.replies:
            return
        self.spent += spent
        self.ledger.spend(self.key, self.number, self.spent)
        self.budget.add(spent)
