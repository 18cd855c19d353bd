"""Facts that stand on several sites: read wherever they stand, and held against each other."""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol, Self, assert_never

from pydantic import Field, model_validator

from arena_core.errors import ManifestError
from evaluators.answers.clock import TimeKind
from evaluators.values.patterns import first_groups, pattern_fault
from orchestrator.sandbox.check_queries import ask
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.engine.origin_client import PAGE_TIMEOUT_S, origin_session
from orchestrator.sandbox.inventory import running_replica
from orchestrator.sandbox.logins import parse_html, replica_client
from orchestrator.sandbox.reset.replica import Replica
from sites.documents import read_document
from sites.fields import Strict
from sites.registry import SiteRegistry

FACTS: Final = Path(__file__).parents[3] / "sites" / "facts.yaml"
_DAYS: Final = ("mo", "tu", "we", "th", "fr", "sa", "su")
_DAY: Final = r"(mon?|tue?s?|wed?|thu?r?s?|fri?|sat?|sun?)[a-z]*"
_DAY_RUN: Final = re.compile(rf"\b{_DAY}(?:\s*(?:-|–|to)\s*{_DAY})?\b", re.IGNORECASE)


class Kind(StrEnum):
    """How what is said is compared."""

    TEXT = "text"
    NUMBER = "number"
    MONEY = "money"
    TIME = "time"
    DAYS = "days"  # on which something is open
    CLOSED = "closed"  # on which it is closed: no other reading may have it open then


class Reading(Strict):
    """Where a fact stands.

    Attributes:
        site: whose page or database it is.
        page: a path, with `{title}` (blanks as `_`), `{slug}` or `{name}` for the subject.
        sql: one reading statement that yields one value, with the same placeholders.
        text: a regular expression (RE2) whose first group is the fact; of the page's text, or of
            the value. All its matches count.
        kind: where this reading says it in another way than the fact's kind.
    """

    site: str
    page: str | None = None
    sql: str | None = None
    text: str | None = None
    kind: Kind | None = None

    @model_validator(mode="after")
    def _stands_somewhere(self) -> Self:
        if (self.page is None) == (self.sql is None):
            raise ValueError("needs `page` or `sql`, and not both")
        if self.page is not None and self.text is None:
            raise ValueError("a `page` needs `text`")
        if self.text is not None and (fault := pattern_fault(self.text)) is not None:
            raise ValueError(f"`text` {fault}")
        if self.text is not None and "(" not in self.text:
            raise ValueError("`text` needs a group: what is said")
        return self


class Fact(Strict):
    """One kind of fact: of which subjects, and where it stands."""

    of: str
    kind: Kind = Kind.TEXT
    read: tuple[Reading, ...] = Field(min_length=2)


class Facts(Strict):
    """A file of facts.

    Attributes:
        subjects: names by group.
        facts: by name.
    """

    subjects: Mapping[str, tuple[str, ...]]
    facts: Mapping[str, Fact]

    @model_validator(mode="after")
    def _names_its_subjects(self) -> Self:
        for name, fact in self.facts.items():
            if fact.of not in self.subjects:
                raise ValueError(f"'{name}' is of no group '{fact.of}' of `subjects`")
        return self

    @property
    def sites(self) -> frozenset[str]:
        """Return the names of the sites that are read."""
        return frozenset(one.site for fact in self.facts.values() for one in fact.read)

    def between(self, site: str, others: Collection[str]) -> Self:
        """Return the facts that a site shares with others, read from these sites alone."""
        kept: dict[str, Fact] = {}
        for name, fact in self.facts.items():
            read = tuple(one for one in fact.read if one.site == site or one.site in others)
            if site in {one.site for one in read} and len(read) > 1:
                kept[name] = fact.model_copy(update={"read": read})
        return self.model_copy(update={"facts": kept})


@dataclass(frozen=True, slots=True)
class Said:
    """What one place says of a subject.

    Attributes:
        where: `site:/path`, or the site's database.
        words: as they stand there; empty where it says nothing.
        value: as it is compared; None where the words are no such thing.
        kind: in which way it is said.
    """

    where: str
    words: str
    value: object
    kind: Kind


@dataclass(frozen=True, slots=True)
class Breach:
    """Places that contradict each other, or one that says nothing."""

    fact: str
    subject: str
    said: tuple[Said, ...]

    def __str__(self) -> str:
        told = "; ".join(f"{one.where} says '{one.words}'" for one in self.said if one.words)
        silent = ", ".join(one.where for one in self.said if not one.words)
        return f"{self.fact} of {self.subject}: " + "; ".join(
            part for part in (told, f"{silent} says nothing" if silent else "") if part
        )


@dataclass(frozen=True, slots=True)
class FactsReport:
    """How many facts were read, and those that contradict each other or are missing somewhere."""

    read: int
    breaches: tuple[Breach, ...]


class Sources(Protocol):
    """Running sites, as facts are read from them."""

    async def page(self, site: str, path: str) -> str:
        """Return the text of a page."""
        ...

    async def rows(self, site: str, sql: str) -> Sequence[str]:
        """Return the first column of a query's rows."""
        ...


