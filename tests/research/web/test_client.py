"""The client: what it gives back, and the limits of what it takes."""

from __future__ import annotations

import asyncio
import gzip
import ipaddress
import ssl
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from research.web import client, connect, hosts, resolve
from research.web.client import content_type_of, get
from research.web.errors import WebError
from tests.fakes.web import FakeWeb, answer, drip
from tests.rig.memory import Growth

from .certificate import server_context


async def code_of(url: str, **options: Any) -> str:
    with pytest.raises(WebError) as caught:
        await get(url, **options)
    assert caught.value.message.endswith(".")
    return caught.value.code


async def test_a_page_comes_with_where_what_and_when(web: FakeWeb) -> None:
    web.redirect("/old", "/new?a=1#part", "301 Moved Permanently")
    web.page("/new", "你好", "Text/HTML; Charset=UTF-8; x=y", X_More="yes")
    fetched = await get(web.url("/old"))
    assert fetched.url == web.url("/new?a=1")
    assert (fetched.status, fetched.content_type, fetched.charset) == (200, "text/html", "utf-8")
    assert fetched.body.decode() == "你好"
    assert fetched.headers["x-more"] == "yes"
    assert abs(fetched.at.timestamp() - time.time()) < 30
    assert [asked.method for asked in web.asked] == ["GET", "GET"]


async def test_each_kind_of_redirect_is_followed_and_a_cookie_is_not_kept(web: FakeWeb) -> None:
    web.page("/end", "here")
    for status in ("301 M", "302 F", "303 S", "307 T", "308 P"):
        path = f"/{status[:3]}"
        whole = answer(b"", status, Location="/end", Set_Cookie="a=b")
        web.raw(path, lambda asked, whole=whole: [whole])  # type: ignore[misc]
        assert (await get(web.url(path))).body == b"here"
    assert not any("cookie" in asked.headers for asked in web.asked)


async def test_keys_for_one_site_are_not_sent_to_another(web: FakeWeb, settings: Any) -> None:
    with FakeWeb() as other:
        settings.FETCH_PORTS = [*settings.FETCH_PORTS, other.port]
        web.redirect("/here", "/there")
        web.redirect("/there", other.url("/x"))
        other.page("/x", "other")
        await get(web.url("/here"), headers={"Authorization": "Bearer k"})
    assert [asked.headers.get("authorization") for asked in web.asked] == ["Bearer k", "Bearer k"]
    assert "authorization" not in other.asked[0].headers


async def test_five_redirects_are_followed_and_no_sixth(web: FakeWeb) -> None:
    for number in range(6):
        web.redirect(f"/{number}", f"/{number + 1}")
    web.page("/6", "end")
    assert (await get(web.url("/1"))).body == b"end"
    assert await code_of(web.url("/0")) == "redirect"


async def test_a_name_that_is_not_there_is_unreachable(web: FakeWeb) -> None:
    assert await code_of("http://no-such-name.invalid/") == "unreachable"


async def test_a_port_where_nobody_listens_is_unreachable_at_once(
    web: FakeWeb, settings: Any
) -> None:
    settings.FETCH_PORTS = [1]
    began = time.monotonic()
    assert await code_of("http://127.0.0.1:1/") == "unreachable"
    assert time.monotonic() - began < 1


async def test_a_resolver_that_hangs_holds_up_nobody(
    web: FakeWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolve, "LOOKUP_S", 0.3)
    system = resolve.addresses_of

    def look_up(host: str, port: int) -> Any:
        if host.startswith("slow"):
            time.sleep(1.0)
        return system(host, port)

    monkeypatch.setattr(resolve, "addresses_of", look_up)
    web.page("/", "fine")
    began = time.monotonic()
    slow = [asyncio.create_task(code_of(f"http://slow{n}.test/")) for n in range(8)]
    assert (await get(web.url("/"))).body == b"fine"
    assert time.monotonic() - began < 0.3
    assert set(await asyncio.gather(*slow)) == {"unreachable"}
    assert time.monotonic() - began < 0.9


