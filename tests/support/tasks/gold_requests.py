"""Episodes made from the golds of WebArena-Verified's tasks: what the task itself asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from arena_core.actions import Stop
from evaluators.evidence import Evidence
from evaluators.network import RequestRecord
from evaluators.responses import response_of
from support.runs.make_evidence import make_evidence, make_step
from support.tasks.sre_examples import example
from tasks.schema import Task

FORM = "application/x-www-form-urlencoded"


def gold_episode(task: Task) -> Evidence:
    """Return the episode of an agent that does exactly what a published task asks for."""
    assert task.original is not None
    record: Mapping[str, Any] = task.original.record
    bases = task.original.bases
    requests = [
        one.model_copy(update={"index": number})
        for number, one in enumerate(_requests(record, bases))
    ]
    pages = [one for one in requests if one.method == "GET"]
    last = pages[-1].logical or ""
    said = json.dumps(_answer(record, bases))
    played = make_evidence(make_step(0), make_step(1, last.partition("?")[0]), answer=said)
    return played.model_copy(
        update={"network": tuple(requests), "response": response_of(Stop(answer=said))}
    )


def _answer(record: Mapping[str, Any], bases: Mapping[str, str]) -> dict[str, Any]:
    expected = record["eval"][0]["expected"]
    data = expected.get("retrieved_data")
    if isinstance(data, list):
        data = [_said(one[0] if isinstance(one, list) and one else one) for one in data]
    return {
        "task_type": expected["task_type"],
        "status": expected["status"],
        "retrieved_data": _rendered(data, bases),
        "error_details": None,
    }


def _said(value: Any) -> Any:
    """Return what an agent would say for a gold: a text where it is a pattern."""
    if isinstance(value, dict):
        return {name: _said(one) for name, one in value.items()}
    return _literal(value).replace("__SSH_HOST__", "host.test") if isinstance(value, str) else value


def _requests(record: Mapping[str, Any], bases: Mapping[str, str]) -> Iterator[RequestRecord]:
    opened = record["start_urls"][0]
    yield _record(_rendered(opened, bases), bases)
    for config in record["eval"][1:]:
        if not config.get("should_not_exist"):
            yield _wanted(config, bases)


def _wanted(config: Mapping[str, Any], bases: Mapping[str, str]) -> RequestRecord:
    expected = config["expected"]
    headers = {
        name.lower(): _rendered(_literal(value), bases)
        for name, value in (expected.get("headers") or {}).items()
    }
    method = expected.get("http_method", "GET")
    if method == "GET":
        headers |= {"accept": "text/html", "sec-fetch-dest": "document"}
        headers |= {"sec-fetch-mode": "navigate", "sec-fetch-user": "?1"}
    body = _body(config, headers, bases)
    cookies = "\n".join(
        f"{name}={quote(_literal(value))}; path=/"
        for name, value in (expected.get("response_cookies") or {}).items()
    )
    content = expected.get("response_content")
    return _record(
        _url(expected, bases),
        bases,
        status=expected.get("response_status", 200),
        method=method,
        request_headers=headers,
        request_body=body,
        request_bytes=len(body or ""),
        response_headers={
            "content-type": "application/json" if content else "text/html",
            **({"set-cookie": cookies} if cookies else {}),
        },
        response_body=json.dumps(nested(content)) if content else None,
    )


def _record(url: str, bases: Mapping[str, str], *, status: int = 200, **more: Any) -> RequestRecord:
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}"
    known = [base for base in bases.values() if base == origin or base.startswith(f"{origin}/")]
    site = parts.netloc.removesuffix(".arena.test") if known else None
    query = f"?{parts.query}" if parts.query else ""
    return RequestRecord(
        index=0,
        step=1,
        url=url,
        logical=None if site is None else f"{site}:{parts.path or '/'}{query}",
        site=site,
        status=None if status < 0 else status,
        **{"method": "GET", **more},
    )


def _url(expected: Mapping[str, Any], bases: Mapping[str, str]) -> str:
    url = expected["url"]
    first = url[0] if isinstance(url, list) else url
    if first.startswith("^.*"):
        first = first.replace("^.*", f"^{re.escape(bases['__MAP__'])}", 1)
    found: str = _rendered(_literal(first), bases)
    query = {
        name: value for name, value in (expected.get("query_params") or {}).items() if value != [""]
    }
    if not query:
        return found
    literal = {
        name: [_literal(one) for one in value] if isinstance(value, list) else _literal(value)
        for name, value in query.items()
    }
    return f"{found}{'&' if '?' in found else '?'}{urlencode(literal, doseq=True)}"


def _body(
    config: Mapping[str, Any], headers: dict[str, str], bases: Mapping[str, str]
) -> str | None:
    posted = config["expected"].get("post_data")
    if not posted:
        return None
    properties = (config.get("post_data_schema") or {}).get("properties") or {}
    listed = {name for name, one in properties.items() if one.get("type") == "array"}
    values = _rendered(nested(posted, listed), bases)
    if any(isinstance(one, dict | list) for one in values.values()) and not any(
        "?(" in name for name in posted
    ):
        headers["content-type"] = "application/json"
        return json.dumps(values)
    headers["content-type"] = FORM
    return urlencode(
        {
            name: json.dumps(one) if isinstance(one, dict | list) else str(one)
            for name, one in values.items()
        }
    )


def nested(expected: Mapping[str, Any], listed: set[str] | frozenset[str] = frozenset()) -> Any:
    """Return a body that holds what is expected at names and at simple paths; null is left out."""
    found: dict[str, Any] = {}
    for key, value in expected.items():
        first = value[0] if isinstance(value, list) and key not in listed else value
        if first is None:
            found.setdefault("form_key", "x")
            continue
        wanted = _literal(first) if isinstance(first, str) else first
        if filtered := re.fullmatch(r"\$\['([^']+)'\]\[\?\(@\.(\w+) == 1\)\]\.(\w+)", key):
            found[filtered[1]] = [{filtered[2]: 1, filtered[3]: one} for one in first]
        elif named := re.fullmatch(r"(?:\$\.)?\^(.*)\$", key):
            found[example(named[1])] = wanted
        elif key.startswith("$"):
            _put(found, [one for one in re.split(r"[.\[\]]+", key[1:]) if one], wanted)
        else:
            found[key] = wanted
    return found


def _put(holder: Any, parts: list[str], value: Any) -> None:
    for part, following in zip(parts, [*parts[1:], None], strict=True):
        key: Any = int(part) if part.isdigit() else part
        if isinstance(holder, list):
            holder.extend({} for _ in range(key + 1 - len(holder)))
        if following is None:
            holder[key] = value
            return
        empty: Any = [] if following.isdigit() else {}
        holder = holder.setdefault(key, empty) if isinstance(holder, dict) else holder[key]


def _literal(value: Any) -> str:
    """Return a text that a pattern matches; of alternatives the first; another text as it is."""
    first = value[0] if isinstance(value, list) else value
    if isinstance(first, str) and len(first) > 1 and first[0] == "^" and first[-1] == "$":
        return example(first[1:-1])
    return str(first)


def _rendered(value: Any, bases: Mapping[str, str]) -> Any:
    match value:
        case str():
            for base, replica in bases.items():
                value = value.replace(base, replica)
            return value
        case list():
            return [_rendered(one, bases) for one in value]
        case dict():
            return {name: _rendered(one, bases) for name, one in value.items()}
        case _:
            return value
