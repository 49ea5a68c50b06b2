"""The house at a glance: what goes on, what waits, what has failed of late."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Min
from django.utils import timezone

from research.engine import boot
from research.models import Run, RunStatus, Work, WorkStatus

OF_LATE = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Glance:
    """What the admin's first page shows to those who may see runs."""

    runs: dict[str, int]
    """Of those that have not ended, how many stand where."""
    ended: int
    failed: dict[str, int]
    """Runs of the last day that failed, by their code; the most frequent first."""
    works_failed: dict[str, int]
    queued: int
    running: int
    oldest: datetime | None
    """Since when the piece of work waits that waits longest."""
    since: datetime
    engine: bool
    """Whether the machinery of this process runs."""


def glance(user: Any) -> Glance | None:
    """Look at the house; None for who may not see runs."""
    if not user.has_perm("research.view_run"):
        return None
    since = timezone.now() - OF_LATE
    ended = Run.objects.filter(ended_at__gte=since)
    works = Work.objects.order_by()
    waiting = works.filter(status=WorkStatus.QUEUED).aggregate(n=Count("pk"), at=Min("created_at"))
    return Glance(
        runs=_by(Run.objects.active(), "status"),
        ended=ended.count(),
        failed=_by(ended.filter(status=RunStatus.FAILED), "error_code"),
        works_failed=_by(works.filter(status=WorkStatus.FAILED, ended_at__gte=since), "error_code"),
        queued=waiting["n"],
        running=works.filter(status=WorkStatus.RUNNING).count(),
        oldest=waiting["at"],
        since=since,
        engine=boot.is_ready(),
    )


def _by(rows: Any, field: str) -> dict[str, int]:
    counts = rows.order_by().values_list(field).annotate(n=Count("pk")).order_by("-n", field)
    return dict(counts[:10])
