"""One change of each stateful site: made in a browser as a person would, and as a program would.

A site that is new here needs an entry in `CHANGES` and one in `WRITES`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

import requests
from mutations.shop import product_page
from mutations.visitor import Visitor
from playwright.async_api import Page

from orchestrator.authoring.site_check.load import Write
from orchestrator.sandbox.engine.origin_client import PAGE_TIMEOUT_S, OriginClient
from support.sites.every_site import ATLAS

TEXT: Final = "Something that nobody wrote before"


@dataclass(frozen=True, slots=True)
class Change:
    """What a logged-in person does.

    Attributes:
        role: who.
        make: does it on a page of a browser that is logged in, and waits until it is done.
        newest: a SELECT for the id of the row that it wrote, and the moment that this bears.
    """

    role: str
    make: Callable[[Page, str], Awaitable[None]]
    newest: str


async def _submit(page: Page, origin: str) -> None:
    await page.goto(f"{origin}/submit/coffee")
    await page.get_by_label("Title").fill(TEXT)
    await page.get_by_label("Body").fill(TEXT)
    await page.get_by_role("button", name="Create submission").click()
    await page.get_by_role("link", name=TEXT).first.wait_for()


async def _comment(page: Page, origin: str) -> None:
    await page.goto(f"{origin}/")
    await page.locator("article h2 a, h2 a").first.click()
    await page.locator("#comment").fill(TEXT)
    await page.locator("#submit").click()
    await page.get_by_text(TEXT).first.wait_for()


async def _ask_for_return(page: Page, origin: str) -> None:
    await page.goto(f"{origin}/accounts/orders/102958/return/")
    await page.get_by_label("Item").select_option(index=1)
    await page.get_by_label("Reason").select_option("Does not fit")
    await page.get_by_role("button", name="Ask for return").click()
    await page.get_by_text("requested.").first.wait_for()


async def _note(page: Page, origin: str) -> None:
    await page.goto(f"{origin}/notes/new")
    await page.get_by_label("Title").fill(TEXT)
    await page.get_by_label("Text").fill(TEXT)
    await page.get_by_role("button", name="Save note").click()
    await page.get_by_text(TEXT).first.wait_for()


async def _issue(page: Page, origin: str) -> None:
    await page.goto(f"{origin}/projects/kettle-firmware/issues/new")
    await page.get_by_label("Subject").fill(TEXT)
    await page.locator("#issue-form input[name=commit]").click()
    await page.get_by_role("heading", name=TEXT).first.wait_for()


async def _party(page: Page, origin: str) -> None:
    await page.goto(f"{origin}/#erp/model/party.party", wait_until="networkidle")
    await page.get_by_role("button", name="New").first.click()
    await page.wait_for_load_state("networkidle")
    await page.get_by_label("Active:").first.and_(page.locator(":checked")).wait_for()
    await page.get_by_label("Name:", exact=True).first.fill(TEXT)
    await page.keyboard.press("Tab")
    await page.get_by_role("button", name="Save").first.click()
    await page.get_by_text("Record saved.").first.wait_for()


async def _answer(page: Page, origin: str) -> None:
    """Answer a colleague: the copy that is kept has the number that comes last."""
    await page.goto(f"{origin}/SOGo/so/ines.ferreira/Mail/view")
    await page.get_by_role("button", name="Meeting about 2.4").click()
    await page.get_by_role("button", name="Reply", exact=True).click()
    dialog = page.get_by_role("dialog")
    await dialog.locator("textarea").fill(TEXT)
    await dialog.get_by_role("button", name="send", exact=True).click()
    await dialog.wait_for(state="hidden")


async def _ask_on_the_hub(page: Page, origin: str) -> None:
    await page.goto(f"{origin}/kettle-firmware/new_issue")
    await page.locator("#title").fill(TEXT)
    await page.locator("#issue_content").fill(TEXT)
    await page.get_by_role("button", name="Create Issue").click()
    await page.get_by_text(TEXT).first.wait_for()


CHANGES: Final[Mapping[str, Change]] = {
    "cms": Change(
        "author",
        _comment,
        "SELECT comment_ID, comment_date_gmt FROM wp_comments ORDER BY comment_ID DESC LIMIT 1",
    ),
    "erp": Change(
        "sales", _party, "SELECT id, create_date FROM party_party ORDER BY id DESC LIMIT 1"
    ),
    "forge": Change(
        "developer", _issue, "SELECT id, created_on FROM issues ORDER BY id DESC LIMIT 1"
    ),
    "forum": Change(
        "member", _submit, "SELECT id, created FROM waypost_submission ORDER BY id DESC LIMIT 1"
    ),
    "office": Change("ines", _answer, "SELECT id, sent FROM mail ORDER BY id DESC LIMIT 1"),
    "hub": Change(
        "developer",
        _ask_on_the_hub,
        "SELECT id, date_created FROM issues ORDER BY date_created DESC LIMIT 1",
    ),
    "shop": Change(
        "customer",
        _ask_for_return,
        "SELECT id, date_requested FROM returns_return ORDER BY id DESC LIMIT 1",
    ),
    "tools": Change("emma", _note, "SELECT id, created FROM desk_note ORDER BY id DESC LIMIT 1"),
}


def _post(site: str, role: str, path: str, body: Callable[[str], object]) -> Write:
    """Return a write by a site's API, with the API login of a role."""

    def write(session: requests.Session, client: OriginClient, text: str) -> requests.Response:
        api = ATLAS.site(site).roles[role].api
        assert api is not None
        return session.post(
            client.url(path), json=body(text), headers=dict(api.headers()), timeout=PAGE_TIMEOUT_S
        )

    return write


