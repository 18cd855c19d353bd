"""Articles as HTML pages for the ZIM."""

from __future__ import annotations

from html import escape
from urllib.parse import quote

from book import Book
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


def page(article: Article, book: Book) -> str:
    """Return the article as one HTML page of the book; its links are relative to its siblings."""
    title = escape(article.title)
    body = "".join(
        (
            _facts(article),
            *(_block(block) for block in article.lead),
            _contents(article),
            _sections(article),
            _see_also(article),
        )
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{title}</title><link rel="stylesheet" href="style.css"></head>\n'
        f'<body class="{article.layout.value}"><main id="content">'
        + _unindexed(f'<h1 id="firstHeading">{title}</h1>\n<p class="tagline">{book.tagline}</p>\n')
        + f"{body}</main>\n"
        + _unindexed(_footer(book))
        + "</body></html>\n"
    )


def href(title: str) -> str:
    """Return the relative URL of an article; ./ keeps a colon from reading as a scheme."""
    return "./" + quote(title.replace(" ", "_"), safe="()',:!*-._~")


def _footer(book: Book) -> str:
    links = " · ".join(f'<a href="{href(title)}">{escape(title)}</a>' for title in book.footer)
    return f"<footer>{links}</footer>\n"


def _line(line: Line) -> str:
    out = ""
    for span in line:
        match span:
            case Text(words):
                out += escape(words, quote=False)
            case Strong(words):
                out += f"<b>{escape(words, quote=False)}</b>"
            case Link(title, label):
                out += (
                    f'<a href="{href(title)}" title="{escape(title)}">'
                    f"{escape(label, quote=False)}</a>"
                )
    return out


def _block(block: Block) -> str:
    match block:
        case Paragraph(line):
            return f"<p>{_line(line)}</p>\n"
        case Bullets(items, numbered):
            tag = "ol" if numbered else "ul"
            lines = "".join(f"<li>{_line(item)}</li>\n" for item in items)
            return f"<{tag}>{lines}</{tag}>\n"
        case Table(caption, header, rows):
            head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in header)
            cells = (
                "<tr>" + "".join(f"<td>{_line(cell)}</td>" for cell in row) + "</tr>\n"
                for row in rows
            )
            return (
                f'<table class="wikitable"><caption>{escape(caption)}</caption>\n'
                f"<thead><tr>{head}</tr></thead>\n<tbody>{''.join(cells)}</tbody></table>\n"
            )


def _facts(article: Article) -> str:
    if not article.facts:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(fact.label)}</th><td>{_line(fact.value)}</td></tr>\n'
        for fact in article.facts
    )
    caption = escape(article.title)
    return f'<table class="infobox"><caption>{caption}</caption><tbody>\n{rows}</tbody></table>\n'


def _contents(article: Article) -> str:
    if article.layout is Layout.PORTAL:
        return ""
    headings = [(section.anchor, section.heading) for section in article.sections]
    if article.see_also:
        headings.append(("See_also", "See also"))
    items = "".join(
        f'<li><a href="#{escape(anchor)}">{escape(heading)}</a></li>'
        for anchor, heading in headings
    )
    return _unindexed(
        f'<nav class="toc" aria-label="Contents"><h2>Contents</h2><ol>{items}</ol></nav>\n'
    )


def _unindexed(html: str) -> str:
    """Keep html out of the full-text index and of the excerpts in search results."""
    return f"<!--htdig_noindex-->{html}<!--/htdig_noindex-->"


def _sections(article: Article) -> str:
    sections = "".join(_section(section) for section in article.sections)
    return f'<div class="sections">{sections}</div>'


def _section(section: Section) -> str:
    blocks = "".join(_block(block) for block in section.blocks)
    heading = f'<h2 id="{escape(section.anchor)}">{escape(section.heading)}</h2>'
    return f"<section>{heading}\n{blocks}</section>\n"


def _see_also(article: Article) -> str:
    if not article.see_also:
        return ""
    links = Bullets(tuple((Link(title, title),) for title in article.see_also))
    return _section(Section("See also", (links,)))
