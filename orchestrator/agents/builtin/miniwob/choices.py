"""Pages on which the right thing is to be clicked or chosen."""

from __future__ import annotations

import re

from arena_core.actions import Select
from orchestrator.agents.builtin.miniwob.page import (
    MiniWobPage,
    Moves,
    UnsolvedError,
    Walk,
    choose,
    click,
    find,
    hover,
    press,
    until,
)

# Of click-checkboxes-soft: its own groups of words that mean the same.
_ALIKE = (
    "big large huge enormous gigantic",
    "small tiny little mini petite",
    "red scarlet crimson vermillion",
    "happy cheerful joyful gleeful delighted",
    "sad unhappy sorrowful miserable tragic",
    "angry mad furious irritated",
    "evil wicked immoral sinful corrupt depraved",
    "wrong incorrect mistaken erroneous",
    "real genuine actual",
    "strange odd peculiar unusual weird",
    "stop cease halt end finish",
    "scared terrified panicked fearful frightened afraid",
    "quiet calm peaceful serene mild",
    "old aged archaic",
    "love like adore favor",
    "kill murder assassinate",
    "keep retain preserve sustain maintain",
    "hide conceal camouflage",
    "hate despise loathe detest dislike",
    "funny humorous amusing comical laughable",
    "fat fleshy plump chubby",
    "stupid dumb dull unwise",
    "delicious savory delectable appetizing",
    "cut slice carve chop",
    "brave courageous fearless",
    "begin start initiate launch",
    "answer reply response",
    "television televisions TV TVs",
    "house home houses homes",
    "fire flame fires flames",
    "pig pork swine",
    "rabbit rabbits bunny bunnies",
    "car cars automobile automobiles vehicle vehicles",
    "water",
)
_GROUP = {word: number for number, line in enumerate(_ALIKE) for word in line.split()}


def first_button(_: str, page: MiniWobPage) -> Moves:
    yield click(page.one("button"))


def quoted_button(goal: str, page: MiniWobPage) -> Moves:
    yield click(page.one("button", find(r'"(.*)"', goal)[1]))


def buttons_in_turn(goal: str, page: MiniWobPage) -> Moves:
    for name in re.findall(r"\b(ONE|TWO)\b", goal):
        page = yield click(page.one("button", name))


def checkboxes(goal: str, page: MiniWobPage) -> Moves:
    listed = find(r"Select (.*) and click Submit", goal)[1]
    for name in [] if listed == "nothing" else listed.split(", "):
        page = yield click(page.one("checkbox", name))
    yield click(page.one("button", "Submit"))


def checkboxes_alike(goal: str, page: MiniWobPage) -> Moves:
    listed = find(r"similar to (.*) and click Submit", goal)[1]
    wanted = {_GROUP.get(word, word) for word in listed.split(", ")}
    for box in page.all("checkbox"):
        if _GROUP.get(box.name, box.name) in wanted:
            page = yield click(box)
    yield click(page.one("button", "Submit"))


def option(goal: str, page: MiniWobPage) -> Moves:
    page = yield click(page.one("radio", find(r"Select (.*) and click Submit", goal)[1]))
    yield click(page.one("button", "Submit"))


def from_list(goal: str, page: MiniWobPage) -> Moves:
    wanted = find(r"Select (.*) from the list and click Submit", goal)[1]
    page = yield choose(page.one("combobox"), wanted)
    yield click(page.one("button", "Submit"))


def scroll_list(goal: str, page: MiniWobPage) -> Moves:
    names = find(r"Select (.*) from the scroll list", goal)[1].split(", ")
    page = yield Select(element=page.one("listbox").id, option=tuple(names))
    yield click(page.one("button", "Submit"))


def dialog(goal: str, page: MiniWobPage) -> Moves:
    """Click the dialog's button that the goal names; the `x` is its button Close."""
    name = find(r'"(.*?)"', goal)[1]
    yield click(page.one("button", "Close" if name == "x" else name))


