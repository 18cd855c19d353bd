"""The exporters `sft` and `rft`: the steps of successful episodes, and the traces they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestrator.analysis.run_report.extension_points import Written
from orchestrator.analysis.run_report.run_report import RunReport
from orchestrator.export.training.builder import (
    OUTCOMES,
    DataSetBuilder,
    DataSetExporter,
    pictures_of,
    require_above_zero,
)
from orchestrator.export.training.dataset import DataSet
from orchestrator.export.training.preferences import action_key, page_of
from orchestrator.export.training.rollouts import Rollout, Turn
from orchestrator.export.training.samples import (
    MESSAGES,
    Removed,
    Sample,
    Shape,
    digest_of,
    record_of,
    sample_of,
    text_shape,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Steps:
    """Writes the steps of successful episodes, a record each.

    Attributes:
        most: how many traces of a task are taken; all where None.
    """

    kind: str
    title: str
    is_by_trace: bool
    shape: Shape
    observation: str | None
    most: int | None = None

    def write(
        self, runs: Sequence[RunReport], path: Path, split: str | None, include: str | None
    ) -> Written:
        builder = DataSetBuilder.of(runs, split, include)

        def add(data: DataSet, rollouts: Sequence[Rollout]) -> None:
            self._write_task(builder, data, rollouts)

        of_trace = {"trace, trace_steps": "which successful episode, and how many records it has"}
        return builder.write(
            path,
            self.kind,
            self.title,
            add,
            limits=OUTCOMES,
            fields={**MESSAGES, **(of_trace if self.is_by_trace else {})},
            observation=self.observation,
        )

    def _write_task(
        self, builder: DataSetBuilder, data: DataSet, rollouts: Sequence[Rollout]
    ) -> None:
        shape, observation, most = self.shape, self.observation, self.most
        traces: set[str] = set()
        for rollout in rollouts:
            if not rollout.success:
                builder.leave_out(rollout, f"is not a success: {rollout.scored.score.outcome}")
                continue
            trace = _trace(rollout)
            if self.is_by_trace and trace in traces:
                builder.leave_out(rollout, "did the same as another successful episode")
                continue
            if most is not None and len(traces) >= most:
                builder.leave_out(rollout, f"the task has {most} traces already (most={most})")
                continue
            usable = _usable(builder, rollout, observation, shape)
            if not usable:
                builder.leave_out(rollout, _why_nothing(rollout, observation))
                continue
            written = 0
            for turn, sample in usable:
                record = record_of(sample, shape) | builder.about(rollout, turn, sample)
                if self.is_by_trace:
                    record |= {"trace": rollout.scored.folder, "trace_steps": len(usable)}
                is_new = data.add(
                    record,
                    content=_content(sample, rollout if self.is_by_trace else None),
                    pictures=pictures_of(rollout, sample),
                )
                written += is_new
            if written:
                traces.add(trace)
                builder.took(rollout, written)
                builder.count_of(rollout).traces += 1
            else:
                builder.leave_out(rollout, "all its records were removed: see the data card")


class SftExporter(DataSetExporter):
    """Prompt and reply of each step of each successful episode, equal ones once."""

    def export(
        self,
        runs: Sequence[RunReport],
        path: Path,
        *,
        shape: Shape = "chat",
        split: str | None = None,
        include: str | None = None,
        observation: str | None = None,
    ) -> Written:
        """Write the pairs as a folder: `sft.jsonl`, images, and the data card.

        Args:
            runs: finished or not.
            path: of the folder.
            shape: `chat`: messages; `autowebglm`: source and target, for prompts of one text.
            split: a split file, see `SplitFile`: its test tasks and their kin are left out.
            include: splits of the suites, such as `test`, whose tasks are taken although the suites
                hold them out; with commas.
            observation: of agents that asked no model, the form that stands for the prompt.
        """
        steps = _Steps(
            kind="sft",
            title="Steps of successful episodes",
            is_by_trace=False,
            shape=shape,
            observation=observation,
        )
        return steps.write(runs, path, split, include)


class RftExporter(DataSetExporter):
    """The same by trace: each way of succeeding once, with the counts of its task."""

    def export(
        self,
        runs: Sequence[RunReport],
        path: Path,
        *,
        shape: Shape = "chat",
        split: str | None = None,
        include: str | None = None,
        observation: str | None = None,
        most: int | None = None,
    ) -> Written:
        """Write the traces as a folder: `rft.jsonl`, images, and the data card.

        Args:
            runs: finished or not.
            path: of the folder.
            shape: as for `sft`.
            split: as for `sft`.
            include: as for `sft`.
            observation: as for `sft`.
            most: how many traces of a task are taken; all where None.
        """
        require_above_zero(most=most)
        steps = _Steps(
            kind="rft",
            title="Traces that succeeded, sampled per task",
            is_by_trace=True,
            shape=shape,
            observation=observation,
            most=most,
        )
        return steps.write(runs, path, split, include)


SFT: Final = SftExporter()
RFT: Final = RftExporter()


def _usable(
    builder: DataSetBuilder, rollout: Rollout, observation: str | None, shape: Shape
) -> list[tuple[Turn, Sample]]:
    found: list[tuple[Turn, Sample]] = []
    for turn in rollout.turns:
        sample = sample_of(rollout, turn, observation)
        if isinstance(sample, Sample):
            text = text_shape(sample, shape)
            if not isinstance(text, Removed):
                found.append((turn, sample))
                continue
            sample = text
        builder.removed[sample] += 1
    return found


def _why_nothing(rollout: Rollout, observation: str | None) -> str:
    if not rollout.turns:
        return "it has no step"
    if rollout.asked_models:
        return "no step of it can be a record: see the data card"
    if any(turn.seen is not None for turn in rollout.turns):
        forms = sorted({form for turn in rollout.turns if turn.seen for form in turn.seen["parts"]})
        if observation is None:
            names = ", ".join(forms) or "none"
            return (
                "its agent asked no model: --option observation=FORM takes what it saw as the"
                f" prompt (recorded: {names})"
            )
        return f"what it saw was not recorded as '{observation}' (recorded: {', '.join(forms)})"
    return "neither what its agent asked nor what it saw is recorded"


def _content(sample: Sample, rollout: Rollout | None) -> str:
    """Return what makes a record the same as another; by trace, a trace is taken whole."""
    if rollout is None:
        return sample.digest
    return digest_of([sample.digest, rollout.lock.run, rollout.scored.folder, sample.asked_with])


def _trace(rollout: Rollout) -> str:
    done = [
        [page_of(rollout, turn.seen), action_key(turn.action, rollout)] for turn in rollout.turns
    ]
    return digest_of([rollout.lock.agent.model_dump(mode="json"), done])
