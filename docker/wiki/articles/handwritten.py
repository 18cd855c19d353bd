"""Read the articles and parts of articles that are written by hand (YAML beside this module).

An entry maps reserved keys (below) and section headings to prose; a blank line parts paragraphs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml
from draft import Draft, DraftBlock, DraftBullets, DraftSection

HERE = Path(__file__).parent
RESERVED = frozenset({"in", "lead", "facts", "see", "aka", "autolink"})


class ArticleError(ValueError):
    """A handwritten entry lacks a part that every article has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One handwritten entry: prose by heading, and what surrounds it."""

    name: str
    lead: str
    facts: tuple[tuple[str, str], ...]
    sections: tuple[DraftSection, ...]
    see: tuple[str, ...]
    aliases: tuple[str, ...]
    autolink: bool
    country: str


def entries(path: Path) -> Iterator[Entry]:
    """Yield the entries of one YAML file in the order they stand there."""
    for name, raw in yaml.safe_load(path.read_text(encoding="utf-8")).items():
        yield _entry(str(name), raw)


def things() -> Iterator[Draft]:
    """Yield the articles on things, one file per topic."""
    for path in sorted((HERE / "things").glob("*.yaml")):
        for entry in entries(path):
            if len(entry.sections) < 3 or len(entry.facts) < 2 or not entry.see:
                message = (
                    f"{path.name}: {entry.name}: needs 3 sections, 2 facts and a see-also list"
                )
                raise ArticleError(message)
            yield Draft(
                title=entry.name,
                lead=paragraphs(entry.lead),
                facts=entry.facts,
                sections=entry.sections,
                see_also=entry.see,
                aliases=entry.aliases,
                topic=path.stem,
                autolink=entry.autolink,
            )


def paragraphs(prose: str) -> tuple[DraftBlock, ...]:
    """Split prose at blank lines; lines that begin with "- " or "1. " make a list."""
    return tuple(_block(part.strip()) for part in prose.split("\n\n") if part.strip())


def _block(part: str) -> DraftBlock:
    for mark, numbered in (("- ", False), ("1. ", True)):
        if part.startswith(mark):
            items = f"\n{part}".split(f"\n{mark}")[1:]
            return DraftBullets(tuple(" ".join(item.split()) for item in items), numbered)
    return " ".join(part.split())


def _entry(name: str, raw: Mapping[str, object]) -> Entry:
    facts = raw.get("facts", {})
    see = raw.get("see", ())
    aliases = raw.get("aka", ())
    if not isinstance(facts, dict) or not isinstance(see, list | tuple):
        message = f"{name}: 'facts' must be a mapping and 'see' a list"
        raise ArticleError(message)
    if not isinstance(aliases, list | tuple):
        message = f"{name}: 'aka' must be a list"
        raise ArticleError(message)
    return Entry(
        name=name,
        lead=str(raw.get("lead", "")),
        facts=tuple((str(label), str(value)) for label, value in facts.items()),
        sections=tuple(
            DraftSection(heading, paragraphs(str(prose)))
            for heading, prose in raw.items()
            if heading not in RESERVED
        ),
        see=tuple(str(title) for title in see),
        aliases=tuple(str(alias) for alias in aliases),
        autolink=bool(raw.get("autolink", True)),
        country=str(raw.get("in", "")),
    )
