"""The text of a page: its article, in whatever letters, and what bombs and nonsense come to."""

from __future__ import annotations

import asyncio
import io
import json
import random
import time
import zipfile
import zlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from research.library.unreadable import REASONS, Unreadable
from research.sandbox import Limits, SandboxError, acall, call
from research.web import page as pages
from research.web.errors import WebError
from research.web.extract import MAX_CHARS, Extracted, extract
from research.web.kinds import FILE_BYTES, PAGE_BYTES, Kind, kind_of, most_bytes
from tests.fakes.web import FakeWeb
from tests.rig.memory import Growth

URL = "http://site.test/page"


def read(body: str | bytes, kind: Kind = "html", charset: str | None = None) -> Extracted:
    data = body.encode() if isinstance(body, str) else body
    return extract(data, kind, charset, URL)


def holds_together(made: Extracted) -> None:
    """Check what everything that is cited stands on."""
    last = 0
    for passage in made.passages:
        assert last <= passage.start < passage.end <= len(made.text)
        assert made.text[passage.start : passage.end].strip()
        last = passage.end


# --- articles ----------------------------------------------------------------------------------
ARTICLE = """<html><head><title>Bees – The Bee Site</title></head><body>
<nav><ul><li><a href="/a">Home</a></li><li><a href="/b">Shop</a></li></ul></nav>
<div class="cookie">We use cookies. Accept all?</div><main><article><h1>Bees</h1>
<p>Bees dance to tell the others where food is; there are <b>two</b> dances <code>a</code>.</p>
<h2>1.2 The waggle dance</h2><p>A bee that found food far away runs straight and waggles.</p>
<h3>Distance</h3><p>A second of waggling is about one kilometre of flight.</p>
<ul><li>First point</li><li>Second point</li></ul>
<table><tr><th>Race</th><th>Time</th></tr><tr><td>Carnica</td><td>1.1 s</td></tr></table>
<h2>The round dance</h2><p>Food that is near is told by running in circles.</p>
<script>document.write("evil")</script><style>p { color: red }</style>
<img src="https://evil.test/?d=1" alt="A bee"><a href="javascript:alert(1)">click here</a>
</article></main><footer>Imprint. All rights reserved.</footer></body></html>"""


def test_an_article_keeps_its_headings_and_loses_what_is_around_it() -> None:
    made = read(ARTICLE)
    holds_together(made)
    assert made.title == "Bees"
    for noise in ("cookies", "Shop", "Imprint", "evil", "color", "javascript:"):
        assert noise not in made.text
    paths = {passage.headings for passage in made.passages}
    assert ("Bees",) in paths
    assert ("Bees", "The waggle dance", "Distance") in paths
    assert ("Bees", "The round dance") in paths
    assert "Race: Carnica | Time: 1.1 s" in made.text
    assert "there are two dances a." in made.text
    assert "- Second point" in made.text


def test_a_page_without_an_article_is_read_as_it_is() -> None:
    made = read("<html><head><title>Hours</title></head><body><div>Open 9–17</div></body></html>")
    assert made.title == "Hours"
    assert "Open 9–17" in made.text


def test_a_year_in_the_text_is_no_date_of_the_page() -> None:
    made = read("<article><h1>T</h1><p>In 2019 and on 2019-05-06 bees were counted.</p></article>")
    assert made.published == ""


@pytest.mark.parametrize(
    ("head", "published"),
    [
        ('<meta property="article:published_time" content="2024-03-05T10:00:00Z">', "2024-03-05"),
        ('<meta name="date" content="2024-03-05">', "2024-03-05"),
        (
            '<script type="application/ld+json">{"datePublished":"2024-03-05"}</script>',
            "2024-03-05",
        ),
        ('<meta name="date" content="<script>alert(1)</script>">', ""),
    ],
)
def test_the_date_that_a_page_gives_itself_is_kept(head: str, published: str) -> None:
    assert read(ARTICLE.replace("<head>", f"<head>{head}")).published == published


