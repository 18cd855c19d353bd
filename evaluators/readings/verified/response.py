"""webarena-verified's `AgentResponseEvaluator`: task type, status and retrieved data."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from evaluators.readings.verified.comparing import Comparison
from evaluators.readings.verified.schemas import Maker
from evaluators.readings.verified.site_urls import SiteUrls
from evaluators.readings.verified.typed import String

_FENCE: Final = re.compile(r"```(?:json)?\s*\n?(.*?)\n?```", re.DOTALL)
_DATA: Final = "retrieved_data"
_FIELDS: Final = ("task_type", "status", _DATA, "error_details")


def task_type(record: Mapping[str, Any]) -> str:
    """Return what kind of task a record is: RETRIEVE, MUTATE or NAVIGATE."""
    for one in record["eval"]:
        if one["evaluator"] == "AgentResponseEvaluator":
            return _type_of(one["expected"])
    message = "No AgentResponseEval found in eval"
    raise ValueError(message)


def response_differences(
    config: Mapping[str, Any], sites: SiteUrls, answer: str, *, retrieves: bool
) -> list[str]:
    """Return how an answer differs from what is expected of it."""
    said = config["expected"]
    expected = {
        "task_type": String(_type_of(said)),
        "status": String(said["status"].upper()),
        _DATA: _data(said.get(_DATA), config, Maker(sites, strict=True)),
    }
    actual = _actual(answer, config, Maker(sites, strict=False), retrieves=retrieves)
    unseen = Comparison(unseen=frozenset({_DATA}))
    found = unseen.differences(expected, actual, "agent_response")
    if not isinstance(actual, dict) or not retrieves or not actual:
        return found
    wanted, got = expected[_DATA], actual.get(_DATA)
    if wanted is None and got is None:
        return found
    if wanted is None or got is None:
        return [*found, f"{_DATA}: expected {_shown(wanted)}, got {_shown(got)}"]
    ordered = Comparison(ordered=bool(config.get("ordered")))
    return [*found, *ordered.differences(tuple(wanted), tuple(got), _DATA)]


def _type_of(said: Mapping[str, Any]) -> str:
    return str(said.get("task_type", said.get("performed_operation"))).upper()


def _actual(answer: str, config: Mapping[str, Any], maker: Maker, *, retrieves: bool) -> Any:
    value = _parsed(answer)
    if not isinstance(value, dict):
        return value
    found: dict[str, Any] = {}
    expected = config["expected"]
    for name in _FIELDS:
        if name not in expected and not (name == "task_type" and "performed_operation" in expected):
            continue
        key = name
        if name == "task_type" and name not in value and "performed_operation" in value:
            key = "performed_operation"
        if key not in value:
            if key == _DATA:
                found[key] = None
            continue
        if key == _DATA:
            found[name] = (_data(value[key], config, maker) if retrieves else None) or None
        else:
            text = value[key].strip()
            found[name] = String(text) if text else None
    return found


def _parsed(answer: str) -> Any:
    """Return the JSON in a fence or of the whole text; the text where it is none."""
    fenced = _FENCE.search(answer)
    value: Any = fenced[1].strip() if fenced else answer.strip()
    with suppress(json.JSONDecodeError):
        value = json.loads(value)
    return value or None


def _data(raw: Any, config: Mapping[str, Any], maker: Maker) -> Any:
    if not raw and not isinstance(raw, (int, float)):
        return None
    values = tuple(raw) if isinstance(raw, (list, tuple)) else (raw,)
    return maker.results(values, config["results_schema"])


def _shown(data: Any) -> str:
    return "nothing" if data is None else str([str(one) for one in data])
