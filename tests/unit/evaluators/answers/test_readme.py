"""The examples of evaluators/README.md mean what it says of them."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

import evaluators
from arena_core.worlds import World
from evaluators.matchers.answer import AnswerMatcher

QUESTIONS = (
    "How many bells does the carillon have?",
    "What is the total of order 102958?",
    "At what time is the evening high water?",
    "Where is the set made?",
    "Who may review it?",
    "Which US states border Vermont?",
    "How many orders were placed in January and in February?",
)
RIGHT = (
    "There are 47 bells.",
    "The total of order 102958 is £44.95.",
    "7:30",
    "It is made in Krakow, Poland.",
    "Ada Lovelace",
    "New Hampshire, MA and New York",
    "February: 7, January: 12",
)
WRONG = (
    "47 bells or 48",
    "£44.95 or so",
    "7:31 pm",
    "Kraków, Lisbon",
    "Bob Ross or Ada Lovelace",
    "New Hampshire, MA, New York and Maine",
    "February: 7, January: 12, March: 5",
)


def test_each_example_takes_a_right_answer_and_no_wrong_one() -> None:
    readme = (Path(evaluators.__file__).parent / "README.md").read_text(encoding="utf-8")
    [examples] = re.findall(r"test_readme.py -->\n```yaml\n(.*?)```", readme, re.DOTALL)
    matchers = [AnswerMatcher.model_validate(one) for one in yaml.safe_load(examples)]
    for asked, question, right, wrong in zip(matchers, QUESTIONS, RIGHT, WRONG, strict=True):
        matcher = asked.answering(question)
        assert matcher.match([right], World.OFFLINE).met, right
        assert not matcher.match([wrong], World.OFFLINE).met, wrong
