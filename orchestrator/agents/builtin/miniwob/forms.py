"""Pages on which something is to be typed, read or reckoned."""

from __future__ import annotations

import re

from orchestrator.agents.builtin.miniwob.page import (
    MiniWobPage,
    Moves,
    UnsolvedError,
    Walk,
    click,
    find,
    press,
    put,
)
from orchestrator.browser.observation import UNNAMED

_ORDINALS = {"1st": 0, "2nd": 1, "3rd": 2}


def quoted_text(goal: str, page: MiniWobPage) -> Moves:
    page = yield put(page.one("textbox"), find(r'"(.*)"', goal)[1])
    yield click(page.one("button"))


def cased_text(goal: str, page: MiniWobPage) -> Moves:
    text = find(r'"(.*)"', goal)[1]
    text = text.upper() if "upper case" in goal else text.lower()
    page = yield put(page.one("textbox"), text)
    yield click(page.one("button"))


def password_twice(goal: str, page: MiniWobPage) -> Moves:
    text = find(r'password "(.*?)"', goal)[1]
    page = yield put(page.one("textbox", nth=0), text)
    page = yield put(page.one("textbox", nth=1), text)
    yield click(page.one("button", "Submit"))


def login(goal: str, page: MiniWobPage) -> Moves:
    """Type name and password and log in; what pops up meanwhile is cancelled."""
    wanted = find(r'username "(.*?)" and the password "(.*?)"', goal)
    for number, text in enumerate(wanted.groups()):
        page = yield click(page.one("textbox", nth=number))
        if page.all("button", "Cancel"):
            page = yield click(page.one("button", "Cancel"))
        page = yield put(page.one("textbox", nth=number), text)
    yield click(page.one("button"))


def date(goal: str, page: MiniWobPage) -> Moves:
    month, day, year = find(r"(\d+)/(\d+)/(\d+)", goal).groups()
    page = yield put(page.one("Date"), f"{year}-{month}-{day}")
    yield click(page.one("button", "Submit"))


def time(goal: str, page: MiniWobPage) -> Moves:
    hour, minute, half = find(r"(\d+):(\d+) ([AP]M)", goal).groups()
    hours = int(hour) % 12 + (12 if half == "PM" else 0)
    page = yield put(page.one("InputTime"), f"{hours:02d}:{minute}")
    yield click(page.one("button", "Submit"))


def focus(goal: str, page: MiniWobPage) -> Moves:
    found = re.search(r"(\d)(?:st|nd|rd) input", goal)
    yield click(page.one("textbox", nth=int(found[1]) - 1 if found else 0))


def guess(_: str, page: MiniWobPage) -> Moves:
    low, high = 0, 9
    while low <= high:
        middle = (low + high) // 2
        page = yield put(page.one("spinbutton"), str(middle))
        page = yield click(page.one("button", "Submit"))
        said = " ".join(node.name for node in page.all("StaticText"))
        low, high = (middle + 1, high) if "higher" in said else (low, middle - 1)


def spinner(goal: str, page: MiniWobPage) -> Moves:
    wanted = int(find(r"Select (-?\d+) with the spinner", goal)[1])
    page = yield click(page.one("spinbutton"))
    for _ in range(abs(wanted)):
        page = yield press("ArrowUp" if wanted > 0 else "ArrowDown")
    yield click(page.one("button", "Submit"))


