"""What a run stands on: sources, tool calls, and texts too long for the page."""

from __future__ import annotations

import json
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.generic import TemplateView, View

from research.models import Source
from streaming import log
from streaming.exceptions import NotFound

from .visible import OfRun


class SourcePage(OfRun, TemplateView):
    """A source as it was read, with the passage that was meant."""

    template_name = "research/source.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the text in three parts: before the passage, the passage, after it."""
        sources = Source.objects.select_related("archive")
        source = get_object_or_404(sources, run=self.run, source_id=kwargs["source_id"])
        if not source.finders:  # only attempts that count for nothing now had found it
            raise Http404("There is no such source.")
        text = source.archive.text if source.archive else ""
        start, end = self._span(len(text))
        checks = self.state.citations
        cited = [
            (ref, checks.get(number))
            for number, ref in sorted(self.state.citation_refs().items())
            if ref["source_id"] == source.source_id
        ]
        return super().get_context_data(
            run=self.run,
            source=source,
            before=text[:start],
            quote=text[start:end],
            after=text[end:],
            start=start,
            end=end,
            cited=cited,
            **kwargs,
        )

    def _span(self, length: int) -> tuple[int, int]:
        """Return the passage as code points; none where the address names none that is there."""
        try:
            start, end = (int(self.request.GET.get(name, "")[:10]) for name in ("start", "end"))
        except ValueError:
            return 0, 0
        return (start, min(end, length)) if 0 <= start < min(end, length) else (0, 0)


class ToolPage(OfRun, TemplateView):
    """One use of a tool: what it was given and what it answered."""

    template_name = "research/tool.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the call."""
        card = self.state.tools.get(kwargs["tool_call_id"])
        if card is None:
            raise Http404("There is no such tool call.")
        return super().get_context_data(
            run=self.run,
            base=reverse("run", args=[self.run.pk]),
            card=card,
            member=self.state.members.get(card.member or ""),
            task=self.state.tasks.get(card.task_id or 0),
            sources=[self.state.sources[n] for n in card.source_ids if n in self.state.sources],
            args=json.dumps(card.args, indent=2, ensure_ascii=False),
            **kwargs,
        )


class BlobText(OfRun, View):
    """A long text of the log, as a file: never as a page."""

    def get(self, request: HttpRequest, hash: str, **kwargs: Any) -> HttpResponse:
        """Return it."""
        try:
            text = log.blob(self.run.pk, hash)
        except NotFound:
            raise Http404("There is no such text.") from None
        response = HttpResponse(text, "text/plain; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="{self.run.pk}-text.txt"'
        response["X-Content-Type-Options"] = "nosniff"
        return response
