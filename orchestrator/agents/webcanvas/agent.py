"""Plays a task as WebCanvas's agent does: judge the last step, plan the next, remember both."""

from __future__ import annotations

from typing import Final

from arena_core.actions import Action, Stop
from arena_core.errors import AgentError, UsageError
from orchestrator.agent_interface import Assignment, Decision, Told
from orchestrator.agents.asking import Asking
from orchestrator.agents.model_agent import Shown, model_agent
from orchestrator.agents.prompt_files import filled, prompt_text
from orchestrator.agents.webcanvas.limits import Limits, Rules
from orchestrator.agents.webcanvas.memory import Memory
from orchestrator.agents.webcanvas.planning import NOTHING, Plan, read_plan
from orchestrator.agents.webcanvas.replies import read_object
from orchestrator.agents.webcanvas.reward import Reward, Verdict, reward_rules
from orchestrator.agents.webcanvas.sight import FORMS, Mode, page_text, picture_of, pictures
from orchestrator.grammars.grammar import Misread
from orchestrator.model.client import ModelClient
from orchestrator.model.messages import ChatRole, Message, TextPart
from orchestrator.observation import Observation

_TRIES: Final = 3
_QUOTED: Final = 300


class WebCanvasAgent:
    """Judges, plans and remembers, by up to three questions to its model for each of the two.

    It differs from the published code where that cannot work: what is remembered is shown, typed
    text is typed as it stands, no second model decides what is a search bar, and there is no way
    out to a search engine. It never stops because a key node was met: it is not told.
    """

    def __init__(
        self,
        client: ModelClient,
        assignment: Assignment,
        *,
        seed: int,
        mode: Mode = "dom",
        reward: Reward = "none",
        reward_mode: Mode | None = None,
        rules: Rules = "task",
    ) -> None:
        self._assignment = assignment
        self._mode = mode
        self._reward = reward
        self._reward_mode = reward_mode or mode
        length = assignment.guide.length if assignment.guide else None
        self._limits = Limits(rules, length, has_reward=reward != "none")
        self._memory = Memory()
        self._is_finishing = False
        least = Message(ChatRole.SYSTEM, self._planning_rules(None))
        self._asking = Asking(
            client, seed=seed, least=(least, Message(ChatRole.USER, assignment.intent))
        )

    async def decide(self, observation: Observation) -> Decision:
        """Judge the last step where there is a reward module, and plan the next.

        Raises:
            AgentError: no reply of three holds a possible step, or the prompt is longer than the
                model's context window.
            ModelError: the model cannot be reached, answers garbage or nothing, takes no pictures
                where it is to be shown one, or no prompt at all fits its context window.
        """
        self._memory.close(observation.last_error)
        self._limits.see(observation.url)
        if self._is_finishing or self._limits.is_reached(observation.step):
            return self._end()
        if self._reward != "none" and self._memory.trace:
            await self._judge(observation)
        plan = await self._plan(observation)
        if plan is None:
            return self._asking.decision(NOTHING, "no plan in three replies")
        self._memory.begin(plan)
        return self._asking.decision(self._done(plan, observation), plan.thought)

    def _done(self, plan: Plan, observation: Observation) -> Action:
        """Return what a plan is in the browser; a final answer is given where it ends the episode.

        Where it does not, it is given with the last step that the task allows.
        """
        is_last = observation.step + 1 >= self._assignment.step_limit
        answer = self._memory.answer
        ends = plan.answer is not None and (self._limits.answer_ends or self._is_finishing)
        if ends or (is_last and answer is not None):
            return Stop(answer=answer or None)
        return plan.action

    def _end(self) -> Decision:
        return self._asking.decision(Stop(answer=self._memory.answer or None), "no step is left")

    async def _judge(self, observation: Observation) -> None:
        """Have the last step judged; a reply that cannot be read after three is no judgement."""
        rules = reward_rules(self._assignment, self._reward)
        messages = [Message(ChatRole.SYSTEM, rules), self._step(observation, self._reward_mode)]
        for _ in range(_TRIES):
            said = await self._asking.ask(messages)
            verdict = read_object(said.text, Verdict)
            if isinstance(verdict, Verdict):
                self._memory.reflect(verdict.as_feedback())
                self._is_finishing = verdict.status == "finished"
                return
            messages += _objection(said.text, verdict)

    async def _plan(self, observation: Observation) -> Plan | None:
        """Return the next step; None where three replies hold none and the rules forgive that."""
        messages = [
            Message(ChatRole.SYSTEM, self._planning_rules(observation)),
            self._step(observation, self._mode),
        ]
        last = ""
        for _ in range(_TRIES):
            said = await self._asking.ask(messages)
            plan = read_plan(said.text, observation)
            if isinstance(plan, Plan):
                return plan
            last = f"{said.text[:_QUOTED]!r}: {plan.why}"
            messages += _objection(said.text, plan)
        if self._limits.forgives_planning:
            return None
        message = f"no possible step in {_TRIES} replies of the model; the last {last}"
        raise AgentError(message)

    def _planning_rules(self, observation: Observation | None) -> str:
        sites = "\n".join(f"- {name}: {url}" for name, url in self._assignment.sites.items())
        if self._mode == "vision":
            picture = observation and picture_of(observation)
            width, height = (picture.width, picture.height) if picture else (0, 0)
            sight = filled(__package__, "sight_vision.txt", width=width, height=height)
        else:
            sight = prompt_text(__package__, f"sight_{self._mode}.txt")
        target = '"position": [200, 120]' if self._mode == "vision" else '"element_id": 12'
        return filled(__package__, "planning.txt", sites=sites, sight=sight, target=target)

    def _step(self, observation: Observation, mode: Mode) -> Message:
        tabs = "\n".join(
            f"- {tab.index}: {tab.title}{' (current)' if tab.is_current else ''}"
            for tab in observation.tabs
        )
        text = filled(
            __package__,
            "step.txt",
            task=self._assignment.intent,
            trace=self._memory.trace_text(),
            notes="\n".join(f"- {note}" for note in self._memory.notes) or "nothing",
            feedback=self._memory.feedback or "nothing to report",
            tabs=tabs,
            url=observation.url,
            page=page_text(observation, mode),
        )
        images = pictures(observation, mode)
        return Message(ChatRole.USER, (TextPart(text), *images) if images else text)


def _objection(said: str, wrong: Misread) -> list[Message]:
    return [
        # Some endpoints refuse an empty message.
        Message(ChatRole.ASSISTANT, said[:_QUOTED] or "(nothing)"),
        Message(ChatRole.USER, f"That cannot be used: {wrong.why}. Reply with one JSON object."),
    ]


def _shown(
    *,
    mode: Mode = "dom",
    reward: Reward = "none",
    reward_mode: Mode | None = None,
    rules: Rules = "task",
) -> Shown:
    """Return what it sees and is told.

    Raises:
        UsageError: `reward_mode` is given without a reward module.
    """
    if reward == "none" and reward_mode is not None:
        message = "--agent-option reward_mode has no effect: there is no reward module"
        raise UsageError(message, hint="add --agent-option reward=self, or reward=golden")
    seen = FORMS[mode] if reward == "none" else FORMS[mode] | FORMS[reward_mode or mode]
    told = {Told.KEY_NODES} if reward == "golden" else set()
    if rules == "code" or (rules == "paper" and reward == "none"):
        told |= {Told.LENGTH}
    return Shown(observations=seen, told=frozenset(told))


WEBCANVAS: Final = model_agent("webcanvas", WebCanvasAgent, shown=_shown)