def section(_: str, page: MiniWobPage) -> Moves:
    page = yield click(page.all("tab")[0])
    yield click(page.one("button", "Submit"))


def in_sections(goal: str, page: MiniWobPage) -> Moves:
    link = find(r'link "(.*)"', goal)[1]
    for number in range(len(page.all("tab"))):
        page = yield click(page.all("tab")[number])
        if page.has(link):
            yield click(page.text(link))
            return


def link(goal: str, page: MiniWobPage) -> Moves:
    yield click(page.text(find(r'link "(.*)"', goal)[1]))


def tab(goal: str, page: MiniWobPage) -> Moves:
    yield click(page.one("link", find(r"(Tab #\d+)", goal)[1]))


def in_tabs(goal: str, page: MiniWobPage) -> Moves:
    wanted = find(r'link "(.*)"', goal)[1]
    for number in range(len(page.all("tab")) + 1):
        if page.has(wanted):
            yield click(page.text(wanted))
            return
        page = yield click(page.all("tab")[number])


def menu(goal: str, page: MiniWobPage) -> Moves:
    """Walk through a menu of menus: point at each entry, click the last."""
    first, *rest = find(r"Select (.*)", goal)[1].split(">")
    for name, inner in zip([first, *rest], rest, strict=False):
        page = yield from _opened(page, name, inner)
    yield click(page.one("menuitem", rest[-1] if rest else first))


def _opened(page: MiniWobPage, name: str, inner: str) -> Walk:
    return (
        yield from until(
            page,
            lambda shown: bool(shown.all("menuitem", inner)),
            lambda shown: hover(shown.one("menuitem", name)),
        )
    )


def menu_button(goal: str, page: MiniWobPage) -> Moves:
    labelled = re.search(r'labeled "(.*)"', goal)
    wanted = labelled[1] if labelled else _label_of_icon(page)
    page = yield click(page.one("button", "Menu"))
    if wanted in {"Prev", "Play", "Stop", "Next"}:
        page = yield from _opened(page, "Playback", wanted)
    yield click(page.one("menuitem", wanted))


_ICONS = {
    "ui-icon-disk": "Save",
    "ui-icon-seek-start": "Prev",
    "ui-icon-stop": "Stop",
    "ui-icon-play": "Play",
    "ui-icon-seek-end": "Next",
    "ui-icon-zoomin": "Zoom In",
    "ui-icon-zoomout": "Zoom Out",
}


def _label_of_icon(page: MiniWobPage) -> str:
    for node in (*page.asked, *page.nodes):
        icon = next((name for name in node.name.split(".") if name in _ICONS), None)
        if icon is not None:
            return _ICONS[icon]
    raise UnsolvedError("the goal shows no icon that the menu has")


def widget(goal: str, page: MiniWobPage) -> Moves:
    kind = find(r'"(.*)" widget', goal)[1]
    role = {"text": "textbox", "textarea": "textbox", "radio": "radio"}.get(kind, kind)
    found = page.all(role)
    if kind == "textarea":
        # What is typed in a text field stands in one line; the page's text areas come tall.
        found = found[-1:]
    for node in found:
        page = yield click(node)


def tree(goal: str, page: MiniWobPage) -> Moves:
    wanted = find(r'named "(.*)"', goal)[1]
    opened: set[int] = set()
    while not page.has(wanted):
        folders = page.unnamed(r"div\.hitarea.*expandable.*")
        fresh = [node for node in folders if node.id not in opened]
        if not fresh:
            break
        opened.add(fresh[0].id)
        page = yield click(fresh[0])
    yield click(page.text(wanted))


def pie(goal: str, page: MiniWobPage) -> Moves:
    label = find(r'labeled "(.*)"', goal)[1]
    page = yield click(page.text("+"))
    page = yield click(page.text(label))
    yield from until(page, lambda shown: not shown.has(label), lambda _: press("Shift"))