# --- letters -----------------------------------------------------------------------------------
CHINESE = "蜜蜂用舞蹈告诉同伴食物在哪里。跑直线的方向就是食物的方向，时间越长，食物就越远。"
TRADITIONAL = "蜜蜂用舞蹈告訴同伴食物在哪裡。跑直線的方向就是食物的方向，時間越長，食物就越遠。"
JAPANESE = "ミツバチは踊りで仲間に食べ物のある場所を教える。まっすぐ走る向きが食べ物の向きである。"
KOREAN = "꿀벌은 춤으로 동료들에게 먹이가 있는 곳을 알린다. 곧게 달리는 방향이 먹이의 방향이다."
FRENCH = (
    "L’abeille danse pour dire où se trouve la nourriture : c’est très précis, à un degré près."
)
RUSSIAN = "Пчёлы танцуют, чтобы рассказать, где находится еда, и остальные следуют за танцем."
LETTERS = [
    (CHINESE, "gb18030"), (CHINESE, "gbk"), (CHINESE, "gb2312"), (CHINESE + "😀𠮷", "gb18030"),
    (TRADITIONAL, "big5"), (TRADITIONAL, "utf-8"), (JAPANESE, "shift_jis"),
    (JAPANESE, "euc-jp"), (JAPANESE, "iso-2022-jp"), (KOREAN, "euc-kr"), (KOREAN, "cp949"),
    (FRENCH, "windows-1252"), (FRENCH, "iso-8859-15"), (RUSSIAN, "koi8-r"),
    (RUSSIAN, "windows-1251"),
]  # fmt: skip


def body_of(text: str, encoding: str, meta: str = "") -> bytes:
    text = text.replace("’", "'") if encoding.startswith("iso-8859") else text
    page = f"<html><head>{meta}<title>T</title></head><body><h1>T</h1><p>{text}</p></body></html>"
    return page.encode(encoding)


@pytest.mark.parametrize(("text", "encoding"), LETTERS)
def test_letters_are_read_as_the_header_says(text: str, encoding: str) -> None:
    made = read(body_of(text, encoding), charset=encoding)
    assert made.text.replace("'", "’").endswith(text)


@pytest.mark.parametrize(("text", "encoding"), LETTERS)
@pytest.mark.parametrize(
    "meta",
    ['<meta charset="{}">', '<meta http-equiv=Content-Type content="text/html; charset={}">'],
)
def test_letters_are_read_as_the_page_says(text: str, encoding: str, meta: str) -> None:
    made = read(body_of(text, encoding, meta.format(encoding)))
    assert made.text.replace("'", "’").endswith(text)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [(CHINESE, "gb18030"), (TRADITIONAL, "big5"), (JAPANESE, "shift_jis"), (JAPANESE, "euc-jp"),
     (KOREAN, "euc-kr"), (FRENCH, "windows-1252"), (CHINESE, "utf-8")],
)  # fmt: skip
@pytest.mark.parametrize("said", [None, "nonsense-17", "iso-8859-1", "utf-8"])
def test_letters_are_guessed_where_nothing_true_is_said(
    text: str, encoding: str, said: str | None
) -> None:
    assert read(body_of(text, encoding), charset=said).text.endswith(text)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_wide_letters_are_read(encoding: str) -> None:
    charset = encoding if encoding.endswith("e") else None
    assert read(body_of(CHINESE, encoding), charset=charset).text.endswith(CHINESE)


@pytest.mark.parametrize("body", [b"\xff\xfe\xfd" * 50, b"<p>\xc3\x28\xa0\xa1 text</p>", b"\x80"])
def test_bytes_that_are_no_letters_are_replaced_or_refused(body: bytes) -> None:
    try:
        made = read(body, charset="utf-8")
    except Unreadable as error:
        assert error.code in REASONS
    else:
        holds_together(made)
        made.text.encode()


# --- other kinds -------------------------------------------------------------------------------
def test_plain_text_is_read_by_paragraph() -> None:
    made = read("First words here, that are a sentence.\n\nSecond words here, too.\n", "text")
    holds_together(made)
    assert "Second words here" in made.text


def test_a_listing_is_read_as_it_is() -> None:
    code = "\n".join(f"def f{n}(x): return x + {n}" for n in range(50))
    assert "def f49(x): return x + 49" in read(code, "text").text


def test_json_is_read_in_lines_and_what_is_none_as_it_is() -> None:
    made = read(json.dumps({"蜜蜂": ["dance", 1.5]}), "json")
    holds_together(made)
    assert '"蜜蜂": [ "dance", 1.5 ]' in made.text
    assert "{broken" in read('{broken: "json', "json").text


def test_markdown_has_headings() -> None:
    body = b"# Bees\n\n## Dances\n\nThey dance in the dark.\n"
    made = extract(body, "text", None, "http://site.test/a/README.md")
    assert made.passages[-1].headings == ("Bees", "Dances")


def test_a_pdf_is_read_by_page() -> None:
    made = read(pdf("Bees dance to tell the others where food is."), "pdf")
    holds_together(made)
    assert "Bees dance to tell the others" in made.text
    assert made.passages[0].headings[-1] == "Page 1"