def _fill_basket(session: requests.Session, client: OriginClient, text: str) -> requests.Response:
    """Put a product into the visitor's own basket: the shop's pages, without scripts."""
    del text
    visitor = Visitor(client, session)
    page = visitor.open(product_page(53))
    return visitor.send(page, "add_to_basket_form", {"quantity": "1"})


def _put_card(session: requests.Session, client: OriginClient, text: str) -> requests.Response:
    """Put a card into the own address book, by CardDAV."""
    api = ATLAS.site("office").roles["ines"].api
    assert api is not None
    name = text.replace(" ", "-")
    card = f"BEGIN:VCARD\r\nVERSION:3.0\r\nUID:{name}\r\nFN:{text}\r\nN:{text}\r\nEND:VCARD\r\n"
    return session.put(
        client.url(f"/SOGo/dav/ines.ferreira/Contacts/personal/{name}.vcf"),
        data=card,
        headers={**api.headers(), "Content-Type": "text/vcard"},
        timeout=PAGE_TIMEOUT_S,
    )


WRITES: Final[Mapping[str, Write]] = {
    "cms": _post(
        "cms",
        "administrator",
        "/wp-json/wp/v2/comments",
        lambda text: {"post": 2500, "content": text},
    ),
    "erp": _post(
        "erp",
        "sales",
        "/erp/",
        lambda text: {
            "id": 1,
            "method": "model.party.party.create",
            "params": [[{"name": text}], {}],
        },
    ),
    "forge": _post(
        "forge",
        "developer",
        "/issues.json",
        lambda text: {"issue": {"project_id": "kettle-firmware", "subject": text}},
    ),
    "forum": _post(
        "forum",
        "member",
        "/api/submissions",
        lambda text: {"forum": "coffee", "title": text, "body": text},
    ),
    "office": _put_card,
    "hub": _post(
        "hub",
        "developer",
        "/api/0/kettle-firmware/new_issue",
        lambda text: {"title": text, "issue_content": text},
    ),
    "shop": _fill_basket,
    "tools": _post("tools", "emma", "/api/notes", lambda text: {"title": text, "body": text}),
}
