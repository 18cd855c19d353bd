"""Pages with a calendar, a flight to book, a list to buy from."""

from __future__ import annotations

import re
from collections.abc import Generator
from datetime import datetime

from arena_core.actions import Action, Scroll, ScrollDirection
from orchestrator.agents.wob.page import (
    Moves,
    UnsolvedError,
    WobPage,
    click,
    find,
    hover,
    put,
    until,
)
from orchestrator.observation import UNNAMED, Node


def date(goal: str, page: WobPage) -> Moves:
    """Choose a date in the calendar, and submit."""
    month, day, year = map(int, find(r"(\d+)/(\d+)/(\d+)", goal).groups())
    page = yield click(page.one("textbox"))
    while (shown := _month(page)) != (year, month):
        page = yield click(page.text("Prev" if shown > (year, month) else "Next"))
    page = yield click(page.one("link", str(day)))
    yield click(page.one("button", "Submit"))


def _month(page: WobPage) -> tuple[int, int]:
    names = " ".join(node.name for node in page.nodes if node.role != UNNAMED)
    found = re.search(r"Next (\w+) (\d{4})", names)
    if found is None:
        message = "the page shows no calendar"
        raise UnsolvedError(message)
    shown = datetime.strptime(f"{found[1]} {found[2]}", "%B %Y")  # noqa: DTZ007 - a month alone
    return shown.year, shown.month


def flight(goal: str, page: WobPage) -> Moves:
    """Search a flight and book the cheapest or the shortest."""
    which, start, end, when = find(
        r"Book the (\w+) one-way flight from: (.*) to: (.*) on (\S+?)\.", goal
    ).groups()
    for label, place in (("From:", start), ("To:", end)):
        page = yield put(page.one("textbox", label), place)
        page = yield from _proposal(page, place)
    month, day, year = map(int, when.split("/"))
    page = yield click(next(n for n in page.all("textbox") if "readonly" in n.states))
    while (shown := _month(page)) != (year, month):
        page = yield click(page.text("Prev" if shown > (year, month) else "Next"))
    page = yield click(page.one("link", str(day)))
    page = yield click(page.one("button", "Search"))
    yield click(_ticket(page, "cheapest" if which == "cheapest" else "shortest"))


def _proposal(page: WobPage, place: str) -> Generator[Action, WobPage, WobPage]:
    """Wait for the proposals to a place, and take the one that holds it."""
    page = yield from until(
        page, lambda shown: bool(_places(shown, place)), lambda shown: hover(shown.one("textbox"))
    )
    return (yield click(_places(page, place)[0]))


def _places(page: WobPage, place: str) -> list[Node]:
    return [
        node
        for node in page.nodes
        if node.role not in {"textbox", UNNAMED, "status"}
        and (node.name.endswith(f"({place})") or node.name.startswith(f"{place} ("))
    ]


def _ticket(page: WobPage, which: str) -> Node:
    """Return the button of the ticket that costs or takes the least or the most."""
    tickets: list[tuple[int, Node]] = []
    for button in page.all("button"):
        price = re.search(r"Book (?:flight )?for \$(\d+)", button.name)
        if price is None:
            continue
        takes = next(n for n in page.before(button) if re.search(r"\d+h( \d+m)?|\d+m", n.name))
        hours = re.search(r"(\d+)h", takes.name)
        minutes = re.search(r"(\d+)m", takes.name)
        length = int(hours[1] if hours else 0) * 60 + int(minutes[1] if minutes else 0)
        is_dear = which in {"cheapest", "most expensive"}
        tickets.append((int(price[1]) if is_dear else length, button))
    if not tickets:
        message = "no flights are shown"
        raise UnsolvedError(message)
    best = max if which in {"most expensive", "longest"} else min
    return best(tickets, key=lambda ticket: ticket[0])[1]


def ticket(goal: str, page: WobPage) -> Moves:
    """Buy the ticket that costs, or takes, the least or the most."""
    which = find(r"the (cheapest|most expensive|shortest|longest)", goal)[1]
    yield click(_ticket(page, which))


def proposed_word(goal: str, page: WobPage) -> Moves:
    """Type the start of a word, wait for the proposals, take the one that fits, and submit."""
    start = find(r'starts with "(.*?)"', goal)[1]
    end = re.search(r'ends with "(.*?)"', goal)
    page = yield put(page.one("textbox"), start)

    def fitting(shown: WobPage) -> list[Node]:
        return [
            node
            for node in shown.nodes
            if node.role not in {"textbox", UNNAMED, "status"}
            and node.name.startswith(start)
            and node.name.endswith(end[1] if end else "")
        ]

    page = yield from until(
        page, lambda shown: bool(fitting(shown)), lambda shown: hover(shown.one("textbox"))
    )
    page = yield click(fitting(page)[0])
    yield click(page.one("button", "Submit"))


