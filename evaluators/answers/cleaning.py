"""An answer without its dress: markdown, HTML, quotes, invisible characters."""

from __future__ import annotations

import html
import re
import unicodedata
from functools import lru_cache
from typing import Final

from evaluators.values.numbers import with_plain_digits
from evaluators.values.text import normalise

# A longer text is no answer to a question that has one; the patterns below are never given more.
LONGEST: Final = 8_000

_FENCE: Final = re.compile(r"^\s*```[\w-]*[ \t]*\n(.*?)\n?\s*```\s*$", re.DOTALL)
_AUTOLINK: Final = re.compile(r"<((?:https?|ssh|mailto):[^<>\s]{1,2000})>")
_LINK: Final = re.compile(r"!?\[([^\[\]\n]{0,500})\]\(\s*<?([^()\s<>]{1,2000})>?\s*\)")
_ANCHOR: Final = re.compile(
    r"<a\s[^<>]{0,200}?href\s*=\s*[\"']([^\"'<>]{1,2000})[\"'][^<>]{0,200}>([^<>]{0,500})</a>",
    re.IGNORECASE,
)
_LONE_FENCE: Final = re.compile(r"^[ \t]*```[\w-]*[ \t]*$", re.MULTILINE)
_BREAK: Final = re.compile(r"<(?:br|/p|/li|/tr|/div)\s*/?>", re.IGNORECASE)
_TAG: Final = re.compile(r"</?[a-zA-Z][a-zA-Z0-9]{0,20}(?:\s[^<>\n]{0,300})?/?(?<!-)>")
_BOXED: Final = re.compile(r"\$?\\boxed\{([^{}\n]{0,500})\}\$?")
_STRONG: Final = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*|(?<!\w)__(?=\S)(.+?)(?<=\S)__(?!\w)")
_EMPHASIS: Final = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]+?)(?<=[^\s*])\*(?![\w*])")
_ITALIC: Final = re.compile(r"(?<![\w_/.@-])_(?=[^\s_])([^_\n]+?)(?<=[^\s_])_(?![\w_/.@-])")
_HEADING: Final = re.compile(r"^\s{0,3}(?:#{1,6}\s+|>\s?(?![\d\s.+$£€-]))+", re.MULTILINE)
_MAILBOX: Final = re.compile(r"<(?:mailto:)?([^<>\s@]{1,100}@[^<>\s@]{1,200})>")
_GLAD: Final = re.compile("[✅✔☑🎉👍😀😊🙂🎯]")
# Behind a letter: `km²` is another unit than `km`.
_RAISED: Final = re.compile(r"(?<=[^\W\d_])[⁰¹²³⁴-⁹]")
_QUOTES: Final = ('"', "'", "`")


@lru_cache(maxsize=1024)  # a question's phrases are read again for each answer
def plain(text: str, *, keep_targets: bool = False) -> str:
    """Return what an answer says, line by line, without its dress.

    HTML entities and simple tags, markdown's emphasis, headings, fences and links, quotes around
    the whole, invisible characters; digits of all scripts in ASCII, raised digits behind `^`.

    Args:
        text: as the agent gave it, at most `LONGEST` characters of it are read.
        keep_targets: of a link keep the address, not the words.
    """
    bare = html.unescape(text[:LONGEST])
    if (fenced := _FENCE.match(bare)) is not None:
        bare = fenced[1]
    bare = _MAILBOX.sub(r"\1", _AUTOLINK.sub(r"\1", bare))
    bare = _LINK.sub(lambda link: _linked(link[2], link[1], keep=keep_targets), bare)
    bare = _ANCHOR.sub(lambda link: _linked(link[1], link[2], keep=keep_targets), bare)
    bare = _LONE_FENCE.sub("", bare)
    bare = _TAG.sub(" ", _BREAK.sub("\n", bare))
    bare = _GLAD.sub(" ", _HEADING.sub("", _BOXED.sub(r"\1", bare)))
    for _ in range(2):
        bare = _STRONG.sub(lambda found: found[1] or found[2], bare)
        bare = _ITALIC.sub(r"\1", _EMPHASIS.sub(r"\1", bare))
    bare = bare.replace("`", "").replace("×", "x")
    bare = _RAISED.sub(lambda found: f"^{unicodedata.digit(found.group())}", bare)
    lines = (normalise(with_plain_digits(line), case=True) for line in re.split(r"[\r\n]+", bare))
    return unquoted("\n".join(line for line in lines if line))


def _linked(target: str, words: str, *, keep: bool) -> str:
    """Return what stands for a link: its words, or its words and where it leads."""
    if not keep:
        return words
    bare = re.sub(r"^(?:mailto|tel):", "", target)
    same = re.sub(r"\W", "", words.casefold()) in {"", re.sub(r"\W", "", bare.casefold())}
    return bare if same else f"{words}: {bare}"


def unquoted(text: str) -> str:
    """Return a text without the quotes around the whole of it, and a full stop after them."""
    while True:
        short = text.strip()
        inner = short[:-1] if short.endswith(".") and short[-2:-1] in _QUOTES else short
        quote = inner[:1]
        if len(inner) < 2 or quote not in _QUOTES or inner[-1] != quote or quote in inner[1:-1]:  # noqa: PLR2004 - two quotes
            return short
        text = inner[1:-1]
