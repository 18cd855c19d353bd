"""Pages that look like an inbox of mails or a stream of posts."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator

from arena_core.actions import Action
from orchestrator.agents.wob.page import Moves, UnsolvedError, WobPage, click, find, hover, put
from orchestrator.observation import UNNAMED, Node


def mail(goal: str, page: WobPage) -> Moves:
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


def mail_told(goal: str, page: WobPage) -> Moves:
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
        message = f"the goal is not one that the rules know: {goal}"
        raise UnsolvedError(message)
    receiver = found[1]
    named = [one for one in senders if re.search(rf"\b{one}\b", goal)]
    return next((one for one in named if one != receiver), named[0]), receiver


def _senders(page: WobPage) -> Iterator[str]:
    for thread in page.unnamed(r"div\.email-thread.*"):
        yield next(node.name for node in page.after(thread) if node.role == "StaticText")


def _icon(page: WobPage, sender: str, icon: str) -> Node:
    return next(n for n in page.after(page.text(sender)) if n.name.startswith(f"span.{icon}"))


def _forward(page: WobPage, sender: str, receiver: str) -> Moves:
    page = yield click(page.text(sender))
    page = yield click(page.text("Forward"))
    page = yield put(page.all("textbox")[0], receiver)
    yield click(_send(page))


def _reply(page: WobPage, sender: str, text: str) -> Moves:
    page = yield click(page.text(sender))
    page = yield click(page.text("Reply"))
    page = yield put(page.all("textbox")[-1], text)
    yield click(_send(page))


def _send(page: WobPage) -> Node:
    return page.unnamed(r"span#send-(?:reply|forward).*")[0]


def post(goal: str, page: WobPage) -> Moves:
    """Click a button of one user's post; some stand in the menu behind its dots."""
    user, button = find(r'user (@\w+), click on the "(.*?)" button', goal).groups()
    icon = {"Reply": "reply", "Retweet": "retweet", "Like": "like"}.get(button, "more")
    page = yield from _icon_clicked(page, page.text(user), icon)
    if icon == "more":
        yield click(_entry(page, user, button))


def _icon_clicked(page: WobPage, writer: Node, icon: str) -> Generator[Action, WobPage, WobPage]:
    """Click an icon below a post; it is another picture under the pointer, which has to load."""

    def found(shown: WobPage) -> Node:
        here = next(one for one in shown.nodes if one.id == writer.id)
        return next(n for n in shown.after(here) if n.name.startswith(f"span.{icon}"))

    page = yield hover(found(page))
    return (yield click(found(page)))


def _entry(page: WobPage, user: str, button: str) -> Node:
    for node in page.after(page.text(user)):
        if node.role != UNNAMED and re.match(re.escape(button), node.name):
            return node
    message = f"no entry '{button}'"
    raise UnsolvedError(message)


def posts(goal: str, page: WobPage) -> Moves:
    """Click a button of all, or so many, of a user's posts, and submit."""
    button, some, user = find(
        r'Click the "(.*?)" button on (all|\d+) posts? by (@\w+)', goal
    ).groups()
    icon = button.lower()
    writers = page.all("StaticText", user)
    for writer in writers[: len(writers) if some == "all" else int(some)]:
        page = yield from _icon_clicked(page, writer, icon)
    yield click(page.one("button", "Submit"))
