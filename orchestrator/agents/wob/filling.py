"""Pages on which something is to be typed, read or reckoned."""

from __future__ import annotations

import re
from collections.abc import Generator

from arena_core.actions import Action
from orchestrator.agents.wob.page import Moves, UnsolvedError, WobPage, click, find, press, put
from orchestrator.observation import UNNAMED

_ORDINALS = {"1st": 0, "2nd": 1, "3rd": 2}


def quoted_text(goal: str, page: WobPage) -> Moves:
    """Type what stands in quotes, and submit."""
    page = yield put(page.one("textbox"), find(r'"(.*)"', goal)[1])
    yield click(page.one("button"))


def cased_text(goal: str, page: WobPage) -> Moves:
    """Type what stands in quotes in upper or lower case, and submit."""
    text = find(r'"(.*)"', goal)[1]
    text = text.upper() if "upper case" in goal else text.lower()
    page = yield put(page.one("textbox"), text)
    yield click(page.one("button"))


def password_twice(goal: str, page: WobPage) -> Moves:
    """Type the password into both fields, and submit."""
    text = find(r'password "(.*?)"', goal)[1]
    page = yield put(page.one("textbox", nth=0), text)
    page = yield put(page.one("textbox", nth=1), text)
    yield click(page.one("button", "Submit"))


def login(goal: str, page: WobPage) -> Moves:
    """Type name and password and log in; what pops up meanwhile is cancelled."""
    wanted = find(r'username "(.*?)" and the password "(.*?)"', goal)
    for number, text in enumerate(wanted.groups()):
        page = yield click(page.one("textbox", nth=number))
        if page.all("button", "Cancel"):
            page = yield click(page.one("button", "Cancel"))
        page = yield put(page.one("textbox", nth=number), text)
    yield click(page.one("button"))


def date(goal: str, page: WobPage) -> Moves:
    """Fill a date field, and submit."""
    month, day, year = find(r"(\d+)/(\d+)/(\d+)", goal).groups()
    page = yield put(page.one("Date"), f"{year}-{month}-{day}")
    yield click(page.one("button", "Submit"))


def time(goal: str, page: WobPage) -> Moves:
    """Fill a time field, and submit."""
    hour, minute, half = find(r"(\d+):(\d+) ([AP]M)", goal).groups()
    hours = int(hour) % 12 + (12 if half == "PM" else 0)
    page = yield put(page.one("InputTime"), f"{hours:02d}:{minute}")
    yield click(page.one("button", "Submit"))


def focus(goal: str, page: WobPage) -> Moves:
    """Click into a text field."""
    found = re.search(r"(\d)(?:st|nd|rd) input", goal)
    yield click(page.one("textbox", nth=int(found[1]) - 1 if found else 0))


def guess(_: str, page: WobPage) -> Moves:
    """Halve the range until the number is found."""
    low, high = 0, 9
    while low <= high:
        middle = (low + high) // 2
        page = yield put(page.one("spinbutton"), str(middle))
        page = yield click(page.one("button", "Submit"))
        said = " ".join(node.name for node in page.all("StaticText"))
        low, high = (middle + 1, high) if "higher" in said else (low, middle - 1)


def spinner(goal: str, page: WobPage) -> Moves:
    """Step a number field up or down by keys, and submit."""
    wanted = int(find(r"Select (-?\d+) with the spinner", goal)[1])
    page = yield click(page.one("spinbutton"))
    for _ in range(abs(wanted)):
        page = yield press("ArrowUp" if wanted > 0 else "ArrowDown")
    yield click(page.one("button", "Submit"))


