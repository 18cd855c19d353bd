"""WebCanvas v0.0.3 as it was seen to score when it was run: one row a fact; and its paper's way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from support.runs.make_evidence import make_acted, make_evidence
from support.tasks.make_original import make_original, published

from arena_core.actions import Action, Click, Select, Stop, Type
from arena_core.worlds import World
from evaluators.evidence import Ended, Evidence, SelectorFit, StepEvidence, UrlVisit
from evaluators.scorers.base import Scorer, ScorerResult, ScorerStatus
from evaluators.scorers.webcanvas import (
    SEMANTIC,
    WEBCANVAS_PAPER_SCORER,
    WEBCANVAS_SCORER,
    netloc_label,
)

CLICK = Click(element=1)
SELECTORS = ("#buy", "#q", "ul >li", "a.buy", ".buy")
NO_ELEMENT = -1


def url_node(kind: str, wanted: str, key: str = "") -> dict[str, Any]:
    content = {"key": key, "reference_answer": wanted, "url": "https://x.test/"}
    return {"match_function_name": f"url_{kind}_match", "content": content}


def element_node(kind: str, wanted: str, netloc: str = "shop", **more: str) -> dict[str, Any]:
    content = {"reference_answer": wanted, "netloc": netloc, "url": "https://shop.test/", **more}
    return {
        "match_function_name": f"element_{kind}_match",
        "method": "selector",
        "content": content,
    }


def step(
    index: int,
    url: str,
    action: Action | None = CLICK,
    *,
    visits: Sequence[str] = (),
    is_node: int | None = NO_ELEMENT,
    label: str = "Buy",
) -> StepEvidence:
    """Make a step; `is_node` says how far the element acted on is from a key node's."""
    fits = tuple(
        SelectorFit(selector=selector, distance=first, first=first)
        for selector, first in zip(SELECTORS, [is_node] * len(SELECTORS), strict=True)
    )
    element = make_acted(name=label).model_copy(update={"fits": fits})
    return StepEvidence(
        index=index,
        action=action if index else None,
        url=url,
        logical=None,
        title="",
        visits=tuple(UrlVisit(tab=0, url=one, logical=None) for one in visits),
        acted=() if is_node == NO_ELEMENT else (element,),
    )


def live(*steps: StepEvidence, ended: Ended = Ended.STOPPED) -> Evidence:
    return make_evidence(*steps, world=World.ONLINE, ended=ended)


def scored(
    nodes: Sequence[dict[str, Any]],
    evidence: Evidence,
    *replies: str,
    scorer: Scorer = WEBCANVAS_SCORER,
) -> ScorerResult:
    task = make_original({"evaluation": list(nodes)}, "mind2web-live", {})
    asked = scorer.questions(task, evidence)
    judged = {one.key: reply for one, reply in zip(asked, replies, strict=False)}
    return scorer.score(task, evidence, judged)


def at(url: str) -> Evidence:
    """Make an episode that opens a page and then does one thing more."""
    return live(step(0, "about:blank"), step(1, url), step(2, url, Stop()))


@pytest.mark.parametrize(
    ("fact", "node", "url", "value"),
    [
        ("a key's first value", url_node("exactly", "a", "k"), "https://x.test/?k=a&k=b", 1),
        ("not the second", url_node("exactly", "b", "k"), "https://x.test/?k=a&k=b", 0),
        ("a key that is not there", url_node("exactly", "a", "k"), "https://x.test/", 0),
        ("an empty value is dropped", url_node("exactly", "", "k"), "https://x.test/?k=", 0),
        ("plus is a blank", url_node("exactly", "a b", "k"), "https://x.test/?k=a+b", 1),
        ("decoded twice", url_node("exactly", "a b", "k"), "https://x.test/?k=a%2520b", 1),
        ("the reference is not", url_node("exactly", "a%20b", "k"), "https://x.test/?k=a%20b", 0),
        ("case", url_node("exactly", "A", "k"), "https://x.test/?k=a", 0),
        ("the whole URL", url_node("exactly", "https://x.test/a"), "https://x.test/a", 1),
        ("a slash at its end", url_node("exactly", "https://x.test/a"), "https://x.test/a/", 0),
        ("its scheme", url_node("exactly", "https://x.test/a"), "http://x.test/a", 0),
        ("a domain", url_node("included", "gamestop."), "https://www.gamestop.com/", 1),
        ("inside another", url_node("included", "gamestop."), "https://evilgamestop.com/", 1),
        ("in a path", url_node("included", "gamestop."), "https://x.com/r/gamestop.com", 1),
        ("a path", url_node("included", "/stores/"), "https://x.test/stores/7", 1),
        ("the query is cut off", url_node("included", "?pillows"), "https://x.test/c?pillows", 0),
        ("the scheme is cut off", url_node("included", "https://x"), "https://x.test/", 0),
        ("a fragment", url_node("included", "#reviews"), "https://x.test/a#reviews", 1),
        ("params are cut off", url_node("included", ";v=1"), "https://x.test/a;v=1", 0),
        ("nothing", url_node("included", ""), "https://x.test/", 1),
        ("a key's text", url_node("included", "ettl", "q"), "https://x.test/?q=kettle", 1),
    ],
)
def test_url_functions(fact: str, node: dict[str, Any], url: str, value: float) -> None:
    assert scored([node], at(url)).value == value, fact


