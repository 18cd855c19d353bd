"""What WebArena's evaluators were seen to do when they were run: one row a fact.

Web-arena-x/webarena at f62e0b9, Python 3.11, run against local pages. Its classes cannot be
installed: these rows stand for them.
"""

from __future__ import annotations

import pytest
from support.tasks.make_original import played, webarena_task

from evaluators.evidence import Evidence
from evaluators.scorers.base import OriginalTask, ScorerResult, ScorerStatus
from evaluators.scorers.webarena.scorer import WEBARENA_SCORER

DOC = "document.querySelector('#x').value"


def score(task: OriginalTask, evidence: Evidence) -> ScorerResult:
    return WEBARENA_SCORER.score(task, evidence, {})


@pytest.mark.parametrize(
    ("fact", "reference", "answer", "value"),
    [
        ("two rounds: quotes, then blanks", {"exact_match": "a"}, "'  a  '", 1.0),
        ("case", {"exact_match": "Yes"}, " yes ", 1.0),
        ("no alternatives", {"exact_match": "a |OR| b"}, "a", 0.0),
        ("alternatives as text", {"exact_match": "a |OR| b"}, "A |OR| B", 1.0),
        ("a lone quote is nothing", {"exact_match": "'"}, "", 1.0),
        ("thousands", {"exact_match": "1234"}, "1,234", 0.0),
        ("trade mark", {"exact_match": "Kettle"}, "Kettle™", 0.0),
        ("thin space", {"must_include": ["1 234"]}, "1\u2009234", 0.0),
        ("0 ends a sentence", {"must_include": ["0"]}, "0.", 1.0),
        ("0 in brackets", {"must_include": ["0"]}, "(0)", 1.0),
        ("0 per cent", {"must_include": ["0"]}, "0%", 1.0),
        ("0 dollars", {"must_include": ["0"]}, "$0", 1.0),
        ("0 with cents (issue 211)", {"must_include": ["0"]}, "$0.00", 0.0),
        ("0 of 5", {"must_include": ["0"]}, "0/5", 0.0),
        ("0 with a decimal", {"must_include": ["0"]}, "0.0", 0.0),
        ("an assignment", {"must_include": ["0"]}, "rating=0", 0.0),
        ("a compound", {"must_include": ["5"]}, "5-star", 0.0),
        ("a sentence goes on", {"must_include": ["0"]}, "It is 0. I looked.", 0.0),
        ("12 in 2012", {"must_include": ["12"]}, "2012", 1.0),
        ("two items are not tokens", {"must_include": ["0", "1"]}, "10", 1.0),
        ("alternatives are not split (386)", {"must_include": ["65 |OR| 3"]}, "65", 0.0),
        ("negated", {"must_include": ["yes"]}, "yes and no", 1.0),
        ("nothing asked", {"must_include": []}, "", 1.0),
        ("an empty text is in all", {"must_include": [""]}, "", 1.0),
        ("an unknown key passes", {"one_of": ["a"]}, "", 1.0),
        ("N/A itself", {"fuzzy_match": "N/A"}, "n/a", 1.0),
        ("all must hold", {"must_include": ["ab", "cd"]}, "ab", 0.0),
        ("both keys must hold", {"exact_match": "ab", "must_include": ["c"]}, "ab", 0.0),
    ],
)
def test_string_match(fact: str, reference: object, answer: str, value: float) -> None:
    task = webarena_task("string_match", answers=reference)
    assert score(task, played(answer)).value == value, fact


@pytest.mark.parametrize(
    ("fact", "reference", "url", "value"),
    [
        ("the same", "__REDDIT__/f/book", "http://forum.arena.test/f/book", 1.0),
        ("a longer name (PR 77)", "__REDDIT__/f/book", "http://forum.arena.test/f/bookshop", 1.0),
        ("a deeper page", "__REDDIT__/f/book", "http://forum.arena.test/f/book/7/x", 1.0),
        ("the case of the path", "__REDDIT__/f/DIY", "http://forum.arena.test/f/diy", 0.0),
        ("another host", "__REDDIT__/f/a", "http://evil.test/forum.arena.test/f/a", 1.0),
        ("the scheme", "__REDDIT__/f/a", "https://forum.arena.test/f/a", 1.0),
        ("a fragment", "__REDDIT__/f/a", "http://forum.arena.test/f/a#top", 1.0),
        ("a slash at the end", "__REDDIT__/f/a/", "http://forum.arena.test/f/a", 1.0),
        ("of the base", "__GITLAB__", "http://forge.arena.test/x", 1.0),
        ("empty", "", "http://forum.arena.test/", 1.0),
        ("further parameters", "__MAP__/d?a=1", "http://map.arena.test/d?a=1&b=2", 1.0),
        ("a value that is not there", "__MAP__/d?a=1", "http://map.arena.test/d?a=2", 0.0),
        ("a parameter without a value", "__MAP__/d?a=", "http://map.arena.test/d", 1.0),
        ("repeated: any of them", "__MAP__/d?a=1&a=2", "http://map.arena.test/d?a=2", 1.0),
        ("a slash before the query", "__GITLAB__/i/?x=1", "http://forge.arena.test/i?x=1", 0.0),
        ("plus and %20", "__MAP__/d?q=a+b", "http://map.arena.test/d?q=a%20b", 1.0),
        ("either", "__MAP__/a |OR| __MAP__/b", "http://map.arena.test/b", 1.0),
        (
            "pooled parameters",
            "__MAP__/a?x=1 |OR| __MAP__/b?x=2",
            "http://map.arena.test/a?x=2",
            1.0,
        ),
        (
            "pooled: each name",
            "__MAP__/a?x=1 |OR| __MAP__/b?y=2",
            "http://map.arena.test/a?x=1",
            0.0,
        ),
    ],
)
def test_url_match(fact: str, reference: str, url: str, value: float) -> None:
    task = webarena_task("url_match", reference_url=reference)
    assert score(task, played(url=url)).value == value, fact


