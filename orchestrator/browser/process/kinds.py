"""Which browser pages are opened in: one that Arena starts here, or one at an address."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import ip_address
from typing import Final, NoReturn, Self
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from arena_core.errors import UsageError
from arena_core.logs import REDACTED


class BrowserKind(StrEnum):
    """What a browser is: Chromium without windows, with one that is not shown or is, or remote.

    Of a remote one, `PROFILE` takes the cookies along that its own profile has for the sites.
    """

    SHELL = "headless-shell"
    CHROMIUM = "chromium"
    HEADED = "headed"
    CDP = "cdp"
    PROFILE = "cdp-profile"

    @property
    def is_remote(self) -> bool:
        return self in {BrowserKind.CDP, BrowserKind.PROFILE}


_FORMS: Final = "headless-shell, chromium, headed, cdp:URL or cdp-profile:URL"
_PLAIN: Final = frozenset({"http", "ws"})
_ENCRYPTED: Final = frozenset({"https", "wss"})
_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_CUT: Final = "/…"
# Shorter parts are ordinary words: of a path more often than elsewhere.
_LEAST: Final = 4
_LEAST_OF_PATH: Final = 12


@dataclass(frozen=True, slots=True)
class RemoteAddress:
    """Where a browser that Arena does not start speaks CDP.

    Whoever knows the address drives the browser, and often pays by it. So all beyond scheme and
    host is a secret: as text (`str`) the rest is cut off.

    Attributes:
        url: all of it; `${NAME}` in it stands for a variable of the environment.
    """

    url: str = field(repr=False)

    @classmethod
    def parse(cls, url: str) -> Self:
        """Read an address; UsageError says what is wrong with it, and never shows it."""
        try:
            parts = urlsplit(url)
            host, _ = parts.hostname, parts.port
        except ValueError:
            _refuse("the address is no URL")
        if parts.scheme not in _PLAIN | _ENCRYPTED or not host or re.search(r"\s", url):
            _refuse("the address is no URL that begins with ws://, wss://, http:// or https://")
        if parts.scheme in _PLAIN and not _is_here(host):
            _refuse(
                f"{parts.scheme}://{host} would drive a browser elsewhere unencrypted",
                hint=f"take {'wss' if parts.scheme == 'ws' else 'https'}://, or forward its port"
                " to 127.0.0.1",
            )
        return cls(url)

    def __str__(self) -> str:
        parts = urlsplit(self.url)
        port = "" if parts.port is None else f":{parts.port}"
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        return f"{parts.scheme}://{host}{port}{_CUT if self.is_secret else ''}"

    @property
    def is_secret(self) -> bool:
        """Whether it says more than scheme and host."""
        parts = urlsplit(self.url)
        return bool(parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc)

    @property
    def is_cut(self) -> bool:
        """Whether it is one of which a lock kept scheme and host alone."""
        return self.url.endswith(_CUT)

    @property
    def is_for_files(self) -> bool:
        """Whether it may stand in a file that others read: variables hold what is secret in it."""
        parts = urlsplit(self.url)
        said = [parts.password or "", *(value for _, value in parse_qsl(parts.query))]
        has_variables = bool(_VARIABLE.search(self.url)) or not self.is_secret
        return has_variables and not any(_VARIABLE.sub("", one) for one in said)

    def expanded(self, environment: Mapping[str, str]) -> RemoteAddress:
        """Return it with the values of variables in the place of `${NAME}`."""
        if self.is_cut:
            message = f"the lock keeps no more of the browser's address than {self}"
            raise UsageError(message, hint="name it again: --browser cdp:URL")
        missing = [name for name in _VARIABLE.findall(self.url) if not environment.get(name)]
        if missing:
            message = f"the address of the browser at {self} needs the variable {missing[0]}"
            raise UsageError(message, hint=f"export {missing[0]}=…")
        return RemoteAddress(_VARIABLE.sub(lambda found: environment[found[1]], self.url))

    def redacted(self, text: str) -> str:
        """Return a text without the secret parts of this address, for messages of others."""
        text = text.replace(self.url, str(self))
        for secret in sorted(self.secrets, key=len, reverse=True):
            text = text.replace(secret, REDACTED)
        return text

    @property
    def secrets(self) -> frozenset[str]:
        """What may stand in no log: the parts of it that let somebody in."""
        return frozenset(
            form
            for part in self._parts()
            for form in (part, unquote(part), quote(part, safe=""))
            if len(form) >= _LEAST
        )

    def _parts(self) -> Iterator[str]:
        parts = urlsplit(self.url)
        yield from (parts.username or "", parts.password or "", parts.fragment)
        yield from (part for part in parts.path.split("/") if len(part) >= _LEAST_OF_PATH)
        if parts.query:
            yield parts.query
        yield from (value for _, value in parse_qsl(parts.query, keep_blank_values=True))


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def read_browser(text: str) -> tuple[BrowserKind, RemoteAddress | None]:
    """Read what `--browser` takes."""
    kind, colon, rest = text.partition(":")
    if kind in set(BrowserKind) and BrowserKind(kind).is_remote:
        if not rest:
            _refuse(
                f"{kind} needs the address of the browser", hint=f"{kind}:http://127.0.0.1:9222"
            )
        return BrowserKind(kind), RemoteAddress.parse(rest)
    if colon or kind not in set(BrowserKind):
        _refuse(f"'{kind}' is no browser: expected {_FORMS}")
    return BrowserKind(kind), None


def _refuse(why: str, hint: str = "") -> NoReturn:
    raise UsageError(f"--browser: {why}", hint=hint)


@dataclass(frozen=True, slots=True)
class BrowserBuild:
    """What a browser says of itself.

    Attributes:
        product: name and version, such as `Chrome/131.0.6778.85`.
        user_agent: as pages get it.
    """

    product: str
    user_agent: str

    @property
    def version(self) -> str:
        """The version alone."""
        return self.product.partition("/")[2] or self.product
