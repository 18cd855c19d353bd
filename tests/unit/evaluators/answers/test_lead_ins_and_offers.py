"""What an agent says ahead of its answer and behind it leaves right answers right, no others."""

from __future__ import annotations

from typing import Any

import pytest

from arena_core.worlds import World
from evaluators.matchers.answer import AnswerMatcher

PENDING = "How many orders are pending in the store's admin?"
NAMED = "Which customer has placed the most orders?"


def is_met(question: str, answer: str, **match: object) -> bool:
    matcher = AnswerMatcher.model_validate({"how": "answer", **match}).answering(question)
    return matcher.match([answer], World.OFFLINE).met


@pytest.mark.parametrize(
    "answer",
    [
        "Based on the cancelled orders, 47",
        "Based on last year's report, 47 orders are pending.",
        "Based on my estimate, 47 orders are pending.",
        "Based on the archive of another store, 47 orders are pending.",
        "After filtering by status cancelled, I found 47 orders.",
        "After reading the second page only, I found 47 orders.",
        "I opened the orders report but not the last page, and found 47 orders.",
        "47. Should I check again?",
        "47. Would you like me to verify this?",
        "47. Do you want the remaining ones, too?",
        "47. Let me know if that is wrong.",
        "47. Shall I include the cancelled ones?",
        "Status: shipped\nOrders: 47",
        "| Status | Orders |\n|---|---|\n| Shipped | 47 |",
        "47 shipped orders",
        "Order number 47",
        "The order is number 47.",
        "!47",
        "47 orders have as many items as pending orders.",
    ],
)
def test_a_lead_in_or_an_offer_that_changes_the_number_is_no_match(answer: str) -> None:
    assert not is_met(PENDING, answer, type="number", value=47)
    assert is_met(PENDING, "47", type="number", value=47)


@pytest.mark.parametrize(
    "answer",
    [
        "Emma Lopez. Would you like Ben Hall's orders, too?",
        "Emma Lopez. Can I show you Ben Hall?",
        "Emma Lopez. Do you want me to recheck?",
        "Based on Ben Hall's page, Emma Lopez",
        "Customer: Ben Hall\nName: Emma Lopez",
        "The customer with the fewest orders is Emma Lopez.",
        "The customer with the second highest number of orders is Emma Lopez.",
    ],
)
def test_a_lead_in_or_an_offer_that_names_another_is_no_match(answer: str) -> None:
    assert not is_met(NAMED, answer, type="name", value="Emma Lopez")
    assert is_met(NAMED, "@Emma Lopez".replace("@", ""), type="name", value="Emma Lopez")


def test_rows_are_parted_at_their_names_and_not_swapped() -> None:
    question = "Which employees handled more than 5 orders in June, and how many each?"
    columns = [{"type": "name"}, {"type": "number", "unit": "orders"}]
    rows = [["Anna", 12], ["Ben", 7]]
    told = "Two employees handled more than 5 orders in June: Anna with {} and Ben with {} orders."
    assert is_met(question, told.format(12, 7), columns=columns, rows=rows)
    assert not is_met(question, told.format(7, 12), columns=columns, rows=rows)
    assert not is_met(question, "Anna and Ben with 12 and 7 orders.", columns=columns, rows=rows)


@pytest.mark.parametrize(
    ("said", "is_right"),
    [("38:20", True), ("38:21", False), ("38:20 h", False), ("38 h 20 min", False)],
)
def test_minutes_and_seconds_are_read_where_they_are_expected(said: str, *, is_right: bool) -> None:
    question = "How long is the podcast episode?"
    assert is_met(question, said, type="duration", value="38min 20s") is is_right


@pytest.mark.parametrize(
    ("said", "is_right"),
    [
        ("4.3 out of 5", True),
        ("4.3/5", True),
        ("4.3 out of 10", False),
        ("4.3 of 5 reviews", False),
        ("4 out of 5", False),
    ],
)
def test_a_rating_may_say_its_scale(said: str, *, is_right: bool) -> None:
    question = "What is the average rating of the lamp?"
    assert is_met(question, said, type="number", value=4.3) is is_right