def stock(goal: str, page: WobPage) -> Moves:
    """Wait until a price has fallen below the limit, and buy."""
    limit = float(find(r"less than \$([\d.]+)\.", goal)[1])

    def is_low(shown: WobPage) -> bool:
        prices = [n.name for n in shown.all("StaticText") if re.fullmatch(r"\$[\d.]+", n.name)]
        return bool(prices) and float(prices[-1].removeprefix("$")) < limit

    page = yield from until(page, is_low, lambda shown: hover(shown.text("Stock price:")), 45)
    yield click(page.one("button", "Buy"))


def contact(goal: str, page: WobPage) -> Moves:
    """Turn the pages of a book of contacts to a person, and click what is asked for."""
    name, what = find(r"Find (\w+) in the contact book and click on their (.*)\.", goal).groups()
    while not page.all("heading", name):
        page = yield click(page.one("link", ">"))
    label = {"phone number": "Phone:", "email": "Email:", "address": "Address:"}[what]
    yield click(next(n for n in page.after(page.text(label)) if n.role == "link"))


def parity(_: str, page: WobPage) -> Moves:
    """Mark each number as odd or even, and submit."""
    for node in page.all("StaticText"):
        if re.fullmatch(r"-?\d+", node.name):
            here = next(n for n in page.nodes if n.id == node.id)
            odd = next(n for n in page.before(here) if n.name == "Odd")
            even = next(n for n in page.after(here) if n.name == "Even")
            page = yield click(odd if int(node.name) % 2 else even)
    yield click(page.one("button", "Submit"))


def number_drawn(goal: str, page: WobPage) -> Moves:
    """Draw numbers until one is as asked, and submit."""
    while not _is_wanted(goal, page.nodes[0].name):
        page = yield click(page.one("button", "Generate"))
    yield click(page.one("button", "Submit"))


def _is_wanted(goal: str, shown: str) -> bool:
    if not re.fullmatch(r"-?\d+", shown):
        return False
    number = int(shown)
    if "odd" in goal or "even" in goal:
        return number % 2 == ("odd" in goal)
    than = int(find(r"than (-?\d+)", goal)[1])
    return number < than if "less" in goal else number > than


def agreement(goal: str, page: WobPage) -> Moves:
    """Cancel, or read the agreement to its end, sign it, and click what the goal says."""
    if "cancel" in goal:
        yield click(page.one("button", "Cancel"))
        return
    name, button = find(r'enter the name "(.*?)" then press "(\w+)"', goal).groups()
    while "disabled" in page.one("button", "Agree").states:
        page = yield Scroll(direction=ScrollDirection.DOWN, element=page.one("textbox").id)
    page = yield put(page.one("textbox", nth=1), name)
    yield click(page.one("button", button))


def table_form(goal: str, page: WobPage) -> Moves:
    """Check a radio button, and type a number into a field."""
    nth, number, field = find(
        r'Check the (\d)\w+ radio button and enter the number "(.*?)" into the (\d)', goal
    ).groups()
    page = yield click(page.one("radio", nth=int(nth) - 1))
    page = yield put(page.one("textbox", nth=int(field) - 1), number)
    yield click(page.one("button", "Submit"))


def size_and_answer(goal: str, page: WobPage) -> Moves:
    """Choose from a drop-down, and click the button of an answer."""
    size, answer = find(r'Choose (.*) from the dropdown, .* labeled "(.*)"', goal).groups()
    page = yield click(page.text("▾"))
    page = yield from until(
        page, lambda shown: len(_sizes(shown, size)) > 0, lambda shown: hover(shown.text("▾"))
    )
    page = yield click(_sizes(page, size)[-1])
    yield click(page.one("button", answer))


def _sizes(page: WobPage, size: str) -> list[Node]:
    """Return what shows a size in the page's own list; the hidden select has it as well."""
    return [n for n in page.nodes if n.name == size and n.role not in {"option", UNNAMED}]


def _meal_of(page: WobPage, number: int, kind: str) -> Moves:
    """Order that many dishes whose icons say what kind they are."""
    fitting = [node for node in page.nodes if node.role == "image" and node.name == kind]
    for icon in fitting[:number]:
        page = yield click(next(n for n in page.after(icon) if n.name == "+"))
    yield click(page.all("button")[-1])


def meal(goal: str, page: WobPage) -> Moves:
    """Order one of each dish, or some of a kind."""
    kind = re.search(r"Order (\d+) items? that (?:is|are) (.*)", goal)
    if kind is not None:
        yield from _meal_of(page, int(kind[1]), kind[2].strip())
        return
    dishes = find(r"Order one of each item: (.*)", goal)[1].split(", ")
    for dish in dishes:
        page = yield click(next(n for n in page.after(page.text(dish)) if n.name == "+"))
    yield click(page.all("button")[-1])
