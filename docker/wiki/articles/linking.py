"""Turn drafts into articles: read the marks and link the first mention of every other article."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from draft import Draft, DraftBlock, DraftBullets, DraftTable
from model import (
    Article,
    Block,
    Bullets,
    Fact,
    Line,
    Link,
    Paragraph,
    Section,
    Span,
    Strong,
    Table,
    Text,
)
from table_files import table

MARKS = re.compile(r"\*\*(?P<bold>[^*]+)\*\*|\[\[(?P<title>[^\]|]+)(?:\|(?P<label>[^\]]+))?\]\]")
# Names that contain an article's title and mean something else.
NEVER_LINKED: tuple[str, ...] = tuple(table("linking")["never_linked"])


# The titles that a draft has linked so far; None where only its marks are links.
Seen = set[str] | None


class UnknownTitleError(ValueError):
    """A link or a see-also entry names an article that does not exist."""


class Linker:
    """Sets links between a fixed set of drafts."""

    def __init__(self, drafts: Sequence[Draft]) -> None:
        self._titles = {draft.title for draft in drafts}
        self._targets = _names_of(drafts)
        names = sorted({*self._targets, *NEVER_LINKED}, key=lambda name: (-len(name), name))
        pattern = "|".join(re.escape(name) for name in names)
        self._mention = re.compile(rf"(?<![\w-])(?:{pattern})(?![\w-])")

    def article(self, draft: Draft) -> Article:
        """Return the draft as an article, every other article linked at its first mention.

        A marked draft gets the links that it marks and no others.
        """
        seen = None if draft.marked else {draft.title}
        return Article(
            title=draft.title,
            lead=self._blocks(draft.lead, seen),
            facts=tuple(
                Fact(label, self._line(value, None if draft.marked else {draft.title}))
                for label, value in draft.facts
            ),
            sections=tuple(
                Section(section.heading, self._blocks(section.blocks, seen))
                for section in draft.sections
            ),
            see_also=tuple(self._known(title, draft) for title in draft.see_also),
            layout=draft.layout,
        )

    def _known(self, title: str, draft: Draft) -> str:
        if title not in self._titles:
            message = f"{draft.title}: there is no article {title!r} to link to"
            raise UnknownTitleError(message)
        return title

    def _blocks(self, blocks: Iterable[DraftBlock], seen: Seen) -> tuple[Block, ...]:
        return tuple(self._block(block, seen) for block in blocks)

    def _block(self, block: DraftBlock, seen: Seen) -> Block:
        match block:
            case str():
                return Paragraph(self._line(block, seen))
            case DraftBullets(items, numbered):
                lines = tuple(self._line(item, _copy(seen)) for item in items)
                return Bullets(lines, numbered)
            case DraftTable(caption, header, rows):
                cells = tuple(tuple(self._cell(cell) for cell in row) for row in rows)
                return Table(caption, header, cells)

    def _line(self, prose: str, seen: Seen) -> Line:
        if seen is None:
            return self._cell(prose)
        return self._spans(prose, seen, lambda words: self._mentions(words, seen))

    def _cell(self, prose: str) -> Line:
        """Link only what is marked: a table names towns that share a name with an article."""
        return self._spans(prose, set(), _text)

    def _spans(
        self, prose: str, seen: set[str], between: Callable[[str], list[Span]]
    ) -> tuple[Span, ...]:
        spans: list[Span] = []
        at = 0
        for mark in MARKS.finditer(prose):
            spans += between(prose[at : mark.start()])
            spans.append(self._marked(mark, seen))
            at = mark.end()
        spans += between(prose[at:])
        return tuple(spans)

    def _marked(self, mark: re.Match[str], seen: set[str]) -> Span:
        if mark["bold"]:
            return Strong(mark["bold"])
        title = mark["title"]
        if title not in self._titles:
            message = f"there is no article {title!r} to link to: {mark.string[:60]!r}"
            raise UnknownTitleError(message)
        seen.add(title)
        return Link(title, mark["label"] or title)

    def _mentions(self, prose: str, seen: set[str]) -> list[Span]:
        spans: list[Span] = []
        at = 0
        for mention in self._mention.finditer(prose):
            title = self._targets.get(mention[0])
            if title is None or title in seen:
                continue
            seen.add(title)
            spans += _text(prose[at : mention.start()])
            spans.append(Link(title, mention[0]))
            at = mention.end()
        return spans + _text(prose[at:])


def _copy(seen: Seen) -> Seen:
    return None if seen is None else set(seen)


def _text(words: str) -> list[Span]:
    return [Text(words)] if words else []


def _names_of(drafts: Sequence[Draft]) -> dict[str, str]:
    """Return every name that prose may use for an article; an article's own title wins."""
    targets: dict[str, str] = {}
    for draft in drafts:
        for name in draft.aliases if draft.autolink else ():
            targets.setdefault(name, draft.title)
            if not draft.proper:
                targets.setdefault(_capitalised(name), draft.title)
    for draft in drafts:
        if draft.autolink:
            targets[draft.title] = draft.title
            if not draft.proper:
                lower = draft.title[0].lower() + draft.title[1:]
                for name in (lower, _plural(lower)):
                    targets[name] = draft.title
                    targets[_capitalised(name)] = draft.title
    return targets


def _capitalised(name: str) -> str:
    return name[0].upper() + name[1:]


def _plural(noun: str) -> str:
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"
