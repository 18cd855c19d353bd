"""Pages that look like applications: calendars, flights, lists to buy from, mails and posts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from arena_core.actions import Scroll, ScrollDirection
from orchestrator.agents.builtin.miniwob.page import (
    MiniWobPage,
    Moves,
    UnsolvedError,
    Walk,
    click,
    find,
    hover,
    put,
    until,
)
from orchestrator.browser.observation import UNNAMED, Node


def date(goal: str, page: MiniWobPage) -> Moves:
    month, day, year = map(int, find(r"(\d+)/(\d+)/(\d+)", goal).groups())
    page = yield click(page.one("textbox"))
    while (shown := _month(page)) != (year, month):
        page = yield click(page.text("Prev" if shown > (year, month) else "Next"))
    page = yield click(page.one("link", str(day)))
    yield click(page.one("button", "Submit"))


def _month(page: MiniWobPage) -> tuple[int, int]:
    names = " ".join(node.name for node in page.nodes if node.role != UNNAMED)
    found = re.search(r"Next (\w+) (\d{4})", names)
    if found is None:
        raise UnsolvedError("the page shows no calendar")
    shown = datetime.strptime(f"{found[1]} {found[2]}", "%B %Y")  # noqa: DTZ007 - a month alone
    return shown.year, shown.month


def flight(goal: str, page: MiniWobPage) -> Moves:
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


def _proposal(page: MiniWobPage, place: str) -> Walk:
    page = yield from until(
        page, lambda shown: bool(_places(shown, place)), lambda shown: hover(shown.one("textbox"))
    )
    return (yield click(_places(page, place)[0]))


def _places(page: MiniWobPage, place: str) -> list[Node]:
    return [
        node
        for node in page.nodes
        if node.role not in {"textbox", UNNAMED, "status"}
        and (node.name.endswith(f"({place})") or node.name.startswith(f"{place} ("))
    ]


def _ticket(page: MiniWobPage, which: str) -> Node:
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
        raise UnsolvedError("no flights are shown")
    best = max if which in {"most expensive", "longest"} else min
    return best(tickets, key=lambda ticket: ticket[0])[1]


def ticket(goal: str, page: MiniWobPage) -> Moves:
    which = find(r"the (cheapest|most expensive|shortest|longest)", goal)[1]
    yield click(_ticket(page, which))


def proposed_word(goal: str, page: MiniWobPage) -> Moves:
    start = find(r'starts with "(.*?)"', goal)[1]
    end = re.search(r'ends with "(.*?)"', goal)
    page = yield put(page.one("textbox"), start)

    def fitting(shown: MiniWobPage) -> list[Node]:
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


def stock(goal: str, page: MiniWobPage) -> Moves:
    limit = float(find(r"less than \$([\d.]+)\.", goal)[1])

    def is_low(shown: MiniWobPage) -> bool:
        prices = [n.name for n in shown.all("StaticText") if re.fullmatch(r"\$[\d.]+", n.name)]
        return bool(prices) and float(prices[-1].removeprefix("$")) < limit

    page = yield from until(page, is_low, lambda shown: hover(shown.text("Stock price:")), 45)
    yield click(page.one("button", "Buy"))


def contact(goal: str, page: MiniWobPage) -> Moves:
    name, what = find(r"Find (\w+) in the contact book and click on their (.*)\.", goal).groups()
    while not page.all("heading", name):
        page = yield click(page.one("link", ">"))
    label = {"phone number": "Phone:", "email": "Email:", "address": "Address:"}[what]
    yield click(next(n for n in page.after(page.text(label)) if n.role == "link"))


def parity(_: str, page: MiniWobPage) -> Moves:
    for node in page.all("StaticText"):
        if re.fullmatch(r"-?\d+", node.name):
            here = next(n for n in page.nodes if n.id == node.id)
            odd = next(n for n in page.before(here) if n.name == "Odd")
            even = next(n for n in page.after(here) if n.name == "Even")
            page = yield click(odd if int(node.name) % 2 else even)
    yield click(page.one("button", "Submit"))


def number_drawn(goal: str, page: MiniWobPage) -> Moves:
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


def agreement(goal: str, page: MiniWobPage) -> Moves:
    if "cancel" in goal:
        yield click(page.one("button", "Cancel"))
        return
    name, button = find(r'enter the name "(.*?)" then press "(\w+)"', goal).groups()
    while "disabled" in page.one("button", "Agree").states:
        page = yield Scroll(direction=ScrollDirection.DOWN, element=page.one("textbox").id)
    page = yield put(page.one("textbox", nth=1), name)
    yield click(page.one("button", button))


def table_form(goal: str, page: MiniWobPage) -> Moves:
    nth, number, field = find(
        r'Check the (\d)\w+ radio button and enter the number "(.*?)" into the (\d)', goal
    ).groups()
    page = yield click(page.one("radio", nth=int(nth) - 1))
    page = yield put(page.one("textbox", nth=int(field) - 1), number)
    yield click(page.one("button", "Submit"))


def size_and_answer(goal: str, page: MiniWobPage) -> Moves:
    size, answer = find(r'Choose (.*) from the dropdown, .* labeled "(.*)"', goal).groups()
    page = yield click(page.text("▾"))
    page = yield from until(
        page, lambda shown: len(_sizes(shown, size)) > 0, lambda shown: hover(shown.text("▾"))
    )
    page = yield click(_sizes(page, size)[-1])
    yield click(page.one("button", answer))


def _sizes(page: MiniWobPage, size: str) -> list[Node]:
    """Return what shows a size in the page's own list; the hidden select has it as well."""
    return [n for n in page.nodes if n.name == size and n.role not in {"option", UNNAMED}]