@pytest.mark.parametrize(
    ("content_type", "url", "body", "kind"),
    [
        ("text/html", "http://a/", b"<p>", "html"),
        ("", "http://a/", b"  <!DOCTYPE html><p>", "html"),
        ("", "http://a/", b"words", "text"),
        ("text/plain", "http://a/x", b"words", "text"),
        ("text/plain", "http://a/x", b"<html><p>", "html"),
        ("text/html", "http://a/x", b"%PDF-1.7", "pdf"),
        ("application/octet-stream", "http://a/x.pdf?a=b", b"%PDF-1.7", "pdf"),
        ("application/pdf", "http://a/x.pdf", b"<html>Log in first", "html"),
        ("application/octet-stream", "http://a/x.md", b"# Hi", "text"),
        ("application/ld+json", "http://a/", b"{}", "json"),
        ("application/atom+xml", "http://a/", b"<feed>", "html"),
    ],
)
def test_the_kind_is_told_by_the_body_then_by_the_site_then_by_the_name(
    content_type: str, url: str, body: bytes, kind: str
) -> None:
    assert kind_of(content_type, url, body) == kind


def test_kinds_that_are_no_text_are_not_fetched() -> None:
    for kind in ("image/png", "image/svg+xml", "video/mp4", "application/zip", "font/woff2"):
        assert most_bytes(kind) == 0
    assert most_bytes("text/html") == PAGE_BYTES == 5_000_000
    assert most_bytes("application/pdf") == most_bytes("") == FILE_BYTES


# --- bombs and nonsense ------------------------------------------------------------------------
def pdf(text: str) -> bytes:
    """Return a small PDF of one page."""
    stream = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET".encode()
    return pdf_of(b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream))


def pdf_of(contents: bytes) -> bytes:
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        contents,
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out = io.BytesIO(b"%PDF-1.4\n")
    out.seek(0, io.SEEK_END)
    places = []
    for number, part in enumerate(parts, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%b\nendobj\n" % (number, part))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(parts) + 1))
    for place in places:
        out.write(b"%010d 00000 n \n" % place)
    out.write(b"trailer << /Size %d /Root 1 0 R >>\n" % (len(parts) + 1))
    out.write(b"startxref\n%d\n%%%%EOF\n" % start)
    return out.getvalue()


def flate_bomb(rounds: int, size: int) -> bytes:
    data = bytes(size)
    for _ in range(rounds):
        data = zlib.compress(data, 9)
    filters = b"/FlateDecode " * rounds
    head = b"<< /Length %d /Filter [%b] >>" % (len(data), filters)
    return pdf_of(head + b"\nstream\n" + data + b"\nendstream")


def zip_bomb(size: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("[Content_Types].xml", "<Types/>")
        made.writestr("word/document.xml", bytes(size))
    return out.getvalue()


LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "haha">'
    + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 20}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + "]><svg><text>&i;</text></svg>"
)
TIGHT = Limits(wall_s=3, cpu_s=2, memory_bytes=400_000_000, result_bytes=32_000_000)
BOMBS: dict[str, tuple[bytes, Kind]] = {
    "nested": (b"<div>" * 200_000 + b"words at the bottom", "html"),
    "nested inline": (b"<p>" + b"<b>" * 300_000 + b"words", "html"),
    "nested lists": (b"<ul><li>" * 100_000 + b"words", "html"),
    "nested tables": (b"<table><tr><td>" * 20_000 + b"words", "html"),
    "attributes": (
        b"<p " + b" ".join(b"a%d=1" % n for n in range(400_000)) + b">words</p>",
        "html",
    ),
    "one line": (b"<p>" + b"word " * 1_000_000, "html"),
    "angles": (b"<" * 4_000_000, "html"),
    "comments": (b"<!--" * 1_000_000, "html"),
    "rows": (b"<table>" + b"<tr><td>a<td>b</tr>" * 200_000, "html"),
    "links": (b"<p><a href=/x>a</a></p>" * 200_000, "html"),
    "laughs": (LAUGHS.encode(), "html"),
    "entities": (b"&amp;" * 1_000_000, "html"),
    "text in lines": (b"a\n\n" * 1_000_000, "text"),
    "text without lines": (b"a" * 5_000_000, "text"),
    "blanks": (b" \t" * 2_000_000 + b"x", "text"),
    "brackets": (b"[" * 2_000_000, "json"),
    "zeros": (bytes(100_000), "html"),
    "noise": (random.Random(1).randbytes(100_000), "html"),
    "no pdf": (b"%PDF-1.7\n" + b"garbage " * 1000, "pdf"),
    "pdf of itself": (b"%PDF-1.4\ntrailer<</Root 1 0 R/Prev 9>>\nstartxref\n9\n%%EOF", "pdf"),
    "flate": (flate_bomb(1, 100_000_000), "pdf"),
    "flate in flate": (flate_bomb(3, 100_000_000), "pdf"),
    "zip": (zip_bomb(100_000_000), "docx"),
}


