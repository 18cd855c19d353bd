"""Orders to a run or a study that another process, or another task of this one, plays."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.runs.control import RunState


class SteersRuns:
    """The part of `arena.runs` that gives orders."""

    async def steer(
        self,
        run: Path | str,
        order: str = "status",
        *,
        episode: str | None = None,
        workers: int | None = None,
        max_usd: float | None = None,
        max_tokens: int | None = None,
    ) -> RunState:
        """Give an order to a run or a study that is played now; what `arena ctl` does.

        Each order but `status` is noted in the run's log and lock, and reports say it.

        Args:
            run: its folder.
            order: `status`; `pause` and `go` hold back episodes that have not begun; `stop` ends
                one after the step under way and leaves it open; `requeue` plays again what was
                stopped or ended unscored; `workers` and `limit` change how many episodes are played
                side by side, and what may be spent on models.
            episode: of `stop`: its name, `offline-TASK-r0`; of a study `RUN/offline-TASK-r0`.
            workers: of `workers`: no more than have room in its budget for replicas.
            max_usd: of `limit`: what the run may spend in all.
            max_tokens: of `limit`: the same in tokens.

        Returns:
            How the run stands then.

        Raises:
            StoreError: it is no folder of a run or a study, or nobody plays it now.
            UsageError: the order makes no sense, or the run refuses it.
        """
        from orchestrator.runs.control import give_order, read_order

        asked = read_order(
            do=order, episode=episode, workers=workers, max_usd=max_usd, max_tokens=max_tokens
        )
        return await give_order(Path(run), asked)

    def watch(self, run: Path | str, *, port: int = 0) -> AbstractAsyncContextManager[str]:
        """Serve a page that shows a run or a study while it is played, until the block ends.

        It is served on loopback; what it asks the run's process, it asks only while it is shown.

        Args:
            run: its folder.
            port: 0 for a free one.

        Returns:
            A context manager; it yields the page's address with its token.

        Raises:
            StoreError: it is no folder of a run or a study.
            PortTakenError: the port is in use.
        """
        from orchestrator.local_pages.watch.desk import watch_page

        return watch_page(Path(run), port)
