"""What a site.yaml says of accounts: how they log in, what they may do, how a program gets in."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from typing import Annotated, Final, Literal
from urllib.parse import parse_qs, urlsplit

from pydantic import Discriminator, Field, Tag, field_validator

from sites.fields import SitePath, Strict, written

HeaderName = Annotated[
    str, written(r"[A-Za-z][A-Za-z0-9-]*", "a header's name: letters, digits and '-'")
]
Secret = Annotated[str, Field(min_length=1, repr=False)]

# What looks like a placeholder; any other braces in a field's value stay as they are.
_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_]+)\}")
_VARIABLE: Final = re.compile(r"env:([A-Z][A-Z0-9_]*)")
_ROLES_OWN: Final = frozenset({"username", "password"})


class _Ending(Strict):
    """Attributes common to all logins.

    Attributes:
        path: the page that is asked to log in.
        ends: paths that end the login on purpose: sign-out, a new password. An agent that asks for
            one has ended its login itself. With a query (`/login.php?action=logout`), only where
            the request has these parameters; it may have others too.
    """

    path: SitePath
    ends: tuple[SitePath, ...] = ()

    def is_ended_by(self, target: str) -> bool:
        """Whether a request's path and query (or its whole URL) is one that ends the login."""
        return any(_asks_for(target, end) for end in self.ends)


class Login(_Ending):
    """One HTML form login: GET `path`, keep the form's hidden inputs, fill `fields`, submit.

    Attributes:
        form: the id of the form; where omitted, the only form with a password field.
        fields: input name to value; `{username}` and `{password}` stand for the role's.
        submit: the button's name and value, where the site looks at it.
    """

    form: str | None = None
    fields: dict[str, str] = Field(min_length=1)
    submit: dict[str, str] = Field(default_factory=dict)

    @field_validator("fields")
    @classmethod
    def _placeholders_are_known(cls, fields: dict[str, str]) -> dict[str, str]:
        for field, value in fields.items():
            _refuse_unknown_placeholder(f"field '{field}'", value)
        return fields


class HeaderLogin(_Ending):
    """A header that makes the site log its sender in: GET `path` with it, and keep the cookies.

    Images that were made for benchmarks have it, as those of WebArena-Verified.

    Attributes:
        header: its name.
        value: `{username}` and `{password}` stand for the role's.
    """

    header: HeaderName
    value: str = Field(min_length=1)

    @field_validator("value")
    @classmethod
    def _placeholders_are_known(cls, value: str) -> str:
        _refuse_unknown_placeholder("value", value)
        return value


def _way_in(given: object) -> str:
    """Say which login is meant, so that a mistake is told of that one alone."""
    has_header = "header" in given if isinstance(given, Mapping) else isinstance(given, HeaderLogin)
    return "by header" if has_header else "by form"


AnyLogin = Annotated[
    Annotated[Login, Tag("by form")] | Annotated[HeaderLogin, Tag("by header")],
    Discriminator(_way_in),
]


def _refuse_unknown_placeholder(what: str, value: str) -> None:
    unknown = [name for name in _PLACEHOLDER.findall(value) if name not in _ROLES_OWN]
    if unknown:
        message = f"{what} holds '{{{unknown[0]}}}'; there are {{username}} and {{password}}"
        raise ValueError(message)


class PageWith(Strict):
    """A page that answers 200 with a text on it."""

    path: SitePath
    contains: str = Field(min_length=1)


class LoginProof(PageWith):
    """A page only a logged-in role gets with 200, and a text on it that names the role."""


class _ApiProof(Strict):
    """Attributes common to all API logins.

    Attributes:
        secret: password, token or key; it stays out of logs and evidence.
        proof: what only this account gets, read by GET.
    """

    secret: Secret
    proof: PageWith


class BasicApi(_ApiProof):
    """HTTP basic authentication (RFC 7617), for example an application password."""

    scheme: Literal["basic"]
    username: Annotated[str, written(r"[^:]+", "a name without ':', and not empty")]

    def headers(self) -> Mapping[str, str]:
        """Return the headers that a request of this login carries."""
        pair = b64encode(f"{self.username}:{self.secret}".encode()).decode()
        return {"Authorization": f"Basic {pair}"}


class HeaderApi(_ApiProof):
    """A key or token in a header: `X-Redmine-API-Key: …`, `Authorization: Bearer …`."""

    scheme: Literal["header"]
    header: HeaderName

    def headers(self) -> Mapping[str, str]:
        """Return the headers that a request of this login carries."""
        return {self.header: self.secret}


ApiLogin = Annotated[BasicApi | HeaderApi, Field(discriminator="scheme")]


class Role(Strict):
    """An account of a site and how to log in.

    Attributes:
        password: itself; or `env:NAME`, the environment variable that has it.
        api: the account's own way into the site's API, where the application has one.
        may: pages that the role gets; the contract asks for each.
        may_not: pages that it is refused: 401, 403 or 404, or the way to the login.
    """

    username: str = Field(min_length=1)
    password: str = Field(min_length=1)
    login: AnyLogin
    proof: LoginProof
    api: ApiLogin | None = None
    may: tuple[PageWith, ...] = ()
    may_not: tuple[SitePath, ...] = ()

    @property
    def variable(self) -> str | None:
        """The environment variable that has the password; None where the manifest has it."""
        found = _VARIABLE.fullmatch(self.password)
        return None if found is None else found[1]

    def from_environment(self, environment: Mapping[str, str]) -> Role | None:
        """Return the role with its password; None where the variable is not set."""
        if self.variable is None:
            return self
        password = environment.get(self.variable)
        return self.model_copy(update={"password": password}) if password else None


def _asks_for(target: str, end: str) -> bool:
    asked, wanted = urlsplit(target), urlsplit(end)
    if asked.path != wanted.path:
        return False
    given = parse_qs(asked.query, keep_blank_values=True)
    return all(
        value in given.get(name, ())
        for name, values in parse_qs(wanted.query, keep_blank_values=True).items()
        for value in values
    )
