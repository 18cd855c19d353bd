"""Tables of labels: what controls of a page are called in an arm, and how a reference follows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from tasks.labels import Table, folded

_NO_TABLE: Final[Table] = {}

# Words that sites of every kind put on their controls; a suite adds those of its own sites. Whoever
# changes them makes another arm: raise the version of labels in `variations`.
_GERMAN: Final[Table] = {
    "About": "Über uns",
    "Account": "Konto",
    "Add": "Hinzufügen",
    "Add to basket": "In den Warenkorb",
    "Add to cart": "In den Einkaufswagen",
    "Add to wish list": "Auf den Wunschzettel",
    "Address Book": "Adressbuch",
    "All products": "Alle Artikel",
    "Apply filters": "Filter anwenden",
    "Back": "Zurück",
    "Basket": "Warenkorb",
    "Basket total": "Summe des Warenkorbs",
    "Browse store": "Sortiment",
    "Calculator": "Rechner",
    "Cancel": "Abbrechen",
    "Change": "Ändern",
    "Change password": "Kennwort ändern",
    "Change status": "Status ändern",
    "Checkout": "Zur Kasse",
    "Checkout now": "Jetzt zur Kasse",
    "Clear filters": "Filter entfernen",
    "Close": "Schließen",
    "Comment": "Kommentar",
    "Comments": "Kommentare",
    "Compare selected": "Auswahl vergleichen",
    "Compare this product": "Artikel vergleichen",
    "Continue": "Weiter",
    "Convert": "Umrechnen",
    "Converter": "Umrechner",
    "Create": "Anlegen",
    "Create forum": "Forum anlegen",
    "Create submission": "Beitrag anlegen",
    "Customer Reviews": "Bewertungen von Kunden",
    "Customers": "Kunden",
    "Delete": "Löschen",
    "Delete profile": "Profil löschen",
    "Description": "Beschreibung",
    "Download": "Herunterladen",
    "Edit": "Bearbeiten",
    "Edit profile": "Profil bearbeiten",
    "Email address": "E-Mail-Adresse",
    "Filter": "Eingrenzen",
    "Forgot password?": "Kennwort vergessen?",
    "Forums": "Foren",
    "From": "Von",
    "Help": "Hilfe",
    "Home": "Startseite",
    "Issues": "Vorgänge",
    "Log in": "Anmelden",
    "Log out": "Abmelden",
    "Log time": "Zeit erfassen",
    "Login": "Anmeldung",
    "Login or register": "Anmelden oder registrieren",
    "Logout": "Abmeldung",
    "Main menu": "Hauptmenü",
    "Messages": "Nachrichten",
    "Minimum rating": "Mindestbewertung",
    "My account": "Mein Konto",
    "New": "Neu",
    "New issue": "Neuer Vorgang",
    "New note": "Neue Notiz",
    "Next": "Nächste Seite",
    "Notifications": "Benachrichtigungen",
    "Offers": "Angebote",
    "Order History": "Bestellungen",
    "Order number": "Bestellnummer",
    "Order total": "Gesamtbetrag",
    "Orders": "Bestellungen (alle)",
    "Password": "Kennwort",
    "Payment": "Zahlung",
    "Place order": "Zahlungspflichtig bestellen",
    "Post comment": "Kommentar absenden",
    "Previous": "Vorige Seite",
    "Price": "Preis",
    "Product Description": "Beschreibung des Artikels",
    "Product Information": "Angaben zum Artikel",
    "Profile": "Profil ansehen",
    "Projects": "Projekte",
    "Quantity": "Menge",
    "Read more": "Weiterlesen",
    "Refine by": "Verfeinern nach",
    "Register": "Registrieren",
    "Related products": "Ähnliche Artikel",
    "Remember me": "Angemeldet bleiben",
    "Remove": "Entfernen",
    "Reply": "Antworten",
    "Repository": "Quelltext",
    "Reset": "Zurücksetzen",
    "Save": "Speichern",
    "Save changes": "Änderungen speichern",
    "Save draft": "Entwurf speichern",
    "Save note": "Notiz speichern",
    "Save review": "Bewertung speichern",
    "Scratchpad": "Notizblock",
    "Search": "Suchen",
    "Send": "Senden",
    "Settings": "Einstellungen",
    "Shipping address": "Lieferadresse",
    "Shipping method": "Versandart",
    "Sign in": "Einloggen",
    "Sign out": "Ausloggen",
    "Sign up": "Konto anlegen",
    "Sort by": "Sortieren nach",
    "Submit": "Übermitteln",
    "Title": "Titel",
    "To": "Bis",
    "Toggle navigation": "Navigation ein- oder ausblenden",
    "Update": "Aktualisieren",
    "Username": "Benutzername",
    "View basket": "Warenkorb ansehen",
    "Wish list": "Wunschzettel",
    "Wish Lists": "Wunschzettel (alle)",
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
