from __future__ import annotations

from ipaddress import IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_core.errors import UsageError
from orchestrator.gateway import Resolve, SocketAddress

PORTS = st.integers(1, 65535)
HOSTS = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?(\.[a-z]{2,5}){0,3}", fullmatch=True)
ADDRESSES = st.ip_addresses().map(str)


@given(HOSTS, PORTS, ADDRESSES, PORTS)
def test_what_is_written_is_read_back(host: str, port: int, to: str, at: int) -> None:
    resolve = Resolve(host, port, SocketAddress(to, at))

    assert Resolve.parse(str(resolve)) == resolve


@given(st.text(max_size=60) | st.from_regex(r"[a-z]{1,3}:[0-9]{1,6}:[0-9.:\[\]]{0,12}:[0-9]{1,6}"))
def test_nonsense_is_one_clear_line_or_a_resolve(text: str) -> None:
    try:
        complaint = ""
        resolve = Resolve.parse(text)
        assert ip_address(resolve.to.host) is not None
    except UsageError as error:
        complaint = error.message

    assert len(complaint.splitlines()) <= 1


def test_an_ipv6_address_stands_in_brackets() -> None:
    resolve = Resolve.parse("en.wikipedia.org:443:[::1]:8443")

    assert resolve == Resolve("en.wikipedia.org", 443, SocketAddress("::1", 8443))
    assert str(resolve.to) == "[::1]:8443"
    assert IPv6Address(resolve.to.host).is_loopback


def test_a_host_is_compared_without_case() -> None:
    assert Resolve.parse("En.Wikipedia.ORG:443:127.0.0.1:1").host == "en.wikipedia.org"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "expected HOST:PORT:ADDR:PORT"),
        ("example.org:443:127.0.0.1", "expected HOST:PORT:ADDR:PORT"),
        ("example.org:0:127.0.0.1:1", "'0' is no port (1 to 65535)"),
        ("example.org:443:127.0.0.1:65536", "'65536' is no port (1 to 65535)"),
        ("example.org:443:127.0.0.1:٣", "'٣' is no port (1 to 65535)"),
        ("example.org:https:127.0.0.1:1", "'https' is no port (1 to 65535)"),
        ("example.org:443:localhost:1", "'localhost' is no IP address"),
        ("example.org:443:127.0.0.1:1:2", "'1:2' is no port"),
        ("example.org:443:::1:8443", "expected HOST:PORT:ADDR:PORT"),
        ("example.org:443:[127.0.0.1]:1", "brackets are for IPv6 addresses"),
        ("exa mple.org:443:127.0.0.1:1", "'exa mple.org' is no host name"),
        ("http://example.org:443:127.0.0.1:1", "expected HOST:PORT:ADDR:PORT"),
    ],
)
def test_a_mistake_is_named(text: str, complaint: str) -> None:
    with pytest.raises(UsageError) as caught:
        Resolve.parse(text)

    assert complaint in caught.value.message
