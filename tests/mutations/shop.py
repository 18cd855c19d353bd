"""What a customer, a merchant and a stranger do in the shop, each to its end."""

from __future__ import annotations

import html
import re
import struct
import zlib
from random import Random
from typing import Final

from mutations.mutation import Kind, Mutation
from mutations.seeds import word
from mutations.subject import Subject
from mutations.visitor import Visitor

from orchestrator.sandbox.logins import read_page

CUSTOMER: Final = "customer"
MERCHANT: Final = "merchant"
# Products with a page of their own that can be bought; the customer has none on her wish list.
PRODUCTS: Final = (18, 48, 53, 54, 130, 177, 296, 541, 1096, 2703, 4405, 5433)
FIRST_ORDER: Final = "103041"
_WISH_LIST = "/accounts/wishlists/hhhhh1/"


def product_page(number: int) -> str:
    """Return a path that leads to a product's page, whatever it is called."""
    return f"/catalogue/product_{number}/"


def title_of(visitor: Visitor, number: int) -> str:
    """Return a product's title as its page shows it."""
    found = re.search(r"<h1>(.*?)</h1>", visitor.open(product_page(number)).text, re.DOTALL)
    assert found is not None, f"product {number} has no title"
    return html.unescape(found[1]).strip()


def place_order(visitor: Visitor, number: int) -> str:
    """Put a product into the basket, go through the whole checkout; return the order's number."""
    visitor.send(visitor.open(product_page(number)), "add_to_basket_form", {"quantity": "1"})
    page = visitor.open("/checkout/shipping-address/")
    page = visitor.send(page, "select_shipping_address_1", {})
    page = visitor.send(page, "/checkout/shipping-method/", {"method_code": "standard"})
    assert page.url.endswith("/checkout/payment-details/"), page.url
    page = visitor.send(visitor.open("/checkout/preview/"), "place_order_form", {})
    assert page.url.endswith("/checkout/thank-you/"), page.url
    found = re.search(r"Order (\d{6})", page.text)
    assert found is not None, "the last page names no order"
    return str(found[1])


def rename_product(visitor: Visitor, number: int, title: str) -> None:
    """Give a product another title, as the merchant."""
    form = visitor.open(f"/dashboard/catalogue/products/{number}/")
    visitor.send(form, "create_update_product_form", {"title": title, "action": "save"})
    found = title_of(visitor, number)
    assert found == title, f"product {number} is still '{found}'"


def write_review(visitor: Visitor, number: int, text: str) -> None:
    """Review a product, as the customer."""
    form = visitor.open(f"/catalogue/product_{number}/reviews/add/")
    visitor.send(form, "add_review_form", {"title": text, "score": "4", "body": text})
    assert text in reviews_of(visitor, number), f"no review '{text}' of product {number}"


def reviews_of(visitor: Visitor, number: int) -> str:
    """Return the page of a product's newest reviews."""
    return visitor.open(f"/catalogue/product_{number}/reviews/?sort_by=recency").text


def upload_picture(visitor: Visitor, number: int, picture: bytes) -> str:
    """Add a picture to a product, as the merchant; return the path it is served at."""
    form = visitor.open(f"/dashboard/catalogue/products/{number}/")
    upload = {"images-1-original": (f"{zlib.crc32(picture):08x}.png", picture, "image/png")}
    visitor.send(form, "create_update_product_form", {"action": "save"}, upload)
    paths = re.findall(r"/media/images/[^\"' ]+\.png", visitor.open(product_page(number)).text)
    served = [path for path in paths if visitor.open(path).content == picture]
    assert served, f"product {number} does not show the picture"
    return str(served[0])


def png(dice: Random) -> bytes:
    """Return a small picture of one colour that no other has."""
    header = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    pixels = (b"\0" + dice.randbytes(3) * 8) * 8
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(pixels)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )


async def _order(subject: Subject, dice: Random) -> str:
    product = dice.choice(PRODUCTS)
    order = await subject.http(CUSTOMER, lambda visitor: place_order(visitor, product))
    return f"order {order} of product {product}"


async def _review(subject: Subject, dice: Random) -> str:
    product, text = dice.choice(PRODUCTS), word(dice)
    await subject.http(CUSTOMER, lambda visitor: write_review(visitor, product, text))
    return f"'{text}' on product {product}"


async def _rename(subject: Subject, dice: Random) -> str:
    product, title = dice.choice(PRODUCTS), word(dice)
    await subject.http(MERCHANT, lambda visitor: rename_product(visitor, product, title))
    return f"product {product} is '{title}'"


async def _picture(subject: Subject, dice: Random) -> str:
    product, picture = dice.choice(PRODUCTS), png(dice)
    path = await subject.http(MERCHANT, lambda visitor: upload_picture(visitor, product, picture))
    return f"product {product} has {path}"


async def _register(subject: Subject, dice: Random) -> str:
    email, password = f"{word(dice)}@example.com", word(dice)

    def register(visitor: Visitor) -> None:
        sent = {"email": email, "password1": password, "password2": password}
        visitor.send(visitor.open("/accounts/register/"), "register_form", sent)
        assert email in visitor.open("/accounts/profile/").text, f"{email} is not logged in"

    await subject.http(None, register)
    return email


async def _fill_basket(subject: Subject, dice: Random) -> str:
    product, quantity = dice.choice(PRODUCTS), str(dice.randint(1, 3))

    def fill(visitor: Visitor) -> None:
        page = visitor.open(product_page(product))
        before = _quantities(visitor, "/basket/")
        visitor.send(page, "add_to_basket_form", {"quantity": quantity})
        after = _quantities(visitor, "/basket/")
        assert after == before + int(quantity), f"the basket holds {after}, before {before}"

    await subject.http(CUSTOMER, fill)
    return f"{quantity} of product {product}"


async def _wish(subject: Subject, dice: Random) -> str:
    product = dice.choice(PRODUCTS)

    def wish(visitor: Visitor) -> None:
        before = _quantities(visitor, _WISH_LIST)
        visitor.send(visitor.open(product_page(product)), f"{_WISH_LIST}add/{product}/", {})
        after = _quantities(visitor, _WISH_LIST)
        assert after == before + 1, f"the wish list holds {after}, before {before}"

    await subject.http(CUSTOMER, wish)
    return f"product {product}"


SHOP = (
    Mutation("order", Kind.HTTP, _order),
    Mutation("review", Kind.HTTP, _review),
    Mutation("rename", Kind.HTTP, _rename),
    Mutation("picture", Kind.HTTP, _picture),
    Mutation("registration", Kind.HTTP, _register),
    Mutation("basket", Kind.HTTP, _fill_basket),
    Mutation("wish list", Kind.HTTP, _wish),
)


def _quantities(visitor: Visitor, path: str) -> int:
    """Return the sum of the quantities that a page's forms ask for."""
    return sum(
        int(value)
        for form in read_page(visitor.open(path).text).forms
        for name, value in form.fields.items()
        if name.endswith("-quantity")
    )