def test_a_negation_of_the_question_is_not_left_out() -> None:
    question = "How many search terms returned no results last quarter?"
    assert is_met(question, "6 search terms returned no results.", type="number", value=6)
    assert not is_met(question, "6 search terms returned results.", type="number", value=6)


def test_a_name_that_only_looks_like_that_of_the_question_is_another() -> None:
    question = "What is the e-mail address of the customer Dario Blum?"
    mail = {"type": "email", "value": "blum@lime.example"}
    assert is_met(question, "Dario Blum's address is blum@lime.example.", **mail)
    assert not is_met(question, "Dario Blume's address is blum@lime.example.", **mail)


def test_a_page_that_is_said_to_be_the_value_is_not_where_it_stands() -> None:
    question = "Which year was the maker founded? Answer with the year only."
    assert is_met(question, "The table says 1921.", type="number", value=1921)
    assert is_met(question, "The year in the table is 1921.", type="number", value=1921)
    assert not is_met(question, "The table is 1921.", type="number", value=1921)
    assert not is_met(question, "The table is the year 1921.", type="number", value=1921)


ASKED: list[tuple[str, dict[str, Any]]] = [
    ("How many one-star reviews does the Hakon backpack have?", {"type": "number", "value": 7}),
    ("Has the user tinroof ever posted in Astronomy?", {"type": "boolean", "value": False}),
    (
        "What is the total refunded in the first quarter of 2023?",
        {"type": "money", "value": 94, "currency": "GBP"},
    ),
    ("In which month of 2023 was revenue highest?", {"type": "month", "value": "2023-11"}),
    ("At what time was the draft scheduled to be published?", {"type": "time", "value": "06:45"}),
    ("Which shipping method was used for order 204?", {"type": "text", "value": "Tracked Parcel"}),
    ("Give the date on which I last ordered biscuits.", {"type": "date", "value": "2024-03-09"}),
    ("Give the number of open merge requests.", {"type": "number", "value": 4}),
    ("Which caf\u00e9 is nearest?", {"type": "name", "value": "Morel"}),
    ("What is the address of Bellwether?", {"type": "address", "value": "4 Quarry Lane, Thornby"}),
    (
        "How much of its price did the shop pay back?",
        {"type": "money", "value": 39, "currency": "GBP"},
    ),
    ("How many goals did Rovers concede?", {"type": "number", "value": 23}),
    ("When does Tuesday's Harbour meeting begin?", {"type": "time", "value": "14:45"}),
]


@pytest.mark.parametrize(
    ("at", "right", "wrong"),
    [
        (0, "The Hakon backpack has 7 one-star reviews.", "It has 7 two-star reviews."),
        (0, '{"one_star_reviews": 7}', '{"two_star_reviews": 7}'),
        (0, "How many does it have? 7", "Are 7 reviews correct? 7"),
        (1, "No, tinroof has never posted in Astronomy.", "tinroof has posted in Astronomy."),
        (2, "\u00a394 was refunded in Q1 2023.", "\u00a394 was refunded in Q2 2023."),
        (3, "November", "November 2022"),
        (3, "2023-11", "2022-11"),
        (4, "It was scheduled for 6:45 am.", "It was late for 6:45 am."),
        (5, "Order 204 was shipped with Tracked Parcel.", "It was sent without Tracked Parcel."),
        (6, "You last ordered biscuits on 9 March 2024.", "You last ordered tea on 9 March 2024."),
        (7, "I opened Code > Requests, and there are 4.", "Four have been merged."),
        (8, '{"cafe": "Morel"}', '{"bar": "Morel"}'),
        (9, "Bellwether is at 4 Quarry Lane in Thornby.", "It is behind 4 Quarry Lane in Thornby."),
        (10, "The shop paid back £39 of its price.", "Its price was £39."),
        (10, "£39 of its price was paid back.", "It cost £39."),
        (11, "Rovers conceded 23 goals.", "Goals for: 23"),
        (12, "The Harbour meeting begins at 14:45.", "The Harbour meeting ends at 14:45."),
    ],
)
def test_the_questions_own_words_may_be_said_in_another_form(
    at: int, right: str, wrong: str
) -> None:
    question, match = ASKED[at]
    assert is_met(question, right, **match)
    assert not is_met(question, wrong, **match)


