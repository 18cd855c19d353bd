"""Secrets of requests are not kept, and what is none stands as it came."""

from __future__ import annotations

import pytest

from evaluators.network import reveals
from orchestrator.browser.session.request_secrets import RequestSecrets

FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("user=ada&password=hunter2%21&b=", FORM),
        ('{"user": "ada", "auth": {"api_key": "hunter2!"}, "n": [1]}', "application/json"),
        ('{"password": ["hunter2!"]}', ""),
        ("cardNumber=hunter2&month=4", FORM),
        ("cc-number=hunter2", FORM),
        ('{"payment": {"card": {"cvc": "hunter2"}}}', "application/json"),
        ("account_number=hunter2&security_code=hunter2&user_iban=hunter2", FORM),
        (
            '--x\r\nContent-Disposition: form-data; name="password"\r\n\r\nhunter2!\r\n--x--\r\n',
            "multipart/form-data; boundary=x",
        ),
        (
            '--x\r\nContent-Disposition: file; name="f"; filename=""\r\n\r\nhunter2\r\n--x--\r\n',
            "multipart/form-data; boundary=x",
        ),
    ],
)
def test_a_body(text: str, kind: str) -> None:
    kept = RequestSecrets().body(text, kind)
    assert "hunter2" not in kept
    assert "redacted.sha256." in kept
    assert RequestSecrets().body(text.replace("password", "colour"), "text/plain")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a=b%20c&&d&=e", FORM),
        ("card_notes=hello&ccc=1&gift_card=blue&cvcs=a&ribani=b&account=7", FORM),
        ('{"a" : 1}', "application/json"),
        ("{[", ""),
        ("plain", "text/plain"),
    ],
)
def test_a_body_without_secrets_stands_as_it_came(text: str, kind: str) -> None:
    assert RequestSecrets().body(text, kind) == text


def test_headers_and_cookies() -> None:
    kept = RequestSecrets().headers(
        {
            "authorization": "Bearer zzqq",
            "accept": "text/html",
            "cookie": "PHPSESSID=zzqq; lang=en; x=0123456789abcdef01; msg=%5B%7B%22text%22%3A%22ok",
            "set-cookie": "id=7; HttpOnly\nmsg=You%20added%20it; Path=/",
            "referer": "http://s/?token=zzqq&q=tea",
        }
    )
    assert "zzqq" not in "".join(kept.values())
    assert kept["accept"] == "text/html"
    assert "lang=en" in kept["cookie"]
    assert "msg=%5B%7B%22text" in kept["cookie"]
    assert kept["set-cookie"].endswith("\nmsg=You%20added%20it; Path=/")
    assert "id=7" not in kept["set-cookie"]
    assert kept["referer"].endswith("&q=tea")


def test_of_somebodys_own_profile_every_cookie_is_marked() -> None:
    kept = RequestSecrets(hides_cookies=True).headers(
        {"cookie": "lang=en; theme=dark", "set-cookie": "theme=light; Path=/"}
    )
    assert not any(value in "".join(kept.values()) for value in ("=en", "dark", "light"))
    assert kept["set-cookie"].endswith("; Path=/")


def test_equal_secrets_have_equal_marks_in_one_episode_only() -> None:
    one, other = RequestSecrets(), RequestSecrets()
    mark = one.body("token=abc", FORM).partition("=")[2]
    assert one.body("token=abc", FORM).endswith(mark)
    assert not other.body("token=abc", FORM).endswith(mark)
    assert reveals(mark, "abc")
    assert not reveals(mark, "abd")
