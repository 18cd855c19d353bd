"""What a recording may be checked by: key nodes and end checks, made from what was seen."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from zlib import crc32

from sqlglot import exp

from arena_core.foreign import ForeignError, read_json
from evaluators.changes import ChangeKind
from evaluators.checks import Check
from evaluators.evidence import ActedElement, ElementEvent
from evaluators.values.logical_urls import parse_logical_url
from evaluators.values.text import as_text
from orchestrator.authoring.recorder.recording import RecordedStep, Recording
from tasks.reference import SelectIn, TypeInto

_NUMBER: Final = re.compile(r"[+-]?\d+(?:[.,]\d+)*")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_MONEY: Final = re.compile(r"(?:[$€£]\s?\d[\d.,]*|\d[\d.,]*\s?[$€£])")
_WORD: Final = re.compile(r"[a-z0-9]+")
_LONGEST_NAME: Final = 40
_LONGEST_CELL: Final = 200
_LEAST_WORD: Final = 3  # shorter ones stand in data by chance
_MOST_BODY: Final = 200_000
_MOST_PLACES: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A check that may be made.

    Attributes:
        key: names it for as long as the recording is the same: `4-url`, `end-delta-shop`.
        label: what a person chooses by.
        step: the step of a key node; None for an end check.
        likely: it is proposed first of its kind.
    """

    key: str
    label: str
    check: Check
    step: int | None = None
    likely: bool = False


def of_step(step: RecordedStep, start: Sequence[str] = ()) -> tuple[Proposal, ...]:
    """Return the key nodes that a step may stand for: an address with its parts, an element.

    One of the pages that the task starts on is nothing that shows the way: it is not the first.
    """
    pages = frozenset(parse_logical_url(one).page for one in start)
    return tuple(_numbered(step.number, (*_addresses(step, pages), *_elements(step))))


def of_end(recording: Recording, answer: str | None) -> tuple[Proposal, ...]:
    """Return the end checks that fit: the answer, the page, the rows that were changed."""
    found: list[Proposal] = []
    if answer:
        found.append(_answer(answer))
    if recording.end is not None:
        for site, delta in recording.end.deltas.items():
            check = Check.model_validate({**delta, "name": f"changes-in-{site}"})
            label = f"exactly these changes in {site}"
            found.append(Proposal(key=f"end-delta-{site}", label=label, check=check, likely=True))
    found += _rows(recording)
    found += _answers(recording, answer)
    found += _last_page(recording)
    return tuple(found)


def _addresses(
    step: RecordedStep, starts: frozenset[str]
) -> Iterator[tuple[str, dict[str, Any], bool]]:
    seen = [one.logical for one in step.evidence.visits if one.counts and one.logical]
    for logical in dict.fromkeys(seen):
        address = parse_logical_url(logical)
        is_likely = logical == seen[-1] and address.page not in starts
        yield f"address {address.page}", _url(value=address.page), is_likely
        if address.query or address.fragment:
            yield f"address, whole: {address.full}", _url(part="full", value=address.full), False
        for name, value in address.query:
            where = {"part": "query", "key": name, "page": address.page}
            yield f"{name}={value} in the address", _url(**where, value=value), False
        if address.fragment:
            yield (
                f"#{address.fragment} in the address",
                _url(part="fragment", page=address.page, value=address.fragment),
                False,
            )


def _url(*, value: str, **locate: str) -> dict[str, Any]:
    return {"locate": {"by": "url", **locate}, "match": {"how": "exact", "value": value}}


def _elements(step: RecordedStep) -> Iterator[tuple[str, dict[str, Any], bool]]:
    events = {(one.event, one.logical, one.path): one for one in step.evidence.acted if one.trusted}
    for one in events.values():
        page = parse_logical_url(one.logical).page if one.logical else None
        where: dict[str, Any] = {"by": "element", "event": str(one.event)}
        if page:
            where["page"] = page
        yield from _ways(one, where)


