"""Actions of sources: a page that was fetched is archived, under the number it has in its run."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from research.models import Archive, Run, Source
from streaming import vocabulary as v
from streaming.text import clean

from .change import Said
from .tools import Found, Use, record_sources

CONTEXT_LENGTH = 500
PROVIDER = "web"


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A page as it was read. `asked` is the URL that led to it, `url` where it was found."""

    asked: str
    url: str
    title: str
    text: str
    media_type: str
    published: str
    site: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Archived:
    """What became of a page: its source, and where in the archived text its own text begins.

    `ours` is false where somebody else had archived it meanwhile: then their text counts.
    """

    source: Source
    start: int
    ours: bool
    said: list[Said]


def known_source(run_id: UUID, *urls: str) -> Source | None:
    """Return the source of a run that one of these URLs leads to."""
    rows = Source.objects.filter(run_id=run_id, document=None).select_related("archive")
    found = rows.filter(uri__in=urls).order_by("source_id").first()
    if found is None:
        wanted = set(urls)
        # A run has some hundreds of sources at most; no database finds a text in a list alike.
        pks = [pk for pk, own in rows.values_list("pk", "aliases") if wanted.intersection(own)]
        found = rows.filter(pk=pks[0]).first() if pks else None
    return found


def archive_page(run: Run, use: Use, page: FetchedPage) -> Archived:
    """Keep the text of a page, with hash and date, as the archive of its source.

    What a search had shown of it stays first in the text: notes may point there already.
    """
    row = known_source(run.pk, page.asked, page.url)
    if row is not None and row.fetched_at is not None:
        return Archived(row, 0, False, tell_again(run, use, row))
    found = Found(
        uri=row.uri if row else page.url,
        title=page.title,
        provider=row.provider if row else PROVIDER,
        context=page.text[:CONTEXT_LENGTH],
        archive_hash=None,
        document_id=None,
    )
    numbers, said = record_sources(run, use, [found])
    row = Source.objects.select_related("archive").get(run=run, source_id=numbers[found.uri])
    glimpse = f"{row.archive.text}\n\n" if row.archive else ""
    text = clean(glimpse + page.text)
    hashed = hashlib.sha256(text.encode()).hexdigest()
    row.archive, _ = Archive.objects.get_or_create(hash=hashed, defaults={"text": text})
    row.fetched_at = page.at
    row.media_type = page.media_type[:100]
    row.published = page.published[:10]
    row.site = clean(page.site)[:200]
    row.aliases = sorted({page.asked, page.url} - {row.uri})
    row.save(update_fields=["archive", "fetched_at", "media_type", "published", "site", "aliases"])
    return Archived(row, len(glimpse), True, [*said, (use.voice, _fetched(row, len(text)))])


def tell_again(run: Run, use: Use, row: Source) -> list[Said]:
    """Say that this attempt too stands on a source that was fetched before."""
    found = Found(row.uri, row.title, row.provider, "", None, None)
    _, said = record_sources(run, use, [found])
    if said and row.archive is not None:
        said.append((use.voice, _fetched(row, len(row.archive.text))))
    return said


def _fetched(row: Source, length: int) -> v.SourceFetched:
    return v.SourceFetched(
        source_id=row.source_id,
        hash=row.archive_id or "",
        length=length,
        media_type=row.media_type,
        published=row.published,
    )