@pytest.mark.parametrize(
    ("url", "label"),
    [
        ("https://www.last.fm/x", "last"),
        ("https://people.yellowpages.com/", "people"),
        ("https://new.mta.info/", "new"),
        ("https://www2.shop.test/", "shop"),
        ("http://localhost:7770/", ""),
        ("http://127.0.0.1:7770/", "127"),
    ],
)
def test_a_netloc_is_a_label(url: str, label: str) -> None:
    assert netloc_label(url) == label


def test_every_published_netloc_is_that_of_its_url() -> None:
    contents = [
        node["content"]
        for task in published("mind2web-live-tasks.json")
        for node in task["evaluation"]
        if "netloc" in node["content"]
    ]
    assert contents
    assert all(netloc_label(one["url"]) == one["netloc"] for one in contents)


class TestElements:
    def test_the_element_acted_on_is_the_key_nodes(self) -> None:
        node = element_node("path_exactly", "#buy")
        opened = step(0, "https://shop.test/")
        assert scored([node], live(opened, step(1, "x", is_node=0))).value == 1.0
        assert scored([node], live(opened, step(1, "x", is_node=None))).value == 0.0

    def test_another_netloc_is_none_and_two_empty_ones_are_equal(self) -> None:
        node = element_node("path_exactly", "#buy", "")
        for host, value in (("localhost:1", 1.0), ("www.shop.test", 0.0)):
            opened = step(0, f"http://{host}/")
            assert scored([node], live(opened, step(1, "x", is_node=0))).value == value

    def test_typed_text_is_what_was_meant_and_a_clicks_is_its_label(self) -> None:
        opened = step(0, "https://shop.test/")
        node = element_node("value_exactly", "kettle")
        typed = step(1, "x", Type(element=1, text="kettle"), is_node=None)
        chosen = step(1, "x", Select(element=1, option="kettle"), is_node=None, label="Sort by")
        clicked = step(1, "x", is_node=None, label="kettle")
        assert scored([node], live(opened, typed)).value == 1.0
        assert scored([node], live(opened, chosen)).value == 0.0  # the select's label
        assert scored([node], live(opened, clicked)).value == 1.0

    def test_a_value_with_a_path_needs_the_element_too(self) -> None:
        opened = step(0, "https://shop.test/")
        node = element_node("value_exactly", "kettle", path="#q")
        typed = Type(element=1, text="kettle")
        assert scored([node], live(opened, step(1, "x", typed, is_node=0))).value == 1.0
        assert scored([node], live(opened, step(1, "x", typed, is_node=None))).value == 0.0

    @pytest.mark.parametrize(
        ("selector", "distance", "value"),
        [
            ("ul >li ", 1, 1.0),
            ("ul >li ", 3, 1.0),
            ("ul >li ", 4, 0.0),
            ("a.buy", 1, 0.0),  # of a link no ancestor counts
            (".buy", 4, 0.0),
        ],
    )
    def test_of_some_tags_three_ancestors_count_too(
        self, selector: str, distance: int, value: float
    ) -> None:
        node = element_node("path_exactly", selector)
        acted = step(1, "x", is_node=distance)
        assert scored([node], live(step(0, "https://shop.test/"), acted)).value == value

    @pytest.mark.parametrize(("selector", "distance"), [("#other", 0), (".buy", 1)])
    def test_what_the_evidence_does_not_say_of_an_element_is_no_score(
        self, selector: str, distance: int
    ) -> None:
        node = element_node("path_exactly", selector)
        acted = step(1, "x", is_node=distance)
        found = scored([node], live(step(0, "https://shop.test/"), acted))
        assert found.status is ScorerStatus.UNSCORED
        assert selector in found.because


