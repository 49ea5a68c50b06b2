"""Reports to export, and how what became of them is read back."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import docx
import pypdfium2
from msgspec.structs import replace

from research.report.document import Document, Gap, Reference, Section, Words
from research.report.tree import Token, parse

WORDS = Words(
    references="References",
    missing="What this report does not answer",
    unfinished="This part was not finished.",
    empty="No report was written.",
)
MARGIN = 70  # points; above and below stand the title and the number of the page

MIXED = """\
A lighthouse warns ships with a lamp behind a **Fresnel lens** [1]. It isn't `x = 1`; the "lens" \
— so to speak – was first used in *1823* [2][3]. Efficient offices… 😀 👍🏽 👨‍👩‍👧 🇩🇪 ❤️ ✅ ⚠️

灯塔用**菲涅耳透镜**后面的灯来警告船只 [1]。这种透镜于1823年首次使用 [2]，“引号”与‘单引号’、\
顿号、省略号……都应正确，以及 English words 之间。

- Each lighthouse flashes in a rhythm of its own
- 每座灯塔都有自己的**节奏** 🌊

> A keeper trims the wick.

| Lamp | 灯 |
|:-----|---:|
| Argand | 12 nmi |
| LED | 省电 ✅ |

```python
return "中文 # $x$ \\\\ @ref <label>"
```

Ελληνικά, Русский, 日本語の灯台, 한국어 등대, naïve café.
"""
MIXED_SAYS = """\
A lighthouse warns ships with a lamp behind a Fresnel lens [1]. It isn't x = 1; the "lens"
— so to speak – was first used in 1823 [2][3]. Efficient offices… 😀 👍🏽 👨‍👩‍👧 🇩🇪 ❤️ ✅ ⚠️
灯塔用菲涅耳透镜后面的灯来警告船只 [1]。这种透镜于1823年首次使用 [2]，“引号”与‘单引号’、
顿号、省略号……都应正确，以及 English words 之间。
Each lighthouse flashes in a rhythm of its own
每座灯塔都有自己的节奏 🌊
A keeper trims the wick.
Lamp 灯
Argand 12 nmi
LED 省电 ✅
return "中文 # $x$ \\\\ @ref <label>"
Ελληνικά, Русский, 日本語の灯台, 한국어 등대, naïve café.
"""
"""What a reader of it reads, whatever the format."""


def reference(number: int, **changes: Any) -> Reference:
    """A page on the web, and what it says."""
    made = Reference(
        number=number,
        title=f"Lamps {number}",
        uri=f"https://docs.example/lamps/{number}",
        quote="A lamp behind a lens. 透镜。",
        verdict="supported",
        told="Supported by the passage",
        dates="Read on Nov. 30, 2026",
    )
    return replace(made, **changes)


def report(text: str = "", **changes: Any) -> Document:
    """A report of one section that cites three sources."""
    made = Document(
        run_id="0" * 32,
        language="en",
        title="Lighthouses",
        question="",
        facts=["Nov. 30, 2026", "Completed"],
        date="2026-11-30T12:00:00+00:00",
        notice="",
        sections=[Section(title="In short", text=text, numbers=[1, 2, 3])],
        gaps=[],
        references=[reference(number) for number in (1, 2, 3)],
        words=WORDS,
    )
    return replace(made, **changes)


def bare(text: str) -> Document:
    """A report of nothing but a text."""
    return report(title="T", facts=[], references=[], sections=[Section(title="", text=text)])


GAP = Gap(title="Who pays?", message="Failed: No source says anything about it.")


def squashed(text: str) -> str:
    """Return a text without its white space, nothing else changed."""
    return "".join(text.split())


def text_of_pdf(data: bytes) -> str:
    """Return what a reader of a PDF can mark and copy, without the margins of its pages."""
    texts = []
    with pypdfium2.PdfDocument(data) as file:
        for page in file:
            _, height = page.get_size()
            read = page.get_textpage()
            texts.append(read.get_text_bounded(bottom=MARGIN, top=height - MARGIN))
            read.close()
            page.close()
    return "\n".join(texts).replace("\ufffe", "-").replace("\x02", "-")


def text_of_docx(data: bytes) -> str:
    """Return the text of a Word document in the order of its body."""
    body = docx.Document(BytesIO(data)).element.body
    parts = []
    for item in body.iter():
        name = item.tag.rpartition("}")[2]
        if name in ("p", "br", "tab"):
            parts.append("\n")
        elif name == "t":
            parts.append(item.text or "")
    return "".join(parts)


def says(tokens: list[Token]) -> str:
    """Return the text of a Markdown tree, as any rendering of it has to keep it."""
    parts = []
    for token in tokens:
        if "raw" in token:
            raw = str(token["raw"])
            parts.append({"cite": f"[{raw}]", "marker": f"[S{raw}]"}.get(token["type"], raw))
        else:
            parts.append(says(token.get("children", [])))
        parts.append("\n" if token["type"] not in ("text",) else "")
    return "".join(parts)


def said(markdown: str) -> str:
    """Return the text of Markdown."""
    return says(parse(markdown))
