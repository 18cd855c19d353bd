"""Format `autowebbench`: AutoWebGLM's recorded steps, each with the command that was right."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from evaluators.matchers.command import NoCommandError, read_command
from tasks.imports.formats import Entry, Translation, Untranslated, Written, end_check, written_out
from tasks.imports.site_map import SiteMap

_TASK: Final = re.compile(r"^#Task:\s*(.*)$", re.MULTILINE)
_SECONDS: Final = 300


class _RecordedStep(BaseModel):
    """One step.

    Attributes:
        source: the whole prompt: page, functions, commands so far, task.
        target: the command that was right.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    source: Annotated[str, Field(min_length=1)]
    target: Annotated[str, Field(min_length=1)]


class AutoWebBench:
    """Reads `test.json` of each split: a task a step, as every prompt holds all that led to it."""

    name = "autowebbench"
    title = "AutoWebBench's recorded steps"

    def translate(self, entries: Sequence[Entry], sites: SiteMap) -> Iterator[Translation]:
        """Yield what the entries become, in their order."""
        sites.refuse_unknown({})
        files = list(dict.fromkeys(entry.path for entry in entries))
        trace, last = 0, ""
        for entry in entries:
            step = entry.read_as(_RecordedStep)
            asked = _TASK.search(step.source)
            intent = " ".join(asked[1].split()) if asked else ""
            if intent != last:
                trace, last = trace + 1, intent
            place = entry.at.strip("[]").removeprefix("line ") or "0"
            part = f"{files.index(entry.path) + 1}-" if len(files) > 1 else ""
            yield _translated(entry, step, f"{part}{place}", intent, trace)


def _translated(
    entry: Entry, step: _RecordedStep, published: str, intent: str, trace: int
) -> Translation:
    part: Written | Untranslated
    try:
        read_command(step.target)
        part = end_check("command", {"by": "answer"}, {"how": "command", "value": step.target})
    except NoCommandError as unread:
        part = Untranslated("target", f"is no command: {unread}")
    return Translation(
        entry=entry,
        published_id=published,
        task={
            "id": f"autowebbench-{published}",
            "family": "navigation",
            "intent": f"Recorded step of: {intent or 'no task'}",
            "recorded": "source",
            "sites": [],
            "start": [],
            "worlds": ["offline"],
            "limits": {"steps": 1, "seconds": _SECONDS},
            "checks": list(written_out([part])),
        },
        untranslated=(str(part),) if isinstance(part, Untranslated) else (),
        template=str(trace),
    )


AUTOWEBBENCH: Final = AutoWebBench()
