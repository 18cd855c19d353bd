"""A run that was held to a bar, as Markdown for people and as JUnit's XML for programs."""

from __future__ import annotations

import re
from typing import Any, Final

from lxml import etree

from evaluators.verdicts import OutcomeKind
from orchestrator.analysis.studies.regression import (
    BarVerdict,
    HeldRun,
    HeldTask,
    HeldWorld,
)
from orchestrator.analysis.wording import p_said, percent, points, points_span
from orchestrator.runs.store.rescoring import ScoredEpisode

_MARKS: Final = {
    BarVerdict.HELD: "✅ held",
    BarVerdict.DROPPED: "❌ dropped",
    BarVerdict.BELOW: "❌ below the bar",
    BarVerdict.UNKNOWN: "⚠️ not known",
}
# What XML 1.0 cannot hold; a page's text may have it.
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LONGEST: Final = 500


def markdown_of(held: HeldRun) -> str:
    """Return a summary, as GITHUB_STEP_SUMMARY takes it; texts of pages are shown as they are."""
    lock, baseline = held.report.lock, held.baseline
    note = f" ({held.report.agent_note})" if held.report.agent_note else ""
    lines = [
        f"## {_MARKS[held.verdict]}: {_code(lock.agent.name)} on {lock.suite}{note}",
        "",
        _plain(held.because),
        "",
        "| world | success | baseline | difference | 95 % interval | p | scored |",
        "|---|---|---|---|---|---|---|",
        *map(_world_row, held.worlds),
        "",
    ]
    if held.lost:
        lines += ["| worse than the baseline | now | baseline | first unmet check |"]
        lines += ["|---|---|---|---|", *map(_lost_row, held.lost), ""]
    elif held.baseline is not None:
        lines += ["No task succeeds less often than in the baseline.", ""]
    if baseline is not None:
        said = f"Baseline: run {_code(baseline.run)} of {_code(baseline.agent.name)}"
        lines += [f"{said}, {baseline.created_at}.", ""]
    lines += [f"- {_plain(one)}" for one in held.notes]
    lines += [f"- evidence and report: {_code(str(held.report.folder.report_path))}"]
    return "\n".join(lines) + "\n"


def junit_of(held: HeldRun) -> str:
    """Return JUnit's XML: a case for each episode, and one for the bar itself.

    An episode that failed is a failure, whether it did in the baseline or not; one that is unscored
    is skipped, with the reason. The case `bar` fails where the bar is not held, and is an error
    where that is not known.
    """
    root = etree.Element("testsuites", name="arena ci")
    for world in held.report.lock.worlds:
        suite = f"{held.report.lock.suite}.{world}"
        episodes = [one for row in held.report.rows for one in row.episodes[world]]
        kinds = [one.score.outcome.kind for one in episodes]
        into = etree.SubElement(
            root,
            "testsuite",
            name=suite,
            tests=str(len(kinds)),
            failures=str(kinds.count(OutcomeKind.FAILURE)),
            errors="0",
            skipped=str(kinds.count(OutcomeKind.UNSCORED)),
        )
        for episode in episodes:
            _add_case(into, suite, episode)
    is_unknown = held.verdict is BarVerdict.UNKNOWN
    is_broken = held.verdict in {BarVerdict.DROPPED, BarVerdict.BELOW}
    counts = {"failures": str(int(is_broken)), "errors": str(int(is_unknown))}
    into = etree.SubElement(root, "testsuite", name="arena ci", tests="1", skipped="0", **counts)
    case = etree.SubElement(into, "testcase", classname="arena ci", name="bar")
    if is_broken or is_unknown:
        kind = "error" if is_unknown else "failure"
        etree.SubElement(case, kind, message=_xml(held.because), type=held.verdict.value)
    written: bytes = etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)
    return written.decode()


def _add_case(into: etree._Element, suite: str, episode: ScoredEpisode) -> None:
    repeat = f" repeat {episode.key.repeat}" if episode.key.repeat else ""
    case = etree.SubElement(
        into,
        "testcase",
        classname=_xml(suite),
        name=_xml(f"{episode.key.task}{repeat}"),
        time=f"{episode.outline.played_seconds:.3f}",
    )
    outcome, because = episode.score.outcome, _xml(episode.score.because)
    match outcome.kind:
        case OutcomeKind.SUCCESS:
            return
        case OutcomeKind.FAILURE:
            found = etree.SubElement(case, "failure", message=because, type="failure")
            found.text = _xml(f"step {episode.score.steps}, evidence {episode.folder}")
        case OutcomeKind.UNSCORED:
            etree.SubElement(case, "skipped", message=_xml(f"{outcome}: {because}"))


def _world_row(one: HeldWorld) -> str:
    found = one.compared
    scored = sum(len(task.pair.first) for task in one.tasks)
    return _row(
        one.world.value,
        percent(one.rate),
        "–" if found is None else percent(found.second),
        "–" if found is None else points(found.effect),
        "–" if found is None else points_span(found.interval),
        "–" if found is None else p_said(one.p),
        f"{scored - one.unscored}/{scored}",
    )


def _lost_row(task: HeldTask) -> str:
    shares = [f"{sum(side.scored)}/{len(side.scored)}" for side in task.pair.sides]
    return _row(f"{_code(task.task)} {task.world}", *shares, _code(task.why))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    """Return a text in a span of code, where nothing in it is markup, a link or a mention."""
    bare = " ".join(text.replace("`", "'").split()).replace("|", "¦")
    return f"`{bare[:_LONGEST]}`" if bare else ""


def _plain(text: str) -> str:
    """Return words of Arena's own, with what could be markup escaped."""
    return re.sub(r"([\\`*_\[\]<>|@#])", r"\\\1", " ".join(text.split()))


def _xml(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)[: 4 * _LONGEST]


def document_of(held: HeldRun) -> dict[str, Any]:
    """Return a JSON document."""
    baseline = held.baseline
    return {
        "verdict": held.verdict.value,
        "because": held.because,
        "run": held.report.lock.run,
        "folder": str(held.report.folder.path),
        "agent": held.report.lock.agent.name,
        "agent_note": held.report.agent_note,
        "baseline": None if baseline is None else {"run": baseline.run, "digest": baseline.digest},
        "min_success": held.min_success,
        "alpha": held.alpha,
        "worlds": [
            {
                "world": one.world.value,
                "verdict": one.verdict.value,
                "success": one.rate,
                "success_at_worst": one.least,
                "baseline": None if one.compared is None else one.compared.second,
                "effect": None if one.compared is None else one.compared.effect,
                "p": one.p,
                "unscored": one.unscored,
            }
            for one in held.worlds
        ],
        "lost": [{"task": one.task, "world": one.world.value, "why": one.why} for one in held.lost],
        "notes": list(held.notes),
    }
