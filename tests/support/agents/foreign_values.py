"""What broken agents, endpoints, plug-ins and pages hand in, and what must hold of it."""

from __future__ import annotations

import json
from typing import Any, Final

from hypothesis import settings
from hypothesis import strategies as st

from evaluators.evidence import Evidence, UnscoredReason
from evaluators.scores import score
from tasks.schema import Task

# Of 10,000 cases in the full profile, as many in each of seven batteries; few in the steady one.
_EXAMPLES: Final = settings().max_examples
CASES: Final = _EXAMPLES * (10 if _EXAMPLES >= 150 else 2)

_TEXTS: Final = ["", "\ud800", "a\udfffb", "\ud83d", "\x00", "\u2028", "1891", "9" * 5_000]
TEXTS: Final = st.sampled_from([*_TEXTS, "long " * 60_000]) | st.text(
    st.characters(codec=None, categories=["L", "N", "P", "Z", "Cs", "Cc"]), max_size=20
)
_NUMBERS: Final = st.sampled_from([0, -1, 10**400, -(10**400), 2**63, 1e308, 5e-324])
_NO_JSON: Final = st.sampled_from([float("nan"), float("inf"), float("-inf")])
_LEAVES: Final = st.none() | st.booleans() | _NUMBERS | _NO_JSON | TEXTS
_DEPTHS: Final = st.sampled_from([90, 110, 250, 900, 980, 200_000])


def _inside(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3)


def _nested(depth: int, *, is_object: bool) -> Any:
    found: Any = 1
    for _ in range(min(depth, 5_000)):
        found = {"a": found} if is_object else [found]
    return found


# Any JSON that Python reads, and what it does not.
JSON_VALUES: Final = st.recursive(_LEAVES, _inside, max_leaves=6)
VALUES: Final = (
    JSON_VALUES
    | st.builds(_nested, _DEPTHS, is_object=st.booleans())
    | st.sampled_from([b"bytes", object(), {1: 2}, {"set"}, range(3), (1, (2,))])
)


def _text_of(value: Any) -> str:
    return json.dumps(value)


def _deep_text(depth: int, *, is_object: bool) -> str:
    opening, closing = ('{"a":', "}") if is_object else ("[", "]")
    return opening * depth + "1" + closing * depth


# The same as it stands in a message: JSON, deeper than Python reads, or broken.
JSON_TEXTS: Final = (
    st.builds(_text_of, JSON_VALUES)
    | st.builds(_deep_text, _DEPTHS, is_object=st.booleans())
    | st.sampled_from(['"\\ud800"', "1e999", "9" * 5_000, "{", "nul", '{"a":1,"a":2}'])
)


def objects(fields: dict[str, list[str]]) -> st.SearchStrategy[str]:
    """Return JSON objects whose fields hold what they should, or anything.

    Args:
        fields: the names, and for each what makes sense there, as JSON.
    """
    values = {name: st.sampled_from(right) | JSON_TEXTS for name, right in fields.items()}
    return st.fixed_dictionaries({}, optional=values).map(
        lambda found: "{" + ", ".join(f'"{name}": {one}' for name, one in found.items()) + "}"
    )


def require_scored(task: Task, evidence: Evidence) -> None:
    """Require evidence that is written and read as it is, and scored as the agent's own doing."""
    assert evidence.fault is None, evidence.fault
    again = Evidence.model_validate_json(evidence.model_dump_json())
    assert again == evidence
    found = score(task.checks, again, task.requires)
    assert found == score(task.checks, evidence, task.requires)
    assert found.outcome.reason not in {UnscoredReason.INFRA, UnscoredReason.INTERNAL}, found
