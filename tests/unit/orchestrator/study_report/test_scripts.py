"""Data in scripts: whatever texts say, they stay texts."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_study import ATTACK

from orchestrator.study_report.scripts import as_call, as_json

DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(DOCUMENTS)
def test_documents_come_back_and_hold_nothing_that_html_or_a_line_knows(document: object) -> None:
    text = as_json(document)
    assert json.loads(text) == document
    assert re.search(r"[<>&\u0080-\U0010ffff\n]", text) is None


def test_an_attack_is_one_string_of_a_call() -> None:
    call = as_call("show", ATTACK, {"__proto__": ATTACK})
    name, document = json.loads(f"[{call.removeprefix('show(').removesuffix(');' + chr(10))}]")
    assert name == ATTACK
    assert json.loads(document) == {"__proto__": ATTACK}
    assert "</script" not in call


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_json([float("nan")])
