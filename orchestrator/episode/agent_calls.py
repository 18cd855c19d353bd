"""ModelSession an agent: what goes wrong in its own code is its crash, and no bug of Arena's."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from arena_core.actions import ACTIONS, Action
from arena_core.bugs import bug_in_words, is_exhaustion, place_outside, runs_outside
from arena_core.errors import AgentCrashedError, AgentError, ModelError, TaskError
from arena_core.foreign import cut, first_fault, storable
from orchestrator.agents.interface import (
    Agent,
    AgentMaker,
    Assignment,
    Decision,
    PastTurn,
    Recalls,
    Reference,
)
from orchestrator.agents.model_exchange import ModelExchange, TokenUsage, is_cost, is_count
from orchestrator.browser.observation import Observation

_ACTION: Final[TypeAdapter[Action]] = TypeAdapter(Action)
_EXCHANGE: Final = TypeAdapter(ModelExchange)
_MOST_REQUEST: Final = 64_000_000  # characters of a prompt
_MOST_SAID: Final = 300
_MEANT: Final = (AgentError, ModelError)


def make_episode_agent(maker: AgentMaker, assignment: Assignment, reference: Reference) -> Agent:
    try:
        return maker(assignment, reference)
    except BaseException as error:
        if _is_from_outside(error, None):
            raise _crash(error) from error
        is_meant = isinstance(error, (*_MEANT, TaskError)) or is_exhaustion(error)
        if isinstance(error, Exception) and runs_outside(error) and not is_meant:
            raise _crash(error) from error
        raise


def recall(agent: Agent, past: Sequence[PastTurn]) -> bool:
    """Tell an agent what was done before it began; False where it takes nothing, or nothing was.

    Only Arena's own are told: a method of that name may be another thing anywhere else.
    """
    is_own = type(agent).__module__.startswith("orchestrator.")
    if not past or not is_own or not isinstance(agent, Recalls):
        return False
    agent.recall(past)
    return True


async def decide(agent: Agent, observation: Observation) -> Decision:
    """Return what an agent decides.

    An exception of Arena's own agents that is not an `ArenaError` is a bug and passes.
    """
    if type(agent).__module__.startswith("orchestrator."):
        return await agent.decide(observation)
    task = asyncio.current_task()
    try:
        answer = await _answer(agent, observation)
    except BaseException as error:
        says_why = isinstance(error, _MEANT) and isinstance(error.message, str)
        is_meant = says_why or is_exhaustion(error)
        if _is_from_outside(error, task) or (isinstance(error, Exception) and not is_meant):
            raise _crash(error) from error
        raise
    return _valid(answer, agent)


async def _answer(agent: Agent, observation: Observation) -> object:
    """Call `decide`, in a thread unless it is a coroutine function: it may wait for a model."""
    choose: Callable[[Observation], object] = agent.decide
    called = partial(choose, observation)
    answer = called() if inspect.iscoroutinefunction(choose) else await _in_thread(called)
    return await answer if inspect.isawaitable(answer) else answer


async def _in_thread(call: Callable[[], object]) -> object:
    """Return what a call returns, in a thread that hinders no exit, should it never return."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[object] = loop.create_future()
    context = contextvars.copy_context()

    def settle(put: Callable[[], None]) -> None:
        if not answer.done():
            put()

    def body() -> None:
        try:
            put = partial(answer.set_result, context.run(call))
        except StopIteration as cause:  # no future holds one; a coroutine makes the same of it
            error = RuntimeError("decide raised StopIteration")
            error.__cause__ = cause
            put = partial(answer.set_exception, error.with_traceback(cause.__traceback__))
        except BaseException as error:  # noqa: BLE001  carried over to the waiting coroutine
            put = partial(answer.set_exception, error)
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, put)

    threading.Thread(target=body, name="arena-agent", daemon=True).start()
    return await answer


def _is_from_outside(error: BaseException, task: asyncio.Task[object] | None) -> bool:
    """Whether an agent itself raised what else ends a whole process, such as `SystemExit`.

    Ctrl-C, a cancellation and the end of the loop come through the agent's code too, and pass.
    """
    match error:
        case Exception():
            return False
        case asyncio.CancelledError():
            return task is not None and not task.cancelling()
        case KeyboardInterrupt():
            # While the loop takes the signal, Ctrl-C raises nothing.
            handler = signal.getsignal(signal.SIGINT)
            return getattr(handler, "__module__", None) == "asyncio.unix_events"
        case GeneratorExit():
            return task is not None and _current_task() is task
        case _:
            return True


def _current_task() -> asyncio.Task[object] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # no loop runs any more
        return None


def _valid(answer: object, agent: Agent) -> Decision:
    """Return a decision whose parts are what they are said to be, and can be written down."""
    decision = Decision(answer) if isinstance(answer, ACTIONS) else answer
    if not isinstance(decision, Decision):
        raise _refused(agent, f"returned {type(answer).__name__}, not a Decision or an action")
    action = decision.action
    if not isinstance(action, ACTIONS):
        raise _refused(agent, f"its action is {type(action).__name__}, not an Action")
    try:
        whole = _ACTION.validate_python(storable(action.model_dump(warnings=False)))
    except (TypeError, ValueError, AttributeError, RecursionError) as cause:
        raise _refused(agent, f"its action cannot be kept: {_in_short(cause)}") from None
    if not (is_count(decision.input_tokens) and is_count(decision.output_tokens)):
        raise _refused(agent, "its tokens are not counts")
    if not is_cost(decision.usd):
        raise _refused(agent, "its usd is not a cost")
    thought: object = decision.thought
    if not (thought is None or isinstance(thought, str)):
        raise _refused(agent, f"its thought is {type(thought).__name__}, not a text")
    if not isinstance(decision.exchanges, tuple):
        raise _refused(agent, "its exchanges are not a tuple of ModelExchange")
    for exchange in decision.exchanges:
        _require_exchange(exchange, agent)
    return replace(decision, action=whole, thought=None if thought is None else cut(thought))


def _require_exchange(exchange: object, agent: Agent) -> None:
    """Refuse an exchange that cannot be written down; it stays the same object, and counts once."""
    if not isinstance(exchange, ModelExchange):
        raise _refused(agent, "its exchanges are not a tuple of ModelExchange")
    try:
        _EXCHANGE.validate_python(asdict(exchange))
        storable(exchange.request, most_chars=_MOST_REQUEST)
    except (TypeError, ValueError, RecursionError) as cause:
        raise _refused(agent, f"its exchange cannot be kept: {_in_short(cause)}") from None
    usage = exchange.usage or TokenUsage()
    if not (is_count(usage.input_tokens) and is_count(usage.output_tokens)):
        raise _refused(agent, "the tokens of its exchange are not counts")
    if not is_cost(exchange.usd):
        raise _refused(agent, "the usd of its exchange is not a cost")
    if any(Path(name).name != name for name in exchange.images):
        raise _refused(agent, "an image of its exchange has a path for a name")


def _in_short(cause: Exception) -> str:
    if isinstance(cause, ValidationError):
        return first_fault(cause)[:_MOST_SAID]
    return bug_in_words(cause)


def _refused(agent: Agent, why: str) -> AgentCrashedError:
    called = agent.decide
    return AgentCrashedError(f"{called.__module__}.{called.__qualname__}: {why}")


def _crash(error: BaseException) -> AgentCrashedError:
    return AgentCrashedError(f"{bug_in_words(error)} at {place_outside(error)}")
