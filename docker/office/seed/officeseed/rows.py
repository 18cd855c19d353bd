"""People, calendars and address books, as the rows that SOGo keeps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from officeseed import words
from officeseed.letters import NOW
from officeseed.people import PEOPLE, Person

_STATES = {"waiting": 0, "accepted": 1, "declined": 2, "tentative": 3}
_WRITTEN = {0: "NEEDS-ACTION", 1: "ACCEPTED", 2: "DECLINED", 3: "TENTATIVE"}
_MADE = int((NOW - timedelta(days=30)).timestamp())
_RIGHTS = {
    "viewer": ("PublicViewer", "ConfidentialDAndTViewer"),
    "editor": ("PublicModifier", "ConfidentialModifier", "ObjectCreator", "ObjectEraser"),
}
_PLACE = "mysql://sogo:sogo@127.0.0.1:3306/office/sogo_{kind}{number:02d}"


def statements() -> Iterator[str]:
    """Return the INSERTs."""
    for person in PEOPLE.values():
        yield from _person(person)
    for number, event in enumerate(words("calendar")["event"], start=1):
        yield from _event(number, event)
    for owner, guest, right in words("calendar")["share"]:
        yield from _share(PEOPLE[owner], PEOPLE[guest], right)
    yield from _profiles()
    for number, card in enumerate(words("contacts")["contact"], start=1):
        yield from _card(number, *card)


def _person(person: Person) -> Iterator[str]:
    yield _insert("people", person.login, person.login, person.password, person.name, person.mail)
    yield _insert("mail_address", person.mail, person.login)
    owner = person.login
    for number, module, title, kind in (
        (person.calendar, "Calendar", "Personal Calendar", "Appointment"),
        (person.cards, "Contacts", "Personal Address Book", "Contact"),
    ):
        place = _PLACE.format(kind=module.lower(), number=person.number)
        path = f"/Users/{owner}/{module}/personal"
        yield _insert(
            "sogo_folder_info",
            number,
            path,
            "Users",
            owner,
            module,
            "personal",
            title,
            place,
            f"{place}_quick",
            f"{place}_acl",
            kind,
        )


def _profiles() -> Iterator[str]:
    """Return the settings: whose calendars are shown beside one's own."""
    shown: dict[str, list[str]] = {person.login: [] for person in PEOPLE.values()}
    for owner, guest, _ in words("calendar")["share"]:
        shown[PEOPLE[guest].login].append(f"{PEOPLE[owner].login}:Calendar/personal")
    for person in PEOPLE.values():
        calendar: dict[str, Any] = {"FoldersOrder": ["personal"]}
        if shown[person.login]:
            calendar["SubscribedFolders"] = shown[person.login]
        settings = {"Calendar": calendar, "General": {"totpKey": f"{person.number:020d}"}}
        yield (
            "INSERT INTO sogo_user_profile (c_uid, c_settings) VALUES"  # noqa: S608 - data of this seed
            f" ({_value(person.login)}, {_value(json.dumps(settings))});"
        )


def _share(owner: Person, guest: Person, right: str) -> Iterator[str]:
    for role in _RIGHTS[right]:
        path = f"/{owner.login}/Calendar/personal"
        yield _insert("sogo_acl", owner.calendar, path, guest.login, role)


def _event(number: int, event: dict[str, Any]) -> Iterator[str]:
    owner = PEOPLE[event["owner"]]
    guests = {PEOPLE[key]: _STATES[state] for key, state in event.get("guests", {}).items()}
    begin, end = (
        datetime.fromisoformat(f"{event['day']}T{event[at]}").replace(tzinfo=UTC)
        for at in ("from", "to")
    )
    uid = f"office-event-{number:03d}"
    lines = [
        "BEGIN:VCALENDAR",
        "PRODID:-//Inverse inc./SOGo 5.8.0//EN",
        "VERSION:2.0",
        "BEGIN:VEVENT",
        f"UID:{uid}",
        f"SUMMARY:{event['title']}",
        *([f"LOCATION:{_escaped(event['place'])}"] if event["place"] else []),
        "CLASS:PUBLIC",
        "TRANSP:OPAQUE",
        f"DTSTART:{begin:%Y%m%dT%H%M%SZ}",
        f"DTEND:{end:%Y%m%dT%H%M%SZ}",
        "CREATED:20260901T090000Z",
        "DTSTAMP:20260901T090000Z",
        "LAST-MODIFIED:20260901T090000Z",
    ]
    if guests:
        lines.append(f"ORGANIZER;CN={owner.name}:mailto:{owner.mail}")
        lines += [
            f"ATTENDEE;CN={one.name};PARTSTAT={_WRITTEN[state]};RSVP=TRUE;"
            f"ROLE=REQ-PARTICIPANT:mailto:{one.mail}"
            for one, state in guests.items()
        ]
    lines += ["END:VEVENT", "END:VCALENDAR"]
    content = "".join(f"{line}\r\n" for raw in lines for line in _folded(raw))
    for whose in (owner, *guests):
        yield _insert("sogo_store", whose.calendar, f"{uid}.ics", content, _MADE, _MADE, 0, None)
        yield _insert(
            "sogo_quick_appointment",
            whose.calendar,
            f"{uid}.ics",
            uid,
            int(begin.timestamp()),
            int(end.timestamp()),
            None,
            event["title"],
            "\n".join(one.name for one in guests),
            0,
            0,
            None,
            0,
            1,
            1,
            0,
            event["place"],
            owner.mail if guests else "",
            "\n".join(one.mail for one in guests),
            "\n".join(str(state) for state in guests.values()),
            None,
            0,
            "vevent",
            0,
            "",
        )


def _card(
    number: int, owner: str, first: str, last: str, company: str, mail: str, phone: str, town: str
) -> Iterator[str]:
    person, name, uid = PEOPLE[owner], f"{first} {last}", f"office-card-{number:03d}"
    lines = [
        "BEGIN:VCARD",
        "VERSION:3.0",
        "PRODID:-//Inverse inc./SOGo 5.8.0//EN",
        f"UID:{uid}",
        f"FN:{name}",
        f"N:{last};{first}",
        *([f"ORG:{_escaped(company)}"] if company else []),
        f"EMAIL;TYPE=work:{mail}",
        f"TEL;TYPE=work:{phone}",
        f"ADR;TYPE=work:;;;{town}",
        "END:VCARD",
    ]
    content = "".join(f"{line}\r\n" for line in lines)
    yield _insert("sogo_store", person.cards, f"{uid}.vcf", content, _MADE, _MADE, 0, None)
    yield _insert(
        "sogo_quick_contact",
        person.cards,
        f"{uid}.vcf",
        first,
        name,
        last,
        "",
        town,
        mail,
        company,
        "",
        phone,
        None,
        "vcard",
        0,
    )


def _folded(line: str) -> Iterator[str]:
    """Break a long line (RFC 5545, 3.1)."""
    yield line[:75]
    for begin in range(75, len(line), 74):
        yield f" {line[begin : begin + 74]}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace(",", "\\,").replace(";", "\\;")


def _insert(table: str, *values: object) -> str:
    return f"INSERT INTO {table} VALUES ({', '.join(map(_value, values))});"  # noqa: S608 - data of this seed


def _value(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, int):
        return str(value)
    text = str(value).replace("\\", "\\\\").replace("'", "''")
    return f"'{text}'"
