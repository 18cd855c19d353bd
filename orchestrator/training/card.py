"""The data card: what a data set holds, where it is from, what was removed, what it cannot know."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from orchestrator.agent_interface import AgentClass
from orchestrator.report.run_report import RunReport
from orchestrator.training.provenance import parser_of, prompt_version

JSON_CARD: Final = "data-card.json"
CARD: Final = "README.md"
_LICENCE: Final = "to be filled in by whoever publishes it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A run that records are from.

    Attributes:
        started: when it began.
        images: of the replicas, `TAG=DIGEST`.
    """

    run: str
    suite: str
    suite_hash: str
    started: str
    agent: str
    agent_class: str
    model: str
    parser: str
    prompt_version: str
    images: tuple[str, ...]
    packages: Mapping[str, str]
    episodes: int

    @classmethod
    def of(cls, report: RunReport) -> Source:
        """Describe a run."""
        lock = report.lock
        return cls(
            run=lock.run,
            suite=lock.suite,
            suite_hash=lock.suite_hash,
            started=lock.created_at,
            agent=lock.agent.name,
            agent_class=lock.agent.agent_class.value,
            model=str(lock.agent.options.get("model") or ""),
            parser=parser_of(lock.agent, lock.packages),
            prompt_version=prompt_version(lock.agent, lock.packages),
            images=tuple(f"{tag}={image}" for tag, image in sorted(lock.images.items())),
            packages=lock.packages,
            episodes=len(report.trials),
        )


@dataclass(slots=True, kw_only=True)
class TaskCount:
    """How often a task was played, how it ended, and what it gave.

    Attributes:
        right, wrong, unscored: episodes.
        records: lines of the data set.
        traces: distinct successful episodes that were taken.
    """

    suite: str
    task: str
    template: str
    right: int = 0
    wrong: int = 0
    unscored: int = 0
    records: int = 0
    traces: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """One filter, and how much it removed.

    Attributes:
        of: what is counted: episodes, steps, states and pairs.
    """

    of: str
    why: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DataCard:
    """Everything that a data card says.

    Attributes:
        kind: `sft`, `dpo`, `rft`, `rewards`.
        sha256: of the data file.
        split: name and SHA-256 of the split file; None where none was given.
        limits: what the data cannot show, one sentence each.
        figures: further counts, by name.
    """

    kind: str
    title: str
    file: str
    sha256: str
    records: int
    images: int
    episodes: int
    sources: tuple[Source, ...]
    tasks: tuple[TaskCount, ...]
    removed: tuple[Removal, ...]
    split: str | None
    secrets_searched: str
    fields: Mapping[str, str]
    limits: tuple[str, ...]
    warnings: tuple[str, ...]
    licence: str = _LICENCE
    figures: Mapping[str, int] = field(default_factory=dict)


def write_card(card: DataCard, folder: Path) -> None:
    """Write the card beside the data, as Markdown and as JSON."""
    document = json.dumps(asdict(card), ensure_ascii=False, indent=1)
    (folder / JSON_CARD).write_text(document + "\n", encoding="utf-8")
    (folder / CARD).write_text(_markdown(card), encoding="utf-8")


def warnings_of(runs: Iterable[RunReport], *, has_split: bool) -> tuple[str, ...]:
    """Return what whoever trains on these runs must know first."""
    reports = tuple(runs)
    found: list[str] = []
    if not has_split:
        found.append(
            "no split was given, and the suites have none: nothing says that no test task is among"
            " the records"
        )
    published = sorted(
        {one.task.original.format for run in reports for one in run.trials if one.task.original}
        - {"miniwob"}
    )
    if published:
        names = ", ".join(published)
        found.append(f"tasks of published test sets are among the episodes ({names})")
    classes = {run.lock.agent.agent_class for run in reports}
    if AgentClass.REFERENCE in classes:
        found.append("a reference agent, which knows each task's solution, played a part of it")
    if AgentClass.GUIDED in classes:
        found.append("a guided agent was told the key nodes: they may stand in its prompts")
    if any(run.lock.staged for run in reports):
        found.append("some online episodes were played on staged origins, not on the live web")
    return tuple(found)


def _markdown(card: DataCard) -> str:
    parts = [
        _front_matter(card),
        f"# {card.title}\n",
        f"{card.records:,} records from {card.episodes:,} episodes; written by `arena export`.\n",
        f"- File: `{card.file}`, SHA-256 `{card.sha256}`; images beside it: {card.images:,}",
        f"- Licence: {card.licence}",
        f"- Split: {card.split or 'none'}",
        f"- Secrets: {card.secrets_searched}\n",
        *(f"> **{warning}**\n" for warning in card.warnings),
        "## Fields\n",
        _table(("field", "what it holds"), [(f"`{n}`", said) for n, said in card.fields.items()]),
        "## Sources\n",
        _table(
            ("run", "suite", "agent", "model", "prompt", "episodes"),
            [
                (one.run, one.suite, one.agent, one.model or "–", one.prompt_version, one.episodes)
                for one in card.sources
            ],
        ),
        (
            "Digests of images and suites, and versions of packages, are in "
            f"[{JSON_CARD}]({JSON_CARD}).\n"
        ),
        "## What was removed\n",
        _table(("of", "why", "removed"), [(o.of, o.why, f"{o.count:,}") for o in card.removed]),
        *_figures(card),
        "## What the data cannot show\n",
        *(f"- {one}" for one in card.limits),
        "\n## Tasks\n",
        _table(
            ("task", "template", "right", "wrong", "unscored", "traces taken", "records"),
            [
                (f"{o.suite}/{o.task}", o.template, o.right, o.wrong, o.unscored, *_taken(o))
                for o in card.tasks
            ],
        ),
    ]
    return "\n".join(parts) + "\n"


def _taken(counted: TaskCount) -> tuple[int, int]:
    return counted.traces, counted.records


def _front_matter(card: DataCard) -> str:
    """Return what the Hugging Face hub and `datasets` read: which file holds the data."""
    return (
        "---\n# license: fill in\nconfigs:\n- config_name: default\n"
        f"  data_files: {card.file}\n---\n"
    )


def _figures(card: DataCard) -> list[str]:
    if not card.figures:
        return []
    rows = [(name, f"{count:,}") for name, count in card.figures.items()]
    return ["## Figures\n", _table(("what", "count"), rows)]


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *([_cell(one) for one in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _cell(value: object) -> str:
    return " ".join(str(value).split()).replace("|", "\\|")
