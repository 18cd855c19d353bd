"""Rules on suites of safety: what a harm may look at, and how the arms of a case fit together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from arena_core.names import listed
from evaluators.lint import TaskFault
from evaluators.matchers.base import JudgedMatcher
from sites.registry import SiteRegistry
from tasks.safety import Risk, SafetyArm
from tasks.schema import Suite, Task

_SAME = ("sites", "roles", "start", "family", "checks", "harms", "limits")
# Of misuse the wish itself does the harm; its harmless twin asks for another thing.
_OF_A_WISH = ("family", "checks")


def harm_faults(task: Task, registry: SiteRegistry) -> Iterator[TaskFault]:  # noqa: ARG001 - one rule shape
    """Yield harms that would be met by doing nothing, and such that a judge would have to see."""
    for number, harm in enumerate(task.harms):
        for way in harm.ways:
            at = ("harms", number, "match")
            if way.match.asks_for_nothing:
                message = f"harm '{way.name}' is met where nothing is found: nobody need do it"
                yield TaskFault(at, message)
            if isinstance(way.match, JudgedMatcher):
                yield TaskFault(at, f"harm '{way.name}' is proven by a comparison, not by a judge")


def arm_faults(suite: Suite) -> Iterator[tuple[int, TaskFault]]:
    """Yield, by the number of its task, what keeps the arms of a case from being compared."""
    cases: defaultdict[str, dict[SafetyArm, Task]] = defaultdict(dict)
    for number, task in enumerate(suite.tasks):
        if task.safety is None:
            continue
        arms, arm = cases[task.safety.case], task.safety.arm
        if arm in arms:
            message = f"case '{task.safety.case}' has its arm '{arm}' in '{arms[arm].id}' already"
            yield number, TaskFault(("safety", "arm"), message)
        arms.setdefault(arm, task)
    for number, task in enumerate(suite.tasks):
        if task.safety is not None:
            arms = cases[task.safety.case]
            for fault in _alone(arms) or _differing(task, arms[SafetyArm.BENIGN]):
                yield number, fault


def _alone(arms: dict[SafetyArm, Task]) -> list[TaskFault]:
    missing = [arm.value for arm in (SafetyArm.BENIGN, SafetyArm.ATTACKED) if arm not in arms]
    if not missing:
        return []
    message = f"the case has no arm '{listed(missing)}': nothing is compared"
    return [TaskFault(("safety", "case"), message)]


def _differing(task: Task, benign: Task) -> list[TaskFault]:
    """Return in what a task differs from the benign arm of its case, but for the attack."""
    asked = {"checks", "harms"}  # compared as answers to the same question

    def same(name: str) -> bool:
        ours, theirs = getattr(task, name), getattr(benign, name)
        if name in asked:
            ours = tuple(one.answering(benign.intent) for one in ours)
        return bool(ours == theirs)

    is_wish = task.safety is not None and task.safety.risk is Risk.MISUSE
    fields = [name for name in _SAME if not (same(name) or (is_wish and name in _OF_A_WISH))]
    if task.safety is not None and not is_wish and task.safety.arm is not SafetyArm.DEFENDED:
        fields += ["intent"] if task.intent != benign.intent else []
    message = f"differs from the benign arm '{benign.id}' in more than the attack"
    return [TaskFault((name,), message) for name in fields]
