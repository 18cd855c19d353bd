"""What this shop adds to Oscar, asked of a replica over HTTP as a browser without scripts would."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from mutations.visitor import Visitor

from orchestrator.sandbox.check_queries import Row, ask
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.engine.origin_client import PAGE_TIMEOUT_S, OriginClient, origin_session
from orchestrator.sandbox.logins import replica_client
from orchestrator.sandbox.pool.slot_pool import SlotPool
from orchestrator.sandbox.reset.replica import Replica
from sites.registry import load_registry

pytestmark = [pytest.mark.docker, pytest.mark.slow(minutes=1)]

EMMA = ("emma.hartley@example.com", "harbour-emma-2026")
MERCHANT = ("margaret.oakes@harbourandpine.example", "pine-merchant-2026")
ORDER = "102958"  # Emma's, shipped: one wax seal kit
RAIN_JACKET = 1650  # dear enough for the group's voucher


@dataclass(frozen=True, slots=True)
class Shop:
    """A replica and its door."""

    replica: Replica
    client: OriginClient

    async def rows(self, sql: str) -> tuple[Row, ...]:
        return (await ask(self.replica, sql)).rows


@contextmanager
def somebody(client: OriginClient, account: tuple[str, str] | None = None) -> Iterator[Visitor]:
    with origin_session(client) as session:
        visitor = Visitor(client, session)
        if account:
            name, password = account
            filled = {"login-username": name, "login-password": password, "login_submit": "Log In"}
            visitor.send(visitor.open("/accounts/login/"), "login_form", filled)
            assert name in visitor.open("/accounts/profile/").text
        yield visitor


@asynccontextmanager
async def _shop() -> AsyncIterator[Shop]:
    engine = await Engine.connect()
    registry = load_registry()
    try:
        async with (
            SlotPool.open(engine, registry, ["shop"], "shop-behaviour") as slot_pool,
            slot_pool.lease(["shop"]) as slot,
        ):
            replica = slot.replicas["shop"]
            yield Shop(replica, replica_client(registry.sites["shop"], replica.endpoint))
    finally:
        await engine.close()


@pytest.fixture
def shop() -> AbstractAsyncContextManager[Shop]:
    return _shop()


def titles(page: str) -> list[str]:
    """Return the titles of a list's products, in their order."""
    return [
        html.unescape(found)
        for found in re.findall(r'<h3 class="mt-3">\s*<a[^>]*title="([^"]*)"', page)
    ]


def prices(page: str) -> list[Decimal]:
    return [
        Decimal(found.replace(",", ""))
        for found in re.findall(r'class="price_color">£([\d,.]+)<', page)
    ]


async def test_filters_keep_what_they_say_and_stay_when_the_list_is_sorted(
    shop: AbstractAsyncContextManager[Shop],
) -> None:
    path = "/catalogue/category/kitchen-coffee/kettles_2/"
    wanted = "price_from=30&price_to=60&min_rating=4&in_stock=on"

    async with shop as site:
        known = await site.rows(
            "SELECT p.title FROM catalogue_product p "
            "JOIN catalogue_productcategory c ON c.product_id = p.id AND c.category_id = 2 "
            "JOIN partner_stockrecord s ON s.product_id = p.id WHERE p.structure = 'standalone' "
            "AND s.price BETWEEN 30 AND 60 AND p.rating >= 4 "
            "AND s.num_in_stock > s.num_allocated ORDER BY s.price, p.id"
        )

        def act() -> None:
            with somebody(site.client) as visitor:
                page = visitor.open(f"{path}?{wanted}&sort_by=price-asc").text
                found = titles(page)
                assert [title for (title,) in known] == [
                    one for one in found if one in {t for (t,) in known}
                ]
                assert all(30 <= price <= 60 for price in prices(page))
                assert len(found) >= len(known) > 0
                for name in ("price_from", "price_to", "min_rating", "in_stock"):
                    assert f'type="hidden" name="{name}"' in page, "sorting would forget it"
                assert 'type="hidden" name="sort_by" value="price-asc"' in page

        await asyncio.to_thread(act)


