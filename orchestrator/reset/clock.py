"""A site's clock is state as well: every reset puts it back to the moment of the manifest."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from arena_core.errors import ImageError

if TYPE_CHECKING:
    from orchestrator.reset.watch import Watch

# The supervisor says the time that it set a moment later.
_SET_WITHIN: Final = timedelta(seconds=1)


async def put_clock_back(watch: Watch) -> None:
    """Put a replica's clock back to where its manifest says that it begins; it runs from there.

    Nothing happens where the clock is the host's, or the image has no supervisor.

    Raises:
        ImageError: the image's clock begins at another moment.
        SiteError: the supervisor is gone, or has no clock.
    """
    replica = watch.replica
    begins = replica.site.clock.begins
    if begins is None or replica.supervisor is None:
        return
    supervision = await watch.supervision()
    shown = await supervision.put_clock_back()
    if not begins <= shown <= begins + _SET_WITHIN:
        message = (
            f"site '{replica.site.name}': its image's clock begins at {shown.isoformat()},"
            f" the manifest's at {begins.isoformat()}"
        )
        raise ImageError(message, hint=f"arena build {replica.site.name} --force")
