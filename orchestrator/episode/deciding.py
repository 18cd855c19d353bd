"""Asking an agent: what goes wrong in its own code is its crash, and no bug of Arena's."""

from __future__ import annotations

from typing import get_args

from arena_core.actions import Action
from arena_core.bugs import bug_in_words, is_exhaustion, place_outside, runs_outside
from arena_core.errors import AgentCrashedError, AgentError, ModelError, TaskError
from orchestrator.agent_interface import Agent, AgentMaker, Assignment, Decision, Reference
from orchestrator.model_exchange import ModelExchange
from orchestrator.observation import Observation
from orchestrator.spending import is_cost

_ACTIONS: tuple[type, ...] = get_args(get_args(Action)[0])


def make_episode_agent(maker: AgentMaker, assignment: Assignment, reference: Reference) -> Agent:
    """Make the agent of an episode.

    Raises:
        AgentCrashedError: code from outside raised an exception, one of Arena's own included.
        AgentError: the agent gives up.
        ModelError: its model is unavailable.
        TaskError: the task is none that the agent can play.
    """
    try:
        return maker(assignment, reference)
    except Exception as error:
        is_meant = isinstance(error, (AgentError, ModelError, TaskError)) or is_exhaustion(error)
        if runs_outside(error) and not is_meant:
            raise _crash(error) from error
        raise


async def decide(agent: Agent, observation: Observation) -> Decision:
    """Return what an agent decides.

    An exception of Arena's own agents that is none of Arena's errors is a bug and passes.

    Raises:
        AgentCrashedError: an agent from outside raised an exception, or returned no decision.
        AgentError: the agent gives up.
        ModelError: its model is unavailable.
    """
    if type(agent).__module__.startswith("orchestrator."):
        return await agent.decide(observation)
    try:
        decision: object = await agent.decide(observation)
    except Exception as error:
        if isinstance(error, (AgentError, ModelError)) or is_exhaustion(error):
            raise
        raise _crash(error) from error
    return _valid(decision, agent)


def _valid(decision: object, agent: Agent) -> Decision:
    if not isinstance(decision, Decision):
        raise _refused(agent, f"returned {type(decision).__name__}, not a Decision")
    if not isinstance(decision.action, _ACTIONS):
        raise _refused(agent, f"its action is {type(decision.action).__name__}, not an Action")
    counts: tuple[object, ...] = (decision.input_tokens, decision.output_tokens)
    if not all(isinstance(one, int) and one >= 0 for one in counts):
        raise _refused(agent, "its tokens are not counts")
    if not is_cost(decision.usd):
        raise _refused(agent, "its usd is no cost")
    if not all(isinstance(one, ModelExchange) for one in decision.exchanges):
        raise _refused(agent, "its exchanges are none")
    thought: object = decision.thought
    if not (thought is None or isinstance(thought, str)):
        raise _refused(agent, f"its thought is {type(thought).__name__}, not a text")
    return decision


def _refused(agent: Agent, why: str) -> AgentCrashedError:
    kind = type(agent)
    return AgentCrashedError(f"{kind.__module__}.{kind.__qualname__}.decide: {why}")


def _crash(error: Exception) -> AgentCrashedError:
    return AgentCrashedError(f"{bug_in_words(error)} at {place_outside(error)}")