@pytest.mark.parametrize("name", sorted(BOMBS))
def test_bombs_end_in_a_text_or_in_an_error_within_their_limits(name: str) -> None:
    body, kind = BOMBS[name]
    target = "research.web.extract:extract"
    began = time.monotonic()
    with Growth() as growth:
        try:
            made = call(target, body, kind, "utf-8", URL, limits=TIGHT, returns=Extracted)
        except SandboxError as error:
            assert error.code in ("too_slow", "too_large", "broken")
        except Unreadable as error:
            assert error.code in REASONS
        else:
            holds_together(made)
            assert len(made.text) <= MAX_CHARS
    assert time.monotonic() - began < 10
    assert growth.bytes < 60_000_000
    good = call(target, ARTICLE.encode(), "html", None, URL, returns=Extracted)
    assert good.title == "Bees"


def test_a_very_long_page_is_kept_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("research.web.extract.MAX_CHARS", 20_000)
    made = read("<h1>T</h1>" + "<p>Some words that are a sentence.</p>" * 1000)
    holds_together(made)
    assert not made.whole
    assert 18_000 < len(made.text) <= 20_000


TAGS = [
    "<p>", "</p>", "<h2>", "</h2>", "<li>", "<table>", "<td>", "&lt;", "<!--", "-->", "<b", ">",
    "words and more. ", "蜜蜂。", "\x00", "\ud800", "<article>", "<br>", "<script>", "<q>",
]  # fmt: skip


@given(st.lists(st.sampled_from(TAGS), max_size=40))
@settings(max_examples=60, deadline=None)
def test_whatever_tags_are_thrown_together_every_passage_is_in_the_text(parts: list[str]) -> None:
    try:
        made = read("".join(parts).encode("utf-8", "surrogatepass"))
    except Unreadable:
        return
    holds_together(made)
    made.text.encode()
    assert "\x00" not in made.text


# --- all of it ---------------------------------------------------------------------------------
async def test_a_page_is_fetched_and_read(web: FakeWeb) -> None:
    web.redirect("/old", "/bees")
    web.page("/bees", body_of(CHINESE, "gb18030"), "text/html; charset=gb2312")
    made = await pages.read(web.url("/old"))
    assert (made.url, made.media_type) == (web.url("/bees"), "text/html")
    assert made.text.text.endswith(CHINESE)


async def test_what_cannot_be_read_has_a_code(
    web: FakeWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.page("/locked.pdf", b"%PDF-1.4 nothing", "application/pdf")
    web.page("/empty", "<p></p>")
    web.page("/binary", bytes(range(32)) * 100, "text/plain")
    web.page("/deep", BOMBS["attributes"][0])
    monkeypatch.setattr(pages, "LIMITS", Limits(wall_s=0.3))
    for path, code in (("/locked.pdf", "broken"), ("/empty", "no_text"), ("/binary", "binary"),
                       ("/deep", "too_slow")):  # fmt: skip
        with pytest.raises(WebError) as caught:
            await pages.read(web.url(path))
        assert caught.value.code == code
        assert caught.value.message.endswith(".")


async def test_a_page_of_five_megabytes_does_not_stall_the_others(web: FakeWeb) -> None:
    body = (
        "<article>" + ("<h2>Head</h2><p>" + "Some words that are a sentence. " * 30 + "</p>") * 5000
    )
    web.page("/", body[: PAGE_BYTES - 100])
    await acall("research.web.extract:extract", b"<p>warm", "html", None, URL, returns=Any)
    gaps = [0.0]

    async def beat() -> None:
        last = time.monotonic()
        while True:
            await asyncio.sleep(0.01)
            gaps.append(time.monotonic() - last)
            last = time.monotonic()

    heart = asyncio.create_task(beat())
    made = await pages.read(web.url("/"))
    heart.cancel()
    assert len(made.text.text) > 1_000_000
    assert max(gaps) < 0.5