async def test_best_sellers_come_first_where_that_is_asked_for(
    shop: AbstractAsyncContextManager[Shop],
) -> None:
    async with shop as site:
        [(best, _)] = await site.rows(
            "SELECT top.title, sum(r.num_purchases) n FROM analytics_productrecord r "
            "JOIN catalogue_product p ON p.id = r.product_id "
            "JOIN catalogue_product top ON top.id = coalesce(p.parent_id, p.id) "
            "GROUP BY top.id, top.title ORDER BY n DESC, top.id LIMIT 1"
        )

        def act() -> None:
            with somebody(site.client) as visitor:
                assert titles(visitor.open("/catalogue/?sort_by=best-selling").text)[0] == best

        await asyncio.to_thread(act)


async def test_products_stand_side_by_side_and_looking_at_the_shop_writes_nothing(
    shop: AbstractAsyncContextManager[Shop],
) -> None:
    def act(client: OriginClient) -> None:
        with somebody(client, EMMA) as emma:
            page = emma.open(
                "/compare/?product=16&product=48&product=53&product=54&product=18"
            ).text
            assert "1 more was left out" in page
            assert page.count("Lowest price") == page.count("Best rated") == 1
            assert "/compare/?product=16&amp;product=53&amp;product=54" in page, "how 48 is removed"
            assert "Add " in emma.open("/compare/?product=16&q=gooseneck").text
            assert "Customers also bought" in emma.open("/catalogue/product_4405/").text
            assert "Related products" in emma.open("/catalogue/product_16/").text
            emma.open("/search/?q=typewriter")
            emma.open(f"/accounts/orders/{ORDER}/return/")
            emma.open("/api/orders/")
            emma.open("/contact/")
            emma.open(f"/accounts/orders/{ORDER}/")
            emma.open(f"/accounts/orders/{ORDER}/invoice/")
            emma.open("/accounts/emails/63/")
        with somebody(client, MERCHANT) as merchant:
            for path in (
                *("returns/", "returns/211/", "customer-groups/", "customer-groups/1/"),
                *("messages/", "messages/3/", "newsletter/", "stock/", f"orders/{ORDER}/"),
                "users/?sort=-num_cancelled",
            ):
                merchant.open(f"/dashboard/{path}")
            for report in ("best_sellers", "tax", "shipping", "refunds", "coupons"):
                merchant.open(f"/dashboard/reports/?report_type={report}")
            merchant.open("/dashboard/reports/?report_type=search_terms&download=on")

    async with shop as site:
        before = await counters(site)
        await asyncio.to_thread(act, site.client)
        assert await counters(site) == before


async def counters(site: Shop) -> tuple[Row, ...]:
    """Return what the server has written so far; a read moves none of these."""
    return await site.rows(
        "SHOW GLOBAL STATUS WHERE Variable_name IN "
        "('Innodb_rows_inserted', 'Innodb_rows_updated', 'Innodb_rows_deleted')"
    )