OXMERE = "What is the population of the village Oxmere, according to the wiki?"
LIFT = "Is there a lift in the museum?"
OPEN = "Is the pool open on Mondays?"
TAXED = "What is the price of the lamp with tax?"
REDUCED = "The lamp is reduced by 15 % before tax. What is the price to be paid?"
LESS = "How much do I pay for the lamp that is reduced by 15 %?"
UNTAXED = "What is the price of the lamp before tax?"
FALSE: dict[str, Any] = {"type": "boolean", "value": False}
PRICE: dict[str, Any] = {"type": "money", "value": "137.292", "tolerance": 0.01}
PEOPLE: dict[str, Any] = {"type": "number", "value": 3418, "unit": ["inhabitants", "people"]}
FERRY: dict[str, Any] = {"type": "time", "value": "21:15"}


@pytest.mark.parametrize(
    ("question", "right", "wrong", "match"),
    [
        (
            OXMERE,
            "The wiki gives the population of Oxmere as 3,418.",
            "The wiki gives the population of Foxmere as 3,418.",
            PEOPLE,
        ),
        (
            OXMERE,
            "According to the census page, the population of Oxmere is 3,418.",
            "According to the archived page, the population of Oxmere is 3,418.",
            PEOPLE,
        ),
        (
            OXMERE,
            "I read the entry in the wiki and found that the population of Oxmere is 3,418.",
            "I read the draft in the wiki and found that the population of Oxmere is 3,418.",
            PEOPLE,
        ),
        (
            OXMERE,
            "I checked the page and its population is 3,418.",
            "I found it: then: 3,418",
            PEOPLE,
        ),
        (OXMERE, "The population of Oxmere is 3,418.", "The sibling page shows 3,418.", PEOPLE),
        (LIFT, "There is no lift in the museum.", "There is a lift in the museum.", FALSE),
        (LIFT, "No, there is no lift in the museum.", "There is no lift in the hotel.", FALSE),
        (LIFT, "No.", "No lift could be found in the museum.", FALSE),
        (OPEN, "No, it is still closed.", "No, it is open on Mondays.", FALSE),
        (OPEN, "The pool is closed on Mondays.", "The pool is not closed on Mondays.", FALSE),
        (TAXED, "The price with tax is 137.292.", "The tax is 137.292.", PRICE),
        (TAXED, "The price is 137.292.", "Tax: 137.292", PRICE),
        (UNTAXED, "137.292", "The price with tax is 137.292.", PRICE),
        (REDUCED, "The price to be paid is 137.292.", "The discount is 137.292.", PRICE),
        (REDUCED, "The price is 137.292.", "The reduction is 137.292.", PRICE),
        (LESS, "You pay 137.292.", "The reduction is 137.292.", PRICE),
        (
            "When does the last ferry leave Port Merrow?",
            "The last departure is at 21:15.",
            "The first departure is at 21:15.",
            FERRY,
        ),
        (
            "When does the last ferry leave Port Merrow?",
            "The latest ferry departs at 21:15.",
            "The ferry departs at 21:15 at the latest.",
            FERRY,
        ),
        (
            "In what year was the tower lit?",
            "It was lit on 3 October 1857.",
            "It was lit on 3 October 1858.",
            {"type": "number", "value": 1857},
        ),
        (
            "Which version fixes the crash?",
            "v3.8.2",
            "v3.8.20",
            {"type": "code", "value": "3.8.2"},
        ),
    ],
)
def test_what_an_agent_says_of_its_source_changes_neither_answer(
    question: str, right: str, wrong: str, match: dict[str, Any]
) -> None:
    assert is_met(question, right, **match)
    assert not is_met(question, wrong, **match)