class TestTiming:
    NODES = (url_node("included", "/a"), url_node("included", "/b"))

    def test_the_page_of_the_last_action_is_never_looked_at(self) -> None:
        evidence = live(step(0, "about:blank"), step(1, "https://x.test/a"), ended=Ended.STEP_LIMIT)
        [node, _] = self.NODES
        assert scored([node], evidence).value == 0.0
        assert scored([node], evidence, scorer=WEBCANVAS_PAPER_SCORER).value == 1.0

    def test_a_task_of_two_pages_takes_three_turns(self) -> None:
        pages = [step(0, "about:blank"), step(1, "https://x.test/a"), step(2, "https://x.test/b")]
        assert scored(self.NODES, live(*pages)).value == 0.0
        found = scored(self.NODES, live(*pages, step(3, "https://x.test/", Stop())))
        assert (found.value, found.metrics["steps"]) == (1.0, 3.0)

    def test_a_page_passed_inside_an_action_is_missed(self) -> None:
        passed = ["https://x.test/a", "https://x.test/b"]
        evidence = live(
            step(0, "about:blank"), step(1, passed[1], visits=passed), step(2, passed[1], Stop())
        )
        assert scored(self.NODES, evidence).metrics["step_score"] == 1.0
        paper = scored(self.NODES, evidence, scorer=WEBCANVAS_PAPER_SCORER)
        assert paper.metrics["step_score"] == 2.0

    def test_an_address_that_a_script_of_the_agents_set_is_no_page(self) -> None:
        url = "https://x.test/a"
        forged = {
            "is_forged": True,
            "visits": (UrlVisit(tab=0, url=url, logical=None, trusted=False),),
        }
        start, moved = step(0, "about:blank"), step(1, url)
        for scorer in (WEBCANVAS_SCORER, WEBCANVAS_PAPER_SCORER):
            for update, met in (({}, 1.0), (forged, 0.0)):
                played = live(start, moved.model_copy(update=update), step(2, url, Stop()))
                played = played.model_copy(
                    update={"steps": (*played.steps[:2], played.steps[2].model_copy(update=update))}
                )
                assert scored(self.NODES, played, scorer=scorer).metrics["step_score"] == met

    def test_nodes_have_no_order_and_are_never_lost(self) -> None:
        urls = ["https://x.test/b", "https://x.test/a", "https://x.test/"]
        steps = [step(index + 1, url) for index, url in enumerate(urls)]
        assert scored(self.NODES, live(step(0, "about:blank"), *steps)).value == 1.0

    def test_the_harness_stops_the_agent_at_the_last_node(self) -> None:
        urls = ["https://x.test/a/b", *["https://x.test/"] * 7]
        evidence = live(step(0, "about:blank"), *(step(i + 1, url) for i, url in enumerate(urls)))
        assert scored(self.NODES, evidence).metrics["steps"] == 2.0
        paper = scored(self.NODES, evidence, scorer=WEBCANVAS_PAPER_SCORER)
        assert paper.metrics["steps"] == 8.0


class TestTheModel:
    NODE = url_node("semantic", "Decide whether they search for X", "q")

    @pytest.mark.parametrize(
        ("reply", "value", "score"),
        [
            ("It is ```1```", 1.0, 1.0),
            ("```0.849```", 0.0, 0.85),
            ("``` 7 ```", 1.0, 1.0),
            ("```-1```", 0.0, 0.0),
            ("1", 0.0, 0.0),
            ("```json\n{}```", 0.0, 0.0),
            ("```__import__('os')```", 0.0, 0.0),
        ],
    )
    def test_the_first_fence_holds_a_number(self, reply: str, value: float, score: float) -> None:
        found = scored([self.NODE], at("https://x.test/?q=kettle"), reply)
        assert (found.value, found.metrics["step_score"]) == (value, score)

    def test_the_rule_and_the_parameter_are_asked_about_once(self) -> None:
        task = make_original({"evaluation": [self.NODE]}, "mind2web-live", {})
        [question] = WEBCANVAS_SCORER.questions(task, at("https://x.test/?q=kettle"))
        assert question.prompt == SEMANTIC
        assert question.inputs == {"rule": "Decide whether they search for X", "answer": "kettle"}

    def test_without_a_reply_there_is_no_score(self) -> None:
        found = scored([self.NODE], at("https://x.test/?q=kettle"))
        assert found.status is ScorerStatus.UNSCORED
        assert scored([self.NODE], at("https://x.test/")).value == 0.0


