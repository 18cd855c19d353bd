"""Values with another unit, sign, key or accent, and words of the question out of their place."""

from __future__ import annotations

import time
from typing import Any

import pytest
from quick_cases import ONE_QUICK

from arena_core.actions import Stop
from arena_core.worlds import World
from evaluators.checks import Check
from evaluators.matchers.answer import AnswerMatcher
from evaluators.matchers.data import DataMatcher
from evaluators.matchers.include import IncludeMatcher
from evaluators.matchers.number import NumberMatcher
from evaluators.verdicts import CheckStatus, verdicts
from tasks.lint.reference_rules import ended_at_once
from tasks.schema import Task


def _is_met(question: str, answer: str, **written: Any) -> bool:
    matcher = AnswerMatcher.model_validate({"how": "answer", **written})
    return matcher.answering(question).match([answer], World.OFFLINE).met


_FLOOR = {"type": "number", "value": 12, "unit": ["m²", "square metres"]}
_WALK: dict[str, Any] = {"type": "duration", "value": "25 min", "unit": ["minutes"]}
_COLD: dict[str, Any] = {"type": "number", "value": 5, "unit": ["°C", "degrees Celsius"]}
_SHARE: dict[str, Any] = {"type": "number", "value": 35, "unit": ["%"]}
_WAY: dict[str, Any] = {"type": "distance", "value": "17 km", "unit": ["km"]}


@pytest.mark.parametrize(
    ("question", "written", "right", "wrong"),
    [
        (
            "How large is the floor of the room?",
            _FLOOR,
            ["12", "12 m²", "12 m^2", "12 square metres"],
            ["12 m", "12 m³", "12 km²", "12 m² per person", "12 rooms", "12 floors", "12²"],
        ),
        (
            "How many minutes is the walk?",
            _WALK,
            ["25", "25 min", "25 minutes", "0:25:00", "The walk is 25 minutes long."],
            ["-25 min", "+25 min", "25 min ago", "25 walks", "25 hours", "25 min²", "walks: 25"],
        ),
        (
            "How many degrees Celsius is it?",
            _COLD,
            ["5", "5 °C", "+5 °C", "5 degrees Celsius", "It is 5 degrees Celsius."],
            ["-5 °C", "minus 5", "5 °F", "5 K", "5 °C ago", "5 degrees Fahrenheit", "5 °C below"],
        ),
        (
            "What share of the votes did it get?",
            _SHARE,
            ["35%", "35 percent", "It got 35% of the votes."],
            ["35 points", "35 percentage points", "35% of the seats", "35 votes", "Votes: 35"],
        ),
        (
            "How many kilometres is the island from the coast?",
            _WAY,
            [
                *("17 km", "17", "17 kilometres", "17 km (10.6 miles)", "17 km (= 17,000 m)"),
                *("16 km and 1000 m", "16 km 1,000 m"),
            ],
            [
                *("17 km (11.6 miles)", "-17 km", "17 islands", "Islands: 17", "17 km²", "17 km/h"),
                *("9, 8", "9 8", "9 and 8", "9 km, 8 km", "9 km and 8"),
            ],
        ),
    ],
)
def test_a_unit_is_the_one_of_the_check_with_its_power_and_sign(
    question: str, written: dict[str, Any], right: list[str], wrong: list[str]
) -> None:
    assert [one for one in right if not _is_met(question, one, **written)] == []
    assert [one for one in wrong if _is_met(question, one, **written)] == []


@pytest.mark.parametrize("key", ["error", "not", "rank", "previousValue", "row_index", "no_answer"])
def test_the_keys_of_a_json_answer_are_read(key: str) -> None:
    question = "How many bells are there?"
    assert _is_met(question, '{"bells": 47}', type="number", value=47)
    assert not _is_met(question, f'{{"{key}": 47}}', type="number", value=47)
    assert not _is_met(question, f'{{"answer": {{"{key}": 47}}}}', type="number", value=47)
    assert not _is_met(question, f'{{"{key}": [3, 7]}}', type="number", all_of=[3, 7])
    columns = [{"type": "month"}, {"type": "number"}]
    rows = [["January", 12], ["February", 7]]
    written = f'[{{"month": "January", "{key}": 12}}, {{"month": "February", "{key}": 7}}]'
    assert not _is_met(question, written, columns=columns, rows=rows)


