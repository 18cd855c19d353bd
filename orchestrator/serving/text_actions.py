"""Actions as text, in whichever of two grammars a client writes them."""

from __future__ import annotations

from dataclasses import dataclass, field

from arena_core.actions import Action
from orchestrator.grammars.arena_json import ArenaJson
from orchestrator.grammars.browsergym import BrowserGymCalls
from orchestrator.grammars.grammar import Misread
from orchestrator.observation import Observation


@dataclass(frozen=True, slots=True)
class TextActions:
    """Reads calls of BrowserGym (`click('12')`), and Arena's JSON where a text begins with `{`."""

    _json: ArenaJson = field(default_factory=ArenaJson)
    _calls: BrowserGymCalls = field(default_factory=BrowserGymCalls)

    def script(self, said: str, observation: Observation) -> tuple[Action, ...] | Misread:
        """Return all actions that were said, at least one, in the order to play them in."""
        if not said.lstrip().startswith("{"):
            return self._calls.script(said, observation)
        action = self._json.parse(said, observation)
        return action if isinstance(action, Misread) else (action,)