# --- certificates ------------------------------------------------------------------------------
async def test_tls_is_for_the_name_and_not_for_the_address(
    web: FakeWeb, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, authority = server_context(tmp_path, "site.test")
    names: list[str | None] = []
    context.sni_callback = lambda _socket, name, _context: names.append(name)
    trust = ssl.create_default_context(cafile=str(authority))
    monkeypatch.setattr(connect, "trust", lambda: trust)
    monkeypatch.setattr(resolve, "addresses_of", _all_are_this_machine)
    with FakeWeb(tls=context) as secure:
        settings.FETCH_PORTS = [secure.port]
        secure.page("/", "secret")
        fetched = await get(secure.url("/", "site.test"))
        assert fetched.body == b"secret"
        assert names == ["site.test"]
        assert secure.asked[0].headers["host"] == f"site.test:{secure.port}"
        assert await code_of(secure.url("/", "other.test")) == "unreachable"
        monkeypatch.setattr(connect, "trust", ssl.create_default_context)
        assert await code_of(secure.url("/", "site.test")) == "unreachable"


def _all_are_this_machine(host: str, port: int) -> list[Any]:
    return [ipaddress.ip_address("127.0.0.1")]


def test_public_authorities_are_trusted() -> None:
    assert len(connect.trust().get_ca_certs()) > 50
    assert connect.trust().verify_mode is ssl.CERT_REQUIRED
    assert connect.trust().check_hostname


# --- what is packed ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("gzip", gzip.compress),
        ("x-gzip", gzip.compress),
        ("GZIP", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", lambda data: zlib.compress(data)[2:-4]),
        ("identity", bytes),
        ("", bytes),
    ],
)
async def test_packed_pages_are_unpacked(web: FakeWeb, encoding: str, pack: Any) -> None:
    text = b"All bees dance. " * 10_000
    web.page("/", pack(text), Content_Encoding=encoding)
    assert (await get(web.url("/"))).body == text


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("foo", b"x"),
        ("br", b"x"),
        ("gzip, gzip", gzip.compress(gzip.compress(b"x"))),
        ("gzip", b"this is not packed"),
        ("deflate", b"\xff\xff\xff\xff"),
    ],
)
async def test_what_cannot_be_unpacked_is_refused(web: FakeWeb, encoding: str, body: bytes) -> None:
    web.page("/", body, Content_Encoding=encoding)
    assert await code_of(web.url("/")) == "bad_answer"


# --- limits ------------------------------------------------------------------------------------
def endless(first: bytes, piece: bytes = b"x" * 65_536) -> Iterator[bytes]:
    yield first
    for _ in range(4_000):  # 250 MB, were anybody to take it
        yield piece


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


