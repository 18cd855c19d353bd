"""A suite as it is played where tapes answer for sites: the live face of its tasks, offline.

A tape holds what the live origin said, under its addresses and in its words. What a task says of
its offline face (a replica's labels, its values) does not hold there; what it says of the online
face does. So of a task that visits a taped site, the online face takes the place of the other.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Final, cast

from pydantic import JsonValue

from arena_core.worlds import World
from tasks.schema import Suite, Task

_FACES: Final = {str(world) for world in World}
_ONLINE: Final = str(World.ONLINE)
# As published: what it says of itself is not Arena's to change.
_AS_IT_IS: Final = frozenset({"original", "intent", "labels"})


def online_faces(suite: Suite, taped: Collection[str], live: Collection[str]) -> tuple[str, ...]:
    """Return the ids of the tasks that are played by their online face where sites are taped.

    Args:
        suite: what is played.
        taped: the sites that a tape answers for.
        live: the sites that have a live origin. A task that visits another one of these, which is a
            replica offline, keeps the face that it has there: see `mixed_fault`.
    """
    return tuple(
        task.id
        for task in suite.tasks
        if set(task.sites) & set(taped)
        and World.ONLINE in task.worlds
        and not (set(task.sites) & set(live)) - set(taped)
    )


def mixed_fault(task: Task, taped: Collection[str]) -> str | None:
    """Say why a task cannot be scored where one of its sites is taped and another is a replica.

    Its offline face is played. What is expected must then be the same in both worlds, and what is
    looked at offline alone must lie on a site that is not taped. Its reference may differ: that
    concerns nobody but the oracle, and the tape's fidelity shows it.
    """
    for look in (*task.requires, *task.checks, *task.harms, *task.looks):
        document = look.model_dump(mode="json", by_alias=True)
        if _has_faces(document):
            return f"check '{look.name}' expects other values online"
        if World.OFFLINE not in look.worlds:
            return f"check '{look.name}' is one of the online world alone"
        if World.ONLINE not in look.worlds and getattr(look.locate, "site", None) in {None, *taped}:
            return f"check '{look.name}' is one of the offline world alone"
    return None


def _has_faces(value: JsonValue) -> bool:
    if isinstance(value, dict):
        return value.keys() == _FACES or any(map(_has_faces, value.values()))
    return isinstance(value, list) and any(map(_has_faces, value))


def taped_suite(suite: Suite, faced: Collection[str]) -> Suite:
    """Return a suite in which the tasks of these ids have their online face only.

    All others stay as they are. It is the same done twice.
    """
    document = json.loads(suite.model_dump_json(by_alias=True))
    for task in document["tasks"]:
        if task["id"] in faced:
            changed = {
                name: value if name in _AS_IT_IS else _online(value) for name, value in task.items()
            }
            task.clear()
            task.update(changed, worlds=sorted(_FACES), expected_divergence=None)
    return Suite.model_validate_json(json.dumps(document))


def _online(value: JsonValue) -> JsonValue:
    """Return the online face of a part of a task, in both worlds."""
    if isinstance(value, list):
        return [_online(one) for one in value if _is_online(one)]
    if not isinstance(value, dict):
        return value
    if value.keys() == _FACES:
        face = _online(value[_ONLINE])
        return dict.fromkeys(sorted(_FACES), face)
    found = {name: _online(one) for name, one in value.items()}
    if "only" in found:
        found["only"] = None
    if _has_worlds(value):
        found["worlds"] = cast("JsonValue", sorted(_FACES))
    return found


def _is_online(part: JsonValue) -> bool:
    """Whether an action, a check or a look is one of the online face too."""
    if not isinstance(part, dict):
        return True
    if part.get("only") not in {None, _ONLINE}:
        return False
    worlds = part.get("worlds")
    return not (_has_worlds(part) and isinstance(worlds, list) and _ONLINE not in worlds)


def _has_worlds(part: dict[str, JsonValue]) -> bool:
    worlds = part.get("worlds")
    return isinstance(worlds, list) and set(map(str, worlds)) <= _FACES
