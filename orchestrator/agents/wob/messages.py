"""Pages that look like an inbox of mails or a stream of posts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from orchestrator.agents.wob.page import Moves, Page, UnsolvedError, click, find, put
from orchestrator.observation import UNNAMED, Node


def mail(goal: str, page: Page) -> Moves:
    """Do with a mail what the goal says in fixed words."""
    sender = find(r"email by (\w+)", goal)[1]
    if "trash icon" in goal:
        yield click(_icon(page, sender, "trash"))
    elif "star icon" in goal:
        yield click(_icon(page, sender, "star"))
    elif "forward" in goal:
        yield from _forward(page, sender, find(r"forward that email to (\w+)", goal)[1])
    else:
        yield from _reply(page, sender, find(r'with the text "(.*)"', goal)[1])


def mail_told(goal: str, page: Page) -> Moves:
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
    """Return whose mail is forwarded to whom: `to X` and `Send X …` name the receiver."""
    names = [word for word in re.findall(r"\b[A-Z][a-z]+\b", goal) if word in senders] or senders
    name = r"([A-Z][a-z]+)"
    receiver = (
        re.search(rf"\b(?:to|for|with) {name}\b", goal)
        or re.search(rf"\b(?:[Ss]end|[Gg]ive|[Ff]orward|[Ss]how) {name}\b(?!')", goal)
        or re.search(rf"\b{name} (?:wants|needs|should)", goal)
    )
    if receiver is None:
        message = f"the goal is not one that the rules know: {goal}"
        raise UnsolvedError(message)
    sender = next((one for one in names if one != receiver[1]), names[0])
    return sender, receiver[1]


def _senders(page: Page) -> Iterator[str]:
    for thread in page.unnamed(r"div\.email-thread.*"):
        yield next(node.name for node in page.after(thread) if node.role == "StaticText")


def _icon(page: Page, sender: str, icon: str) -> Node:
    return next(n for n in page.after(page.text(sender)) if n.name.startswith(f"span.{icon}"))


def _forward(page: Page, sender: str, receiver: str) -> Moves:
    page = yield click(page.text(sender))
    page = yield click(page.text("Forward"))
    page = yield put(page.all("textbox")[0], receiver)
    yield click(_send(page))


def _reply(page: Page, sender: str, text: str) -> Moves:
    page = yield click(page.text(sender))
    page = yield click(page.text("Reply"))
    page = yield put(page.all("textbox")[-1], text)
    yield click(_send(page))


def _send(page: Page) -> Node:
    return page.unnamed(r"span#send-(?:reply|forward).*")[0]


def post(goal: str, page: Page) -> Moves:
    """Click a button of one user's post; some stand in the menu behind its dots."""
    user, button = find(r'user (@\w+), click on the "(.*?)" button', goal).groups()
    icon = {"Reply": "reply", "Retweet": "retweet", "Like": "like", "More": "more"}.get(button)
    writer = page.text(user)
    if icon is None:
        more = next(n for n in page.after(writer) if n.name.startswith("span.more"))
        page = yield click(more)
        yield click(_entry(page, user, button))
        return
    yield click(next(n for n in page.after(writer) if n.name.startswith(f"span.{icon}")))


def _entry(page: Page, user: str, button: str) -> Node:
    for node in page.after(page.text(user)):
        if node.role != UNNAMED and re.match(re.escape(button), node.name):
            return node
    message = f"no entry '{button}'"
    raise UnsolvedError(message)


def posts(goal: str, page: Page) -> Moves:
    """Click a button of all, or so many, of a user's posts, and submit."""
    button, some, user = find(
        r'Click the "(.*?)" button on (all|\d+) posts? by (@\w+)', goal
    ).groups()
    icon = button.lower()
    writers = page.all("StaticText", user)
    for writer in writers[: len(writers) if some == "all" else int(some)]:
        page = yield click(
            next(n for n in page.after(_same(page, writer)) if n.name.startswith(f"span.{icon}"))
        )
    yield click(page.one("button", "Submit"))


def _same(page: Page, node: Node) -> Node:
    return next(one for one in page.nodes if one.id == node.id)
