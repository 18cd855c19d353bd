"""What there is to say of each subject: of a book, a dish, a fault, a place in a town."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from forumseed.vocabulary import load

PACKS = (
    "ask", "explain", "books", "movies", "cooking", "running", "pets", "parenting", "finance",
    "technology", "work", "shower", "frugal", "travel", "languages", "meta",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Topic:
    """Something that a thread may speak of.

    Attributes:
        about: a noun phrase for it.
        me: what whoever opens a thread on it says in the post.
        good, bad: what others say of it, one way and the other: sentences without their ends.
        asks: questions that anybody may answer, each with its answers.
        author: questions that only the post's author can answer.
        needs: what must hold of the thread; see Matter.
        is_wide: whether the thread comes to it only when there is little else to say.
    """

    about: str = ""
    me: tuple[str, ...] = ()
    good: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()
    asks: tuple[tuple[str, tuple[str, ...]], ...] = ()
    author: tuple[tuple[str, tuple[str, ...]], ...] = ()
    needs: str = ""
    is_wide: bool = False


def topic(table: Mapping[str, str], about: str = "") -> Topic:
    """Read a topic: sayings are parted by "; ", a question and its answers by " > "."""
    return Topic(
        about=table.get("about", about),
        me=_parted(table.get("me", "")),
        good=_parted(table.get("good", "")),
        bad=_parted(table.get("bad", "")),
        asks=_asked(table.get("ask", "")),
        author=_asked(table.get("author", "")),
        needs=table.get("if", ""),
        is_wide="wide" in table,
    )


def _parted(text: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in text.split("; ") if one.strip())


def _asked(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((one[0], tuple(one[1:])) for one in (part.split(" > ") for part in _parted(text)))


@cache
def _tables(file: str) -> dict[str, dict[str, Topic]]:
    return {
        name: {about: topic(one, about) for about, one in tables.items()}
        for name, tables in load(file).items()
    }


@cache
def subject(pack: str, name: str) -> Topic:
    """Return what there is to say of a subject, nothing if it is not known."""
    for file in ("subjects/first", "subjects/second", "subjects/third"):
        if (found := _tables(file).get(pack)) is not None:
            return found.get(name, Topic())
    return Topic()


@cache
def _faults() -> dict[str, Topic]:
    return {
        one["issue"].rstrip(".").lower(): topic(one, "that fault")
        for file in ("faults/home", "faults/outside")
        for one in load(file)["fault"]
    }


def remedy(issue: str) -> Topic:
    """Return what there is to say of a fault."""
    return _faults().get(issue.lower(), Topic(about="that fault"))


@cache
def points(name: str) -> tuple[Topic, ...]:
    """Return what may be said in threads of a kind or pack, whatever their subject."""
    return tuple(
        topic(one)
        for file in ("gear", "city", "talk")
        for one in load(f"remarks/{file}").get(name, ())
    )


@cache
def spot(place: str) -> Topic:
    """Return what there is to say of a place in any town."""
    return _tables("subjects/places")["place"].get(place, Topic(about=f"the {place}"))
