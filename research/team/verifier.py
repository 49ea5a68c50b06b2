"""The verifier: holds each cited sentence against the stored text of its source."""

from __future__ import annotations

from uuid import UUID

from research.actions.report import Checked, finish_verification
from research.context import WorkContext
from research.models import Citation
from research.text.verdict import classify


async def verify(context: WorkContext) -> None:
    """Check every citation of the report, by rule."""
    agent_id = await context.handler.start_agent("verifier", context.member)
    checked = await context.readers.run(_check, context.run.id)
    await context.handler.end_agent("verifier", agent_id)
    await context.act(finish_verification(context.name, checked))


def _check(run_id: UUID) -> list[Checked]:
    citations = Citation.objects.filter(run_id=run_id).select_related("source__archive")
    return [_classified(citation) for citation in citations]


def _classified(citation: Citation) -> Checked:
    archive = citation.source.archive
    if archive is None or archive.hash != citation.archive_hash:
        return Checked(citation.number, "not_found", "no_text", citation.quote, None, None)
    verdict = classify(citation.claim, archive.text, citation.start, citation.end)
    start, end = verdict.start, verdict.end
    quote = archive.text[start:end] if start is not None and end is not None else ""
    return Checked(citation.number, verdict.verdict, verdict.reason, quote, start, end)
