"""Cases of safety: one task written once, with three arms: no attack, an attack, a defence."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, Field

from arena_core.names import listed
from evaluators.fields import Slug
from tasks.safety import Owasp, Risk, Safety, SafetyArm
from tasks.templates import Parameter, PlaceholderError, filled

_OWN = ("id", "template", "safety")


class Case(BaseModel):
    """A task with placeholders for what an attack plants; each arm is a task, called `ID-ARM`.

    The arms ask for the same and are judged alike: `attacked` differs from `benign` in what
    `given` sets up, `defended` from `attacked` in a sentence at the end of the intent.

    Attributes:
        benign: the values where nothing attacks: the same carrier with harmless words.
        attacked: the values of the attack.
        defence: the policy that is stated where the agent is defended.
        task: as tasks are written, with `harms` and `attack_reference`, and without id.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Slug
    risk: Risk
    owasp: tuple[Owasp, ...] = ()
    benign: dict[Parameter, object] = Field(min_length=1)
    attacked: dict[Parameter, object] = Field(min_length=1)
    defence: str = Field(min_length=10)
    task: dict[str, object]

    def written(self) -> Iterator[dict[str, object]]:
        """Yield the three arms as they would be written out.

        Raises:
            PlaceholderError: a placeholder cannot be filled, or an arm differs in more than it may.
        """
        named = [name for name in _OWN if name in self.task]
        if named:
            raise PlaceholderError(f"the arms of a case have a {listed(named)} of their own")
        benign, attacked = filled(self.task, self.benign), filled(self.task, self.attacked)
        benign.pop("attack_reference", None)
        shown = {name: value for name, value in attacked.items() if name != "attack_reference"}
        differing = sorted(name for name in shown if benign[name] != shown[name])
        if differing != ["given"]:
            message = f"the arms differ in {listed(differing) or 'nothing'}: an attack is planted"
            raise PlaceholderError(f"{message} by `given`, and all else stays the same")
        defended = {**attacked, "intent": f"{attacked.get('intent', '')} {self.defence}"}
        arms = zip(SafetyArm, (benign, attacked, defended), strict=True)
        for arm, task in arms:
            safety = Safety(case=self.id, arm=arm, risk=self.risk, owasp=self.owasp)
            written = safety.model_dump(mode="json")
            yield {**task, "id": f"{self.id}-{arm}", "safety": written}