def search(goal: str, page: WobPage) -> Moves:
    """Search, turn to the page of the result of that number, and click it."""
    words, nth = find(r'enter "(.*?)" and press.* the (\d+)(?:st|nd|rd|th)', goal).groups()
    page = yield put(page.one("textbox"), words)
    page = yield click(page.one("button", "Search"))
    number = int(nth) - 1
    if number >= _PER_PAGE:
        page = yield click(page.one("link", str(number // _PER_PAGE + 1)))
    titles = [node for node in page.all("link") if not re.fullmatch(r"\d+|[<>]", node.name)]
    if not titles:
        message = "no results are shown"
        raise UnsolvedError(message)
    yield click(titles[number % _PER_PAGE])


_PER_PAGE = 3


def films(goal: str, page: WobPage) -> Moves:
    """Fill the fields of genre, director and year, whatever they are called, and search."""
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


def copied(goal: str, page: WobPage) -> Moves:
    """Copy what a text area holds and paste it into the empty field, by keys, and submit."""
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


def last_word(_: str, page: WobPage) -> Moves:
    """Type the last word of the text area, and submit."""
    area, field = page.all("textbox")[:2]
    page = yield put(field, (area.value or "").split()[-1].strip(".,"))
    yield click(page.one("button", "Submit"))


def nth_word(goal: str, page: WobPage) -> Moves:
    """Type the word of that number, and submit."""
    number = int(find(r"(\d+)(?:st|nd|rd|th) word", goal)[1])
    words = page.one("paragraph").name.split()
    page = yield put(page.one("textbox"), words[number - 1].strip(".,"))
    yield click(page.one("button", "Submit"))


def table_value(goal: str, page: WobPage) -> Moves:
    """Type the value that the table has for a name, and submit."""
    name = find(r"value of (.*?) into", goal)[1]
    page = yield put(page.one("textbox"), _in_table(page, name))
    yield click(page.one("button", "Submit"))


def table_values(_: str, page: WobPage) -> Moves:
    """Type the table's value beside each label, and submit."""
    for number, field in enumerate(page.all("textbox")):
        label = next(n for n in page.before(field) if n.role == "StaticText").name.rstrip(":")
        page = yield put(page.one("textbox", nth=number), _in_table(page, label))
    yield click(page.one("button", "Submit"))


def _in_table(page: WobPage, name: str) -> str:
    cells = [node.name for node in page.all("cell")]
    return cells[cells.index(name) + 1]


def sum_of_two(_: str, page: WobPage) -> Moves:
    """Reckon, and submit."""
    task = next(node.name for node in page.nodes if re.search(r"\d", node.name))
    left, sign, right = find(r"(-?\d+) ([-+x*]) (-?\d+)", task).groups()
    page = yield put(page.one("textbox"), str(_reckoned(int(left), sign, int(right))))
    yield click(page.one("button", "Submit"))


def unknown(_: str, page: WobPage) -> Moves:
    """Solve for x, and submit."""
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


def letters(_: str, page: WobPage) -> Moves:
    """Type letters that stand in a picture of their own, and submit."""
    shown = "".join(node.name for node in page.all("StaticText"))
    page = yield put(page.one("textbox"), shown)
    yield click(page.one("button", "Submit"))


def terminal(goal: str, page: WobPage) -> Moves:
    """List the files and remove one that ends as asked, or has no ending."""
    ending = re.search(r"extension (\.\w+(?:\.\w+)*)", goal)
    page = yield click(page.one("textbox"))
    page = yield from _keys("ls", page)
    shown = " ".join(node.name for node in page.nodes if node.role != "unnamed")
    names = find(r"\$ ls (.*?) user\$", shown)[1].split()
    wanted = next((n for n in names if (n.endswith(ending[1]) if ending else "." not in n)), None)
    if wanted is None:
        message = f"no file to remove among: {shown[:200]}"
        raise UnsolvedError(message)
    yield from _keys(f"rm {wanted}", page)


def _keys(line: str, page: WobPage) -> Generator[Action, WobPage, WobPage]:
    """Press each key of a line, and Enter: the terminal listens for keys."""
    for letter in line:
        page = yield press("Space" if letter == " " else letter)
    page = yield press("Enter")
    return page


def scrolled(goal: str, page: WobPage) -> Moves:
    """Scroll the text area to its top or bottom by keys, and submit."""
    page = yield click(page.one("textbox"))
    page = yield press("Control+Home" if "to the top" in goal else "Control+End")
    yield click(page.one("button", "Submit"))