def test_a_replicas_urls_are_read_as_the_published_ones() -> None:
    task = make_original(
        {"evaluation": [url_node("included", "gamestop.com/a")]},
        "mind2web-live",
        {"www.gamestop.com": "http://shop.arena.test"},
    )
    pages = step(0, "http://shop.arena.test/"), step(1, "http://shop.arena.test/a?b")
    evidence = make_evidence(*pages, step(2, "http://shop.arena.test/", Stop()))
    assert WEBCANVAS_SCORER.score(task, evidence, {}).value == 1.0


class TestAggregates:
    FULL = at("https://x.test/a/b")
    HALF = at("https://x.test/a")
    NONE = at("https://x.test/")
    NODES = TestTiming.NODES

    def test_those_of_result_json(self) -> None:
        scores = [scored(self.NODES, one) for one in (self.FULL, self.HALF, self.NONE)]
        assert WEBCANVAS_SCORER.aggregate(scores) == {
            "task_counts": 3.0,
            "average_step_score_rate": 0.5,
            "key_node_completion_rate": 0.5,
            "task_success_rate": pytest.approx(1 / 3),
            "task_near_success_rate": pytest.approx(1 / 3),
            "average_efficiency_score": 1.0,  # 2/2, 2/1, and 0 for the worst
        }

    def test_those_of_the_paper(self) -> None:
        scores = [
            scored(self.NODES, one, scorer=WEBCANVAS_PAPER_SCORER)
            for one in (self.FULL, self.HALF, self.NONE)
        ]
        assert WEBCANVAS_PAPER_SCORER.aggregate(scores) == {
            "completion_rate_macro": 0.5,
            "completion_rate_micro": 0.5,
            "task_success_rate": pytest.approx(1 / 3),
            "task_success_rate_1": pytest.approx(2 / 3),
            "efficiency": 2.0,
            "human_alignment": 0.5,
        }

    @pytest.mark.parametrize(
        ("evidence", "alignment"),
        [
            (FULL, 1.0),
            (FULL.model_copy(update={"ended": Ended.STEP_LIMIT}), 0.95),
            (HALF, 0.5),
            (HALF.model_copy(update={"ended": Ended.STEP_LIMIT}), 0.4),
        ],
    )
    def test_human_alignment_has_four_cases(self, evidence: Evidence, alignment: float) -> None:
        found = scored(self.NODES, evidence, scorer=WEBCANVAS_PAPER_SCORER)
        assert found.metrics["human_alignment"] == pytest.approx(alignment)

    def test_nothing_scored_has_no_figures(self) -> None:
        assert WEBCANVAS_SCORER.aggregate([]) == {}


def test_no_published_task_crashes() -> None:
    for record in published("mind2web-live-tasks.json"):
        task = make_original(record, "mind2web-live", {})
        found = WEBCANVAS_SCORER.score(task, at("https://x.test/?q=kettle"), {})
        assert found.status in {ScorerStatus.SCORED, ScorerStatus.UNSCORED}, record["index"]


def test_the_published_urls_pass_their_own_key_nodes_but_for_known_ones() -> None:
    """What `webcanvas.md` measured on all 104 tasks: 288 of 305 keep their own rule."""
    kept = lost = 0
    for record in published("mind2web-live-tasks.json"):
        for node in record["evaluation"]:
            if node["match_function_name"] in {"url_included_match", "url_exactly_match"}:
                value = scored([node], at(node["content"]["url"])).value
                kept, lost = kept + (value == 1.0), lost + (value == 0.0)
    assert kept + lost == 154
    assert 0 < lost <= 17
