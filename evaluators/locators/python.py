"""`by: python`: what a function of the suite's own package finds in the evidence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field, JsonValue

from arena_core.names import offered
from evaluators.check_functions import FUNCTIONS
from evaluators.episode_view import EpisodeView
from evaluators.lint import LintContext, Problem
from evaluators.locators.base import Found, LookingLocator, Need, Subject
from evaluators.matchers.base import Matcher


class PythonLocator(LookingLocator):
    """Yields what a function returns for the evidence of the episode, its end looked at included.

    The function is registered by an installed package (entry-point group `arena.functions`) and
    runs in a process of its own, which has a deadline, no secrets and writes no files. Where it
    raises, does not end, or returns what are no values, the check has no verdict.

    Attributes:
        function: its name in the group.
        arguments: handed to it beside the evidence.
        seconds: how long it may take.
    """

    subject: ClassVar[Subject] = Subject.STATE

    by: Literal["python"] = "python"
    function: str = Field(min_length=1)
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    seconds: int = Field(default=10, ge=1, le=60)

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({Need.EVIDENCE})

    def requirement_fault(self) -> str:
        return "before the agent starts there is no evidence: require by page, db or api"

    async def look(self, episode: EpisodeView) -> Found:
        return Found(await episode.python(self.function, self.arguments, self.seconds))

    def absence(self) -> str:
        return f"the function '{self.function}' found nothing"

    def lint(self, matcher: Matcher, known: LintContext) -> Iterator[Problem]:  # noqa: ARG002 - any matcher will do
        """Yield a function that no installed package registers."""
        if self.function not in FUNCTIONS.names():
            message = f"no installed package registers a function '{self.function}'"
            instead = offered(self.function, FUNCTIONS.names())
            message += f" (entry-point group `{FUNCTIONS.group}`); {instead}"
            yield Problem(("locate", "function"), message)
