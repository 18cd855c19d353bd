"""Which JavaScript contexts a client's session has, without those of Arena."""

from __future__ import annotations

from typing import Any, Final

from orchestrator.browser.watcher import WORLD

_NAMING: Final = ("executionContextId", "contextId")


class Worlds:
    """The contexts of one session, by the browser's own events.

    Attributes:
        is_watched: the events come: the client asked for them, or the front did.
        is_told: the client asked for them.
    """

    def __init__(self) -> None:
        self.is_watched = False
        self.is_told = False
        self._open: dict[int, dict[str, Any]] = {}
        self._hidden: set[int] = set()
        self._former: set[int | str] = set()

    @property
    def former_contexts(self) -> frozenset[int | str]:
        """What is gone of both, such as with a page that was left: clients let go of it late."""
        return frozenset(self._former - self._hidden)

    @property
    def contexts(self) -> frozenset[int]:
        """The contexts that are not Arena's."""
        return frozenset(self._open)

    @property
    def unique_contexts(self) -> frozenset[str]:
        """The same by their other ids."""
        return frozenset(one["context"].get("uniqueId", "") for one in self._open.values())

    def told(self) -> list[dict[str, Any]]:
        """Return the events that a client which asks only now has missed."""
        self.is_told = True
        return list(self._open.values())

    def shows(self, method: str, params: dict[str, Any]) -> bool:
        """Follow an event of `Runtime`; whether the client may see it."""
        match method:
            case "Runtime.executionContextCreated":
                context = params["context"]
                if context["name"] == WORLD:
                    self._hidden.add(context["id"])
                    return False
                self._open[context["id"]] = params
            case "Runtime.executionContextDestroyed":
                gone = params["executionContextId"]
                if gone in self._hidden:
                    self._hidden.discard(gone)
                    return False
                self._close(gone)
            case "Runtime.executionContextsCleared":
                for gone in tuple(self._open):
                    self._close(gone)
                self._hidden.clear()
            case _:
                if self._is_of_arena(params):
                    return False
        return self.is_told

    def _close(self, context: int) -> None:
        known = self._open.pop(context, None)
        if known is not None:
            self._former |= {context, known["context"].get("uniqueId", "")}

    def _is_of_arena(self, params: dict[str, Any]) -> bool:
        details = params.get("exceptionDetails", {})
        named = {params.get(key) for key in _NAMING} | {details.get(key) for key in _NAMING}
        return not self._hidden.isdisjoint(named)
