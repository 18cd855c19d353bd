"""A WebArena task as `config_files/test.raw.json` has it; what is not read here may be there."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Final
from urllib.parse import quote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from arena_core.errors import TaskError
from sites.routes import RouteForm
from tasks.imports.site_map import MappedSite, SiteMap

Text = Annotated[str, Field(min_length=1)]


SITES: Final[Mapping[str, MappedSite]] = MappingProxyType(
    {
        "shopping": MappedSite(site="webarena-shopping", role="customer"),
        "shopping_admin": MappedSite(site="webarena-shopping-admin", role="admin", path="/admin"),
        "reddit": MappedSite(site="webarena-reddit", role="member"),
        "gitlab": MappedSite(site="webarena-gitlab", role="developer"),
        "wikipedia": MappedSite(site="webarena-wikipedia"),
        "map": MappedSite(site="webarena-map"),
    }
)
_UNSAFE: Final = re.compile(r"[\x00-\x20\x7f\\]")


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class HtmlTarget(_Lenient):
    """One page that `program_html` looks at.

    Attributes:
        url: a page, `last`, or `func:` and a call of a helper.
        locator: JavaScript that begins with `document.`, `func:` and a call, or nothing for the
            whole page.
        required_contents: `exact_match` with a text, or `must_include` with a list; VisualWebArena
            has more.
        prep_actions: JavaScript that is run before.
    """

    url: Text
    locator: str
    required_contents: dict[str, JsonValue]
    prep_actions: tuple[str, ...] = ()


class Evaluation(_Lenient):
    """How the task is evaluated: the product of `eval_types`, in their order."""

    eval_types: tuple[str, ...]
    reference_answers: dict[str, JsonValue] | None = None
    reference_url: str | None = None
    program_html: tuple[HtmlTarget, ...] | None = ()
    string_note: str | None = None
    url_note: str | None = None


class WebArenaRecord(_Lenient):
    """One task."""

    sites: tuple[Text, ...] = Field(min_length=1)
    task_id: int = Field(ge=0)
    start_url: Text | None
    storage_state: str | None = None
    intent: Text
    intent_template_id: int | None = None
    evaluation: Evaluation = Field(alias="eval")


def placeholder(name: str) -> str:
    """Return what stands for a site's base URL in an unexpanded file."""
    return f"__{name.upper()}__"


class UnknownAddressError(ValueError):
    """A URL is on none of the published set's sites."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """The sites of a published set, by every base URL that its files have for them.

    Attributes:
        bases: base URL without a slash at its end, and the site; the longest first.
        sites: the map.
    """

    bases: tuple[tuple[str, MappedSite], ...]
    sites: SiteMap

    @classmethod
    def of(cls, sites: SiteMap, starts: Iterable[tuple[tuple[str, ...], str]] = ()) -> Addresses:
        """Return the addresses of a map.

        Args:
            sites: the map; what it leaves open is as in `SITES`.
            starts: sites and start URL of each task. The origin of a task of one site is taken for
                that site's, where the file is expanded and the map does not name it.
        """
        sites.refuse_unknown(SITES)
        bases: dict[str, MappedSite] = {}
        for name in SITES:
            mapped = sites.site(name, SITES)
            if mapped is not None:
                for base in (placeholder(name), *(url.rstrip("/") for url in mapped.urls)):
                    bases[base] = mapped
        for base, name in _expanded(starts, sites):
            if not any(_is_below(base, known) for known in bases):
                bases[base] = sites.site(name, SITES) or SITES[name]
        return cls(tuple(sorted(bases.items(), key=lambda pair: -len(pair[0]))), sites)

    def logical(self, url: str) -> str:
        stripped = url.strip()
        for base, mapped in self.bases:
            if _is_below(stripped, base):
                return f"{mapped.site}:{self._page(mapped, stripped[len(base) :])}"
        message = f"'{url}' is on none of the sites: name its base URL in --map (sites.NAME.urls)"
        raise UnknownAddressError(message)

    def in_replicas(self) -> dict[str, str]:
        """Return what each base URL stands for in the replicas, without a slash at its end."""
        return {
            base: f"{self.sites.origin(one.site)}{one.path.rstrip('/')}" for base, one in self.bases
        }

    def _page(self, mapped: MappedSite, rest: str) -> str:
        """Return the logical path with query and fragment of what follows a base URL."""
        path, mark, more = _parted(_path(mapped.path, rest))
        logical = self.sites.logical_path(mapped.site, path, RouteForm.REPLICA)
        return f"{logical}{mark}{more}"


def _expanded(
    starts: Iterable[tuple[tuple[str, ...], str]], sites: SiteMap
) -> Iterable[tuple[str, str]]:
    """Yield base URL and name of the sites of an expanded file."""
    found: dict[str, str] = {}
    for names, start in starts:
        first = start.split(" |AND| ")[0].strip()
        mapped = sites.site(names[0], SITES)
        if len(names) > 1 or mapped is None or not first.startswith(("http://", "https://")):
            continue
        parts = urlsplit(first)
        below = mapped.path.rstrip("/")
        path = below if _is_below(parts.path, below) else ""
        base = f"{parts.scheme}://{parts.netloc}{path}"
        if found.setdefault(base, names[0]) != names[0]:
            message = f"{base} is both '{found[base]}' and '{names[0]}' in the published file"
            raise TaskError(message, hint="name their base URLs in --map: sites.NAME.urls")
    return found.items()


def _is_below(url: str, base: str) -> bool:
    return url.startswith(base) and url[len(base) : len(base) + 1] in {"", "/", "?", "#"}


def _path(base: str, rest: str) -> str:
    """Return path, query and fragment on the site; a browser resolves `..` before it asks."""
    path, mark, more = _parted(rest)
    whole = f"{base.rstrip('/')}{path}" or "/"
    resolved = posixpath.normpath(whole).replace("//", "/")
    if whole.endswith("/") and resolved != "/":
        resolved += "/"
    return _UNSAFE.sub(lambda found: quote(found[0]), f"{resolved}{mark}{more}")


def _parted(rest: str) -> tuple[str, str, str]:
    found = re.search(r"[?#]", rest)
    if found is None:
        return rest, "", ""
    return rest[: found.start()], found[0], rest[found.end() :]
