"""Placeholders of sites and the URLs that stand for them, both ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SiteUrls:
    """Where the sites of a task are.

    Attributes:
        sites: as the task names them, in its order.
        bases: URL by placeholder, `__GITLAB__`.
    """

    sites: Sequence[str]
    bases: Mapping[str, str]

    def placeholder(self, site: str) -> str:
        """Return the placeholder of a site."""
        return f"__{site.upper()}__"

    def rendered(self, url: str, *, strict: bool) -> str:
        """Put the URL in the place of the placeholder that a URL begins with."""
        for site in self.sites:
            name = self.placeholder(site)
            if url.startswith(name) and self.bases[name] != name:
                return url.replace(name, self.bases[name])
        if strict:
            message = f"No site in {[site.upper() for site in self.sites]} matched template: {url}"
            raise ValueError(message)
        return url

    def derendered(self, url: str, *, strict: bool) -> str:
        """Put the placeholder in the place of the first site's URL that is in a text, anywhere."""
        longest_first = sorted(
            self.sites, key=lambda site: len(self.bases[self.placeholder(site)]), reverse=True
        )
        for site in longest_first:
            base = self.bases[self.placeholder(site)]
            if base in url:
                return url.replace(base.rstrip("/"), self.placeholder(site))
        if strict:
            message = f"URL '{url}' does not match any configured URLs for sites {[*self.sites]}"
            raise ValueError(message)
        return url