def test_url_match_looks_at_the_last_url_alone() -> None:
    task = webarena_task("url_match", reference_url="__SHOPPING__/a")
    seen = played(url="http://shop.arena.test/a")
    left = seen.model_copy(
        update={"steps": (*seen.steps, seen.steps[-1].model_copy(update={"url": "about:blank"}))}
    )
    assert (score(task, seen).value, score(task, left).value) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("fact", "required", "selected", "value"),
    [
        ("null is the text None", {"exact_match": "none"}, "None", 1.0),
        ("a script that throws", {"exact_match": ""}, "", 1.0),
        ("nothing asked", {"must_include": []}, "", 1.0),
        ("a number is text", {"exact_match": "0"}, "0", 1.0),
        ("a boolean as in Python", {"exact_match": "true"}, "True", 1.0),
        ("entities of the page", {"must_include": ["a & b"]}, "a &amp; b", 1.0),
        ("entities of the task", {"must_include": ["a &amp; b"]}, "a &amp; b", 0.0),
        ("alternatives", {"must_include": ["x |OR| b"]}, "abc", 1.0),
        ("one character, no tokens", {"must_include": ["0"]}, "2025", 1.0),
        ("what stands in a script", {"must_include": ["paid"]}, "<script>paid</script>", 1.0),
        ("exact_match wins", {"must_include": ["x"], "exact_match": "a"}, "a", 1.0),
        ("outer quotes", {"exact_match": "a"}, "'A'", 1.0),
        ("all must hold", {"must_include": ["a", "z"]}, "abc", 0.0),
    ],
)
def test_program_html(fact: str, required: object, selected: str, value: float) -> None:
    target = {"url": "last", "locator": DOC, "required_contents": required}
    task = webarena_task("program_html", html=[target])
    assert score(task, played(selected=[selected])).value == value, fact


CRASHES = [
    ("no answers", webarena_task("string_match"), "AttributeError: 'NoneType' object has no"),
    ("an unknown evaluator", webarena_task("page_image_query"), "ValueError: eval_type"),
    (
        "an unknown rule",
        webarena_task("url_match", url_note="EXACT"),
        "Unknown matching rule: EXACT",
    ),
    ("null for a rule", webarena_task("url_match", url_note=None), "Unknown matching rule: None"),
    ("no URL", webarena_task("url_match", reference_url=None), "AttributeError: 'NoneType'"),
    (
        "a number for an answer",
        webarena_task("string_match", answers={"exact_match": 7}),
        "BeartypeCallHintParamViolation",
    ),
    (
        "a text for a list",
        webarena_task("string_match", answers={"must_include": "a"}),
        "AssertionError",
    ),
    (
        "VisualWebArena's locator",
        webarena_task("program_html", html=[{"url": "last", "locator": "lambda: 1"}]),
        "Unknown locator: lambda: 1",
    ),
    (
        "VisualWebArena's key",
        webarena_task(
            "program_html",
            html=[{"url": "last", "locator": "", "required_contents": {"must_exclude": ["a"]}}],
        ),
        "Unknown required_contents: dict_keys(['must_exclude'])",
    ),
    (
        "a list of names",
        webarena_task("program_html", html=[{"url": "last"}]),
        "KeyError: 'locator'",
    ),
]


@pytest.mark.parametrize(("fact", "task", "says"), CRASHES, ids=[row[0] for row in CRASHES])
def test_where_upstream_raises_the_scorer_says_crash(
    fact: str, task: OriginalTask, says: str
) -> None:
    found = score(task, played("a", selected=["a"]))
    assert (found.status, found.value) == (ScorerStatus.CRASH, None), fact
    assert says in found.because


def test_no_evaluator_at_all_scores_one() -> None:
    assert score(webarena_task(), played()).value == 1.0


def test_the_score_is_the_product_of_the_evaluators() -> None:
    task = webarena_task(
        ["string_match", "url_match"], answers={"exact_match": "a"}, reference_url="__MAP__"
    )
    right = score(task, played("a", url="http://map.arena.test/"))
    wrong = score(task, played("a", url="http://shop.arena.test/"))
    assert (right.value, wrong.value) == (1.0, 0.0)
    assert wrong.metrics == {"string_match": 1.0, "url_match": 0.0}
    assert wrong.because.startswith("url_match: 'shop.arena.test'")
