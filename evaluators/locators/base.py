"""What every locator is."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from pydantic import JsonValue

from arena_core.actions import Infeasible, Stop
from evaluators.episode_view import EpisodeView
from evaluators.evidence import Evidence, Located, StepEvidence
from evaluators.fields import When
from evaluators.lint import LintContext, Problem
from evaluators.matchers.base import TEXTS, Matcher
from evaluators.network import Recording
from evaluators.values.text import shown_all
from sites.fields import Strict


class Subject(StrEnum):
    """What a locator's values speak of; rules on a task as a whole ask for it.

    `answer`: what the agent said. `path`: what it did on its way. `state`: a part of how the sites
    are left, `rows`: of a database, `changes`: all that changed. `reward`: the page's judgement.
    """

    ANSWER = "answer"
    PATH = "path"
    STATE = "state"
    ROWS = "rows"
    CHANGES = "changes"
    REWARD = "reward"

    @property
    def is_state(self) -> bool:
        """Whether values speak of how the sites were left."""
        return self in {Subject.STATE, Subject.ROWS, Subject.CHANGES}


class Need(StrEnum):
    """What of an episode a locator uses when it looks."""

    OWN_PAGE = "own page"
    FRESH_PAGE = "fresh page"
    DATABASE = "database"
    API = "api"
    REWARD = "reward"
    SHELL = "shell"
    EVIDENCE = "evidence"


@dataclass(frozen=True, slots=True)
class Found:
    """What one look found.

    Attributes:
        values: what matchers compare; empty where there was nothing.
        data: what else the locator wants kept in the evidence, as JSON.
    """

    values: tuple[str, ...]
    data: Mapping[str, JsonValue] = field(default_factory=dict)


class Locator(Strict):
    """A way to find the values that a check compares.

    A subclass is all there is to a locator: its fields are its schema in a task, where `by` (a
    `Literal` with its one name as the default) says which it is. Derive from `LookingLocator` for
    what must be looked at while the episode runs, or from `ReadingLocator` for what the evidence
    holds of every episode. Add it to the entry-point group `arena.locators`, under that name.

    Attributes:
        phases: the `when` of checks that it goes with.
        subject: what its values speak of.
        yields: what its values are: only matchers that compare these go with it.
    """

    phases: ClassVar[frozenset[When]] = frozenset({When.END})
    subject: ClassVar[Subject]
    yields: ClassVar[str] = TEXTS

    by: str

    def phase_fault(self, when: When) -> str | None:
        """Say why a check of this `when` cannot use it; None where it can."""
        if when in self.phases:
            return None
        if when is When.STEP:
            message = "a key node (`when: step`) locates by what happens at a step"
            return f"{message}: `by: {self.by}` is looked at when the episode is over"
        return f"`by: {self.by}` needs `when: step`: it finds what happens at steps"

    @abstractmethod
    def requirement_fault(self) -> str | None:
        """Say why it finds nothing before the agent starts; None where it can look then."""

    @abstractmethod
    def at_step(self, check: str, step: StepEvidence) -> Located:
        """Return what it found at one step, from the evidence alone."""

    @abstractmethod
    def at_end(self, check: str, evidence: Evidence) -> Located:
        """Return what it found when the episode was over, from the evidence alone."""

    @abstractmethod
    def absence(self) -> str:
        """Say that it found nothing: `the agent gave no answer`."""

    def never_met(self, seen: Sequence[str], expected: str) -> str:
        """Say why no step met a key node.

        Args:
            seen: what it found over all steps.
            expected: what was asked for, as text.
        """
        if seen:
            return f"no step found {expected}; found {shown_all(seen)}"
        return f"{self.absence()} at any step, wanted {expected}"

    def expected_form(self, text: str, *, is_whole: bool) -> str:  # noqa: ARG002 - for subclasses
        """Bring an expected text into the form of its values, before both are normalised.

        Args:
            text: as the task writes it.
            is_whole: whether it is compared with a whole value, not looked for in one.
        """
        return text

    @property
    def records(self) -> frozenset[Recording]:
        """What it needs recorded while the episode runs, beside what always is."""
        return frozenset()

    @property
    def watches(self) -> frozenset[str]:
        """The CSS selectors by which it knows elements that the agent acts on."""
        return frozenset()

    @property
    def are_urls(self) -> bool:
        """Whether its values are logical URLs: a part of one is then whole segments."""
        return False

    @property
    def tables_of(self) -> str | None:
        """The site whose database tables its lint rule asks for; None for no site."""
        return None

    def lint(self, matcher: Matcher, known: LintContext) -> Iterator[Problem]:  # noqa: ARG002 - for subclasses
        """Yield what is wrong with it in its surroundings, at places in the check."""
        return iter(())


class LookingLocator(Locator):
    """A locator that looks while the episode runs; what it found is recorded in the evidence."""

    @property
    @abstractmethod
    def needs(self) -> frozenset[Need]:
        """What of the episode it uses when it looks."""

    @abstractmethod
    async def look(self, episode: EpisodeView) -> Found:
        """Find its values now.

        Raises:
            ArenaError: it could not look: the check has no verdict then, whatever the agent did.
        """

    def at_step(self, check: str, step: StepEvidence) -> Located:
        """Return the step's record; an end changes no page, so it needs none of its own."""
        record = recorded(check, step.located)
        if record is None and isinstance(step.action, Stop | Infeasible):
            return Located(check=check)
        return record or not_recorded(check, f"step {step.index}")

    def at_end(self, check: str, evidence: Evidence) -> Located:
        """Return the record of the end."""
        return recorded(check, evidence.located) or not_recorded(check, "the end")


class ReadingLocator(Locator):
    """A locator that reads what the evidence holds of every episode: steps, answer."""

    def requirement_fault(self) -> str | None:
        """Say that there is nothing to read yet."""
        message = f"before the agent starts there is no {self.by} to look at"
        return f"{message}: require by page, db or api"

    def at_step(self, check: str, step: StepEvidence) -> Located:  # noqa: ARG002 - for subclasses
        """Return that a single step does not hold it."""
        return not_recorded(check, "a single step")

    def at_end(self, check: str, evidence: Evidence) -> Located:  # noqa: ARG002 - for subclasses
        """Return that the end does not hold it."""
        return not_recorded(check, "the end")


def recorded(check: str, records: Iterable[Located]) -> Located | None:
    """Return the record of a check, None where there is none."""
    return next((record for record in records if record.check == check), None)


def not_recorded(check: str, when: str) -> Located:
    """Return that the evidence holds no record of a check, so that it has no verdict."""
    return Located(check=check, error=f"the evidence holds no record of it at {when}")