def _ways(one: ActedElement, where: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Yield what an element is known by: role and name, its path, what it holds."""
    shown = f"{one.event} {one.role} “{one.name}”"
    if one.name and one.role != "generic":
        named = {**where, "role": one.role}
        yield shown, {"locate": named, "match": {"how": "exact", "value": one.name}}, False
    by_path = {**where, "read": "path"}
    label = f"{one.event} at {one.path}"
    yield label, {"locate": by_path, "match": {"how": "exact", "value": one.path}}, False
    holds = one.event in {ElementEvent.INPUT, ElementEvent.CHANGE} and one.value
    if holds and one.name:
        held = {**where, "role": one.role, "named": one.name, "read": "value"}
        label = f"{shown}: holds “{one.value}”"
        yield label, {"locate": held, "match": {"how": "exact", "value": one.value}}, False


def _numbered(step: int, ways: tuple[tuple[str, dict[str, Any], bool], ...]) -> Iterator[Proposal]:
    for number, (label, check, likely) in enumerate(ways):
        name = f"step-{step}-{slug_of(label.rpartition('/')[2] or label)}"
        name = name[:_LONGEST_NAME].rstrip("-")
        whole = {"name": name, "when": "step", **check}
        yield Proposal(
            key=f"{step}-{number}",
            label=label,
            check=Check.model_validate(whole),
            step=step,
            likely=likely,
        )


def _answer(answer: str) -> Proposal:
    match: dict[str, Any] = {"how": "answer", "type": _kind_of(answer), "value": answer}
    whole = {"name": "answer", "when": "end", "locate": {"by": "answer"}, "match": match}
    label = f"the answer, read as a {match['type']}: {answer}"
    return Proposal(key="end-answer", label=label, check=Check.model_validate(whole), likely=True)


def _kind_of(answer: str) -> str:
    text = answer.strip()
    if _NUMBER.fullmatch(text):
        return "number"
    if _MONEY.fullmatch(text):
        return "money"
    return "date" if _DATE.fullmatch(text) else "name"


def _last_page(recording: Recording) -> Iterator[Proposal]:
    last = recording.steps[-1] if recording.steps else None
    logical = last.evidence.logical if last is not None else None
    if last is None or logical is None:
        return
    address = parse_logical_url(logical)
    whole = {"name": "ends-on-page", "when": "end", **_url(value=address.page)}
    label = f"the page that is shown at the end: {address.page}"
    yield Proposal(key="end-url", label=label, check=Check.model_validate(whole))
    if last.heading:
        check = {
            "name": "page-says",
            "when": "end",
            "locate": {"by": "page", "at": logical, "selector": "h1, h2, h3"},
            "match": {"how": "include", "value": last.heading},
        }
        label = f"{logical} says “{last.heading}”"
        yield Proposal(key="end-page", label=label, check=Check.model_validate(check))


def _rows(recording: Recording) -> Iterator[Proposal]:
    """Yield what the database is asked for about each row that was added or changed."""
    if recording.end is None:
        return
    for site, delta in recording.end.deltas.items():
        for number, change in enumerate(delta["match"]["changes"]):
            asked = _query(change)
            if asked is None:
                continue
            sql, value, what = asked
            table = change["table"]
            whole = {
                "name": f"row-of-{slug_of(table)}"[:_LONGEST_NAME].rstrip("-") + f"-{number}",
                "when": "end",
                "worlds": ["offline"],
                "locate": {"by": "db", "site": site, "sql": sql},
                "match": {"how": "exact", "value": value},
            }
            label = f"a row of {table} in {site} {change['kind']}: {what}"
            check = Check.model_validate(whole)
            if change["kind"] == ChangeKind.ADDED:
                check = _counted(check, recording.end.looked)
            yield Proposal(key=f"end-row-{site}-{number}", label=label, check=check)


def asks(logical: str) -> Check:
    """Return the check that shows what a site answers to a GET, whatever that is."""
    site, _, path = logical.partition(":")
    whole = {"locate": {"by": "api", "site": site, "path": path}, "match": {"how": "found"}}
    return Check.model_validate({"name": "api", "when": "end", **whole})


def is_data(body: str) -> bool:
    """Whether an answer is JSON with something in it."""
    return isinstance(_data(body), Mapping | list)


def _data(body: str) -> object:
    try:
        return read_json(body) if len(body) <= _MOST_BODY else None
    except ForeignError:
        return None


def _answers(recording: Recording, answer: str | None) -> Iterator[Proposal]:
    """Yield where the data that pages asked for says what was typed, chosen or answered."""
    done = [one.action for step in recording.steps for one in step.actions]
    typed = [one.text for one in done if isinstance(one, TypeInto)]
    chosen = [one.option for one in done if isinstance(one, SelectIn)]
    said = {one for one in (answer, *typed, *chosen) if isinstance(one, str)}
    looked = {} if recording.end is None else recording.end.looked
    for asked, (body, *_) in looked.items():
        locate = {key: one for key, one in json.loads(asked).items() if one is not None}
        if locate["by"] != "api" or locate.get("json_path"):
            continue
        places = [
            (at, text)
            for at, text in _leaves(_data(body))
            if text in said and len(text) >= _LEAST_WORD
        ]
        for at, text in places[:_MOST_PLACES]:
            where = f"{locate['site']}:{locate['path']}"
            name = f"api-says-{slug_of(text)}"[:_LONGEST_NAME].rstrip("-")
            yield Proposal(
                key=f"end-api-{crc32(f'{where} {at}'.encode())}",
                label=f"the data at {where} says “{text}” at {at}",
                check=Check.model_validate(
                    {
                        "name": name,
                        "when": "end",
                        "worlds": ["offline"],
                        "locate": {**locate, "json_path": at},
                        "match": {"how": "exact", "value": text},
                    }
                ),
            )


def _leaves(data: object) -> Iterator[tuple[str, str]]:
    """Yield the values of a JSON document with their JSONPaths, in its order."""
    under: list[tuple[str, object]] = [("$", data)]
    while under:
        at, value = under.pop()
        match value:
            case Mapping():
                inside = [(f"{at}[{json.dumps(name)}]", one) for name, one in value.items()]
                under += reversed(inside)
            case list():
                under += reversed([(f"{at}[{n}]", one) for n, one in enumerate(value)])
            case _:
                yield at, as_text(value)


def _counted(check: Check, looked: Mapping[str, tuple[str, ...]]) -> Check:
    """Return a check that expects the count which there was: others like it may have been there."""
    found = looked.get(check.locate.model_dump_json())
    if not found:
        return check
    match = {"how": "exact", "value": found[0]}
    return Check.model_validate({**check.model_dump(exclude_unset=True), "match": match})


def _query(change: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Return a query for an expected change, what it answers, and what it is about.

    A row that was added is counted by its columns: its key is another one the next time. One that
    was changed is asked for its new values by its key.
    """
    table, columns = change.get("table"), dict(change.get("columns", {}))
    if table is None or not columns:
        return None
    known = {name: one for name, one in columns.items() if one and len(one) <= _LONGEST_CELL}
    if change["kind"] == ChangeKind.ADDED and known:
        query = exp.select(exp.Count(this=exp.Star())).from_(exp.to_table(table))
        return _sql(query, known), str(change.get("count", 1)), ", ".join(known)
    key, *others = columns  # `check_of` puts the key first
    told = [name for name in others if name in known]
    if change["kind"] != ChangeKind.CHANGED or key not in known or not told:
        return None
    query = exp.select(*(exp.column(name) for name in told)).from_(exp.to_table(table))
    value = " | ".join(known[name] for name in told)
    return _sql(query, {key: known[key]}), value, ", ".join(told)


def _sql(query: exp.Select, where: Mapping[str, str]) -> str:
    conditions = [
        exp.EQ(this=exp.column(name), expression=exp.Literal.string(value))
        for name, value in where.items()
    ]
    return str(query.where(*conditions).sql(dialect="mysql"))


def slug_of(text: str) -> str:
    """Return a text as a name: `Add to basket` is `add-to-basket`."""
    return "-".join(_WORD.findall(text.lower())) or "it"
