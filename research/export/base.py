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
from research.report.document import Document, one_line
from streaming.exceptions import NotFound

from . import json
from .filename import disposition, filename
from .load import document

LIMITS = sandbox.Limits(wall_s=40, cpu_s=40, memory_bytes=2 << 30)
"""Of what turns Markdown into a file: a report of 1 MB takes some seconds."""


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file."""

    label: Any
    extension: str
    content_type: str
    child: str = ""
    """What makes it of a `Document`, where that is left to a child process."""


FORMATS: dict[str, Format] = {
    "markdown": Format(_("Markdown"), "md", "text/markdown; charset=utf-8"),
    "html": Format(
        _("Web page"), "html", "text/html; charset=utf-8", "research.report.html:render"
    ),
    "pdf": Format(_("PDF"), "pdf", "application/pdf", "research.report.pdf:render"),
    "docx": Format(
        _("Word document"),
        "docx",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "research.report.docx:render",
    ),
    "json": Format(_("The log, as JSON"), "json", "application/json"),
}


@dataclass(frozen=True, slots=True)
class Exported:
    """A file that is ready to be read, once or more."""

    filename: str
    content_type: str
    chunks: Callable[[], Iterator[bytes]]
    """Reads it piece by piece: a log may be larger than what one likes to hold."""

    @property
    def data(self) -> bytes:
        """Return all of it."""
        return b"".join(self.chunks())

    @property
    def headers(self) -> dict[str, str]:
        """Return what HTTP says of it: a file to keep, never a page of this site."""
        return {
            "Content-Type": self.content_type,
            "Content-Disposition": disposition(self.filename),
            "X-Content-Type-Options": "nosniff",
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
    if format == "json":
        return Exported(_name(run, kind), kind.content_type, lambda: json.chunks(run))
    made = _render(kind, document(run.pk))
    return Exported(_name(run, kind), kind.content_type, lambda: iter((made,)))


def _render(kind: Format, report: Document) -> bytes:
    if not kind.child:
        return markdown.render(report)
    made: bytes = sandbox.call(kind.child, report, limits=LIMITS, returns=bytes)
    return made


def _name(run: Run, kind: Format) -> str:
    return filename(one_line(run.topic), kind.extension)
