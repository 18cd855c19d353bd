"""What pages say differently counts where the agent acted on it, not where it changes by itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from support.runs.parted_episodes import clicked, episode, opened, said

from evaluators.evidence import StepEvidence
from orchestrator.analysis.run_report.parting import (
    Parting,
    PartingCause,
    Repeat,
    Side,
    parting,
)
from orchestrator.episode.jsonl_files import OBSERVATIONS_FILE, StepLines

PATH = ("click http://a",)


def kept(folder: Path, *pages: str, form: str = "axtree") -> Path:
    lines = StepLines(())
    for number, page in enumerate(pages):
        lines.add({"step": number, "parts": {form: {"text": page}, "screenshot": {"file": "1"}}})
    folder.mkdir(parents=True)
    (folder / OBSERVATIONS_FILE).write_bytes(lines.packed())
    return folder


class World:
    """An episode, and what it saw after each step."""

    def __init__(self, path: Path, steps: Sequence[StepEvidence], *pages: str, form: str) -> None:
        self.side = Side(episode(*steps).evidence, folder=kept(path, *pages, form=form))

    def repeat(self) -> Repeat:
        return Repeat(PATH, folder=self.side.folder)


def at(
    tmp_path: Path,
    last: tuple[StepEvidence, StepEvidence],
    pages: tuple[Sequence[str], Sequence[str]],
    *more: tuple[int, Sequence[str]],
    form: str = "axtree",
) -> Parting:
    """Return where two episodes part that do the same until they have seen the last of the pages.

    `more` are further repeats of a world, by its number, with what they saw.
    """
    worlds = []
    for name, end, seen in zip(("offline", "online"), last, pages, strict=True):
        steps = [opened(), *(clicked("Next", "shop:/next") for _ in seen[1:]), end]
        worlds.append(World(tmp_path / name, steps, *seen, form=form))
    repeats = [[one.repeat()] for one in worlds]
    for number, (world, seen) in enumerate(more):
        repeats[world].append(Repeat(PATH, folder=kept(tmp_path / str(number), *seen)))
    found = parting(worlds[0].side, worlds[1].side, repeats)
    assert found is not None
    return found


BACK = clicked("Back", "shop:/")
LAST = (clicked("Buy", "shop:/basket"), BACK)
BOTH = '[1] RootWebArea "Shop"\n  [2] button "Buy"\n  [3] link "Back"'


def test_a_line_that_the_answer_names_is_content_though_only_a_number_differs(
    tmp_path: Path,
) -> None:
    pages = [f'{BOTH}\n  [{n}] text "Price {price}"' for n, price in ((7, "39.99"), (9, "44.99"))]
    found = at(tmp_path, (said("39.99"), said("44.99")), ([pages[0]], [pages[1]]))
    assert found.cause is PartingCause.CONTENT
    assert 'by what it names: “text "Price 39.99"” offline and “text "Price 44.99"” online' in (
        found.because
    )


def test_an_element_that_one_page_lacks_is_content_where_the_agent_acted_on_it(
    tmp_path: Path,
) -> None:
    without = BOTH.replace('[2] button "Buy"', "").replace("[3]", "[8]")
    found = at(tmp_path, LAST, ([BOTH], [without]))
    assert found.cause is PartingCause.CONTENT
    assert 'names: “button "Buy"” offline and “nothing” online' in found.because


@pytest.mark.parametrize(
    "lines",
    [
        ("Visitor 1204", "Visitor 98311"),
        ("It is Thursday, 26 November 2026, 10:15 AM", "It is Friday, 27 March 2026, 9:02 PM"),
        ("posted 3 minutes ago", "posted an hour ago"),
        ("session a8f3c2d9", "session 77b0aa1e"),
        ("token abcdefghijklmnopqrstuvwx", "token zyxwvutsrqponmlkjihgfedcba"),
        ("", "2026-11-26"),
        ("www.shop.example/catalogue/kettle", "shop.arena.test/catalogue/kettle/now"),
        ("seen just now", "seen yesterday"),
    ],
)
def test_what_changes_by_itself_is_not_named_as_the_cause(
    tmp_path: Path, lines: tuple[str, str]
) -> None:
    pages = [f'{BOTH}\n  [4] text "{line}"' for line in lines]
    assert at(tmp_path, LAST, ([pages[0]], [pages[1]])).cause is PartingCause.UNKNOWN


def test_words_that_differ_are_said_to_differ_with_the_first_of_them(tmp_path: Path) -> None:
    pages = [
        f'{BOTH}\n  [4] text "{said}"\n  [5] text "x"' for said in ("Decent seat", "Marked seat")
    ]
    found = at(tmp_path, LAST, ([pages[0]], [pages[1]]))
    assert found.cause is PartingCause.CONTENT
    assert 'differs, first by “text "Decent seat"” offline and “text "Marked seat"” online' in (
        found.because
    )


def test_what_differed_before_while_the_agent_did_the_same_is_no_cause(tmp_path: Path) -> None:
    first, second = (f'{BOTH}\n  [4] link "{said}"' for said in ("Log in", "Sign on"))
    found = at(tmp_path, LAST, ([first, first], [second, second]))
    assert found.cause is PartingCause.UNKNOWN
    used = at(tmp_path / "used", (clicked("Log in"), BACK), ([first, first], [second, second]))
    assert used.cause is PartingCause.CONTENT


def test_what_differs_between_the_repeats_of_one_world_is_no_cause(tmp_path: Path) -> None:
    advert, other = (f'{BOTH}\n  [4] text "{said}"' for said in ("Try tea", "Try coffee"))
    assert at(tmp_path, LAST, ([BOTH], [advert]), (1, [other])).cause is PartingCause.UNKNOWN
    held = at(tmp_path / "held", LAST, ([BOTH], [advert]), (1, [advert]))
    assert held.cause is PartingCause.CONTENT


def test_lines_in_another_order_and_other_ids_are_no_difference(tmp_path: Path) -> None:
    lines = BOTH.splitlines()
    other = "\n".join(['[40] RootWebArea "Shop"', *reversed(lines[1:])])
    assert at(tmp_path, LAST, ([BOTH], [other])).cause is PartingCause.UNKNOWN


@pytest.mark.parametrize("form", ["html", "screenshot"])
def test_a_form_that_has_no_lines_of_elements_is_not_compared(tmp_path: Path, form: str) -> None:
    found = at(tmp_path, LAST, (["<p>In stock"], ["<p>Sold out"]), form=form)
    assert found.cause is PartingCause.UNKNOWN


def test_observations_that_cannot_be_read_leave_the_cause_unknown(tmp_path: Path) -> None:
    worlds = [World(tmp_path / one, [opened(), LAST[0]], BOTH, form="axtree") for one in "ab"]
    second = Side(episode(opened(), LAST[1]).evidence, folder=worlds[1].side.folder)
    assert second.folder is not None
    (second.folder / OBSERVATIONS_FILE).write_bytes(b"not gzip")
    found = parting(worlds[0].side, second)
    assert found is not None
    assert found.cause is PartingCause.UNKNOWN


def test_a_line_as_long_as_a_page_is_shown_in_part(tmp_path: Path) -> None:
    pages = [f'{BOTH}\n  [4] text "{word * 2000}"' for word in ("in stock ", "sold out ")]
    assert len(at(tmp_path, LAST, ([pages[0]], [pages[1]])).because) < 500


def test_a_page_of_endless_words_is_compared_too(tmp_path: Path) -> None:
    lines = [f'[{n}] text "{"a-" * 20_000}{n}"' for n in range(40)]
    pages = ["\n".join(lines), "\n".join(reversed(lines))]
    assert at(tmp_path, LAST, ([pages[0]], [pages[1]])).cause is PartingCause.UNKNOWN
