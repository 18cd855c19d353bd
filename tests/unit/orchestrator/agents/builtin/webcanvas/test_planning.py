"""Steps as WebCanvas's planning module writes them: no text raises or does what it does not say."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.agents.action_spaces.parser import Misread
from orchestrator.agents.builtin.webcanvas.planning import NOTHING, Plan, read_plan
from orchestrator.browser.observation import (
    AXTREE,
    SCREENSHOT,
    SOM,
    AxTree,
    Box,
    Mark,
    MarkedPicture,
    Node,
    Observation,
    Picture,
    Tab,
)

PAGE = Observation(
    step=0,
    url="http://shop.test/",
    title="Shop",
    tabs=(Tab(0, "Shop", "http://shop.test/", is_current=True),),
    parts={AXTREE: AxTree(tuple(Node(id=n, depth=0, role="link", name="a") for n in (3, 7)))},
)
PICTURE = Picture(b"picture", 640, 480)
MARK = Mark(3, "link", "a", Box(10, 10, 20, 20, visible=True))
SEEN = replace(PAGE, parts={SCREENSHOT: PICTURE, SOM: MarkedPicture(PICTURE, (MARK,))})
KINDS = {
    "goto": "goto",
    "click": "click",
    "fill_form": "type",
    "fill_search": "type",
    "select_option": "select",
    "hover": "hover",
    "scroll_down": "scroll",
    "scroll_up": "scroll",
    "switch_tab": "focus_tab",
    "go_back": "back",
    "cache_data": "wait",
    "get_final_answer": "wait",
}
_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(st.sampled_from(sorted(KINDS)), _TEXT, st.sampled_from([3, 7, 8]), _TEXT)
def test_what_is_written_is_what_is_done(action: str, text: str, element: int, prose: str) -> None:
    planned = {"action": action, "action_input": text, "element_id": element}
    plan = read_plan(f"{prose.replace('{', '')}{json.dumps(planned)}", PAGE)
    if isinstance(plan, Misread):
        assert element == 8 or action in {"switch_tab", "cache_data"} or "}" in prose
        return
    assert plan.action.kind == KINDS[action]
    assert getattr(plan.action, "element", None) in {None, element}
    fields = plan.action.model_dump()
    said = [fields.get(name) for name in ("text", "url", "option") if fields.get(name) is not None]
    assert said in ([], [text])
    assert (plan.note, plan.answer) == (
        text if action == "cache_data" else None,
        text if action == "get_final_answer" else None,
    )
    if action in {"cache_data", "get_final_answer"}:
        assert plan.action == NOTHING


_WORDS = """{ } "action" "click" "goto" "action_input" "element_id" "position" : , [ ] 3 -1 1e999
NaN null true "x" "fill_form" '"""
_SCRAPS = st.lists(
    st.sampled_from([*_WORDS.split(), " ", "\n", "9" * 5_000, "[" * 300, "\x00", "\ud800"])
).map("".join)


_AFTER = _SCRAPS.map(lambda scraps: f'{{"action": "click", {scraps}}}')


@given(st.text() | _SCRAPS | _AFTER)
def test_no_text_makes_it_raise(said: str) -> None:
    for observation in (PAGE, SEEN):
        plan = read_plan(said, observation)
        assert isinstance(plan, Plan | Misread)
