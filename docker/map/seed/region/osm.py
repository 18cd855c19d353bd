"""Nodes, ways and relations with their tags, and the file that importers read them from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import quoteattr

from region.geometry import Point

Tags = Mapping[str, str]

STAMP = "2026-10-01T09:00:00Z"


@dataclass(frozen=True, slots=True)
class Node:
    """One point."""

    id: int
    at: Point
    tags: Tags


@dataclass(frozen=True, slots=True)
class Way:
    """A line through nodes; an area where it is closed and its tags say so."""

    id: int
    nodes: Sequence[int]
    tags: Tags


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a relation."""

    kind: str
    ref: int
    role: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """Things that belong together."""

    id: int
    members: Sequence[Member]
    tags: Tags


@dataclass(slots=True)
class Osm:
    """Everything on the map, in the order in which it was added; ids count from one."""

    nodes: list[Node] = field(default_factory=list)
    ways: list[Way] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)

    def node(self, at: Point, tags: Tags | None = None) -> int:
        """Add a node; return its id."""
        self.nodes.append(Node(len(self.nodes) + 1, at, tags or {}))
        return len(self.nodes)

    def way(self, nodes: Sequence[int], tags: Tags) -> int:
        """Add a way through nodes that are there; return its id."""
        self.ways.append(Way(len(self.ways) + 1, nodes, tags))
        return len(self.ways)

    def line(self, points: Sequence[Point], tags: Tags) -> int:
        """Add a way with nodes of its own, closed where the last point is the first."""
        closed = points[0] == points[-1]
        ids = [self.node(point) for point in (points[:-1] if closed else points)]
        return self.way([*ids, ids[0]] if closed else ids, tags)

    def relation(self, members: Sequence[Member], tags: Tags) -> int:
        """Add a relation; return its id."""
        self.relations.append(Relation(len(self.relations) + 1, members, tags))
        return len(self.relations)

    def at(self, node: int) -> Point:
        """Return where a node is."""
        return self.nodes[node - 1].at

    def points(self, way: Way) -> list[Point]:
        """Return where a way leads."""
        return [self.nodes[node - 1].at for node in way.nodes]

    def write(self, path: Path) -> None:
        """Write all as OSM XML, without who changed it when."""
        with path.open("w", encoding="utf-8") as file:
            file.write(
                f'<?xml version="1.0" encoding="UTF-8"?>\n<osm version="0.6" generator="arena" timestamp="{STAMP}">\n'
            )
            for node in self.nodes:
                where = f'id="{node.id}" version="1" timestamp="{STAMP}" lat="{node.at.lat:.7f}" lon="{node.at.lon:.7f}"'
                file.write(_element("node", where, _tags(node.tags)))
            for way in self.ways:
                inner = "".join(f'<nd ref="{ref}"/>' for ref in way.nodes) + _tags(way.tags)
                file.write(_element("way", f'id="{way.id}" version="1" timestamp="{STAMP}"', inner))
            for relation in self.relations:
                inner = "".join(
                    f'<member type="{one.kind}" ref="{one.ref}" role={quoteattr(one.role)}/>'
                    for one in relation.members
                ) + _tags(relation.tags)
                file.write(
                    _element(
                        "relation", f'id="{relation.id}" version="1" timestamp="{STAMP}"', inner
                    )
                )
            file.write("</osm>\n")

    def write_objects(self, path: Path) -> None:
        """Write all as a table for COPY: kind, id, tags, members, longitude, latitude.

        Members are the nodes of a way and the members of a relation; the place is a node's own, and
        the middle of a way.
        """
        with path.open("w", encoding="utf-8") as file:
            for node in self.nodes:
                file.write(_row("node", node.id, node.tags, None, node.at))
            for way in self.ways:
                middle = self.at(way.nodes[len(way.nodes) // 2])
                file.write(_row("way", way.id, way.tags, list(way.nodes), middle))
            for relation in self.relations:
                members = [[one.kind, one.ref, one.role] for one in relation.members]
                file.write(
                    _row("relation", relation.id, relation.tags, members, self._place(relation))
                )

    def _place(self, relation: Relation) -> Point:
        """Return where to look for a relation: at its label, else on its first way."""
        nodes = [one.ref for one in relation.members if one.kind == "node"]
        ways = [one.ref for one in relation.members if one.kind == "way"]
        return self.at(nodes[0] if nodes else self.ways[ways[0] - 1].nodes[0])


def _element(name: str, attributes: str, inner: str) -> str:
    return f"<{name} {attributes}>{inner}</{name}>\n" if inner else f"<{name} {attributes}/>\n"


def _tags(tags: Tags) -> str:
    return "".join(f"<tag k={quoteattr(key)} v={quoteattr(value)}/>" for key, value in tags.items())


def _row(kind: str, number: int, tags: Tags, members: Iterable[object] | None, at: Point) -> str:
    cells = (
        kind,
        str(number),
        json.dumps(tags, ensure_ascii=False, sort_keys=True).replace("\\", "\\\\"),
        "\\N" if members is None else json.dumps(members),
        f"{at.lon:.7f}",
        f"{at.lat:.7f}",
    )
    return "\t".join(cells) + "\n"
