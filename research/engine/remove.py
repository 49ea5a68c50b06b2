"""Remove a run: its log and all that it made. Nothing of it can be had afterwards."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import ProtectedError

from research.models import Archive, Run, Source
from streaming.exceptions import Conflict
from streaming.models import Stream

from .work import do


def remove_run(run_id: UUID) -> None:
    """Delete a run that has ended. `Conflict` while it goes on: it is to be cancelled first.

    Who still has it open is told within seconds that there is no such run.
    """
    do(partial(_remove, run_id))


def _remove(run_id: UUID) -> None:
    with transaction.atomic():
        stream = Stream.objects.select_for_update().filter(pk=run_id).first()
        run = Run.objects.filter(pk=run_id).first()
        if stream is None or run is None:
            return
        if not run.ended:
            raise Conflict("Cancel it first; then it can be deleted.", code="still_running")
        texts = set(Source.objects.filter(run=run).values_list("archive_id", flat=True))
        stream.delete()
    with suppress(IntegrityError, ProtectedError), transaction.atomic():
        # Another run may take one up in this very moment: then they stay.
        Archive.objects.filter(pk__in=texts, documents=None, sources=None).delete()
