"""Tables of labels: what controls of a page are called in an arm, and how a reference follows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from tasks.labels import Table, folded

_NO_TABLE: Final[Table] = {}

# Words that sites of every kind put on their controls; a suite adds those of its own sites.
_GERMAN: Final[Table] = {
    "About": "Über uns",
    "Account": "Konto",
    "Add": "Hinzufügen",
    "Add to basket": "In den Warenkorb",
    "Add to cart": "In den Einkaufswagen",
    "Add to wish list": "Auf den Wunschzettel",
    "Back": "Zurück",
    "Basket": "Warenkorb",
    "Browse store": "Sortiment",
    "Calculator": "Rechner",
    "Cancel": "Abbrechen",
    "Checkout": "Zur Kasse",
    "Checkout now": "Jetzt zur Kasse",
    "Close": "Schließen",
    "Comments": "Kommentare",
    "Continue": "Weiter",
    "Converter": "Umrechner",
    "Delete": "Löschen",
    "Download": "Herunterladen",
    "Edit": "Bearbeiten",
    "Email address": "E-Mail-Adresse",
    "Forums": "Foren",
    "Help": "Hilfe",
    "Issues": "Vorgänge",
    "Log in": "Anmelden",
    "Log out": "Abmelden",
    "Login": "Anmeldung",
    "Logout": "Abmeldung",
    "Main menu": "Hauptmenü",
    "Messages": "Nachrichten",
    "My account": "Mein Konto",
    "New": "Neu",
    "New issue": "Neuer Vorgang",
    "New note": "Neue Notiz",
    "Next": "Nächste Seite",
    "Order History": "Bestellungen",
    "Password": "Kennwort",
    "Place order": "Zahlungspflichtig bestellen",
    "Post": "Absenden",
    "Previous": "Vorige Seite",
    "Profile": "Profil ansehen",
    "Projects": "Projekte",
    "Register": "Registrieren",
    "Remove": "Entfernen",
    "Reply": "Antworten",
    "Save": "Speichern",
    "Save changes": "Änderungen speichern",
    "Scratchpad": "Notizblock",
    "Search": "Suchen",
    "Settings": "Einstellungen",
    "Sign in": "Einloggen",
    "Sign out": "Ausloggen",
    "Sign up": "Konto anlegen",
    "Sort by": "Sortieren nach",
    "Submit": "Übermitteln",
    "Toggle navigation": "Navigation ein- oder ausblenden",
    "Username": "Benutzername",
    "Wish list": "Wunschzettel",
    "Write a review": "Bewertung schreiben",
}
BUILT_IN: Final[Mapping[str, Table]] = {"german": _GERMAN}


def table_named(name: str | None, own: Mapping[str, Table]) -> Table:
    """Return a suite's table of that name, else the one that comes with Arena; empty for none."""
    return _NO_TABLE if name is None else own.get(name) or BUILT_IN.get(name, _NO_TABLE)


def names_in(table: Table, name: str) -> Iterator[str]:
    """Yield what an element of a reference may be called in an arm, the likeliest first.

    A name that is made of several labels is renamed in parts. One that the page renamed nowhere,
    such as that of a button whose text a form sends, is still what it was.
    """
    known = {folded(old): new for old, new in table.items()}
    yield from dict.fromkeys((known.get(folded(name)) or _in_parts(known, name), name))


def _in_parts(known: Table, name: str) -> str:
    if not known:
        return name
    longest_first = sorted(known, key=len, reverse=True)
    labels = "|".join(re.escape(one).replace(r"\ ", r"\s+") for one in longest_first)
    pattern = re.compile(rf"(?<!\w)(?:{labels})(?!\w)", re.IGNORECASE)
    return pattern.sub(lambda found: known.get(folded(found[0]), found[0]), name)