def search(goal: str, page: MiniWobPage) -> Moves:
    words, nth = find(r'enter "(.*?)" and press.* the (\d+)(?:st|nd|rd|th)', goal).groups()
    page = yield put(page.one("textbox"), words)
    page = yield click(page.one("button", "Search"))
    number = int(nth) - 1
    if number >= _PER_PAGE:
        page = yield click(page.one("link", str(number // _PER_PAGE + 1)))
    titles = [node for node in page.all("link") if not re.fullmatch(r"\d+|[<>]", node.name)]
    if not titles:
        raise UnsolvedError("no results are shown")
    yield click(titles[number % _PER_PAGE])


_PER_PAGE = 3


def films(goal: str, page: MiniWobPage) -> Moves:
    genre, director, year = find(
        r"Search for (.*?) movies directed by (.*?) from year (\d+)", goal
    ).groups()
    labels_first = next(n for n in page.nodes if n.role in {"StaticText", "textbox"}).role
    for words, text in (("Genre", genre), ("Director", director), ("Year|Date", year)):
        label = next(
            node
            for node in page.nodes
            if re.search(words, node.name) and node.role not in {"textbox", UNNAMED}
        )
        named = [n for n in page.all("textbox") if re.search(words, n.name)]
        around = page.before(label) if labels_first == "textbox" else page.after(label)
        field = named[0] if named else next(n for n in around if n.role == "textbox")
        page = yield put(field, text)
    buttons = page.all("button")
    yield click(buttons[-1] if buttons else page.all("StaticText")[-1])


def copied(goal: str, page: MiniWobPage) -> Moves:
    boxes = page.all("textbox")
    full = next(at for at, node in enumerate(boxes) if node.value)
    which = next((at for word, at in _ORDINALS.items() if word in goal), full)
    empty = next(at for at, node in enumerate(boxes) if not node.value)
    page = yield click(page.one("textbox", nth=which))
    page = yield press("Control+A")
    page = yield press("Control+C")
    page = yield click(page.one("textbox", nth=empty))
    page = yield press("Control+V")
    yield click(page.one("button", "Submit"))


def last_word(_: str, page: MiniWobPage) -> Moves:
    area, field = page.all("textbox")[:2]
    page = yield put(field, (area.value or "").split()[-1].strip(".,"))
    yield click(page.one("button", "Submit"))


def nth_word(goal: str, page: MiniWobPage) -> Moves:
    number = int(find(r"(\d+)(?:st|nd|rd|th) word", goal)[1])
    words = page.one("paragraph").name.split()
    page = yield put(page.one("textbox"), words[number - 1].strip(".,"))
    yield click(page.one("button", "Submit"))


def table_value(goal: str, page: MiniWobPage) -> Moves:
    name = find(r"value of (.*?) into", goal)[1]
    page = yield put(page.one("textbox"), _in_table(page, name))
    yield click(page.one("button", "Submit"))


def table_values(_: str, page: MiniWobPage) -> Moves:
    for number, field in enumerate(page.all("textbox")):
        label = next(n for n in page.before(field) if n.role == "StaticText").name.rstrip(":")
        page = yield put(page.one("textbox", nth=number), _in_table(page, label))
    yield click(page.one("button", "Submit"))


def _in_table(page: MiniWobPage, name: str) -> str:
    cells = [node.name for node in page.all("cell")]
    return cells[cells.index(name) + 1]


def sum_of_two(_: str, page: MiniWobPage) -> Moves:
    task = next(node.name for node in page.nodes if re.search(r"\d", node.name))
    left, sign, right = find(r"(-?\d+) ([-+x*]) (-?\d+)", task).groups()
    page = yield put(page.one("textbox"), str(_reckoned(int(left), sign, int(right))))
    yield click(page.one("button", "Submit"))


def unknown(_: str, page: MiniWobPage) -> Moves:
    task = next(node.name for node in page.nodes if re.search(r"\d", node.name))
    left, sign, right, result = find(r"(x|-?\d+) ([-+]) (x|-?\d+) = (-?\d+)", task).groups()
    if left == "x":
        found = int(result) - int(right) if sign == "+" else int(result) + int(right)
    else:
        found = int(result) - int(left) if sign == "+" else int(left) - int(result)
    page = yield put(page.one("textbox"), str(found))
    yield click(page.one("button", "Submit"))


def _reckoned(left: int, sign: str, right: int) -> int:
    match sign:
        case "+":
            return left + right
        case "-":
            return left - right
        case _:
            return left * right


def letters(_: str, page: MiniWobPage) -> Moves:
    shown = "".join(node.name for node in page.all("StaticText"))
    page = yield put(page.one("textbox"), shown)
    yield click(page.one("button", "Submit"))


def terminal(goal: str, page: MiniWobPage) -> Moves:
    ending = re.search(r"extension (\.\w+(?:\.\w+)*)", goal)
    page = yield click(page.one("textbox"))
    page = yield from _keys("ls", page)
    shown = " ".join(node.name for node in page.nodes if node.role != "unnamed")
    names = find(r"\$ ls (.*?) user\$", shown)[1].split()
    wanted = next((n for n in names if (n.endswith(ending[1]) if ending else "." not in n)), None)
    if wanted is None:
        raise UnsolvedError(f"no file to remove among: {shown[:200]}")
    yield from _keys(f"rm {wanted}", page)


def _keys(line: str, page: MiniWobPage) -> Walk:
    """Press each key of a line, and Enter: the terminal listens for keys."""
    for letter in line:
        page = yield press("Space" if letter == " " else letter)
    page = yield press("Enter")
    return page


def scrolled(goal: str, page: MiniWobPage) -> Moves:
    page = yield click(page.one("textbox"))
    page = yield press("Control+Home" if "to the top" in goal else "Control+End")
    yield click(page.one("button", "Submit"))
