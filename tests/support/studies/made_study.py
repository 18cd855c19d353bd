"""A study's runs made by hand: two agents, both worlds, broken evidence, texts that attack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from orchestrator.analysis.study_report.page import ReportedRun
from support.runs.made_run import make_run

# What a page or a model may have written, against each way that a text becomes code.
ATTACK: Final = (
    "</script><script>window.owned=1</script><!--<script>"
    "<img src=x onerror=window.owned=2>\u2028window.owned=3\u2029"
    "javascript:window.owned=4 ${owned} {{owned}} \\u003cscript\\u003e __proto__ ' \" `"
)
ATTACKED: Final = "offline-hostile-r0-a1"
UNREADABLE: Final = "online-agrees-r0-a1"


def make_study(folder: Path) -> tuple[ReportedRun, ...]:
    """Write two runs below `folder/runs`; the second has an episode that cannot be read."""
    careful = make_run(folder / "runs" / "careful #1")
    hasty = make_run(folder / "runs" / "hasty")
    evidence = careful.evidence_folder(ATTACKED) / "evidence.json"
    document = json.loads(evidence.read_text(encoding="utf-8"))
    _attack(document)
    evidence.write_text(json.dumps(document), encoding="utf-8")
    (hasty.evidence_folder(UNREADABLE) / "evidence.json").write_text("{", encoding="utf-8")
    return (
        ReportedRun(label="careful", folder=careful),
        ReportedRun(label="hasty", folder=hasty),
    )


def _attack(document: dict[str, Any]) -> None:
    document |= {"answer": ATTACK, "ended_because": ATTACK}
    first, second, third, *_ = document["steps"]
    first |= {"title": ATTACK, "thought": ATTACK, "error": ATTACK, "login": ATTACK}
    second |= {"url": "javascript:window.owned=5", "logical": None}
    third["screenshot"] = "../../../../secret.png"
    change = {"of": "other", "what": ATTACK}
    document["located"] = [{"check": ATTACK, "values": [json.dumps(change)]}]
