"""Which addresses may be connected to, and which URLs name a page."""

from __future__ import annotations

import ipaddress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from research.web.address import may_connect
from research.web.errors import WebError
from research.web.target import MAX_LENGTH, target_of

PUBLIC = ["93.184.216.34", "1.1.1.1", "8.8.8.8", "2606:4700::1111", "2a00:1450:4001::1"]
PRIVATE = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24", "192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
    "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32", "168.63.129.16/32",
    "::/96", "::1/128", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8", "100::/64",
    "2001::/32", "2001:db8::/32", "2002::/16", "64:ff9b:1::/48", "3fff::/20", "5f00::/16",
]  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_may_be_connected_to(address: str) -> None:
    assert may_connect(ipaddress.ip_address(address))


@pytest.mark.parametrize("network", PRIVATE)
@given(at=st.integers(0, 2**128))
@settings(max_examples=25)
def test_no_address_of_a_network_that_is_not_public_may(network: str, at: int) -> None:
    whole = ipaddress.ip_network(network)
    address = whole[at % whole.num_addresses]
    assert not may_connect(address)
    if isinstance(address, ipaddress.IPv4Address):
        for prefix in ("::ffff:0:0", "64:ff9b::"):
            inside = ipaddress.IPv6Address(int(ipaddress.IPv6Address(prefix)) | int(address))
            assert not may_connect(inside)


@given(st.integers(0, 2**32 - 1).map(ipaddress.IPv4Address))
def test_every_address_that_python_calls_private_is_refused(
    address: ipaddress.IPv4Address,
) -> None:
    if not address.is_global or address.is_multicast:
        assert not may_connect(address)


def test_a_public_address_behind_a_translator_may_be_connected_to() -> None:
    assert may_connect(ipaddress.ip_address("64:ff9b::1.1.1.1"))
    assert may_connect(ipaddress.ip_address("::ffff:1.1.1.1"))


def test_a_site_may_allow_a_network_and_nothing_else_with_it(settings: Any) -> None:
    settings.FETCH_ALLOW_NETWORKS = ["10.1.0.0/16", "fd00:1::/32"]
    for address in ("10.1.2.3", "::ffff:10.1.2.3", "fd00:1::5"):
        assert may_connect(ipaddress.ip_address(address))
    for address in ("10.2.0.1", "127.0.0.1", "fd00:2::5", "::1"):
        assert not may_connect(ipaddress.ip_address(address))


# --- URLs --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("http://example.com", "http://example.com/"),
        ("HTTPS://Example.COM.:443/a#part", "https://example.com/a"),
        ("http://example.com:80/?q=1", "http://example.com/?q=1"),
        (" http://example.com/ä b?ü=é ", "http://example.com/%C3%A4%20b?%C3%BC=%C3%A9"),
        ("http://example.com/%E4%BD%A0", "http://example.com/%E4%BD%A0"),
        ("http://münchen.example/", "http://xn--mnchen-3ya.example/"),
        ("http://例子.测试/首页", "http://xn--fsqu00a.xn--0zwm56d/%E9%A6%96%E9%A1%B5"),
        ("http://ｅｘａｍｐｌｅ。com/", "http://example.com/"),
        ("http://[2606:4700::1]/", "http://[2606:4700::1]/"),
        ("http://my_host.example/", "http://my_host.example/"),
    ],
)
def test_a_url_is_made_plain(url: str, plain: str) -> None:
    assert target_of(url).url == plain


@pytest.mark.parametrize(
    "url",
    [
        "", "bees", "//example.com/", "file:///etc/passwd", "gopher://example.com/", "ftp://a/",
        "data:text/html,hi", "dict://example.com/", "ws://example.com/", "jar:http://a!/b",
        "javascript:alert(1)", "http:///path", "http://", "http://a b/", "http://a..b/",
        "http://ann@example.com/", "http://ann:key@example.com/", "http://@example.com/",
        "http://example.com\\@127.0.0.1/", "http://example.com/\r\nHost: evil", "http://[::1",
        "http://[fe80::1%25eth0]:x/", "http://example.com:99999/", "http://exa\x00mple.com/",
        "http://-/", "http://" + "a" * 300 + "/", "http://example.com/" + "a" * MAX_LENGTH,
        "http://example.com/" + "ä" * (MAX_LENGTH // 3),
    ],
)  # fmt: skip
def test_what_names_no_page_is_refused(url: str) -> None:
    with pytest.raises(WebError) as caught:
        target_of(url)
    assert caught.value.code == "bad_url"


@pytest.mark.parametrize("url", ["http://example.com:22/", "https://example.com:8443/"])
def test_other_ports_than_those_of_the_web_are_refused(url: str) -> None:
    with pytest.raises(WebError) as caught:
        target_of(url)
    assert caught.value.code == "blocked_address"


def test_an_address_with_a_zone_is_refused() -> None:
    with pytest.raises(WebError) as caught:
        target_of("http://[fe80::1%eth0]/")
    assert caught.value.code == "blocked_address"


@given(st.text(max_size=80))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_follows_http_is_a_url_of_ascii_or_refused(text: str) -> None:
    try:
        target = target_of(f"http://{text}")
    except WebError:
        return
    assert target.url.isascii() and "@" not in target.site and "#" not in target.url
    assert target_of(target.url) == target
