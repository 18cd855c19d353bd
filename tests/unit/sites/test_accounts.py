from __future__ import annotations

from base64 import b64decode

import pytest
from pydantic import TypeAdapter, ValidationError

from sites.accounts import ApiLogin, BasicApi, HeaderApi, Login, Role

LOGIN = Login(
    path="/wp-login.php",
    fields={"log": "{username}"},
    ends=("/wp-login.php?action=logout", "/profile.php"),
)
PROOF = {"path": "/api/me", "contains": "emma"}


@pytest.mark.parametrize(
    "target",
    [
        "/wp-login.php?action=logout",
        "/wp-login.php?action=logout&_wpnonce=9f1c",
        "http://cms.arena.test/wp-login.php?_wpnonce=9f1c&action=logout",
        "/profile.php",
        "/profile.php?user=3",
    ],
)
def test_a_request_with_path_and_parameters_of_an_end_ends_the_login(target: str) -> None:
    assert LOGIN.is_ended_by(target)


@pytest.mark.parametrize(
    "target",
    [
        "/wp-login.php",
        "/wp-login.php?action=lostpassword",
        "/wp-login.php?action=",
        "/wp-login.php?reaction=logout",
        "/blog/wp-login.php?action=logout",
        "/?next=/profile.php",
        "http://cms.arena.test/",
    ],
)
def test_any_other_request_leaves_the_login(target: str) -> None:
    assert not LOGIN.is_ended_by(target)


def test_a_login_without_ends_is_ended_by_nothing() -> None:
    assert not Login(path="/login", fields={"user": "x"}).is_ended_by("/login")


def test_a_basic_login_is_what_rfc_7617_says() -> None:
    login = BasicApi(scheme="basic", username="emma", secret="pass: ü", proof=PROOF)
    scheme, _, pair = login.headers()["Authorization"].partition(" ")
    assert scheme == "Basic"
    assert b64decode(pair).decode() == "emma:pass: ü"


def test_a_key_goes_into_its_header() -> None:
    login = HeaderApi(scheme="header", header="X-Redmine-API-Key", secret="k1", proof=PROOF)
    assert login.headers() == {"X-Redmine-API-Key": "k1"}


@pytest.mark.parametrize(
    "given",
    [
        {"scheme": "digest", "secret": "x", "proof": PROOF},
        {"scheme": "basic", "username": "a:b", "secret": "x", "proof": PROOF},
        {"scheme": "header", "header": "X-Key: 1", "secret": "x", "proof": PROOF},
        {"scheme": "header", "header": "X-Key", "secret": "", "proof": PROOF},
        {"scheme": "header", "header": "X-Key", "secret": "x"},
    ],
)
def test_what_no_request_could_carry_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(ApiLogin).validate_python(given)


def test_a_secret_is_not_shown_with_its_login() -> None:
    login = HeaderApi(scheme="header", header="X-Key", secret="very secret", proof=PROOF)
    assert "very secret" not in repr(login)


@pytest.mark.parametrize(
    ("login", "field"),
    [
        ({"path": "/x"}, "fields"),
        ({"path": "/x", "fields": {"a": "b"}, "value": "v"}, "value"),
        ({"path": "/x", "header": "X-Auto"}, "value"),
        ({"path": "/x", "header": "X-Auto", "value": "{user}"}, "value"),
        ({"path": "/x", "header": "X-Auto", "value": "v", "form": "f"}, "form"),
    ],
)
def test_a_mistake_in_a_login_is_told_of_the_login_that_is_meant(
    login: dict[str, object], field: str
) -> None:
    role = {"username": "a", "password": "b", "proof": {"path": "/", "contains": "x"}}
    with pytest.raises(ValidationError) as refused:
        Role.model_validate({**role, "login": login})
    [error] = refused.value.errors()
    assert error["loc"][-1] == field
