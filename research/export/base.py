"""Export: a run as a file, in one of the formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from research import sandbox
from research.models import Run
from research.report import markdown
from research.report.document import one_line
from streaming.exceptions import NotFound

from . import json
from .filename import disposition, filename
from .load import document

LIMITS = sandbox.Limits(wall_s=40, cpu_s=40, memory_bytes=2 << 30)
"""Of what turns Markdown into a file: a report of 1 MB takes some seconds."""


POLICY = (
    "default-src 'none'; script-src 'none'; object-src 'none'; base-uri 'none'; "
    "frame-ancestors 'none'; form-action 'none'; sandbox"
)
"""For a browser that shows a file all the same."""


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file."""

    label: Any
    content_type: str
    child: str = ""
    """What makes it of a `Document`, where that is left to a child process."""


FORMATS: dict[str, Format] = {
    "md": Format(_("Markdown"), "text/markdown; charset=utf-8"),
    "html": Format(_("Web page"), "text/html; charset=utf-8", "research.report.html:render"),
    "pdf": Format(_("PDF"), "application/pdf", "research.report.pdf:render"),
    "docx": Format(
        _("Word document"),
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "research.report.docx:render",
    ),
    "json": Format(_("The log, as JSON"), "application/json"),
}
"""By what their files end in, which is also their name in addresses and commands."""


@dataclass(frozen=True, slots=True)
class Exported:
    """A file that is ready to be read, once or more."""

    filename: str
    content_type: str
    chunks: Callable[[], Iterator[bytes]]
    """Reads it piece by piece: a log may be larger than what one likes to hold."""
    size: int | None = None
    """In bytes, where that is known before it is read."""

    @property
    def data(self) -> bytes:
        """Return all of it."""
        return b"".join(self.chunks())

    @property
    def headers(self) -> dict[str, str]:
        """Return what HTTP says of it: a file to keep, never a page of this site."""
        size = {} if self.size is None else {"Content-Length": str(self.size)}
        return size | {
            "Content-Type": self.content_type,
            "Content-Disposition": disposition(self.filename),
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": POLICY,
        }


def export(run_id: UUID, format: str) -> Exported:
    """Return a run as a file. Blocking.

    Raises `NotFound` for a run or a format that is not there, and `research.sandbox.SandboxError`
    where a report is too much for its format.
    """
    kind = FORMATS.get(format)
    if kind is None:
        raise NotFound("There is no such format.")
    run = Run.objects.filter(pk=run_id).first()
    if run is None:
        raise NotFound("There is no such run.")
    name = filename(one_line(run.topic), format)
    if format == "json":
        return Exported(name, kind.content_type, lambda: json.chunks(run))
    report = document(run.pk)
    if kind.child:
        made: bytes = sandbox.call(kind.child, report, limits=LIMITS, returns=bytes)
    else:
        made = markdown.render(report)
    return Exported(name, kind.content_type, lambda: iter((made,)), len(made))
