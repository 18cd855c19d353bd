"""When WebArena's runner takes an agent for stuck: it reads nothing sensible, or repeats itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

_OF_AN_ELEMENT: Final = frozenset({"click", "hover", "type"})


@dataclass(frozen=True, slots=True)
class Move:
    """What of an action is compared: of one on an element the element alone, not what is typed."""

    kind: str
    detail: tuple[tuple[str, object], ...] = ()

    @classmethod
    def of(cls, kind: str, fields: Mapping[str, object]) -> Move:
        """Return what of an action counts."""
        named = {"element"} if kind in _OF_AN_ELEMENT else set(fields)
        return cls(kind, tuple(sorted((name, fields[name]) for name in named & set(fields))))


_NOTHING: Final = Move("none")


@dataclass(slots=True)
class EarlyStop:
    """Counts an agent's moves as `early_stop` of WebArena's `run.py` does.

    It stops after `parse_failures` replies in a row without an action; after `repeats` equal moves
    in a row, three scrolls down among them; and after `repeats` times that one element id was typed
    into, at any time and whatever was typed. Ids of different pages may be the same.
    """

    parse_failures: int
    repeats: int
    _moves: list[Move] = field(default_factory=list)

    def note(self, move: Move | None) -> None:
        """Count a move; None for a reply without an action."""
        self._moves.append(_NOTHING if move is None else move)

    def reason(self) -> str | None:
        """Say why the agent is to be stopped now; None where it may go on."""
        if not self._moves:
            return None
        last = self._moves[-1]
        if self._ends_with(_NOTHING, self.parse_failures):
            return f"no action in {self.parse_failures} replies in a row"
        if last.kind == "type":
            typed = self._moves.count(last) >= self.repeats
            return f"typed into the same element {self.repeats} times" if typed else None
        repeated = self._ends_with(last, self.repeats)
        return f"the same action {self.repeats} times in a row" if repeated else None

    def _ends_with(self, move: Move, times: int) -> bool:
        return self._moves[-times:] == [move] * times
