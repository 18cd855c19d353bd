"""A command is the expected one by function, element and normalised arguments, and stands alone."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from arena_core.worlds import World
from evaluators.matchers.command import CommandMatcher


def is_met(gold: str, reply: str) -> bool:
    return CommandMatcher(value=gold).match((reply,), World.OFFLINE).met


@pytest.mark.parametrize(
    ("gold", "reply"),
    [
        ("click('SD')", "click('SD')"),
        ("click('SD')", 'click(element_id="SD")  # the way to Google'),
        ("click('SD')", "```python\nclick('SD')\n```"),
        ("click('SD')", "I sign in with Google.\nclick('SD')"),
        (
            "type_string('LF', 'muting  notifications', False)",
            "type_string('LF', 'Muting notifications')",
        ),
        ("finish()", "finish(None)"),
        ("finish('a\nb')", "finish('a b')"),
        ("user_input('Please log in.')", "user_input(message='please log in.')"),
    ],
)
def test_the_same_command_in_other_words_of_python_is_met(gold: str, reply: str) -> None:
    assert is_met(gold, reply)


@pytest.mark.parametrize(
    ("gold", "reply"),
    [
        ("click('SD')", "click('sd')"),
        ("click('SD')", "hover('SD')"),
        ("click('SD')", "click('SD')\nclick('SE')"),
        ("click('SD')", "click('SD', 'SE')"),
        ("click('SD')", "click(SD)"),
        ("click('SD')", "not click('SD')"),
        ("click('SD')", "__import__('os').system('true')"),
        ("type_string('LF', 'tea', False)", "type_string('LF', 'tea', True)"),
        ("type_string('LF', 'tea', False)", "type_string('LF', 'teapot', False)"),
        ("finish()", "finish('done')"),
        ("scroll_page('down')", "scroll_page('up')"),
        ("click('SD')", ""),
        ("click('SD')", "click('SD'" + ")" * 30_000),
    ],
)
def test_another_command_two_of_them_or_none_is_not_met(gold: str, reply: str) -> None:
    assert not is_met(gold, reply)


def test_a_gold_that_is_no_command_is_refused() -> None:
    with pytest.raises(ValidationError, match="there is no command jump"):
        CommandMatcher(value="jump('x')")
