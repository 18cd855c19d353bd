"""What a run's lock says of the browser, and which browsers' live scores may be put together."""

from __future__ import annotations

import re
from typing import Final

from orchestrator.browser.process.kinds import BrowserKind
from orchestrator.runs.spec import BrowserEntry
from sites.fields import Strict

_SHELL: Final = " (headless shell)"


class BrowserLock(Strict):
    """The browser that a run's pages are opened in.

    Attributes:
        kind: what was started; `cdp` for one that Arena connected to.
        product: name and build, as it says itself.
        user_agent: as pages get it, as it says itself.
        headed: whether it shows a window; None where it does not say.
        at: scheme and host of one that Arena connected to; the rest of its address is a secret.
        provider, proxy, country: who hosts it, what its requests leave by, and where (ISO 3166), as
            was declared: Arena does not check it.
    """

    kind: BrowserKind
    product: str
    user_agent: str
    headed: bool | None = None
    at: str | None = None
    provider: str | None = None
    proxy: str | None = None
    country: str | None = None

    @property
    def entry(self) -> BrowserEntry:
        """What chooses this browser again; an address without its secret must be named again."""
        use = str(self.kind) if self.at is None else f"{self.kind}:{self.at}"
        return BrowserEntry(use=use, provider=self.provider, proxy=self.proxy, country=self.country)

    @property
    def pool(self) -> str:
        """Which browser it is, for readers: live scores of two are never put together."""
        name, _, version = self.product.partition("/")
        build = version.partition(".")[0]
        where = f"{name} at {self.at}" if self.kind.is_remote else str(self.kind)
        where += " with its profile" if self.kind is BrowserKind.PROFILE else ""
        return f"{where} {build}{self._declared}"

    @property
    def chosen(self) -> str:
        """Which browser it is whatever its version, as `--browser` names it."""
        return f"{self.entry.shown}{self._declared}"

    @property
    def _declared(self) -> str:
        declared = [
            f"{field} {value}"
            for field, value in (
                ("provider", self.provider),
                ("proxy", self.proxy),
                ("exit", self.country),
            )
            if value is not None
        ]
        return f" ({', '.join(declared)})" if declared else ""


def headed_of(kind: BrowserKind, user_agent: str) -> bool | None:
    """Return whether a browser shows a window; None where nothing says so."""
    if kind.is_remote:
        return False if "Headless" in user_agent else None
    return kind is BrowserKind.HEADED


def pool_by_version(version: str) -> str:
    """Return the pool of a lock of an earlier version, which says the browser's version alone.

    A browser with a window looked the same there; it was taken for one without.
    """
    build = re.match(r"\d+", version)
    return f"{kind_by_version(version)} {build[0] if build else version}".rstrip()


def kind_by_version(version: str) -> BrowserKind:
    """Return the kind of a browser of which a lock says the version alone."""
    return BrowserKind.SHELL if version.endswith(_SHELL) else BrowserKind.CHROMIUM