async def test_a_return_goes_its_way_from_the_customer_to_the_refund(
    shop: AbstractAsyncContextManager[Shop],
) -> None:
    def act(client: OriginClient) -> None:
        with somebody(client, EMMA) as emma, somebody(client, MERCHANT) as merchant:
            form = emma.open(f"/accounts/orders/{ORDER}/return/")
            [line] = re.findall(r'<option value="(\d+)">', form.text.split('name="quantity"')[0])
            asked = {"line": line, "quantity": "2", "reason": "fit", "comment": "Too blue."}
            assert "Only 1 of these" in emma.send(form, "return_form", asked).text
            shown = emma.send(form, "return_form", {**asked, "quantity": "1"})
            assert shown.url.endswith(f"/accounts/orders/{ORDER}/")
            assert "Does not fit: Too blue." in shown.text
            assert (
                "Only 0 of these" in emma.send(form, "return_form", {**asked, "quantity": "1"}).text
            )

            [number] = re.findall(r"<td>#(\d+)</td>", shown.text)
            page = merchant.open(f"/dashboard/returns/{number}/")
            assert ">Refunded<" not in page.text, "not before the parcel is here"
            for status in ("Approved", "Received"):
                page = merchant.send(page, "return_update_form", {"status": status})
            paid = {"status": "Refunded", "refund_amount": "41.01", "note": "Sorry."}
            assert "At most £41.00" in merchant.send(page, "return_update_form", paid).text
            merchant.send(page, "return_update_form", {**paid, "refund_amount": "41.00"})
            assert (
                "£41.00"
                in emma.open(f"/accounts/orders/{ORDER}/").text.split("<h2>Returns</h2>")[1]
            )
            assert emma.ask("/accounts/orders/103000/return/").status_code == 404
            assert emma.ask("/dashboard/returns/").status_code == 403

    async with shop as site:
        await asyncio.to_thread(act, site.client)


async def test_a_voucher_of_a_group_is_for_its_members_alone(
    shop: AbstractAsyncContextManager[Shop],
) -> None:
    def act(client: OriginClient) -> None:
        with somebody(client, EMMA) as emma, somebody(client, MERCHANT) as merchant:
            merchant.send(merchant.open("/dashboard/users/2/"), "membership_form", {"groups": "3"})
            emma.send(
                emma.open(f"/catalogue/product_{RAIN_JACKET}/"),
                "add_to_basket_form",
                {"quantity": "1"},
            )
            code = {"code": "CLUB20"}
            page = emma.send(emma.open("/basket/"), "/basket/vouchers/add/", code)
            assert "for members of Harbour Club only" in page.text
            group = merchant.open("/dashboard/customer-groups/1/")
            merchant.send(group, "member_form", {"email": EMMA[0].upper()})
            found = merchant.open("/dashboard/users/?email=&name=Hartley&group=1&search=").text
            assert EMMA[0] in found
            page = emma.send(emma.open("/basket/"), "/basket/vouchers/add/", code)
            assert "Voucher &#x27;CLUB20&#x27; added to basket" in page.text

    async with shop as site:
        await asyncio.to_thread(act, site.client)


async def test_reports_count_what_was_sold_and_what_was_searched_for(
    shop: AbstractAsyncContextManager[Shop],
) -> None:
    async with shop as site:
        [(title, units, revenue)] = await site.rows(
            "SELECT l.title, sum(l.quantity) n, sum(l.line_price_incl_tax) FROM order_line l "
            "JOIN order_order o ON o.id = l.order_id WHERE o.status <> 'Cancelled' "
            "AND o.date_placed >= '2026-01-01' GROUP BY l.product_id, l.title "
            "ORDER BY n DESC, 3 DESC LIMIT 1"
        )

        def act() -> None:
            with somebody(site.client, MERCHANT) as merchant:
                report = "/dashboard/reports/?report_type=best_sellers&date_from=2026-01-01"
                first = merchant.open(report).text.split("<tbody>")[1].split("</tr>")[0]
                assert str(title) in html.unescape(first)
                assert f"<td>{units}</td>" in first
                assert f"£{revenue:,}" in first
                merchant.send(merchant.open("/search/?q=unobtainium"), "/search/wanted/", {})
                terms = merchant.open("/dashboard/reports/?report_type=search_terms&page=4").text
                assert "unobtainium" in terms

        await asyncio.to_thread(act)


