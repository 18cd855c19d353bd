"""Several roles of one site: what the linter asks of a task that has them."""

from __future__ import annotations

from typing import Any

import pytest
from support.tasks.sound_task import ANSWER, PAGE, Edit, checks, findings, look, put

from sites.registry import SiteRegistry

TWO: dict[str, Any] = {
    "worlds": ["offline"],
    "roles": {"shop": ["customer", "merchant"]},
    "start": ["shop:/", {"page": "shop:/dashboard/", "role": "merchant"}],
}


@pytest.mark.parametrize(
    "edit", [put(**TWO), put(**TWO, checks=[ANSWER, look(PAGE, role="merchant")])]
)
def test_two_roles_of_one_site_are_sound(edit: Edit, registry: SiteRegistry) -> None:
    assert findings(edit, registry) == ()


@pytest.mark.parametrize(
    ("edit", "field", "message"),
    [
        (
            put(**{**TWO, "start": ["shop:/"]}),
            "roles.shop",
            "no start page is opened as 'merchant', so nobody can reach that login",
        ),
        (
            put(**{**TWO, "roles": {"shop": ["customer", "king"]}}),
            "roles.shop",
            "unknown role 'king' of site 'shop'",
        ),
        (
            put(**{**TWO, "roles": {"shop": ["customer", "customer"]}}),
            "roles.shop",
            "role 'customer' of site 'shop' stands twice",
        ),
        (
            put(**{**TWO, "start": ["shop:/", {"page": "shop:/", "role": "king"}]}),
            "start.1.role",
            "the task has no role 'king' on 'shop'; it has: customer, merchant",
        ),
        (
            put(**{**TWO, "start": [{"page": "shop:/", "role": "merchant"}]}),
            "start.0.role",
            "the first start page is opened as 'customer'",
        ),
        (
            checks(ANSWER, look(PAGE, role="merchant")),
            "checks.1.locate.role",
            "the task has no role 'merchant' on 'shop'; it has: customer",
        ),
    ],
)
def test_a_mistake_is_named_at_its_field(
    edit: Edit, field: str, message: str, registry: SiteRegistry
) -> None:
    assert any(field in str(one) and message in str(one) for one in findings(edit, registry))