def _meal_of(page: MiniWobPage, number: int, kind: str) -> Moves:
    fitting = [node for node in page.nodes if node.role == "image" and node.name == kind]
    for icon in fitting[:number]:
        page = yield click(next(n for n in page.after(icon) if n.name == "+"))
    yield click(page.all("button")[-1])


def meal(goal: str, page: MiniWobPage) -> Moves:
    kind = re.search(r"Order (\d+) items? that (?:is|are) (.*)", goal)
    if kind is not None:
        yield from _meal_of(page, int(kind[1]), kind[2].strip())
        return
    dishes = find(r"Order one of each item: (.*)", goal)[1].split(", ")
    for dish in dishes:
        page = yield click(next(n for n in page.after(page.text(dish)) if n.name == "+"))
    yield click(page.all("button")[-1])


def mail(goal: str, page: MiniWobPage) -> Moves:
    sender = find(r"email by (\w+)", goal)[1]
    if "trash icon" in goal:
        yield click(_icon(page, sender, "trash"))
    elif "star icon" in goal:
        yield click(_icon(page, sender, "star"))
    elif "forward" in goal:
        yield from _forward(page, sender, find(r"forward that email to (\w+)", goal)[1])
    else:
        yield from _reply(page, sender, find(r'with the text "(.*)"', goal)[1])


def mail_told(goal: str, page: MiniWobPage) -> Moves:
    """Do with a mail what the goal says in words as people find them.

    Who sent it is one of the senders shown; whom it goes to, or what is to be written, is what the
    goal names besides.
    """
    senders = [name for name in _senders(page) if re.search(rf"\b{name}\b", goal)]
    verb = goal.lower()
    if re.search(r"delete|trash|remove|get rid|dispose|discard|erase", verb):
        yield click(_icon(page, senders[0], "trash"))
    elif re.search(r"star|important|favou?rite", verb):
        yield click(_icon(page, senders[0], "star"))
    elif quoted := re.search(r"[\"“](.*)[\"”]", goal):
        yield from _reply(page, senders[0], quoted[1])
    else:
        sender, receiver = _parties(goal, senders)
        yield from _forward(page, sender, receiver)


def _parties(goal: str, senders: list[str]) -> tuple[str, str]:
    """Return whose mail is forwarded to whom.

    `to X`, `Send X …` and `X wants …` name the receiver, except where X wants his own mail sent.
    """
    name = r"([A-Z][a-z]+)"
    found = (
        re.search(rf"\b(?:to|for|with) {name}\b", goal)
        or re.search(rf"\b(?:[Ss]end|[Gg]ive|[Ff]orward|[Ss]how) {name}\b(?!')", goal)
        or re.search(rf"\b{name} (?:wants|needs|should|is waiting)", goal)
    )
    if found is None:
        raise UnsolvedError(f"the goal is not one that the rules know: {goal}")
    receiver = found[1]
    named = [one for one in senders if re.search(rf"\b{one}\b", goal)]
    return next((one for one in named if one != receiver), named[0]), receiver


def _senders(page: MiniWobPage) -> Iterator[str]:
    for thread in page.unnamed(r"div\.email-thread.*"):
        yield next(node.name for node in page.after(thread) if node.role == "StaticText")


def _icon(page: MiniWobPage, sender: str, icon: str) -> Node:
    return next(n for n in page.after(page.text(sender)) if n.name.startswith(f"span.{icon}"))


def _forward(page: MiniWobPage, sender: str, receiver: str) -> Moves:
    page = yield click(page.text(sender))
    page = yield click(page.text("Forward"))
    page = yield put(page.all("textbox")[0], receiver)
    yield click(_send(page))


def _reply(page: MiniWobPage, sender: str, text: str) -> Moves:
    page = yield click(page.text(sender))
    page = yield click(page.text("Reply"))
    page = yield put(page.all("textbox")[-1], text)
    yield click(_send(page))


def _send(page: MiniWobPage) -> Node:
    return page.unnamed(r"span#send-(?:reply|forward).*")[0]


def post(goal: str, page: MiniWobPage) -> Moves:
    """Click a button of one user's post; some stand in the menu behind its dots."""
    user, button = find(r'user (@\w+), click on the "(.*?)" button', goal).groups()
    icon = {"Reply": "reply", "Retweet": "retweet", "Like": "like"}.get(button, "more")
    page = yield from _icon_clicked(page, page.text(user), icon)
    if icon == "more":
        yield click(_entry(page, user, button))


def _icon_clicked(page: MiniWobPage, writer: Node, icon: str) -> Walk:
    """Click an icon below a post; it is another picture under the pointer, which has to load."""

    def found(shown: MiniWobPage) -> Node:
        here = next(one for one in shown.nodes if one.id == writer.id)
        return next(n for n in shown.after(here) if n.name.startswith(f"span.{icon}"))

    page = yield hover(found(page))
    return (yield click(found(page)))


def _entry(page: MiniWobPage, user: str, button: str) -> Node:
    for node in page.after(page.text(user)):
        if node.role != UNNAMED and re.match(re.escape(button), node.name):
            return node
    raise UnsolvedError(f"no entry '{button}'")


def posts(goal: str, page: MiniWobPage) -> Moves:
    button, some, user = find(
        r'Click the "(.*?)" button on (all|\d+) posts? by (@\w+)', goal
    ).groups()
    icon = button.lower()
    writers = page.all("StaticText", user)
    for writer in writers[: len(writers) if some == "all" else int(some)]:
        page = yield from _icon_clicked(page, writer, icon)
    yield click(page.one("button", "Submit"))
