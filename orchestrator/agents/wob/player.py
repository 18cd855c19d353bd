"""Plays the rules of one page: an action for each observation, until the rules end."""

from __future__ import annotations

from arena_core.actions import Action
from arena_core.errors import AgentError
from orchestrator.agents.wob.page import Moves, UnsolvedError, WobPage
from orchestrator.agents.wob.rules import RULES
from orchestrator.observation import Observation


class WobPlayer:
    """The rules of a page at work on one episode.

    Args:
        page: its name.
        goal: what the page asks for, in its words.
        seed: what the page draws its problem from, where that is known.
    """

    def __init__(self, page: str, goal: str, seed: int | None = None) -> None:
        self._page = page
        self._goal = goal
        self._seed = seed
        self._moves: Moves | None = None

    def next(self, observation: Observation) -> Action | None:
        """Return the next action; None where the rules have come to their end.

        Raises:
            AgentError: the page has no rules, or they do not fit what it asks for or shows.
        """
        shown = WobPage(self._goal, observation, self._seed)
        try:
            if self._moves is None:
                self._moves = self._begin(shown)
                return next(self._moves)
            return self._moves.send(shown)
        except StopIteration:
            return None
        except (UnsolvedError, LookupError, ValueError) as error:
            message = f"the rules for the page '{self._page}' do not fit: {error}"
            raise AgentError(message) from error
        except RuntimeError as error:  # a generator's way to pass on that a `next` found nothing
            if not isinstance(error.__cause__, StopIteration):
                raise
            message = f"the rules for the page '{self._page}' miss an element they need"
            raise AgentError(message) from error

    def _begin(self, shown: WobPage) -> Moves:
        rules = RULES.get(self._page)
        if rules is None:
            message = f"there are no rules for the page '{self._page}'"
            raise AgentError(message)
        return rules(self._goal, shown)