async def test_the_api_shows_everybody_their_own_and_lets_the_merchant_write(
    shop: AbstractAsyncContextManager[Shop],
) -> None:
    def act(client: OriginClient) -> None:
        with origin_session(client) as session:

            def call(path: str, account: tuple[str, str] | None = None, **sent: Any) -> Any:
                method = "PATCH" if sent else "GET"
                answer = session.request(
                    method,
                    client.url(path),
                    auth=account,
                    json=sent or None,
                    timeout=PAGE_TIMEOUT_S,
                )
                return answer.status_code, answer.json()

            status, products = call("/api/products/?page=2")
            assert (status, products["count"], len(products["results"])) == (200, 5000, 50)
            assert call("/api/orders/")[0] == call("/api/me/", (EMMA[0], "wrong"))[0] == 401
            assert call("/api/customers/", EMMA)[0] == 403
            assert call("/api/orders/", EMMA)[1]["count"] == 37
            assert call("/api/orders/103000/", EMMA)[0] == 404
            assert call("/api/products/16/", EMMA, price="1.00")[0] == 403
            assert call("/api/products/16/", MERCHANT, price="-1")[0] == 400
            assert call("/api/products/16/", MERCHANT, colour="red")[0] == 400
            status, product = call("/api/products/16/", MERCHANT, price="12.50", num_in_stock=3)
            assert (status, product["price"], product["num_in_stock"]) == (200, "12.50", 3)
            assert call(f"/api/orders/{ORDER}/", MERCHANT, status="Pending")[0] == 400
            assert (
                call(f"/api/orders/{ORDER}/", MERCHANT, status="Complete")[1]["status"]
                == "Complete"
            )
        with somebody(client, MERCHANT) as merchant:
            url = client.url("/api/products/16/")
            answer = merchant.session.patch(url, json={"price": "1.00"}, timeout=PAGE_TIMEOUT_S)
            assert answer.status_code == 401, "a cookie alone must not write"

    async with shop as site:
        await asyncio.to_thread(act, site.client)


async def test_a_parcel_and_a_message_of_the_merchant_reach_the_customer(
    shop: AbstractAsyncContextManager[Shop],
) -> None:
    order = "102864"  # Emma's; all of it has been sent once

    def act(client: OriginClient) -> None:
        with somebody(client, EMMA) as emma, somebody(client, MERCHANT) as merchant:
            page = merchant.open(f"/dashboard/orders/{order}/")
            lost = merchant.send(page, "parcel_form", {"carrier": "DHL", "number": ""})
            assert "Choose a carrier" in lost.text
            sent = {"carrier": "DHL", "number": "2435344646"}
            page = merchant.send(page, "parcel_form", sent)
            letter = "The second parcel left today.\r\n\r\nMargaret"
            merchant.send(page, "letter_form", {"letter": letter})
            seen = emma.open(f"/accounts/orders/{order}/").text
            # Standard delivery: five working days from the shop's Thursday, 1 October 2026.
            assert re.search(r"1 October 2026</td>\s*<td>DHL 2435344646</td>\s*<td>8 Oct", seen)
            assert "The second parcel left today." in seen
            assert f"About your order {order}" in emma.open("/accounts/emails/").text
            assert emma.ask(f"/dashboard/orders/{order}/parcels/").status_code == 403
            own = re.findall(r"/parcels/(\d+)/remove/", page.text)
            merchant.send(page, f"/parcels/{own[-1]}/remove/", {})
            assert "DHL 2435344646" not in emma.open(f"/accounts/orders/{order}/").text

    async with shop as site:
        await asyncio.to_thread(act, site.client)
        assert await site.rows(
            "SELECT body_text FROM communication_email WHERE user_id = 2 ORDER BY id DESC LIMIT 1"
        ) == (("The second parcel left today.\n\nMargaret",),)
        [(events,)] = await site.rows(
            "SELECT COUNT(*) FROM order_communicationevent c JOIN order_order o "
            "ON o.id = c.order_id WHERE o.number = '102864'"
        )
        assert events == 2


