"""A run as a file to keep."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.generic import View

from research.export import Exported, export
from research.sandbox import SandboxError
from streaming.exceptions import NotFound

from .visible import OfRun

STATUS = {"too_large": 413, "too_slow": 503, "broken": 503}
"""How HTTP says why a file could not be made."""


class Export(OfRun, View):
    """The run in one of the formats."""

    def get(self, request: HttpRequest, format: str, **kwargs: Any) -> HttpResponseBase:
        """Return the file, or a page that says why there is none."""
        try:
            return as_file(request, export(self.run.pk, format))
        except NotFound as error:
            raise Http404(error.message) from None
        except SandboxError as error:
            context = {"run": self.run, "error": error}
            status = STATUS.get(error.code, 503)
            return render(request, "research/not_exported.html", context, status=status)


def as_file(request: HttpRequest, made: Exported) -> HttpResponseBase:
    """Answer with a file: piece by piece, where the request knows how."""
    if isinstance(request, ASGIRequest):
        return StreamingHttpResponse(_pieces(made.chunks()), headers=made.headers)
    return HttpResponse(made.data, headers=made.headers)


async def _pieces(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Read the next piece only when the one before is on its way."""
    read = sync_to_async(lambda: next(chunks, None))
    while (piece := await read()) is not None:
        yield piece
