"""Files of every kind become pages: one text, its blocks and its headings."""

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from research.library.chunks import MAX_CHARS, passages
from research.library.page import Page
from research.library.parse import parse
from research.library.unreadable import Unreadable


def read(name: str, text: str) -> Page:
    return parse(name, text.encode())


def blocks(page: Page) -> list[tuple[tuple[str, ...], str]]:
    return [(block.headings, page.text[block.start : block.end]) for block in page.blocks]


def texts(page: Page) -> list[str]:
    return [text for _, text in blocks(page)]


RST = """\
=====
Cache
=====

.. _setup:

Setting up
==========

Set :setting:`CACHES <CACHES-X>` as the :doc:`guide </topics/cache>` says. Call
:meth:`~django.core.cache.Cache.get` or ``cache.set()``, see `Redis`_ or `docs <http://x.org>`__::

    cache.get("x")

Memcached is *fast* and **small**.

* One item
  that goes on
* Another

.. code-block:: python

    import secret

.. toctree::
   :maxdepth: 1

   other

.. warning::

    Keys are limited.

.. versionchanged:: 5.2

    It got faster.

.. method:: Cache.touch(key)

    Sets a new time.

==== =====
Name Size
==== =====
a    1 kB
b    2 kB
==== =====

.. _Redis: http://redis.io
"""


def test_restructured_text_keeps_what_a_reader_sees() -> None:
    page = read("cache.txt", RST)
    assert page.title == "Cache"
    assert texts(page) == [
        "Set CACHES as the guide says. Call get() or cache.set(), see Redis or docs:",
        "Memcached is fast and small.",
        "One item that goes on",
        "Another",
        "Keys are limited.",
        "Changed in version 5.2: It got faster.",
        "Cache.touch: Sets a new time.",
        "Name: a | Size: 1 kB",
        "Name: b | Size: 2 kB",
    ]


def test_the_headings_of_a_block_lead_from_the_title_down() -> None:
    found = {text: path for path, text in blocks(read("cache.rst", RST))}
    assert found["Memcached is fast and small."] == ("Cache", "Setting up")
    assert found["Cache.touch: Sets a new time."] == ("Cache", "Setting up", "Cache.touch")


def test_each_heading_of_the_outline_stands_at_its_offsets() -> None:
    page = read("cache.rst", RST)
    assert [(h.level, page.text[h.start : h.end]) for h in page.outline] == [
        (1, "Cache"),
        (2, "Setting up"),
    ]


MARKDOWN = """\
# Lamps

Light *warns* [ships](http://x.org).

## Kinds

- Oil
- Gas

```python
secret()
```

| Lamp | Range |
|------|-------|
| Oil  | 5 km  |
"""


def test_markdown_keeps_lists_and_tables_and_drops_listings() -> None:
    page = read("lamps.md", MARKDOWN)
    assert page.title == "Lamps"
    assert texts(page) == ["Light warns ships.", "Oil", "Gas", "Lamp: Oil | Range: 5 km"]
    assert page.blocks[-1].kind == "row"


HTML = """\
<!DOCTYPE html><html><head><title>Lamps</title><script>secret()</script></head><body>
<nav>Home | Next</nav><div class="navheader">Prev</div><div class="toc">Contents</div>
<h1>1. Lamps</h1><p>Light <em>warns</em>
 ships.<!-- hidden -->  Always.</p>
<div class="note"><h3>Note</h3><p>Keep it clean.</p></div>
<pre>secret</pre>
<dl><dt>range (integer)</dt><dd><p>How far it shines.</p><p>In miles.</p></dd></dl>
<table><tr><th>Lamp</th><th>Range</th></tr><tr><td>Oil</td><td>5 km</td></tr></table>
<p aria-hidden="true">secret</p><footer>secret</footer></body></html>
"""


def test_html_keeps_what_a_reader_reads() -> None:
    page = read("lamps.html", HTML)
    assert page.title == "Lamps"
    assert texts(page) == [
        "Light warns ships. Always.",
        "Keep it clean.",
        "range (integer): How far it shines.",
        "In miles.",
        "Lamp: Oil | Range: 5 km",
    ]
    assert "secret" not in page.text


@pytest.mark.parametrize(
    "broken",
    [
        "<p>One <b>two <i>three</p> four</b>",
        "<table><tr><td>One two three four",
        "<div" * 3000 + "><p>One two three four",
        "<html><body><div>One two three four</body></html></html><p>more",
        "<p>One two</p><p>three &nosuch; four &#xD800; &#0;</p>",
        "<div>" * 5000 + "One two three four",
    ],
)
def test_broken_html_is_read_all_the_same(broken: str) -> None:
    assert "two" in read("broken.html", broken).text


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", "软件包管理系统是什么？这是一个问题。"),
        ("utf-8-sig", "软件包管理系统是什么？这是一个问题。"),
        ("utf-16", "软件包管理系统是什么？这是一个问题。"),
        ("gb18030", "软件包管理系统是什么？这是一个我们要回答的问题。"),
        ("big5", "這個系統是什麼？這是我們說的一個問題，為了時間。"),
        ("cp932", "これは日本語の文章です。ライブラリのテストのためにあります。"),
        ("cp1252", "Le café était fermé à cause de l’été, déjà."),
    ],
)
def test_every_usual_encoding_is_read_right(encoding: str, text: str) -> None:
    assert text in parse("note.txt", text.encode(encoding)).text


