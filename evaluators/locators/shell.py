"""`by: shell`: what a command finds in a replica."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import ClassVar, Final, Literal, assert_never

from pydantic import Field

from arena_core.errors import TaskError
from evaluators.episode_view import EpisodeView
from evaluators.lint import LintContext, Problem, site_problems, unanswered
from evaluators.locators.base import Found, LookingLocator, Need, Subject
from evaluators.matchers.base import Matcher
from sites.upstreams import shell_fault

_NOT_FOUND: Final = 1


class ShellPart(StrEnum):
    """What of a command is yielded: its `output` as one text, its `lines`, its `exit_code`."""

    OUTPUT = "output"
    LINES = "lines"
    EXIT_CODE = "exit_code"


class ShellLocator(LookingLocator):
    """Yields what a command prints in a site's replica, run by the image's own user.

    It looks last of all that looks at sites, and only to read: a command that changes the replica's
    state leaves the check without a verdict. A command that ends with 1 and prints nothing, as
    `grep` and `test` do, found nothing; any other exit code but 0 leaves no verdict either. There
    is no replica behind a live site: a task that runs online limits the check by `worlds`.

    Attributes:
        command: for `sh -c`; what it prints beyond 64 KiB is too much to read.
        read: what is yielded; with `exit_code` every code is an answer.
        seconds: how long it may take.
    """

    subject: ClassVar[Subject] = Subject.STATE

    by: Literal["shell"] = "shell"
    site: str
    command: str = Field(min_length=1, max_length=10_000)
    read: ShellPart = ShellPart.OUTPUT
    seconds: int = Field(default=10, ge=1, le=60)

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({Need.SHELL})

    def requirement_fault(self) -> str:
        """Say that what the agent finds must not be touched before."""
        return "a command could change what the agent finds: require by page, db or api"

    async def look(self, episode: EpisodeView) -> Found:
        done = await episode.shell(self.site, self.command, self.seconds)
        if self.read is ShellPart.EXIT_CODE:
            return Found((str(done.exit_code),))
        if done.exit_code == _NOT_FOUND and not (done.output or done.errors):
            return Found(())
        if done.exit_code != 0:
            said = " ".join((done.errors or done.output).split())[:200] or "nothing"
            raise TaskError(f"the command in '{self.site}' ended with {done.exit_code}: {said}")
        match self.read:
            case ShellPart.OUTPUT:
                return Found((done.output,))
            case ShellPart.LINES:
                return Found(tuple(done.output.splitlines()))
            case _:
                assert_never(self.read)

    def absence(self) -> str:
        return f"the command found nothing in {self.site}"

    def lint(self, matcher: Matcher, known: LintContext) -> Iterator[Problem]:  # noqa: ARG002 - any matcher will do
        yield from site_problems(known, self.site)
        yield from unanswered(known, self.site, shell_fault)
