"""A Ray cluster as Arena uses it: tasks on nodes that declare `arena-slots`, and their answers.

A task whose node is lost is done elsewhere by Ray, and one whose node is slow by a second copy.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlsplit

from arena_core.errors import PrerequisiteError, UsageError, WorkerProcessError
from arena_core.extras import extra

SLOTS: Final = "arena-slots"
_RETRIES: Final = 3  # of a task whose node is lost
_ANSWERS_WITHIN_S: Final = 10
_LOOKS_EVERY_S: Final = 0.5
_ENDS_WITHIN_S: Final = 90
_SLOW: Final = 2.0  # times as long as the longest that was done
_NEVER_SLOW_S: Final = 30.0
_NOT_SENT: Final = ("/arena-runs/", "/arena-studies/", "/.git/", "/.venv/", "*.shards/")
Answer = dict[str, Any]
Ask = Callable[[Mapping[str, Any]], Answer]


class RayCluster:
    """A connection to a cluster; what is under way there is cancelled when its block ends.

    Membership, scheduling, retries after a lost node and the transport of objects are Ray's. All
    its calls are made in one thread.

    Args:
        address: `auto`, `HOST:PORT`, or `ray://HOST:PORT` of Ray's client.
        send: Ray sends the working folder to the nodes.
        on_note: is told of what is done a second time, and what is dropped.
    """

    def __init__(
        self, address: str, *, send: bool = False, on_note: Callable[[str], object] = str
    ) -> None:
        self._ray = extra("ray", "ray", needed_by="--ray")
        self._address, self._send = address, send
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ray")
        self._pending: dict[Any, int] = {}
        self._dropped: list[Any] = []
        self._on_note = on_note

    async def __aenter__(self) -> Self:
        try:
            await self._do(self._connect)
        except BaseException:
            self._thread.shutdown(wait=False)
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await asyncio.shield(self._do(self._disconnect))
        finally:
            self._thread.shutdown(wait=False)

    async def slots(self) -> int:
        """Return how many shards the nodes play side by side.

        Raises:
            PrerequisiteError: no node declares a slot.
        """
        slots: int = await self._do(self._count_slots)
        if slots < 1:
            message = f"no node of the Ray cluster at {self._address} declares {SLOTS}"
            hint = f"start each with: ray start … --resources '{{\"{SLOTS}\": 1}}'"
            raise PrerequisiteError(message, hint=hint)
        return slots

    async def answers(
        self, ask: Ask, orders: Mapping[int, Mapping[str, Any]], *, twice: bool = False
    ) -> AsyncIterator[tuple[int, Answer]]:
        """Have nodes do tasks, and yield the answers as they come, one at a time.

        A node that is lost has its task done elsewhere, and no answer of its own. With `twice`, so
        has a slow one: of both the first answer counts, and the other is dropped.

        Raises:
            WorkerProcessError: a task was not done, however often it was tried.
        """
        await self._do(self._submit, ask, orders)
        longest, idle_since = 0.0, time.monotonic()
        while self._pending:
            for reference in await self._do(self._ready):
                number = self._pending.pop(reference, None)
                if number is None:
                    continue  # the other of two was first
                try:
                    answer = await self._do(self._ray.get, reference)
                except self._ray.exceptions.RayError as cause:
                    said = (str(cause).strip().splitlines() or [type(cause).__name__])[-1]
                    message = f"task {number} of {len(orders)} was not done: {said}"
                    hint = "is the same Arena on every node, and was none lost again and again?"
                    raise WorkerProcessError(message, hint=hint) from cause
                await self._do(self._drop, number)
                longest = max(longest, float(answer.get("seconds", 0.0)))
                yield number, answer
            if len(self._pending) >= await self._do(self._count_slots):
                idle_since = time.monotonic()
            patience = max(_NEVER_SLOW_S, _SLOW * longest)
            if twice and longest and time.monotonic() - idle_since > patience:
                twice = False
                slow = {number: orders[number] for number in self._pending.values()}
                for number in slow:
                    self._on_note(f"task {number} of {len(orders)} is slow: a second node does it")
                await self._do(self._submit, ask, slow)

    async def _do(self, call: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call, *arguments)

    def _connect(self) -> None:
        _require_answering(self._address)
        sent = {"working_dir": str(Path.cwd()), "excludes": list(_NOT_SENT)}
        try:
            self._ray.init(
                address=self._address,
                log_to_driver=False,
                logging_level=logging.ERROR,
                runtime_env=sent if self._send else None,
            )
        except (ConnectionError, RuntimeError, ValueError, TimeoutError, ImportError) as cause:
            said = (str(cause).strip().splitlines() or [type(cause).__name__])[0]
            message = f"no Ray cluster can be used at {self._address}: {said}"
            hint = "run this on one of its nodes, or name ray://HOST:10001"
            raise PrerequisiteError(message, hint=hint) from cause

    def _count_slots(self) -> int:
        resources: Mapping[str, float] = self._ray.cluster_resources()
        return int(resources.get(SLOTS, 0.0))

    def _submit(self, ask: Ask, orders: Mapping[int, Mapping[str, Any]]) -> None:
        task = self._ray.remote(ask).options(
            num_cpus=0, resources={SLOTS: 1}, max_retries=_RETRIES, name="arena"
        )
        self._pending |= {task.remote(order): number for number, order in orders.items()}

    def _drop(self, number: int) -> None:
        """Drop the other one of a task that was done by one of two nodes."""
        for reference in [one for one, of in self._pending.items() if of == number]:
            del self._pending[reference]
            self._dropped.append(reference)
            self._ray.cancel(reference)
            self._on_note(f"task {number} was done by two nodes: the slower one is dropped")

    def _ready(self) -> list[Any]:
        # Answers stay where they are until one is read: never more here than is written down.
        ready, _ = self._ray.wait(list(self._pending), timeout=_LOOKS_EVERY_S, fetch_local=False)
        return list(ready)

    def _disconnect(self) -> None:
        for reference in self._pending:
            self._ray.cancel(reference)
        pending = [*self._pending, *self._dropped]
        if pending:  # players take their containers down
            self._ray.wait(
                pending, num_returns=len(pending), timeout=_ENDS_WITHIN_S, fetch_local=False
            )
        self._ray.shutdown()


def _require_answering(address: str) -> None:
    """Refuse an address where nothing listens, for which Ray would look for minutes."""
    if address == "auto":
        return
    parts = urlsplit(address if "://" in address else f"//{address}")
    try:
        place = parts.hostname, parts.port
    except ValueError:
        place = None, None
    if None in place or parts.scheme not in {"", "ray"}:
        message = f"'{address}' is no address of a Ray cluster"
        raise UsageError(message, hint="auto, HOST:PORT such as 10.0.0.1:6379, or ray://HOST:10001")
    try:
        socket.create_connection(place, _ANSWERS_WITHIN_S).close()
    except OSError as cause:
        message = f"no Ray cluster answers at {address}: {cause.strerror or cause}"
        raise PrerequisiteError(message, hint="ray status says whether one runs") from cause
