"""Published tasks and episodes of them, in as few words as a test needs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from arena_core.actions import Stop
from evaluators.evidence import Ended, Evidence, Located, StepEvidence
from evaluators.scorers.base import OriginalTask
from support.runs.make_evidence import make_evidence
from support.tasks.reference_data import reference_half

BASES = {
    "__SHOPPING__": "http://shop.arena.test",
    "__SHOPPING_ADMIN__": "http://merchant.arena.test/admin",
    "__REDDIT__": "http://forum.arena.test",
    "__GITLAB__": "http://forge.arena.test",
    "__MAP__": "http://map.arena.test",
    "__WIKIPEDIA__": "http://wiki.arena.test",
}


def published(name: str) -> list[dict[str, Any]]:
    """Return the half of a published set that lies beside the checkout; skips where it does not."""
    found: list[dict[str, Any]] = json.loads(reference_half(name).read_text(encoding="utf-8"))
    return found


def make_original(
    record: Mapping[str, Any], form: str = "webarena", bases: Mapping[str, str] = BASES
) -> OriginalTask:
    """Make a published task of a record."""
    return OriginalTask.model_validate(
        {
            "format": form,
            "id": str(record.get("task_id", "0")),
            "file_sha256": "0" * 64,
            "record": dict(record),
            "bases": dict(bases),
        }
    )


def webarena_task(
    kinds: str | Sequence[str] = (),
    *,
    answers: object = None,
    html: object = (),
    intent: str = "What is it?",
    **evaluation: object,
) -> OriginalTask:
    """Make a WebArena task: evaluators, `reference_answers`, `program_html`, and more of `eval`."""
    said = {
        "eval_types": [kinds] if isinstance(kinds, str) else list(kinds),
        "reference_answers": answers,
        "reference_url": "",
        "program_html": html if isinstance(html, (dict, str)) else list(html or ()),  # type: ignore[call-overload]
        **evaluation,
    }
    return make_original({"task_id": 7, "intent": intent, "eval": said})


def played(
    answer: str | None = None,
    *,
    url: str = "http://shop.arena.test/",
    selected: Sequence[str] = (),
    ended: Ended | None = Ended.STOPPED,
    steps: int = 1,
) -> Evidence:
    """Make an episode with an answer, a last URL, and what each `program_html` target selected."""
    return make_evidence(
        *(_step(index, url, answer if index == steps else None) for index in range(steps + 1)),
        answer=answer,
        ended=ended,
        located=[
            Located(check=f"original-html-{number}", values=(value,))
            for number, value in enumerate(selected)
        ],
    )


def _step(index: int, url: str, answer: str | None) -> StepEvidence:
    return StepEvidence(
        index=index,
        action=Stop(answer=answer) if index else None,
        url=url,
        logical=None,
        title="",
    )
