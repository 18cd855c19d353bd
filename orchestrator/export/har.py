"""The requests of each episode as a HAR file (HTTP Archive 1.2), as far as they were recorded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from arena_core.errors import UsageError
from evaluators.evidence import Branch, Evidence
from evaluators.network import RequestRecord, cookies_sent, cookies_set
from orchestrator.analysis.run_report.extension_points import LeftOut, Written
from orchestrator.analysis.run_report.run_report import RunReport
from orchestrator.runs.store.formats import own_version
from orchestrator.runs.store.rescoring import ScoredEpisode

NOT_RECORDED: Final = (
    "its requests were not recorded (play with --record-requests, or a task that asks for them)"
)
_SECRETS: Final = (
    "Secrets are redacted: values of cookies that log in, tokens, passwords and contents of files"
    " stand as redacted.sha256.SALT.DIGEST."
)
_NAMED: Final = 3  # reasons
_UNKNOWN: Final = -1  # what HAR 1.2 writes for a size or a status that is not known

Json = dict[str, object]


class Har:
    """Writes a folder with one HAR file an episode, whatever its outcome.

    An episode whose requests were not recorded has none: an empty one would say that it sent none.
    """

    suffix = ""
    is_folder = True

    def export(self, runs: Sequence[RunReport], path: Path) -> Written:
        """Write `ATTEMPT.har` for each episode; of several runs each in a folder of its own."""
        path.mkdir()
        written, left_out, notes = 0, list[LeftOut](), list[str]()
        for report, name in zip(runs, folder_names(runs), strict=True):
            folder = path / name
            folder.mkdir(exist_ok=True)
            for episode in report.episodes:
                evidence = episode.evidence
                if evidence.network is None:
                    why = _why_none(evidence.branch)
                    left_out.append(LeftOut(run=report.folder.path, what=episode.folder, why=why))
                    continue
                write_json(folder / f"{episode.folder}.har", har_of(episode, report))
                written += 1
                if evidence.network_fault:
                    fault = evidence.network_fault
                    notes.append(f"{episode.folder}: not all requests are in it: {fault}")
        if not written:
            why = "; ".join(sorted({one.why for one in left_out})[:_NAMED])
            message = f"none of {len(left_out)} episodes has a HAR: {why or NOT_RECORDED}"
            is_hopeless = bool(left_out) and all(one.why != NOT_RECORDED for one in left_out)
            hint = "name the run of the roots" if is_hopeless else "arena eval --record-requests"
            raise UsageError(message, hint=hint)
        return Written(episodes=written, left_out=tuple(left_out), notes=(_SECRETS, *notes))


def _why_none(branch: Branch | None) -> str:
    """Say why an episode has no HAR: nobody can record the requests of a branch."""
    if branch is None:
        return NOT_RECORDED
    return (
        f"it goes on from step {branch.step} of {branch.root}: what a page is restored by is no"
        " request of the agent's, so none is recorded"
    )


def folder_names(runs: Sequence[RunReport]) -> Iterator[str]:
    """Yield a folder for each of several runs, its id; for one alone the export's own."""
    if len(runs) == 1:
        yield "."
        return
    seen: dict[str, int] = {}
    for report in runs:
        name = report.lock.run
        seen[name] = seen.get(name, 0) + 1
        yield name if seen[name] == 1 else f"{name}-{seen[name]}"


def write_json(path: Path, document: object) -> None:
    """Write a document that every reader of JSON takes, whatever encoding it supposes."""
    path.write_text(json.dumps(document, indent=1), encoding="ascii")


def har_of(episode: ScoredEpisode, report: RunReport) -> Json:
    """Return the requests of an episode as a HAR document; a page of it is a step.

    Headers, bodies and addresses stand as the evidence has them, in the order of sending.
    """
    evidence = episode.evidence
    requests = evidence.network or ()
    began = _beginnings(evidence, requests)
    return {
        "log": {
            "version": "1.2",
            "creator": {"name": "Arena", "version": own_version()},
            "browser": {"name": "Chromium", "version": report.lock.browser},
            "pages": list(_pages(evidence, requests, began)),
            "entries": [_entry(one, at) for one, at in zip(requests, began, strict=True)],
            "comment": " ".join(_comments(episode, report, requests)),
        }
    }