def test_items_of_a_list_need_something_between_them() -> None:
    for right in ("3, 17", "3 -> 17", "3 and 17", "3; 17", "3 / 17", "3\n17", "1. 3\n2. 17"):
        assert _is_met("Which pages?", right, type="number", all_of=[3, 17])
    for wrong in ("3 17", "3-17", "3.17", "3  17", "3 to 17", "3 not 17"):
        assert not _is_met("Which pages?", wrong, type="number", all_of=[3, 17])
    assert not _is_met(
        "Who?", "Ada Lovelace Bob Ross", type="name", all_of=["Ada Lovelace", "Bob Ross"]
    )


def test_accents_may_be_left_out_and_others_make_another_name() -> None:
    for answer in ("Kraków", "Krakow", "KRAKÓW"):
        assert _is_met("Where?", answer, type="name", value="Kraków")
    for answer in ("Krąków", "Kräkow"):
        assert not _is_met("Where?", answer, type="name", value="Kraków")
        assert _is_met("Where?", answer, type="name", value="Kraków", accents="any")
    assert not _is_met("Who?", "José Maria", type="name", value="Jose Maria")
    assert not _is_met("Which word?", "resume", type="text", value="résumé")
    assert _is_met("Which word?", "resume", type="text", value="résumé", accents="any")


@pytest.mark.parametrize(
    ("question", "written", "wrong"),
    [
        (
            "Which kettle is the second cheapest?",
            {"type": "name", "value": "Ember Kettle"},
            ["The cheapest kettle is the Ember Kettle.", "The second kettle is the Ember Kettle."],
        ),
        (
            "Who wrote the newest review of the oldest kettle?",
            {"type": "name", "value": "Ada Latham"},
            ["Ada Latham wrote the oldest review.", "The newest kettle is by Ada Latham."],
        ),
        (
            "Which of the articles is not published?",
            {"type": "text", "value": "Leeks"},
            ["not Leeks", "Leeks is published, not the articles", "The articles are not Leeks."],
        ),
        (
            "Which has more posts, Harbour or Lantern?",
            {"type": "name", "value": "Harbour"},
            ["Harbour, Lantern", "Harbour or Lantern", "Lantern: Harbour", "Lantern\nHarbour"],
        ),
        (
            "Who wrote the comment on the article by Bob Ross?",
            {"type": "name", "value": "Ada Lovelace"},
            [
                "Bob Ross, Ada Lovelace",
                "Ada Lovelace\nBob Ross",
                "Bob Ross wrote the comment on the article by Ada Lovelace.",
            ],
        ),
        (
            "What did my order cost, tax included?",
            {"type": "money", "value": "44.95"},
            ["The tax is £44.95", "Tax: £44.95", "£44.95 (tax)", "£44.95 tax"],
        ),
        (
            "How many clubs have more than 3 titles?",
            {"type": "number", "value": 5},
            ["more than 5 clubs", "5 titles", "5, 3", "3 clubs have more than 5 titles.", "5 more"],
        ),
        (
            "On which day was my order 12 shipped?",
            {"type": "date", "value": "2023-05-23"},
            ["Order date: 2023-05-23", "My order 13 was shipped on 2023-05-23.", "2023-05-23, 12"],
        ),
        (
            "Which postcode does the office have? Answer with it, or with 'none' if there is none.",
            {"type": "code", "value": "MW1 1AA"},
            ["MW1 1AA or none", "none, MW1 1AA", "MW1 1AA if there is", "office MW1 1AA"],
        ),
    ],
)
def test_words_of_the_question_turn_a_value_where_they_stand_elsewhere(
    question: str, written: dict[str, Any], wrong: list[str]
) -> None:
    assert [one for one in wrong if _is_met(question, one, **written)] == []