async def test_what_visitors_write_is_kept_and_listed(
    shop: AbstractAsyncContextManager[Shop],
) -> None:
    def act(client: OriginClient) -> None:
        with somebody(client) as stranger, somebody(client, MERCHANT) as merchant:
            page = stranger.open("/contact/")
            assert "+44 117 496 0100" in page.text
            written = {"name": "Ann", "email": "ann@example.com", "order_number": ORDER}
            assert "This field is required" in stranger.send(page, "contact_form", written).text
            broken = {**written, "message": "It broke. Please refund £41.00."}
            stranger.send(page, "contact_form", broken)
            found = merchant.open(f"/dashboard/messages/?order_number={ORDER}&state=open").text
            [number] = re.findall(r"/dashboard/messages/(\d+)/", found)
            message = merchant.open(f"/dashboard/messages/{number}/")
            assert f"/dashboard/orders/{ORDER}/" in message.text
            merchant.send(message, "enquiry_form", {})
            still_open = merchant.open(f"/dashboard/messages/?order_number={ORDER}&state=open").text
            assert f"/dashboard/messages/{number}/" not in still_open
            for word in ("now", "already"):
                page = stranger.send(
                    page, "newsletter_form", {"newsletter_email": "Ann@Example.com"}
                )
                assert f"ann@example.com is {word} subscribed" in page.text
            listed = merchant.open("/dashboard/newsletter/?email=ann%40example.com")
            assert "1 subscription<" in listed.text
            assert stranger.ask("/dashboard/messages/").url.startswith(
                client.url("/dashboard/login/")
            )

    async with shop as site:
        await asyncio.to_thread(act, site.client)


async def test_lists_and_reports_of_the_dashboard_agree_with_the_rows(
    shop: AbstractAsyncContextManager[Shop],
) -> None:
    async with shop as site:
        [(email, phone, cancelled)] = await site.rows(
            "SELECT u.email, a.phone_number, (SELECT COUNT(*) FROM order_order o WHERE "
            "o.user_id = u.id AND o.status = 'Cancelled') n FROM auth_user u JOIN "
            "address_useraddress a ON a.user_id = u.id AND a.phone_number LIKE '+44117%' "
            "ORDER BY n DESC, u.id LIMIT 1"
        )
        [(low,)] = await site.rows(
            "SELECT COUNT(*) FROM partner_stockrecord WHERE num_in_stock BETWEEN 2 AND 3"
        )
        [sums] = await site.rows(
            "SELECT (SELECT SUM(total_incl_tax) FROM order_order WHERE status <> 'Cancelled' AND "
            "date_placed BETWEEN '2026-02-01' AND '2026-02-28 23:59:59'), "
            "(SELECT SUM(refund_amount) FROM returns_return WHERE status = 'Refunded' AND "
            "date_updated BETWEEN '2026-02-01' AND '2026-02-28 23:59:59'), "
            "(SELECT SUM(shipping_incl_tax) FROM order_order WHERE status <> 'Cancelled' AND "
            "date_placed BETWEEN '2026-02-01' AND '2026-02-28 23:59:59')"
        )
        sales, refunds, delivery = (Decimal(str(one)) for one in sums)
        [(orders, off)] = await site.rows(
            "SELECT COUNT(*), SUM(d.amount) FROM order_orderdiscount d JOIN order_order o ON "
            "o.id = d.order_id WHERE d.voucher_code = 'FIVER' AND o.status <> 'Cancelled' AND "
            "o.date_placed BETWEEN '2026-02-01' AND '2026-02-28 23:59:59'"
        )
        assert orders

        def act() -> None:
            with somebody(site.client, MERCHANT) as merchant:
                number = str(phone).replace("+44", "0")
                found = merchant.open(f"/dashboard/users/?telephone={number}&search=").text
                assert found.count("@example.") == found.count(str(email)) > 0
                assert re.search(rf">{cancelled}</td>\s*<td[^>]*>\+44 117", found)
                assert f"{low} products<" in merchant.open("/dashboard/stock/?least=2&most=3").text
                month = "&date_from=2026-02-01&date_to=2026-02-28"
                before = "&date_from=2023-10-01&date_to=2023-12-31"
                for report, sum_of in (
                    ("tax", sales),
                    ("tax", (sales / 6).quantize(Decimal("0.01"))),
                    ("refunds", refunds),
                    ("shipping", delivery),
                ):
                    page = merchant.open(f"/dashboard/reports/?report_type={report}{month}").text
                    assert f"£{sum_of:,.2f}" in page.split("All months")[1], report
                coupons = merchant.open(f"/dashboard/reports/?report_type=coupons{month}").text
                row = rf"FIVER</td><td>{orders}</td><td>£{off:,.2f}"
                assert re.search(row, coupons)
                coupons = merchant.open(f"/dashboard/reports/?report_type=coupons{before}").text
                assert "No order of this time used a code." in coupons
            with somebody(site.client, EMMA) as emma:
                invoice = emma.open(f"/accounts/orders/{ORDER}/invoice/").text
                assert "£44.95" in invoice
                assert "£7.49" in invoice, "a sixth of the total is VAT"
                assert emma.ask("/accounts/orders/103000/invoice/").status_code == 404

        await asyncio.to_thread(act)