def _comments(
    episode: ScoredEpisode, report: RunReport, requests: Sequence[RequestRecord]
) -> Iterator[str]:
    evidence = episode.evidence
    yield (
        f"Arena run {report.lock.run}, task {episode.task.id}, {report.lock.label(evidence.world)},"
        f" repeat {evidence.repeat}, attempt {evidence.attempt}: {episode.score.outcome}."
    )
    yield _SECRETS
    yield "HTTP versions and texts of statuses are not recorded."
    if not any(one.response_body is not None for one in requests):
        yield "Bodies of answers are not recorded."
    if any(one.sent_at is None for one in requests):
        yield "Times are not recorded of all requests: these stand at the beginning of the episode."
    if not requests:
        yield "The episode sent no request."
    if evidence.network_fault:
        yield f"Not all requests are here: {evidence.network_fault}."


def _beginnings(evidence: Evidence, requests: Iterable[RequestRecord]) -> list[str]:
    return [one.sent_at or _iso(evidence.started_at) for one in requests]


def _iso(text: str) -> str:
    """Return a time as HAR takes it, with its zone; the epoch for any other text."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
    return (found if found.tzinfo else found.astimezone()).isoformat(timespec="milliseconds")


def _pages(
    evidence: Evidence, requests: Sequence[RequestRecord], began: Sequence[str]
) -> Iterator[Json]:
    steps = {step.index: step for step in evidence.steps}
    first: dict[int, str] = {}
    for one, at in zip(requests, began, strict=True):
        first.setdefault(one.step, at)
    for index, at in sorted(first.items()):
        step = steps.get(index)
        action = step.action if step is not None else None
        title = f"step {index}: {action.kind}" if action else f"step {index}"
        yield {
            "startedDateTime": at,
            "id": _page_id(index),
            "title": f"{title} ({step.url})" if step is not None else title,
            "pageTimings": {},
        }


def _page_id(step: int) -> str:
    return f"step-{step}"


def _entry(record: RequestRecord, began: str) -> Json:
    answered, ended = record.answer_ms, record.end_ms
    wait = max(answered or ended or 0.0, 0.0)
    receive = max((ended or wait) - wait, 0.0)
    comments = [
        *([] if record.is_whole else ["only the gateway saw it: no query, headers or body"]),
        *([f"failed: {record.failed}"] if record.failed else []),
        *([f"not sent: {record.blocked}"] if record.blocked else []),
        *([] if ended is not None else ["how long it took is not known"]),
    ]
    entry: Json = {
        "pageref": _page_id(record.step),
        "startedDateTime": began,
        "time": wait + receive,
        "request": _request(record),
        "response": _response(record),
        "cache": {},
        "timings": {"send": 0, "wait": wait, "receive": receive},
        "_resourceType": record.resource_type,
        "_logical": record.logical,
        "_tab": record.tab,
    }
    return entry | ({"comment": "; ".join(comments)} if comments else {})


def _request(record: RequestRecord) -> Json:
    found: Json = {
        "method": record.method,
        "url": record.url,
        "httpVersion": "",
        "cookies": _named(cookies_sent(record)),
        "headers": _headers(record.request_headers),
        "queryString": [
            {"name": name, "value": value}
            for name, value in parse_qsl(urlsplit(record.url).query, keep_blank_values=True)
        ],
        "headersSize": _UNKNOWN,
        "bodySize": record.request_bytes if record.is_whole else _UNKNOWN,
    }
    if record.request_body is not None:
        kind = record.request_headers.get("content-type", "")
        found["postData"] = {"mimeType": kind, "text": record.request_body}
    elif record.request_bytes:
        found["comment"] = f"its body, {record.request_bytes} bytes, was not kept"
    return found


def _response(record: RequestRecord) -> Json:
    headers = record.response_headers
    content: Json = {
        "size": _size(record),
        "mimeType": headers.get("content-type", ""),
    }
    if record.response_body is not None:
        content["text"] = record.response_body
    return {
        "status": _UNKNOWN if record.status is None else record.status,
        "statusText": "",
        "httpVersion": "",
        "cookies": _named(cookies_set(record)),
        "headers": _headers(headers),
        "content": content,
        "redirectURL": headers.get("location", ""),
        "headersSize": _UNKNOWN,
        "bodySize": _UNKNOWN,
    }


def _size(record: RequestRecord) -> int:
    if record.response_body is not None:
        return len(record.response_body.encode("utf-8", "replace"))
    said = record.response_headers.get("content-length", "")
    return int(said) if said.isdecimal() else _UNKNOWN


def _headers(headers: Mapping[str, str]) -> list[Json]:
    """Return headers as a list; several lines of one, as of `set-cookie`, stand by themselves."""
    return [
        {"name": name, "value": line}
        for name, value in headers.items()
        for line in (value.split("\n") if name == "set-cookie" else [value])
    ]


def _named(values: Mapping[str, str]) -> list[Json]:
    return [{"name": name, "value": value} for name, value in values.items()]


HAR: Final = Har()
