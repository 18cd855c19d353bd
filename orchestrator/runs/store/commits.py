"""Transactions of a ledger: one for each write, or for all that a turn of the event loop writes.

A commit waits for the disk. Where hundreds of episodes begin and end side by side, it is what a run
waits for most.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_ONE = "of_one_write"


class Commits:
    """Writes whole or not at all; what is gathered is on the disk after `saved`.

    Where a commit of what was gathered fails, every later write fails too: nobody may have waited
    for what was lost.

    Attributes:
        gathers: whether a write waits for the end of the loop's turn.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.gathers = False
        self._connection = connection
        self._waiting: asyncio.Future[None] | None = None
        self._lost: sqlite3.Error | None = None
        self._untold: Exception | None = None

    @contextmanager
    def write(self, *, at_once: bool = False) -> Iterator[None]:
        """Write what the block does; `at_once` with all that was gathered before it.

        Raises:
            sqlite3.Error: this, or what was gathered before, could not be written.
        """
        self._require_whole()
        connection = self._connection
        if not connection.in_transaction:
            connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"SAVEPOINT {_ONE}")
        try:
            yield
        except BaseException as error:
            self._undo(error)
            raise
        connection.execute(f"RELEASE {_ONE}")
        if at_once or not self.gathers:
            self.commit()
        elif self._waiting is None:
            loop = asyncio.get_running_loop()
            self._waiting = loop.create_future()
            self._waiting.add_done_callback(lambda done: done.exception())
            loop.call_soon(self._commit_in_turn)

    async def saved(self) -> None:
        """Return when all that was written is on the disk, and what waited for it is told.

        Errors are those of `write` and of what was told.
        """
        if self._waiting is not None:
            await asyncio.shield(self._waiting)
        self._require_whole()
        if self._untold is not None:
            raise self._untold

    def when_saved(self, tell: Callable[[], None]) -> None:
        """Call once all that was written is on the disk: at once where it is, never where it fails.

        A process that is killed must not have announced what its ledger does not know. What the
        call raises later is raised by `saved`.
        """
        self._require_whole()
        if self._waiting is None:
            tell()
            return

        def told(waited: asyncio.Future[None]) -> None:
            if waited.exception() is not None:
                return
            try:
                tell()
            except Exception as error:  # noqa: BLE001  whoever waits for the disk gets it
                self._untold = error

        self._waiting.add_done_callback(told)

    def commit(self) -> None:
        """Bring what was gathered to the disk now; errors are those of `write`."""
        waiting, self._waiting = self._waiting, None
        try:
            self._connection.commit()
        except sqlite3.Error as error:
            self._connection.rollback()
            self._lose(waiting, error)
            raise
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    def _commit_in_turn(self) -> None:
        try:
            self.commit()
        except sqlite3.Error:
            return  # said to whoever waits, and by every later write

    def _undo(self, error: BaseException) -> None:
        """Undo one write; a full disk has undone all that was gathered with it."""
        connection = self._connection
        if not connection.in_transaction:
            waiting, self._waiting = self._waiting, None
            self._lose(waiting, error)
            return
        connection.execute(f"ROLLBACK TO {_ONE}")
        connection.execute(f"RELEASE {_ONE}")
        if self._waiting is None:
            connection.rollback()

    def _lose(self, waiting: asyncio.Future[None] | None, error: BaseException) -> None:
        if waiting is None or not isinstance(error, sqlite3.Error):
            return
        self._lost = error
        if not waiting.done():
            waiting.set_exception(error)

    def _require_whole(self) -> None:
        if self._lost is not None:
            raise self._lost
