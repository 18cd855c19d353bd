"""A data set on disk: JSON lines that one schema fits, images, and the data card beside them."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

from orchestrator.agents.interface import AgentClass
from orchestrator.analysis.run_report.run_report import RunReport
from orchestrator.export.training.samples import IMAGES, Removed, parser_of, prompt_version
from orchestrator.runs.store.secrets import SecretSearch, was_redacted

JSON_CARD: Final = "data-card.json"
CARD: Final = "README.md"
_LICENCE: Final = "to be filled in by whoever publishes it"
_CONVERSATIONS: Final = ("messages", "prompt", "chosen", "rejected")


class DataSet:
    """Writes records, one a line; a context manager.

    A record with a secret in any of its texts is not written, nor one whose content was written
    before: both are counted in `removed`.

    Args:
        folder: of the data set; it is made.
        name: of its file, `sft` for `sft.jsonl`.
        secrets: what may stand in no record.
    """

    def __init__(self, folder: Path, name: str, secrets: SecretSearch) -> None:
        self.removed: Counter[Removed] = Counter()
        self.records = 0
        self.images = 0
        self.path = folder / f"{name}.jsonl"
        self._folder = folder
        self._secrets = secrets
        self._file: IO[str] | None = None
        self._known: set[str] = set()
        self._kinds: set[type] = set()

    def __enter__(self) -> Self:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("w", encoding="utf-8")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()
        if kind is None and len(self._kinds) > 1:
            _use_parts_everywhere(self.path)

    def add(
        self,
        record: Mapping[str, Any],
        *,
        content: str | None,
        pictures: Iterable[Path] = (),
    ) -> bool:
        """Write a record with its images, and say whether it was written.

        Args:
            record: a JSON object.
            content: what makes it the same as another record; None for one that never is.
            pictures: files of its images.
        """
        if self._file is None:
            raise ValueError("the data set is not open")
        removed = self._why_not(record, content)
        if removed is not None:
            self.removed[removed] += 1
            return False
        for picture in pictures:
            self._keep(picture)
        self._kinds |= {type(one) for one in _contents(record) if one is not None}
        self._file.write(json.dumps(record, ensure_ascii=False) + "\n")
        self.records += 1
        return True

    def digest(self) -> str:
        """Return SHA-256 of the file."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def _why_not(self, record: Mapping[str, Any], content: str | None) -> Removed | None:
        if was_redacted(record):
            return Removed.REDACTED
        if self._secrets.finds(record):
            return Removed.SECRET
        if content is not None and content in self._known:
            return Removed.DUPLICATE
        if content is not None:
            self._known.add(content)
        return None

    def _keep(self, picture: Path) -> None:
        target = self._folder / IMAGES / picture.name
        if not target.exists():
            target.parent.mkdir(exist_ok=True)
            shutil.copyfile(picture, target)
            self.images += 1


def _contents(record: Mapping[str, Any]) -> Iterable[object]:
    for name in _CONVERSATIONS:
        messages = record.get(name)
        if isinstance(messages, list):
            yield from (one.get("content") for one in messages if isinstance(one, dict))


def _use_parts_everywhere(path: Path) -> None:
    """Write each text content as a list of one part: a column of a data set has one type."""
    beside = path.with_name(f"{path.name}.parts")
    with path.open(encoding="utf-8") as lines, beside.open("w", encoding="utf-8") as written:
        for line in lines:
            record = json.loads(line)
            for name in _CONVERSATIONS:
                messages = record.get(name)
                for message in messages if isinstance(messages, list) else ():
                    if isinstance(message.get("content"), str):
                        message["content"] = [{"type": "text", "text": message["content"]}]
            written.write(json.dumps(record, ensure_ascii=False) + "\n")
    beside.replace(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A run that records are from.

    Attributes:
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
            episodes=len(report.episodes),
        )


@dataclass(slots=True, kw_only=True)
class TaskCount:
    """How often a task was played, how it ended, and what it gave.

    Attributes:
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
        {one.task.original.format for run in reports for one in run.episodes if one.task.original}
        - {"miniwob"}
    )
    if published:
        names = ", ".join(published)
        found.append(f"tasks of published test sets are among the episodes ({names})")
    classes = {run.lock.agent.agent_class for run in reports}
    if AgentClass.REFERENCE in classes:
        found.append("a reference agent, which knows each task's solution, played a part of it")
    if AgentClass.GUIDED in classes:
        found.append("a guided agent was given the key nodes: they may stand in its prompts")
    if any(run.lock.staged for run in reports):
        found.append("some online episodes were played on staged origins, not on the live web")
    arms = sorted({run.lock.arm for run in reports if run.lock.arm is not None})
    if arms:
        found.append(f"some episodes met sites that were varied ({', '.join(arms)})")
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
                (
                    *(f"{o.suite}/{o.task}", o.template),
                    *(o.right, o.wrong, o.unscored, o.traces, o.records),
                )
                for o in card.tasks
            ],
        ),
    ]
    return "\n".join(parts) + "\n"


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
