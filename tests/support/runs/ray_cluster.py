"""A Ray cluster for tests that need neither Ray nor a node."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Self

from arena_core.errors import ArenaError
from orchestrator.runs.packed import pack


class Nodes:
    """Stands for a cluster: answers each shard with one that was played before, or an error.

    Attributes:
        orders: what was asked for, in order.
    """

    def __init__(self, shards: Mapping[int, Path], failing: Mapping[int, ArenaError]) -> None:
        self.orders: list[Mapping[str, Any]] = []
        self._shards, self._failing = shards, failing

    def __call__(self, *_: object, **__: object) -> Nodes:
        return self

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def slots(self) -> int:
        return 2

    async def answers(
        self, _: object, orders: Mapping[int, Mapping[str, Any]], **__: object
    ) -> AsyncIterator[tuple[int, dict[str, Any]]]:
        for number, order in orders.items():
            self.orders.append(order)
            error = self._failing.get(number)
            if "shard" not in order["spec"]:
                yield (
                    number,
                    {
                        "node": "n1",
                        "images": {"arena/wiki:1": "sha256:1"},
                        "goldens": {"arena/wiki:1": "g"},
                    },
                )
            elif error is None:
                yield number, {"node": "n1", "packed": pack(self._shards[number])}
            else:
                said = {"code": error.exit_code, "message": error.message, "hint": error.hint}
                yield number, {"node": "n2", **said}
