"""What the ladder must know of a way back to golden."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from orchestrator.engine.engine import Engine
    from orchestrator.reset.watch import Watch


class Rung(Protocol):
    """One way back to golden.

    It proves nothing itself: the ladder does, in the same way for all.
    """

    @property
    def name(self) -> str:
        """The strategy as receipts and the command line call it."""

    @property
    def needs(self) -> str:
        """What must hold for it to apply, for the message where it does not."""

    @property
    def touches(self) -> bool:
        """Whether it changes the replica; one that failed then is not fit to be kept."""

    def applies(self, watch: Watch, *, wrote: bool) -> bool:
        """Whether this rung may be tried.

        Args:
            watch: over the replica that is to be reset.
            wrote: whether a request that may write was seen since it was golden.
        """

    async def restore(self, engine: Engine, watch: Watch) -> Watch:
        """Restore, and return the watch over the replica that serves now: the same or another.

        Raises:
            SiteError, EngineError: it could not; the next rung is tried.
        """
