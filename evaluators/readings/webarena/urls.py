"""WebArena's `URLEvaluator`: the final URL of the current tab against a reference."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qs, urlparse

from evaluators.readings.upstream import Worth

_RULE: Final = "GOLD in PRED"


def url_match(record: Mapping[str, Any], url: str) -> Worth:
    """Score a URL as `URLEvaluator.__call__` does.

    Host and path of any alternative must be inside the URL's, anywhere. The parameters of all
    alternatives lie in one pool: of each name any pooled value will do. Scheme, fragment, further
    parameters and those without a value are not looked at.
    """
    pred = _clean(url)
    references = [_clean(one) for one in record["eval"]["reference_url"].split(" |OR| ")]
    rule = record["eval"].get("url_note", _RULE)
    if rule != _RULE:
        message = f"Unknown matching rule: {rule}"
        raise ValueError(message)
    bases: list[str] = []
    pooled: defaultdict[str, set[str]] = defaultdict(set)
    for reference in references:
        base, query = _parts(reference)
        bases.append(base)
        for name, values in query.items():
            pooled[name].update(values)
    at, said = _parts(pred)
    if not any(base in at for base in bases):
        return Worth(0.0, f"{at!r} holds none of {bases}")
    for name, wanted in pooled.items():
        if wanted.isdisjoint(said.get(name, [])):
            return Worth(0.0, f"the parameter {name!r} of the URL is none of {sorted(wanted)}")
    return Worth(1.0, f"{at!r} holds one of {bases}")


def _clean(url: str) -> str:
    return str(url).rstrip("/")


def _parts(url: str) -> tuple[str, dict[str, list[str]]]:
    parsed = urlparse(url)
    return parsed.netloc + parsed.path, parse_qs(parsed.query)
