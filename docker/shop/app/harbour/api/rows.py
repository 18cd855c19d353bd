"""The shop's rows as JSON."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def money(amount: Any) -> str | None:
    """Return an amount in pounds with its pence; JSON's own numbers would lose them."""
    return None if amount is None else f"{amount:.2f}"


def product(row: Any) -> Json:
    """Return a product with its price and stock; a parent has none, its variants have."""
    record = next(iter(row.stockrecords.all()), None)
    return {
        "id": row.pk,
        "title": row.get_title(),
        "upc": row.upc,
        "structure": row.structure,
        "parent": row.parent_id,
        "url": row.get_absolute_url(),
        "is_public": row.is_public,
        "rating": row.rating,
        "price": money(record.price) if record else None,
        "num_in_stock": record.num_in_stock if record else None,
        "num_allocated": record.num_allocated if record else None,
    }


def product_in_full(row: Any) -> Json:
    """Return a product with its text, attributes, categories and variants."""
    values = row.get_attribute_values().select_related("attribute")
    return {
        **product(row),
        "description": row.description,
        "attributes": {value.attribute.name: str(value.value_as_text) for value in values},
        "categories": [category.name for category in row.get_categories()],
        "variants": list(row.children.order_by("pk").values_list("pk", flat=True)),
    }


def category(row: Any) -> Json:
    """Return a category."""
    return {"id": row.pk, "name": row.name, "depth": row.depth, "url": row.get_absolute_url()}


def review(row: Any) -> Json:
    """Return a review."""
    return {
        "id": row.pk,
        "product": row.product_id,
        "score": row.score,
        "title": row.title,
        "body": row.body,
        "reviewer": row.reviewer_name,
        "date": row.date_created,
    }


def customer(row: Any) -> Json:
    """Return a customer with the names of the groups."""
    return {
        "id": row.pk,
        "email": row.email,
        "name": row.get_full_name(),
        "date_joined": row.date_joined,
        "groups": sorted(group.name for group in row.customer_groups.all()),
    }


def group(row: Any) -> Json:
    """Return a customer group."""
    return {
        "id": row.pk,
        "name": row.name,
        "description": row.description,
        "members": row.members.count(),
        "vouchers": sorted(row.vouchers.values_list("code", flat=True)),
    }


def order(row: Any) -> Json:
    """Return an order with its lines."""
    return {
        "number": row.number,
        "customer": row.user.email if row.user else None,
        "status": row.status,
        "date_placed": row.date_placed,
        "shipping": row.shipping_method,
        "total": money(row.total_incl_tax),
        "currency": row.currency,
        "lines": [
            {
                "id": line.pk,
                "product": line.product_id,
                "title": line.title,
                "quantity": line.quantity,
                "price": money(line.line_price_incl_tax),
                "status": line.status,
            }
            for line in row.lines.all()
        ],
    }


def returned(row: Any) -> Json:
    """Return a return."""
    return {
        "id": row.pk,
        "order": row.order.number,
        "line": row.line_id,
        "title": row.line.title,
        "quantity": row.quantity,
        "reason": row.reason,
        "comment": row.comment,
        "status": row.status,
        "refund_amount": money(row.refund_amount),
        "note": row.note,
        "date_requested": row.date_requested,
    }
