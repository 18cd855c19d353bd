"""Logical URLs: one path for a page, whatever its replica and its live origin call it."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache
from typing import Self, assert_never

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from sites.fields import SitePath

_SEGMENT = re.compile(r"\{([a-z_]+)(\*?)\}")


class RouteForm(StrEnum):
    """Whose paths: a replica's, or those of the live origin and of what stands in for it."""

    REPLICA = "replica"
    LIVE = "live"


class RouteRule(BaseModel):
    """One page's path in its three forms.

    `{name}` stands for a piece of one path segment, `{name*}` for the rest of the path. Replica and
    live origin have every name of the logical path; one that only they have is dropped on the way
    to it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    logical: SitePath
    replica: SitePath
    live: SitePath

    @field_validator("logical", "replica", "live")
    @classmethod
    def _well_formed(cls, template: str) -> str:
        rest = _SEGMENT.sub("", template)
        if "{" in rest or "}" in rest:
            raise ValueError("placeholders look like {name} or {name*}")
        names = [name for name, _ in _SEGMENT.findall(template)]
        if len(names) != len(set(names)):
            raise ValueError("a placeholder may stand once")
        if "?" in template or "#" in template:
            raise ValueError("a route maps paths: it holds neither '?' nor '#'")
        return template

    @model_validator(mode="after")
    def _sides_have_the_logical_names(self) -> Self:
        """Refuse a rule that no visit could fit, or whose names stand for different things."""
        wanted = dict(_SEGMENT.findall(self.logical))
        for side, template in (("replica", self.replica), ("live", self.live)):
            has = dict(_SEGMENT.findall(template))
            for name, star in wanted.items():
                if has.get(name) != star:
                    placeholder = f"{{{name}{star}}}"
                    message = f"`logical` has {placeholder}, which `{side}` has not ({template})"
                    raise ValueError(message)
        return self

    def concrete(self, form: RouteForm) -> str:
        """Return the template of the paths in a form."""
        match form:
            case RouteForm.REPLICA:
                return self.replica
            case RouteForm.LIVE:
                return self.live
            case _:
                assert_never(form)


def logical_path(rules: tuple[RouteRule, ...], path: str, form: RouteForm) -> str:
    """Map a path in the given form to the logical path; the first rule that fits wins.

    A rule that fits but for a trailing slash counts after all others. A path that no rule knows is
    its own logical path.
    """
    for spelling in _spellings(path):
        for rule in rules:
            found = _pattern(rule.concrete(form)).fullmatch(spelling)
            if found:
                return _fill(rule.logical, found.groupdict())
    return path


def concrete_path(rules: tuple[RouteRule, ...], path: str, form: RouteForm) -> str | None:
    """Map a logical path to a path in the given form.

    Returns:
        The path; the same path where no rule knows it; None where a rule knows it but that form
        of it needs a part that the logical path does not hold.
    """
    for spelling in _spellings(path):
        for rule in rules:
            found = _pattern(rule.logical).fullmatch(spelling)
            if found:
                values = found.groupdict()
                template = rule.concrete(form)
                needed = {name for name, _ in _SEGMENT.findall(template)}
                return _fill(template, values) if needed <= set(values) else None
    return path


def _spellings(path: str) -> tuple[str, ...]:
    """Return a path as it stands and with its trailing slash taken or given."""
    if path == "/":
        return (path,)
    return (path, path.removesuffix("/") if path.endswith("/") else f"{path}/")


def _fill(template: str, values: dict[str, str]) -> str:
    return _SEGMENT.sub(lambda found: values[found.group(1)], template)


@cache
def _pattern(template: str) -> re.Pattern[str]:
    parts: list[str] = []
    end = 0
    for found in _SEGMENT.finditer(template):
        parts.append(re.escape(template[end : found.start()]))
        parts.append(f"(?P<{found.group(1)}>{'.+' if found.group(2) else '[^/]+'})")
        end = found.end()
    parts.append(re.escape(template[end:]))
    return re.compile("".join(parts))