def read_facts(path: Path = FACTS) -> Facts:
    """Read a file of facts.

    Raises:
        ManifestError: it is no such file.
    """
    return read_document(path, Facts, ManifestError)


async def facts_of_running_sites(
    engine: Engine, registry: SiteRegistry, path: Path | None = None
) -> FactsReport:
    """Read the facts of a file wherever running sites state them; errors as of `Sites.facts`."""
    facts = read_facts(path or FACTS)
    replicas = {name: await running_replica(engine, registry, name) for name in sorted(facts.sites)}
    return await check_facts(facts, RunningSites(replicas))


async def check_facts(facts: Facts, sources: Sources) -> FactsReport:
    """Read each fact of each subject wherever it stands."""
    read, breaches = 0, []
    for name, fact in facts.facts.items():
        for subject in facts.subjects[fact.of]:
            said = [
                one for where in fact.read for one in await _said(fact, where, subject, sources)
            ]
            read += 1
            if any(one.value is None for one in said) or _contradict(said):
                breaches.append(Breach(name, subject, tuple(said)))
    return FactsReport(read, tuple(breaches))


async def _said(fact: Fact, where: Reading, subject: str, sources: Sources) -> Sequence[Said]:
    kind = where.kind or fact.kind
    if where.page is not None:
        path = _named(where.page, subject)
        place, texts = f"{where.site}:{path}", [await sources.page(where.site, path)]
    else:
        place = f"the database of {where.site}"
        texts = list(await sources.rows(where.site, _named(where.sql or "", subject, quote="'")))
    if where.text is not None:
        pattern = _named(where.text, subject, quote="\\")
        texts = [found for text in texts for found in first_groups(pattern, " ".join(text.split()))]
    return [Said(place, one, _value(one, kind), kind) for one in texts] or [
        Said(place, "", None, kind)
    ]


def _named(template: str, subject: str, quote: str = "") -> str:
    """Return a template with the subject in it; `quote`: for SQL, or for a pattern."""
    name = subject.replace("'", "''") if quote == "'" else subject
    name = re.escape(name) if quote == "\\" else name
    plain = unicodedata.normalize("NFKD", subject).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain)).strip("-_")
    for mark, words in (("{name}", name), ("{title}", name.replace(" ", "_")), ("{slug}", slug)):
        template = template.replace(mark, words)
    return template


def _value(words: str, kind: Kind) -> object:
    match kind:
        case Kind.TEXT:
            return " ".join(words.casefold().removeprefix("the ").split()) or None
        case Kind.NUMBER | Kind.MONEY:
            if kind is Kind.MONEY and "free" in words.casefold():
                return Decimal(0)
            try:
                return Decimal(re.sub(r"[^\d.]", "", words)).normalize()
            except InvalidOperation:
                return None
        case Kind.TIME:
            spans = TimeKind().find(words, ())
            return spans[0].value.second if len(spans) == 1 and spans[0].value else None
        case Kind.DAYS | Kind.CLOSED:
            return frozenset(_days(words)) or None
    assert_never(kind)


def _days(words: str) -> Iterator[str]:
    for found in _DAY_RUN.finditer(words):
        first = _DAYS.index(found[1][:2].casefold())
        last = first if found[2] is None else _DAYS.index(found[2][:2].casefold())
        yield from (_DAYS[at % 7] for at in range(first, (last if last >= first else last + 7) + 1))


def _contradict(said: Sequence[Said]) -> bool:
    open_days = [one.value for one in said if one.kind is not Kind.CLOSED]
    closed = [one.value for one in said if one.kind is Kind.CLOSED]
    opens = {day for days in open_days if isinstance(days, frozenset) for day in days}
    shuts = {day for days in closed if isinstance(days, frozenset) for day in days}
    return len(set(open_days)) > 1 or not opens.isdisjoint(shuts)


class RunningSites:
    """Facts read from running replicas, as a visitor and as checks read them."""

    def __init__(self, replicas: Mapping[str, Replica]) -> None:
        self._replicas = replicas
        self._texts: dict[tuple[str, str], str] = {}

    async def page(self, site: str, path: str) -> str:
        """Return the text of a page; empty where it does not answer."""
        key = (site, path)
        if key not in self._texts:
            self._texts[key] = await asyncio.to_thread(self._fetched, site, path)
        return self._texts[key]

    async def rows(self, site: str, sql: str) -> Sequence[str]:
        """Return the first column of a query's rows."""
        found = await ask(self._replicas[site], sql)
        return [str(row[0]) for row in found.rows]

    def _fetched(self, site: str, path: str) -> str:
        replica = self._replicas[site]
        client = replica_client(replica.site, replica.endpoint)
        with origin_session(client) as session:
            answer = session.get(client.origin + path, timeout=PAGE_TIMEOUT_S)
        text = answer.content.decode("utf-8", "replace")  # without a charset, `text` is Latin-1
        return parse_html(text).text_content() if answer.ok else ""
