"""Markdown to HTML that is safe to show: no raw HTML, no pictures, no scripted links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

# A word that links itself: an address, /f/forum, /u/member or /user/member.
_REFERENCE = re.compile(
    r"https?://[^\s<>\"'`*]*[^\s<>\"'`*.,:;!?)\]]"
    r"|(?<![\w/])/?(?:f|u|user)/\w{3,25}(?:/\d+(?:/[\w-]+)?)?(?![\w/])"
)
# Text without any of these is plain paragraphs, which are made without the parser.
_SPECIAL = re.compile(r"[\\`*_\[\]<>~|&/\t\r\0]|^[\s\d#+=-]|[^\S\n]$", re.MULTILINE)
_KEPT = 4096


def _links(words: str) -> Iterator[Token]:
    end = 0
    for found in _REFERENCE.finditer(words):
        if found.start() > end:
            yield Token("text", "", 0, content=words[end : found.start()])
        target = found.group()
        if not target.startswith(("http", "/")):
            target = f"/{target}"
        opening = Token("link_open", "a", 1)
        opening.attrs = {"href": re.sub(r"^/u/", "/user/", target)}
        yield opening
        yield Token("text", "", 0, content=found.group())
        yield Token("link_close", "a", -1)
        end = found.end()
    if end < len(words):
        yield Token("text", "", 0, content=words[end:])


def _link_references(state: StateCore) -> None:
    for block in state.tokens:
        if block.type != "inline" or not block.children:
            continue
        made: list[Token] = []
        depth = 0
        for token in block.children:
            depth += token.nesting if token.type.startswith("link_") else 0
            if token.type == "text" and not depth:
                made.extend(_links(token.content))
            else:
                made.append(token)
        for token in made:
            if token.type == "link_open" and "//" in str(token.attrs.get("href", "")):
                token.attrs["rel"] = "nofollow noopener noreferrer"
        block.children = made


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "typographer": False})
    parser.enable(["strikethrough", "table"])
    parser.disable(["image", "html_block", "html_inline"])
    parser.core.ruler.push("references", _link_references)
    return parser


_PARSER = _parser()


def parse(text: str) -> str:
    """Return the HTML of Markdown text, always through the parser."""
    return str(_PARSER.render(text))


@lru_cache(maxsize=_KEPT)
def render(text: str) -> str:
    """Return the HTML of Markdown text; plain paragraphs, which most comments are, are quick."""
    if _SPECIAL.search(text):
        return parse(text)
    quoted = text.replace('"', "&quot;")
    parts = (part.strip("\n") for part in re.split(r"\n{2,}", quoted))
    return "".join(f"<p>{part}</p>\n" for part in parts if part)
