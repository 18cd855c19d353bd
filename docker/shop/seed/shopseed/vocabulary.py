"""The hand-written vocabulary: departments and categories read from the TOML files beside."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "vocabulary"


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of product: its name, what it does (a verb phrase), its material where it has one."""

    name: str
    clause: str
    material: str


@dataclass(frozen=True, slots=True)
class Words:
    """What products and reviews of one category are made of."""

    name: str
    noun: str
    emoji: str
    price: tuple[int, int]
    weight: tuple[int, int]
    brands: tuple[str, ...]
    kinds: tuple[Kind, ...]
    sizes: tuple[str, ...]
    finishes: tuple[str, ...]
    materials: tuple[str, ...]
    lead: str
    extras: tuple[str, ...]
    made: str
    praise: tuple[str, ...]
    gripe: tuple[str, ...]
    has_sizes: bool
    share: int


@dataclass(frozen=True, slots=True)
class Department:
    """A top category with its leaves, its brands (and where they make things), its model names."""

    name: str
    summary: str
    models: tuple[str, ...]
    places: dict[str, str]
    categories: tuple[Words, ...]


def _kind(text: str, materials: list[str]) -> Kind:
    name, _, rest = text.partition(" = ")
    clause, _, material = rest.partition(" | ")
    if not material:
        stem = name.lower()
        material = next((known for known in materials if stem in known.lower()), "")
    return Kind(name.strip(), clause.strip(), material.strip())


def _words(table: dict[str, Any], places: dict[str, str], source: Path) -> Words:
    unknown = [brand for brand in table["brands"] if brand not in places]
    if unknown:
        msg = f"{source.name}: {table['name']}: no place for brands {unknown}"
        raise ValueError(msg)
    materials = table["material"]
    return Words(
        name=table["name"],
        noun=table["noun"],
        emoji=table["emoji"],
        price=tuple(table["price"]),
        weight=tuple(table["weight"]),
        brands=tuple(table["brands"]),
        kinds=tuple(_kind(text, materials) for text in table["kinds"]),
        sizes=tuple(table["sizes"]),
        finishes=tuple(table["finishes"]),
        materials=tuple(materials),
        lead=table["lead"],
        extras=tuple(table["extras"]),
        made=table["made"],
        praise=tuple(table["praise"]),
        gripe=tuple(table["gripe"]),
        has_sizes=table.get("variants") == "sizes",
        share=table.get("share", 10),
    )


def load() -> list[Department]:
    """Return all departments in the order of their files."""
    departments = []
    for source in sorted(FOLDER.glob("[0-9]*.toml")):
        data = tomllib.loads(source.read_text(encoding="utf-8"))
        places = data["brands"]
        departments.append(
            Department(
                name=data["department"],
                summary=data["summary"],
                models=tuple(name.strip() for name in data["models"].split(",")),
                places=places,
                categories=tuple(_words(table, places, source) for table in data["category"]),
            )
        )
    return departments


def phrases(name: str) -> dict[str, Any]:
    """Return one of the plain lists: people, reviews or shopkeeping."""
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
