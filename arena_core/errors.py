"""The one tree of errors, with an exit code each.

It lives in the lowest package, so that every package may raise from it::

    ArenaError                    1
    ├── UsageError                2   bad option or argument on the command line
    ├── InputError                3   a file that a person wrote is wrong: file, line, field
    │   ├── ManifestError         4
    │   ├── TaskError             5
    │   │   └── GivenError        7   what a task sets up cannot be done on its sites
    │   └── UnknownNameError      6   a site, task, suite, role or agent that does not exist
    ├── PrerequisiteError        10   something is missing on this machine
    │   ├── EngineMissingError   11   no Docker engine answers
    │   ├── BrowserMissingError  12   no Chromium
    │   ├── PluginError          13   an installed plug-in is broken, or two have one name
    │   └── NodeDiffersError     14   this machine has other images than another node of a run
    ├── ImageError               20   an image could not be built, pulled or sealed
    │   └── NotAllBuiltError     21   some of several images could not be built; the others are
    ├── SiteError                30   a site's container does not do what its manifest says
    │   ├── UnhealthyError       31   it did not become healthy in time
    │   ├── LoginError           32   a role could not log in, or was not recognised afterwards
    │   ├── ResetError           33   a reset did not lead back to golden
    │   ├── SiteGoneError        34   the container died or was removed
    │   ├── DatabaseError        35   a read-only query failed
    │   ├── LeaseError           36   no slot was ready in time, or one was held too long
    │   └── ApiError             37   an API or page did not answer a check as it should
    ├── EngineError              40   the engine refused or broke off an operation
    │   ├── PortTakenError       41
    │   └── DiskFullError        42
    ├── StateError               45   a state could not be taken, read or gone back to
    │   └── ForkError            46   what a recorded episode did leads elsewhere now
    ├── GatewayError             50   the forward proxy could not start or route
    ├── BrowserError             60   the browser crashed or does not answer
    │   └── PageSilentError      61   a page does not answer; whether the browser does is unknown
    ├── ModelError               70   the model endpoint refused, stalled or answered garbage
    │   ├── ContextExceededError 72   a prompt is longer than the model's context window
    │   ├── ReplayMissError      74   an agent asks what the run that is replayed never asked
    │   └── BudgetSpentError     75   a study's budget for models is spent before it is done
    ├── AgentError               71   an agent gave up
    │   └── AgentCrashedError    73   an agent's own code raised an exception
    ├── StoreError               80   a run folder cannot be read or written
    │   └── FormatError          81   another version of Arena wrote it, in a format unknown here
    ├── VerificationError        82   a study's folder, or a baseline, is not what was written down
    ├── NothingScoredError       90   none of a run's episodes, or too few, could be scored
    ├── WorkerProcessError       91   a process that was to score episodes died
    ├── RepeatedFaultError       92   episode after episode broke off at once, for one reason
    ├── InternalError            99   a bug of Arena's: an exception that no code expected
    └── InterruptedRunError     130   the user pressed Ctrl-C

A message says what failed, on what, the evidence, and the next step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

_LONGEST: Final = 1500  # characters of a message, which may quote what a file or a page said


class ArenaError(Exception):
    """Anything Arena reports to a person in one clear line instead of a traceback.

    Attributes:
        exit_code: what the process exits with when this error ends a command.
        hint: the next step, shown on a line of its own; empty when the message says it.
        quotes_lines: its messages end with lines of a log. In all others a line end is what a file
            or a page said, and is written out.
    """

    exit_code: ClassVar[int] = 1
    quotes_lines: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        if not self.quotes_lines:
            message = str(message).replace("\n", "\\n")  # agents raise what they like
            message = message if len(message) <= _LONGEST else f"{message[: _LONGEST - 2]} …"
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(ArenaError):
    """A command was called with options that contradict each other or make no sense."""

    exit_code = 2


class InputError(ArenaError):
    """A file that a person wrote is wrong."""

    exit_code = 3


class ManifestError(InputError):
    """A site's manifest is wrong."""

    exit_code = 4


class TaskError(InputError):
    """A suite or one of its tasks is wrong."""

    exit_code = 5


class GivenError(TaskError):
    """What a task sets up before it begins could not be done on its sites."""

    exit_code = 7


class UnknownNameError(InputError):
    """A site, task, suite, role or agent of that name does not exist."""

    exit_code = 6


class PrerequisiteError(ArenaError):
    """Something that Arena needs is missing on this machine."""

    exit_code = 10


class EngineMissingError(PrerequisiteError):
    """No Docker engine answers."""

    exit_code = 11


class BrowserMissingError(PrerequisiteError):
    """No Chromium was found."""

    exit_code = 12


class PluginError(PrerequisiteError):
    """An installed plug-in cannot be used, or two of them have one name."""

    exit_code = 13