def test_a_declared_charset_is_believed() -> None:
    page = '<html><head><meta charset="Shift_JIS"></head><body><p>ソフト表示機能</p></body></html>'
    assert "ソフト表示機能" in parse("page.html", page.encode("cp932")).text


def test_one_bad_byte_does_not_spoil_a_file() -> None:
    data = ("Lamps warn ships. " * 50).encode() + b"\xff" + "灯塔".encode()
    assert "灯塔" in parse("note.txt", data).text


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.txt", b"", "is empty"),
        ("a.txt", b" \n\t ", "is empty"),
        ("a.txt", b"\x7fELF\x02\x01\x00\x00" * 9, "not a text"),
        ("a.txt", b"abc\x00def", "not a text"),
        ("a.md", b"\x01\x02\x03\x04text", "not a text"),
        ("a.png", b"\x89PNG", "kind “.png”"),
        ("a.html", b"<html><body><nav>x</nav></body></html>", "no text in it"),
    ],
)
def test_what_cannot_be_read_says_why(name: str, data: bytes, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        parse(name, data)


def test_plain_text_has_titles_items_and_no_listings() -> None:
    text = (
        "Lamps\n\n1. Kinds\n\nOil lamps burn oil\nand smoke.\n\n• one thing\n• another thing\n\n"
        'def light(self):\n    return {"a": 1}\n\nThe end of it.\n'
    )
    page = read("a.txt", text)
    assert page.title == "Lamps"
    assert blocks(page) == [
        (("Lamps", "Kinds"), "Oil lamps burn oil and smoke."),
        (("Lamps", "Kinds"), "one thing"),
        (("Lamps", "Kinds"), "another thing"),
        (("Lamps", "Kinds"), "The end of it."),
    ]


@settings(deadline=None)
@given(st.binary(max_size=400), st.sampled_from(["a.txt", "a.md", "a.rst", "a.html"]))
def test_every_file_is_read_or_refused_with_a_reason(data: bytes, name: str) -> None:
    try:
        page = parse(name, data)
    except Unreadable as error:
        assert str(error)
        return
    for block in page.blocks:
        assert page.text[block.start : block.end].strip()
        assert "\n" not in page.text[block.start : block.end]


MARKUP = [
    "Title\n=====",
    "Some text.",
    "* item",
    "  deeper",
    ".. note:: x",
    ".. list-table::",
    ".. x",
    "=== ===",
    "a   b",
    "+---+",
    "1. one",
    "text::",
    "    code",
    "term\n  def",
    ":role:`a <b>`",
    "**a",
    "``a",
    "",
]


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(MARKUP),
        max_size=20,
    )
)
def test_every_mix_of_markup_gives_blocks_in_order(lines: list[str]) -> None:
    try:
        page = parse("a.rst", "\n".join(lines).encode())
    except Unreadable:
        return
    ends = [(block.start, block.end) for block in page.blocks]
    assert ends == sorted(ends)
    assert all(start < end for start, end in ends)
    assert all(one[1] < other[0] for one, other in pairwise(ends))


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.rst", "a.html"])
def test_five_megabytes_on_one_line_are_cut_into_passages(name: str) -> None:
    text = "Lamps warn ships of rocks. " * 190_000
    started = time.monotonic()
    page = read(name, text)
    found = list(passages(page))
    assert time.monotonic() - started < 20
    assert sum(item.end - item.start for item in found) > len(text) * 0.98
    assert max(item.end - item.start for item in found) <= 2 * MAX_CHARS


def test_a_line_without_any_sentence_is_cut_too() -> None:
    page = read("a.txt", "x" * 5_000)
    found = list(passages(page))
    assert max(item.end - item.start for item in found) <= 2 * MAX_CHARS
    assert "".join(page.text[item.start : item.end] for item in found) == "x" * 5_000


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(["# A", "## B", "Lamps warn ships. " * 30, "- item", "", "Short."]),
        min_size=1,
        max_size=30,
    )
)
def test_passages_never_overlap_nor_cross_a_heading_and_hold_every_block(lines: list[str]) -> None:
    try:
        page = read("a.md", "\n\n".join(lines))
    except Unreadable:
        return
    found = list(passages(page))
    assert all(one.end <= other.start for one, other in pairwise(found))
    for block in page.blocks:
        over = [item for item in found if item.start <= block.start and block.end <= item.end]
        split = [item for item in found if block.start <= item.start and item.end <= block.end]
        assert over or split
        assert all(item.headings == block.headings for item in over)
