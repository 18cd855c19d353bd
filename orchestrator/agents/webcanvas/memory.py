"""The memory module: the steps that were done, what is to be remembered, what came of the last."""

from __future__ import annotations

from dataclasses import dataclass, field

from orchestrator.agents.webcanvas.planning import Plan


@dataclass(frozen=True, slots=True)
class Done:
    """A step that was done, and what the reward module made of it."""

    thought: str
    description: str
    reflection: str = ""


@dataclass(slots=True)
class Memory:
    """What an agent recalls of its episode.

    A step that failed is no part of the trace: what was wrong with it is the feedback for the next,
    as in WebCanvas, which from two steps on recalls all but shows only the last of one or two.
    """

    trace: list[Done] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    feedback: str = ""
    answer: str | None = None
    _open: Plan | None = None

    def begin(self, plan: Plan) -> None:
        """Note a step that is about to be done."""
        self._open = plan
        if plan.note is not None:
            self.notes.append(plan.note)
        if plan.answer is not None:
            self.answer = plan.answer

    def close(self, error: str | None) -> None:
        """Note what came of the step."""
        plan, self._open = self._open, None
        self.feedback = "" if error is None else f"It failed: {error}"
        if plan is not None and error is None:
            self.trace.append(Done(plan.thought, plan.description))

    def reflect(self, reflection: str) -> None:
        """Note what the reward module says of the last step; the trace has none that failed."""
        if not self.feedback:
            last = self.trace[-1]
            self.trace[-1] = Done(last.thought, last.description, reflection)
        self.feedback = "\n".join(filter(None, [self.feedback, reflection]))

    def trace_text(self) -> str:
        """Return the steps, one a line."""
        lines = [
            f"{number}. {done.description} (because: {done.thought})"
            + (f" → {done.reflection}" if done.reflection else "")
            for number, done in enumerate(self.trace, start=1)
        ]
        return "\n".join(lines) or "nothing yet"
