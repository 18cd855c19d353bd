"""HTML forms as a browser would fill and send them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser

_BUTTONS = frozenset({"submit", "button", "image", "reset", "file"})
_TICKED = frozenset({"checkbox", "radio"})


@dataclass(slots=True)
class Form:
    """One form of a page.

    Attributes:
        fields: name and value of every control that a browser would send untouched.
        asks_password: whether it has a password field.
    """

    id: str | None
    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)
    asks_password: bool = False

    def filled(self, values: Mapping[str, str], submit: Mapping[str, str]) -> dict[str, str]:
        """Return what is sent when a person fills `values` in and presses `submit`."""
        return {**self.fields, **values, **submit}


@dataclass(frozen=True, slots=True)
class FormPage:
    """What matters of a page for logging in."""

    title: str
    forms: tuple[Form, ...]

    def login_form(self, form_id: str | None) -> Form | None:
        """Return the form of that id; without an id the only one with a password field."""
        if form_id is not None:
            return next((form for form in self.forms if form.id == form_id), None)
        asking = [form for form in self.forms if form.asks_password]
        return asking[0] if len(asking) == 1 else None


def read_page(html: str) -> FormPage:
    """Parse title and forms of a page, however broken its markup is."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return FormPage(" ".join(reader.title.split()), tuple(reader.forms))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.forms: list[Form] = []
        self._open: Form | None = None
        self._in_title = False
        self._text_of: str | None = None
        self._select: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        given = {name for name, _ in attrs}
        match tag:
            case "title":
                self._in_title = not self.title
            case "form":
                self._open = Form(
                    id=values.get("id"),
                    action=values.get("action", ""),
                    method=values.get("method", "get").lower(),
                )
                self.forms.append(self._open)
            case "input":
                self._input(values, given)
            case "textarea":
                self._text_of = values.get("name")
                self._set(self._text_of, "")
            case "select":
                self._select = values.get("name")
            case "option":
                self._option(values, given)
            case _:
                pass

    def handle_endtag(self, tag: str) -> None:
        match tag:
            case "title":
                self._in_title = False
            case "form":
                self._open = None
            case "textarea":
                self._text_of = None
            case "select":
                self._select = None
            case _:
                pass

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif self._text_of and self._open:
            self._open.fields[self._text_of] += data

    def _input(self, values: dict[str, str], given: set[str]) -> None:
        kind = values.get("type", "text").lower()
        if kind == "password" and self._open:
            self._open.asks_password = True
        if "disabled" in given or kind in _BUTTONS:
            return
        if kind in _TICKED:
            if "checked" in given:
                self._set(values.get("name"), values.get("value", "on"))
            return
        self._set(values.get("name"), values.get("value", ""))

    def _option(self, values: dict[str, str], given: set[str]) -> None:
        known = self._open.fields if self._open else {}
        if self._select and ("selected" in given or self._select not in known):
            self._set(self._select, values.get("value", ""))

    def _set(self, name: str | None, value: str) -> None:
        if name and self._open:
            self._open.fields[name] = value