async def test_bodies_without_end_are_cut_at_the_limit_and_memory_stays_flat(
    web: FakeWeb,
) -> None:
    bomb = gzip.compress(bytes(100_000_000))
    chunk = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
    web.raw("/plain", lambda asked: endless(HEAD + b"\r\n"))
    web.raw("/chunked", lambda asked: endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", chunk))
    web.raw("/told", lambda asked: endless(HEAD + b"Content-Length: 200000000\r\n\r\n"))
    web.page("/bomb", bomb, Content_Encoding="gzip")
    web.page("/deflate-bomb", zlib.compress(bytes(100_000_000)), Content_Encoding="deflate")
    with Growth() as growth:
        for path in ("/plain", "/chunked", "/told", "/bomb", "/deflate-bomb"):
            assert await code_of(web.url(path)) == "too_large"
    assert growth.bytes < 20_000_000


async def test_a_body_of_just_the_limit_is_taken(web: FakeWeb) -> None:
    web.page("/", b"x" * 1000)
    web.page("/packed", gzip.compress(b"x" * 1000), Content_Encoding="gzip")
    for path in ("/", "/packed"):
        assert len((await get(web.url(path), max_bytes=1000)).body) == 1000
        assert await code_of(web.url(path), max_bytes=999) == "too_large"


async def test_a_kind_that_is_not_wanted_is_not_taken(web: FakeWeb) -> None:
    web.raw("/", lambda asked: endless(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n"))
    wanted = {"text/html": 10}
    code = await code_of(web.url("/"), max_bytes=lambda kind: wanted.get(kind, 0))
    assert code == "unsupported"


async def test_a_drip_ends_at_the_deadline_of_the_whole(web: FakeWeb) -> None:
    web.raw("/body", lambda asked: drip(HEAD + b"\r\n"))
    web.raw("/headers", lambda asked: drip(HEAD + b"X-Slow: "))
    web.raw("/status", lambda asked: drip(b"H"))
    web.raw("/silence", lambda asked: drip(b"", b""))
    for path in ("/body", "/headers", "/status", "/silence"):
        began = time.monotonic()
        assert await code_of(web.url(path), total_s=0.6) in ("too_slow", "bad_answer")
        assert time.monotonic() - began < 1.5


async def test_redirects_share_one_deadline(web: FakeWeb) -> None:
    def late(path: str) -> Iterator[bytes]:
        time.sleep(0.25)
        yield answer(b"", "302 Found", Location=path)

    for number in range(5):
        web.raw(f"/{number}", lambda asked, to=f"/{number + 1}": late(to))  # type: ignore[misc]
    began = time.monotonic()
    assert await code_of(web.url("/0"), total_s=0.6) == "too_slow"
    assert time.monotonic() - began < 1.2


async def test_the_deadline_is_thirty_seconds() -> None:
    assert client.TOTAL_S == 30


async def test_headers_without_end_are_refused(web: FakeWeb) -> None:
    many = b"".join(b"X-%d: some value\r\n" % n for n in range(10_000))
    web.raw("/many", lambda asked: [HEAD + many + b"\r\nbody"])
    web.raw("/long", lambda asked: [HEAD + b"X-Long: " + b"x" * 1_000_000 + b"\r\n\r\nbody"])
    web.raw("/endless", lambda asked: endless(HEAD + b"X-Long: "))
    with Growth() as growth:
        for path in ("/many", "/long", "/endless"):
            assert await code_of(web.url(path)) == "bad_answer"
    assert growth.bytes < 20_000_000


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nx",
        b"HTTP/1.1 200 OK\r\nbad header\r\n\r\nx",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
)
async def test_what_is_not_http_is_a_bad_answer(web: FakeWeb, sent: bytes) -> None:
    web.raw("/", lambda asked: [sent])
    assert await code_of(web.url("/")) in ("bad_answer", "unreachable")


async def test_more_than_was_announced_is_left_alone(web: FakeWeb) -> None:
    web.raw("/", lambda asked: [HEAD + b"Content-Length: 5\r\n\r\nfirst, and much more"])
    assert (await get(web.url("/"))).body == b"first"


# --- manners -----------------------------------------------------------------------------------
async def test_two_at_once_ask_one_site_and_no_more(web: FakeWeb) -> None:
    def slow(asked: Any) -> Iterator[bytes]:
        time.sleep(0.1)
        yield answer(b"fine")

    web.raw("/", slow)
    await asyncio.gather(*(get(web.url("/")) for _ in range(8)))
    assert web.most_open == 2
    assert web.connections == 8


async def test_requests_to_one_site_keep_apart_and_others_do_not_wait(
    web: FakeWeb, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts, "APART_S", 0.15)
    web.page("/", "a")
    with FakeWeb() as other:
        settings.FETCH_PORTS = [*settings.FETCH_PORTS, other.port]
        other.page("/", "b")
        began = time.monotonic()
        many = [asyncio.create_task(get(web.url("/"))) for _ in range(4)]
        await get(other.url("/"))
        assert time.monotonic() - began < 0.15
        await asyncio.gather(*many)
    assert time.monotonic() - began >= 0.45


@pytest.mark.parametrize("after", ["1", "Thu, 01 Jan 2099 00:00:00 GMT", "soon", None])
async def test_a_site_that_asks_to_wait_is_not_asked_again_before(
    web: FakeWeb, after: str | None
) -> None:
    more = {"Retry_After": after} if after else {}
    web.page("/busy", "", status="429 Too Many Requests", **more)
    web.page("/", "fine")
    with pytest.raises(WebError) as caught:
        await get(web.url("/busy"))
    assert (caught.value.code, caught.value.status) == ("site_busy", 429)
    assert await code_of(web.url("/")) == "site_busy"
    assert web.paths() == ["/busy"]
    if after == "1":
        await asyncio.sleep(1.1)
        assert (await get(web.url("/"))).body == b"fine"


async def test_one_who_goes_away_gives_up_the_turn_and_the_connection(web: FakeWeb) -> None:
    web.raw("/", lambda asked: drip(HEAD + b"\r\n"))
    web.page("/fine", "fine")
    gone = [asyncio.create_task(get(web.url("/"))) for _ in range(3)]
    await asyncio.sleep(0.3)
    for task in gone:
        task.cancel()
    await asyncio.gather(*gone, return_exceptions=True)
    assert (await get(web.url("/fine"))).body == b"fine"
    async with asyncio.timeout(2):
        while web.open:
            await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("", ("", None)),
        ("text/html", ("text/html", None)),
        ("TEXT/HTML;charset=GBK", ("text/html", "gbk")),
        ("text/html; charset='utf-8'", ("text/html", "'utf-8'")),
        ('text/html; charset="Big5"', ("text/html", "big5")),
        ("nonsense", ("", None)),
        ("text/html; charset=" + "x" * 500, ("text/html", "x" * 40)),
    ],
)
def test_a_content_type_is_taken_apart(header: str, expected: tuple[str, str | None]) -> None:
    assert content_type_of(header) == expected
