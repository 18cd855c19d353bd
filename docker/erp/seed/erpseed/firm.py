"""The firm: countries, company, people, logins."""

from __future__ import annotations

import datetime as dt
from typing import Any

from proteus import Model
from proteus.config import get_config

from erpseed import accounts
from erpseed.data import read


def found(model: str, name: str) -> Any:
    """Return the only record of a model with a name."""
    (record,) = Model.get(model).find([("name", "=", name)])
    return record


def write_countries() -> None:
    country_model = Model.get("country.country")
    for code, name in read("office")["countries"].items():
        country_model(name=name, code=code).save()


def address(party: Any, home: dict[str, str]) -> None:
    """Give a party that is not saved yet its address and its e-mail."""
    (place,) = party.addresses
    (country,) = Model.get("country.country").find([("code", "=", home["country"])])
    place.street, place.city, place.country = home["street"], home["city"], country
    place.postal_code = home.get("postcode")
    if home.get("email"):
        party.contact_mechanisms.new(type="email", value=home["email"])


def write_firm() -> None:
    """Write the company with its books."""
    firm = read("office")["firm"]
    party = Model.get("party.party")(name=firm["name"])
    address(party, firm)
    party.save()
    accounts.write_company(party, accounts.write_pound())
    # As proteus' own users do it: the company is part of it from now on.
    get_config()._context = Model.get("res.user").get_preferences(True, {})  # noqa: SLF001
    accounts.write_books()


def write_people() -> dict[str, Any]:
    """Write employees and logins; return the employees by name."""
    party_model, employee_model = Model.get("party.party"), Model.get("company.employee")
    user_model = Model.get("res.user")
    company, employees = accounts.company(), {}
    for person in read("office")["person"]:
        party = party_model(name=person["name"])
        if "email" in person:
            party.contact_mechanisms.new(type="email", value=person["email"])
        party.save()
        employee = employee_model(party=party, company=company, start_date=dt.date(2025, 1, 6))
        employee.save()
        employees[person["name"]] = employee
        if "login" not in person:
            continue
        user = user_model(name=person["name"], login=person["login"], email=person["email"])
        user.groups.extend(found("res.group", name) for name in person["groups"])
        user.companies.append(accounts.company())
        user.company = company
        user.employees.append(employee_model(employee.id))
        user.employee = employee
        user.save()
    return employees
