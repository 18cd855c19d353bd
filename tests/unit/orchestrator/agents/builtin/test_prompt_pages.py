"""A page in parts: nothing of it is out of reach, and one long text hides no other element."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.agents.builtin.prompt import LINE_SHOWN, part_of_page


def parts_of(text: str, budget: int) -> list[str]:
    count = part_of_page(text, budget, 0).count
    return [part_of_page(text, budget, index).text for index in range(count)]


@given(st.lists(st.text(max_size=80)), st.integers(40, 300), st.integers(-2, 20))
def test_every_part_fits_the_budget(lines: list[str], budget: int, index: int) -> None:
    part = part_of_page("\n".join(lines), budget, index)
    assert 0 <= part.index < part.count
    assert len(part.text) <= max(budget, len("(an empty page)"))


@given(st.lists(st.from_regex(r"[a-z \[\]0-9]{1,30}[a-z]", fullmatch=True)), st.integers(40, 300))
def test_the_parts_together_are_the_page(lines: list[str], budget: int) -> None:
    text = "\n".join(lines)
    count = part_of_page(text, budget, 0).count
    parts = [part_of_page(text, budget, index).text for index in range(count)]
    assert "\n".join(parts) == (text or "(an empty page)")


WORDS = " ".join(f"word{number}" for number in range(5_000))
JSON = '[3] StaticText "{' + ",".join(f'"field{n}":"{n},000.00"' for n in range(900)) + '}"'


@pytest.mark.parametrize("line", [f'[3] StaticText "{WORDS}"', JSON], ids=["words", "json"])
def test_a_long_text_is_read_to_its_end_without_a_word_or_number_torn(line: str) -> None:
    shown = "\n".join(parts_of(line, 24_000))
    assert re.sub(r"…\n\[3\] goes on: …", "", shown) == line
    for number in range(900):
        assert (f"word{number} " if "word" in line else f'"{number},000.00"') in shown


def test_a_long_text_hides_no_element_after_it() -> None:
    text = f'[1] link "before"\n  [2] textbox value="{WORDS}"\n[3] button "Save"'
    first, *others = parts_of(text, 24_000)
    before, start, save, *rests = first.splitlines()
    assert (before, save) == ('[1] link "before"', '[3] button "Save"')
    assert start.startswith('  [2] textbox value="word0 word1')
    assert len(start) <= LINE_SHOWN
    assert rests[0].startswith("[2] goes on: …")
    assert others[-1].endswith('word4999"')


def test_a_text_that_fits_is_shown_whole_where_it_stands() -> None:
    text = f'[1] paragraph "{"word " * 390}"'
    assert part_of_page(text, 24_000, 0).text == text


def test_a_text_without_blanks_is_paged_too() -> None:
    line = '[7] StaticText "' + "z" * 100_000 + '"'
    parts = parts_of(line, 24_000)
    assert all(len(part) <= 24_000 for part in parts)
    assert sum(part.count("z") for part in parts) == 100_000
