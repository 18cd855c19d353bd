"""A contradiction between two places is found, whatever form the fact has, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from arena_core.errors import ManifestError
from orchestrator.authoring.site_check.facts import Facts, check_facts, read_facts

FACTS = Facts.model_validate(
    {
        "subjects": {"museum": ["Kettle Museum", "Clock Museum"]},
        "facts": {
            "admission": {
                "of": "museum",
                "kind": "money",
                "read": [
                    {"site": "wiki", "page": "/{title}", "text": r"Admission is (free|£[0-9.]+)"},
                    {"site": "map", "sql": "SELECT charge WHERE name = '{name}'"},
                ],
            },
            "opening days": {
                "of": "museum",
                "kind": "days",
                "read": [
                    {"site": "wiki", "page": "/{title}", "text": r"on (\w+)s\.", "kind": "closed"},
                    {"site": "cms", "page": "/{slug}/", "text": r"{name} is open (.+?), "},
                    {"site": "map", "sql": "SELECT days WHERE name = '{name}'", "text": r"^(\S+) "},
                ],
            },
            "opening hour": {
                "of": "museum",
                "kind": "time",
                "read": [
                    {"site": "cms", "page": "/{slug}/", "text": r", ([0-9.]+ [ap]m|noon) to"},
                    {"site": "map", "sql": "SELECT days WHERE name = '{name}'", "text": r" (.+)-"},
                ],
            },
        },
    }
)
KETTLES = {
    "wiki:/Kettle_Museum": "Admission is £6, and it is closed on Sundays.",
    "cms:/kettle-museum/": "The Kettle Museum is open from Tuesday to Saturday, 10.30 am to 5 pm.",
    "map:SELECT charge WHERE name = 'Kettle Museum'": "£6.00",
    "map:SELECT days WHERE name = 'Kettle Museum'": "Tu-Sa 10:30-17:00",
}
CLOCKS = {
    "wiki:/Clock_Museum": "Admission is free, and it is closed on Tuesdays.",
    "cms:/clock-museum/": "The Clock Museum is open from Wednesday to Sunday, noon to 5 pm.",
    "map:SELECT charge WHERE name = 'Clock Museum'": "free",
    "map:SELECT days WHERE name = 'Clock Museum'": "We-Su 12:00-17:00",
}


@dataclass(frozen=True)
class Told:
    said: Mapping[str, str]

    async def page(self, site: str, path: str) -> str:
        return self.said.get(f"{site}:{path}", "")

    async def rows(self, site: str, sql: str) -> Sequence[str]:
        found = self.said.get(f"{site}:{sql}")
        return [] if found is None else [found]


async def test_the_same_fact_in_three_forms_is_no_contradiction() -> None:
    report = await check_facts(FACTS, Told({**KETTLES, **CLOCKS}))
    assert (report.read, report.breaches) == (6, ())


PLANTED = [
    ("wiki:/Kettle_Museum", "£6,", "£7,", "admission of Kettle Museum"),
    ("wiki:/Kettle_Museum", "Sundays", "Fridays", "opening days of Kettle Museum"),
    ("cms:/kettle-museum/", "Saturday", "Sunday", "opening days of Kettle Museum"),
    ("cms:/kettle-museum/", "10.30 am", "10 am", "opening hour of Kettle Museum"),
    ("cms:/clock-museum/", "noon", "midnight", "opening hour of Clock Museum"),
    ("wiki:/Clock_Museum", "free", "£1", "admission of Clock Museum"),
    ("map:SELECT days WHERE name = 'Clock Museum'", "We", "Tu", "opening days of Clock Museum"),
    ("wiki:/Clock_Museum", "Admission is free", "Nobody pays", "admission of Clock Museum"),
]


@pytest.mark.parametrize(("place", "words", "planted", "fault"), PLANTED)
async def test_each_planted_contradiction_is_found_and_no_other(
    place: str, words: str, planted: str, fault: str
) -> None:
    said = {**KETTLES, **CLOCKS}
    assert words in said[place]
    said[place] = said[place].replace(words, planted)
    found = (await check_facts(FACTS, Told(said))).breaches
    assert fault in [f"{one.fact} of {one.subject}" for one in found]
    assert {one.fact for one in found} <= {fault.partition(" of ")[0], "opening hour"}
    assert all(str(one) for one in found)


async def test_all_planted_contradictions_are_counted() -> None:
    said = {**KETTLES, **CLOCKS}
    chosen = [PLANTED[0], PLANTED[2], PLANTED[4], PLANTED[5]]
    for place, words, planted, _ in chosen:
        said[place] = said[place].replace(words, planted)
    found = (await check_facts(FACTS, Told(said))).breaches
    assert sorted(f"{one.fact} of {one.subject}" for one in found) == sorted(
        fault for *_, fault in chosen
    )


async def test_a_page_that_says_it_twice_must_say_the_same() -> None:
    said = {**KETTLES, **CLOCKS}
    said["wiki:/Kettle_Museum"] += " For groups: Admission is £5"
    found = (await check_facts(FACTS, Told(said))).breaches
    [breach] = found
    assert "says '£6'" in str(breach)
    assert "says '£5'" in str(breach)


def test_a_fact_of_subjects_that_nobody_names_is_refused() -> None:
    with pytest.raises(ValueError, match="no group 'pub'"):
        Facts.model_validate(
            {
                "subjects": {},
                "facts": {"hours": {"of": "pub", "read": [{"site": "a", "sql": "SELECT 1"}] * 2}},
            }
        )


def test_a_site_shares_what_it_and_another_built_one_state() -> None:
    assert set(FACTS.between("wiki", {"map"}).facts) == {"admission", "opening days"}
    days = FACTS.between("wiki", {"cms"}).facts["opening days"]
    assert {one.site for one in days.read} == {"wiki", "cms"}
    assert not FACTS.between("wiki", set()).facts
    assert not FACTS.between("shop", {"cms", "map", "wiki"}).facts


def test_the_shipped_facts_are_read() -> None:
    facts = read_facts()
    assert facts.sites == {"cms", "erp", "forge", "forum", "map", "office", "shop", "wiki"}
    assert sum(len(facts.subjects[one.of]) for one in facts.facts.values()) >= 112


@pytest.mark.parametrize(
    ("reading", "said"),
    [
        ("{site: wiki}", "needs `page` or `sql`"),
        ("{site: wiki, page: /a}", "needs `text`"),
        ("{site: wiki, page: /a, text: '(a'}", "no pattern"),
        ("{site: wiki, page: /a, text: a}", "needs a group"),
    ],
)
def test_a_reading_that_cannot_be_is_refused_with_its_line(
    tmp_path: Path, reading: str, said: str
) -> None:
    path = tmp_path / "facts.yaml"
    path.write_text(
        f"subjects: {{a: [b]}}\nfacts:\n  x:\n    of: a\n    read: [{reading}, {reading}]\n"
    )
    with pytest.raises(ManifestError, match=said):
        read_facts(path)
