"""Whether text is one SELECT, seen without a database."""

from __future__ import annotations

import re

# Quoted pieces and comments, each ended by its own mark or by the end of the text: nothing to
# backtrack into.
OPAQUE = re.compile(
    r"""'(?:[^'\\]|\\.)*(?:'|\Z)|"(?:[^"\\]|\\.)*(?:"|\Z)|`[^`]*(?:`|\Z)"""
    r"""|--[^\n]*|\#[^\n]*|/\*.*?(?:\*/|\Z)""",
    re.DOTALL,
)
_FIRST_WORDS = frozenset({"select", "with"})
_WRITES = "alter call create delete drop grant insert into lock set truncate update"
_WRITING_WORDS = frozenset(_WRITES.split())


def select_fault(sql: str) -> str | None:
    """Say what keeps text from being one SELECT that only reads, None where nothing is seen.

    The site's read-only account has the last word; this tells the author before anything runs.
    """
    bare = OPAQUE.sub(_blank, sql).strip().rstrip(";").strip()
    words = re.findall(r"[a-z_]+", bare.lower())
    if ";" in bare:
        return "the query must be one SELECT, and holds several statements"
    if not words or words[0] not in _FIRST_WORDS:
        return f"the query must be a SELECT, and begins with '{words[0] if words else sql.strip()}'"
    writing = _WRITING_WORDS.intersection(words)
    if writing:
        return f"the query must only read, and holds '{min(writing)}'"
    return None


def _blank(opaque: re.Match[str]) -> str:
    """Keep that something quoted stood there; a comment leaves nothing."""
    return " ? " if opaque.group()[0] in "'\"`" else " "