class NodeDiffersError(PrerequisiteError):
    """This machine has other images, or other golden states, than another node has."""

    exit_code = 14


class ImageError(ArenaError):
    """An image could not be built, pulled or sealed."""

    exit_code = 20
    quotes_lines = True


class NotAllBuiltError(ImageError):
    """Some of several images could not be built; the others are.

    Attributes:
        results: what became of each, as `arena.sites.build` returns them.
    """

    exit_code = 21

    def __init__(self, message: str, *, hint: str = "", results: Sequence[object] = ()) -> None:
        super().__init__(message, hint=hint)
        self.results = tuple(results)


class SiteError(ArenaError):
    """A site's container does not do what its manifest says."""

    exit_code = 30
    quotes_lines = True


class UnhealthyError(SiteError):
    """A replica did not become healthy in time."""

    exit_code = 31


class LoginError(SiteError):
    """A role could not log in, or the site did not recognise it afterwards.

    Attributes:
        site: where; empty where no single site is meant.
        is_unanswered: the site did not answer at all.
    """

    exit_code = 32

    def __init__(
        self, message: str, *, hint: str = "", site: str = "", is_unanswered: bool = False
    ) -> None:
        super().__init__(message, hint=hint)
        self.site = site
        self.is_unanswered = is_unanswered


class ResetError(SiteError):
    """A reset did not lead back to golden."""

    exit_code = 33


class SiteGoneError(SiteError):
    """A replica's container died or was removed, or a live origin does not answer.

    Attributes:
        live_site: the site whose live origin does not answer; None where a container is gone.
    """

    exit_code = 34

    def __init__(self, message: str, *, hint: str = "", live_site: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.live_site = live_site


class DatabaseError(SiteError):
    """A read-only query on a replica's database failed."""

    exit_code = 35


class LeaseError(SiteError):
    """No slot of replicas was ready in time, or an episode held one too long."""

    exit_code = 36


class ApiError(SiteError):
    """A site's API, or a page read by HTTP, did not answer a check as it should."""

    exit_code = 37


class EngineError(ArenaError):
    """The Docker engine refused or broke off an operation."""

    exit_code = 40


class PortTakenError(EngineError):
    """A host port is in use already."""

    exit_code = 41


class DiskFullError(EngineError):
    """The disk is full."""

    exit_code = 42


class StateError(ArenaError):
    """A state could not be taken, read or gone back to; the site goes on as it is."""

    exit_code = 45


class ForkError(StateError):
    """What a recorded episode did leads elsewhere now, so nothing goes on from there."""

    exit_code = 46


class GatewayError(ArenaError):
    """The gateway could not start or route."""

    exit_code = 50


class BrowserError(ArenaError):
    """The browser crashed or does not answer."""

    exit_code = 60


class PageSilentError(BrowserError):
    """A page does not answer; whether the browser does is another question."""

    exit_code = 61


class ModelError(ArenaError):
    """The model endpoint refused, stalled or answered garbage.

    Attributes:
        is_permanent: asking again cannot help until a person fixes it (key, URL, model); it ends
            the run. Any other leaves the episode unscored.
    """

    exit_code = 70

    def __init__(self, message: str, *, hint: str = "", is_permanent: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.is_permanent = is_permanent


class ContextExceededError(ModelError):
    """A prompt is longer than the model's context window: the agent's matter, who wrote it."""

    exit_code = 72


class ReplayMissError(ModelError):
    """A run is replayed, and the agent asks its model what that run never asked."""

    exit_code = 74


class BudgetSpentError(ModelError):
    """What a study may spend on models is spent before it is done."""

    exit_code = 75


class AgentError(ArenaError):
    """An agent gave up for a reason of its own."""

    exit_code = 71


class AgentCrashedError(AgentError):
    """The code of an agent that is not Arena's own raised an exception."""

    exit_code = 73


class StoreError(ArenaError):
    """A run folder cannot be read or written."""

    exit_code = 80


class FormatError(StoreError):
    """A run's file has a format that this Arena does not read: a newer one's, or too old a one."""

    exit_code = 81


class VerificationError(ArenaError):
    """Something in a study's folder, or a baseline, is not as it was written down."""

    exit_code = 82


class NothingScoredError(ArenaError):
    """A run was played to its end, and none of its episodes, or too few, could be scored."""

    exit_code = 90


class WorkerProcessError(ArenaError):
    """A process that worked for this one, as on the scores of episodes, died or does not reply."""

    exit_code = 91


class RepeatedFaultError(ArenaError):
    """Episode after episode broke off at once, for one reason; they are still to be played."""

    exit_code = 92


class InternalError(ArenaError):
    """A bug of Arena's ended a command, or episodes of a run."""

    exit_code = 99


class InterruptedRunError(ArenaError):
    """The user interrupted a run; what had finished is kept."""

    exit_code = 130