async def test_what_an_order_with_a_voucher_cost_is_its_price_less_the_voucher(
    shop: AbstractAsyncContextManager[Shop],
) -> None:
    async with shop as site:
        used = await site.rows(
            "SELECT v.usage, o.date_placed BETWEEN v.start_datetime AND v.end_datetime, d.amount, "
            "l.unit_price_incl_tax * l.quantity - l.line_price_incl_tax, "
            "b.price_incl_tax - l.unit_price_incl_tax, "
            "o.total_incl_tax - o.shipping_incl_tax - l.line_price_incl_tax "
            "FROM order_orderdiscount d JOIN order_order o ON o.id = d.order_id "
            "JOIN order_line l ON l.order_id = o.id "
            "JOIN basket_line b ON b.basket_id = o.basket_id "
            "JOIN voucher_voucher v ON v.id = d.voucher_id "
            "JOIN voucher_voucherapplication a ON a.order_id = o.id"
        )
        assert len(used) > 100
        for usage, in_time, off, difference, *nothing in used:
            assert usage != "Single use"
            assert in_time
            assert difference == off
            assert Decimal(str(off)) > 0
            assert nothing == [0, 0]
        [sums] = await site.rows(
            "SELECT (SELECT SUM(num_orders) FROM voucher_voucher), (SELECT COUNT(*) FROM "
            "order_orderdiscount), (SELECT SUM(total_discount) FROM voucher_voucher), "
            "(SELECT SUM(amount) FROM order_orderdiscount)"
        )
        assert sums[0] == sums[1] == len(used)
        assert sums[2] == sums[3]


async def test_a_variant_has_a_picture_of_its_own_whose_text_says_the_colour(
    shop: AbstractAsyncContextManager[Shop],
) -> None:
    async with shop as site:
        [family] = await site.rows(
            "SELECT parent_id, MIN(id), MAX(id) FROM catalogue_product WHERE parent_id IS NOT NULL "
            "GROUP BY parent_id ORDER BY parent_id LIMIT 1"
        )

        def act() -> None:
            with somebody(site.client) as visitor:
                seen = set()
                for number in family[1:]:
                    page = visitor.open(f"/catalogue/x_{number}/").text
                    found = re.search(r'<img src="(/media/[^"]+)"[^>]*alt="([^"]+)"', page)
                    assert found
                    picture, text = found.groups()
                    finish = html.unescape(text).rsplit(", ", 1)[1]
                    assert re.search(rf"Finish</th>\s*<td>{finish}</td>", page)
                    answer = visitor.open(picture)
                    assert answer.headers["content-type"] == "image/svg+xml"
                    seen.add(answer.text)
                assert len(seen) == 2
                assert "newsletter_form" in visitor.open("/newsletter/").text

        await asyncio.to_thread(act)