def test_a_thought_may_come_first_and_leaves_no_doubt() -> None:
    question = "How many bells are there?"
    thought = "Thought: The article on page 3 counts them.\nAnswer: 47"
    assert _is_met(question, thought, type="number", value=47)
    unneeded = "Thought: The first page did not have it, so I opened another one.\nAnswer: 47"
    assert _is_met(question, unneeded, type="number", value=47)
    for doubt in (
        "I am not sure.",
        "I could not find it.",
        "It is not 47.",
        "It may be 47 or 48.",
        "Maybe 47?",
    ):
        assert not _is_met(question, f"Thought: {doubt}\nAnswer: 47", type="number", value=47)
    assert not _is_met(question, "Thought: It is 47.\nAnswer: 48", type="number", value=47)


def test_without_a_question_only_the_checks_own_words_count() -> None:
    assert _is_met("", "The answer is 47 bells.", type="number", value=47, unit=["bells"])
    assert not _is_met("", "The carillon has 47 bells.", type="number", value=47, unit=["bells"])


def test_the_checks_of_a_task_know_what_it_asks() -> None:
    written = {
        "id": "bells",
        "family": "information",
        "intent": "How many bells does the carillon have?",
        "sites": ["wiki"],
        "start": ["wiki:/"],
        "checks": [
            {
                "name": "answer",
                "when": "end",
                "locate": {"by": "answer"},
                "match": {"how": "answer", "type": "number", "value": 47},
            }
        ],
    }
    task = Task.model_validate(written)
    for answer, status in (
        ("The carillon has 47 bells.", CheckStatus.MET),
        ("The tower has 47 bells.", CheckStatus.UNMET),
    ):
        ended = ended_at_once(task, World.OFFLINE, Stop(answer=answer))
        [verdict] = verdicts(task.checks, ended)
        assert verdict.status is status
    assert Task.model_validate(task.model_dump(mode="json")) == task
    assert isinstance(task.checks[0], Check)


def test_the_leaves_of_data_know_the_question_too() -> None:
    leaf = {"how": "answer", "type": "number", "value": 47}
    matcher = DataMatcher.model_validate({"value": {"fields": {"n": {"items": [leaf]}}}})
    values = ['{"n": ["The carillon has 47 bells"]}']
    assert not matcher.match(values, World.OFFLINE).met
    assert matcher.answering("How many bells has the carillon?").match(values, World.OFFLINE).met


def test_a_text_of_a_page_is_not_met_where_it_is_denied() -> None:
    def holds(wanted: str, text: str) -> bool:
        return IncludeMatcher(value=wanted).match([text], World.OFFLINE).met

    assert holds("paid", "The order is paid")
    assert holds("paid", "Not delivered. Paid.")
    assert holds("5", "Order no 5")
    for text in ("The order is not paid", "never been paid", "It isn't paid", "not yet paid"):
        assert not holds("paid", text)
    number = NumberMatcher(value=47)
    assert number.match(["It has 47"], World.OFFLINE).met
    for text in ("It has not yet 47", "without 47", "no longer 47", "It hasn't 47"):
        assert not number.match([text], World.OFFLINE).met


def test_a_parameter_that_stands_twice_with_different_values_is_no_match() -> None:
    url = "http://shop.test/search?q=kettle"
    assert _is_met("Which URL?", f"{url}&q=kettle", type="url", value=f"{url}&q=kettle")
    assert not _is_met("Which URL?", f"{url}&q=pan", type="url", value=url)


@ONE_QUICK
@pytest.mark.parametrize(
    "piece",
    ["47 ", "a b ", "47, ", "(", "not 47 ", "Thought: a. ", "the bells ", "17 km (10.6 mi) "],
)
@pytest.mark.parametrize("kind", ["number", "name", "money", "duration"])
def test_a_long_answer_is_read_in_a_few_milliseconds(kind: str, piece: str) -> None:
    value = {"number": 47, "name": "Ada Lovelace", "money": 47, "duration": "47 min"}[kind]
    matcher = AnswerMatcher.model_validate({"how": "answer", "type": kind, "value": value})
    asked = matcher.answering("How many bells does the carillon of Bruges have?")
    asked.match([piece], World.OFFLINE)
    started = time.process_time()
    asked.match([(piece * 2000)[:2000]], World.OFFLINE)
    assert time.process_time() - started < 0.5
