"""Logical URLs of a task: they parse, name the task's sites, and have a form in each world."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from arena_core.errors import ManifestError
from arena_core.worlds import World
from evaluators.logical_urls import parse_logical_url
from sites.atlas import Atlas
from sites.fields import path_fault
from tasks.schema import Task


@dataclass(frozen=True, slots=True)
class TaskPage:
    """A logical URL of a task, and in which worlds it is used."""

    logical: str
    worlds: tuple[World, ...]


def opening_faults(page: TaskPage, task: Task, atlas: Atlas) -> Iterator[str]:
    """Yield why a page cannot be opened."""
    fault = _form_fault(page, task, atlas) or _path_fault(page)
    if fault is None:
        yield from _unopenable(page, atlas)
    else:
        yield fault


def visiting_faults(page: TaskPage, task: Task, atlas: Atlas) -> Iterator[str]:
    """Yield why no visit can equal a page."""
    fault = _form_fault(page, task, atlas) or _dots_fault(page)
    if fault is None:
        yield from _unreachable(page, atlas)
    else:
        yield fault


def _form_fault(page: TaskPage, task: Task, atlas: Atlas) -> str | None:
    """Say why text is no logical URL of one of the task's sites."""
    name, colon, rest = page.logical.partition(":")
    if not colon or not rest.startswith("/") or rest.startswith("//"):
        return f"'{page.logical}' is no logical URL: write `site:/path`"
    if name not in atlas.sites:
        there_are = ", ".join(sorted(atlas.sites))
        return f"'{page.logical}': unknown site '{name}'; there are: {there_are}"
    if name not in task.sites:
        return f"'{page.logical}': '{name}' is none of the task's sites"
    return None


def _path_fault(page: TaskPage) -> str | None:
    """Say why a browser would open another page than the one that is written."""
    fault = path_fault(page.logical.partition(":")[2])
    return f"'{page.logical}': its path {fault}" if fault else None


def _dots_fault(page: TaskPage) -> str | None:
    """Say why no visited page can be called so: browsers resolve `.` and `..`."""
    parts = parse_logical_url(page.logical).page.split("/")
    if {".", ".."}.isdisjoint(parts):
        return None
    return f"'{page.logical}': its path holds '.' or '..' between slashes: no visited page does"


def _unopenable(page: TaskPage, atlas: Atlas) -> Iterator[str]:
    for world in page.worlds:
        try:
            atlas.url(page.logical, world)
        except ManifestError as error:
            yield f"cannot be opened: {error.message}"


def _unreachable(page: TaskPage, atlas: Atlas) -> Iterator[str]:
    """Yield a page that no visit can equal, since route rules give it another logical path."""
    wanted = parse_logical_url(page.logical)
    for world in page.worlds:
        try:
            reached = atlas.logical(atlas.url(page.logical, world))
        except ManifestError:
            continue
        if reached is not None and parse_logical_url(reached).page != wanted.page:
            message = f"no visit in the {world} world equals '{page.logical}'"
            yield f"{message}: there it is '{reached}'"
            return
