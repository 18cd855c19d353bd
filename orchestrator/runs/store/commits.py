"""Transactions of a ledger: one for each write, or for all that a turn of the event loop writes.

A commit waits for the disk. Where hundreds of episodes begin and end side by side, it is what a run
waits for most.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
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
        """Return when all that was written is on the disk; errors are those of `write`."""
        if self._waiting is not None:
            await asyncio.shield(self._waiting)
        self._require_whole()

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
