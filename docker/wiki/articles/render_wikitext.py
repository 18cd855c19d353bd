"""Articles as wikitext, and the whole collection as a MediaWiki export file."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape

from model import (
    Article,
    Block,
    Bullets,
    Layout,
    Line,
    Link,
    Paragraph,
    Section,
    Strong,
    Table,
    Text,
)

TIMESTAMP = "2026-01-01T00:00:00Z"
CONTRIBUTOR = "Librarian"
_EXPORT_HEAD = (
    '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">\n'
)


def export(articles: Iterable[Article], pages: Iterable[tuple[str, str, int]]) -> str:
    """Return a MediaWiki export of the articles and of further (title, wikitext, namespace)."""
    rows = [(article.title, wikitext(article), 0) for article in articles]
    entries = (
        _page(number, title, text, namespace)
        for number, (title, text, namespace) in enumerate([*rows, *pages], start=1)
    )
    return _EXPORT_HEAD + "".join(entries) + "</mediawiki>\n"


def wikitext(article: Article) -> str:
    """Return the article's wikitext; its headings and words are those of the HTML page."""
    lead = _facts(article) + "\n\n".join(_block(block) for block in article.lead)
    sections = list(article.sections)
    if article.see_also:
        links = Bullets(tuple((Link(title, title),) for title in article.see_also))
        sections.append(Section("See also", (links,)))
    if article.layout is Layout.PORTAL:
        boxes = "\n".join(f'<div class="portal-box">\n{_section(one)}\n</div>' for one in sections)
        return f'__NOTOC__ __NOEDITSECTION__\n{lead}\n\n<div class="portal">\n{boxes}\n</div>'
    return lead + "\n\n" + "\n\n".join(_section(section) for section in sections)


def _page(number: int, title: str, text: str, namespace: int) -> str:
    model = "css" if title.endswith(".css") else "wikitext"
    form = "text/css" if model == "css" else "text/x-wiki"
    return (
        f"<page><title>{escape(title)}</title><ns>{namespace}</ns><id>{number}</id>"
        f"<revision><id>{number}</id><timestamp>{TIMESTAMP}</timestamp>"
        f"<contributor><username>{CONTRIBUTOR}</username></contributor>"
        f"<model>{model}</model><format>{form}</format>"
        f'<text xml:space="preserve">{escape(text)}</text></revision></page>\n'
    )


def _line(line: Line) -> str:
    out = ""
    for span in line:
        match span:
            case Text(words):
                out += escape(words).replace("[[", "&#91;&#91;").replace("''", "&#39;&#39;")
            case Strong(words):
                out += f"'''{escape(words)}'''"
            case Link(title, label):
                out += f"[[{title}]]" if title == label else f"[[{title}|{escape(label)}]]"
    return out


def _block(block: Block) -> str:
    match block:
        case Paragraph(line):
            return _line(line)
        case Bullets(items, numbered):
            mark = "#" if numbered else "*"
            return "\n".join(f"{mark} {_line(item)}" for item in items)
        case Table(caption, header, rows):
            head = "\n".join(f'! scope="col" | {cell}' for cell in header)
            body = "\n".join("|-\n" + "\n".join(f"| {_line(cell)}" for cell in row) for row in rows)
            return f'{{| class="wikitable"\n|+ {caption}\n|-\n{head}\n{body}\n|}}'


def _facts(article: Article) -> str:
    if not article.facts:
        return ""
    rows = "\n".join(
        f'|-\n! scope="row" | {fact.label}\n| {_line(fact.value)}' for fact in article.facts
    )
    return f'{{| class="infobox"\n|+ {article.title}\n{rows}\n|}}\n'


def _section(section: Section) -> str:
    blocks = "\n\n".join(_block(block) for block in section.blocks)
    return f"== {section.heading} ==\n{blocks}"
