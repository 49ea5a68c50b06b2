"""Files on their way into a collection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from research.library.upload import Outcome

WORDS = {
    "added": _("Added"),
    "replaced": _("Replaced the earlier one"),
    "unchanged": _("There already, unchanged"),
    "refused": _("Not added"),
}


@dataclass(frozen=True, slots=True)
class Sent:
    """A file of a request, under the path that it has below the folder that is sent."""

    name: str
    file: UploadedFile

    @property
    def size(self) -> int:
        """Return its length in bytes."""
        return self.file.size or 0

    def read(self) -> bytes:
        """Return the content; what is large comes from a temporary file."""
        return bytes(self.file.read())


def sent(request: HttpRequest) -> list[Sent]:
    """Return the files of a request. Paths stand in fields of their own: file names have none."""
    files: Sequence[Any] = request.FILES.getlist("files")
    paths = request.POST.getlist("path")
    if len(paths) != len(files):
        paths = [file.name for file in files]
    return [Sent(path, file) for path, file in zip(paths, files, strict=True)]


def limits() -> dict[str, int]:
    """Return how much may be sent, in bytes and files."""
    return {
        "file": settings.UPLOAD_FILE_BYTES,
        "request": settings.UPLOAD_REQUEST_BYTES,
        "files": settings.DATA_UPLOAD_MAX_NUMBER_FILES,
        "file_mb": settings.UPLOAD_FILE_BYTES // 1_000_000,
    }


def told(collection_id: int, outcome: Outcome) -> dict[str, str]:
    """Return an outcome as the page shows it."""
    url = ""
    if outcome.document_id is not None:
        url = reverse("document", args=[collection_id, outcome.document_id])
    return {
        "name": outcome.name,
        "outcome": outcome.outcome,
        "said": str(WORDS[outcome.outcome]),
        "code": outcome.code,
        "reason": outcome.reason,
        "url": url,
    }
