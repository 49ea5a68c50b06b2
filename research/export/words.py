"""What an export says in words of its own."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from research.cards import RunCard
from research.errors import in_words
from research.report.document import Words

VERDICTS = {
    "supported": gettext_lazy("Supported by the passage"),
    "partly": gettext_lazy("Partly supported"),
    "not_found": gettext_lazy("Not found in the source"),
}
ENDS = {
    "failed": gettext_lazy("Failed"),
    "skipped": gettext_lazy("Skipped"),
    "cancelled": gettext_lazy("Cancelled"),
}
"""How a run or a task ends that does not answer all."""


def status(run: RunCard) -> str:
    """Return where a run stands."""
    if run.status == "completed":
        return _("Completed")
    return str(ENDS.get(run.status) or _("Under way"))


def words(ended: bool) -> Words:
    """Return the words of a file, in the language that is active."""
    return Words(
        references=_("References"),
        missing=_("What this report does not answer"),
        unfinished=_("This part was not finished."),
        empty=_("No report was written.") if ended else _("Nothing has been written yet."),
    )


def notice(run: RunCard) -> str:
    """Return why this is not the whole report, in a sentence; nothing where it is."""
    match run.status:
        case "completed":
            if run.partial or run.gaps:
                return _("This report has gaps: its last part names what it does not answer.")
            return ""
        case "cancelled" | "cancelling":
            return _("This research was cancelled. What was written until then is kept here.")
        case "failed":
            said = _("This research failed. What was written until then is kept here.")
            return f"{said} {in_words(run.message or '', run.code)} ({run.code})"
    return _("This research has not ended yet: this is what was written so far.")


def stripped(count: int) -> str:
    """Return that references were taken out."""
    return (
        ngettext(
            "%d reference led to no stored source and was taken out.",
            "%d references led to no stored source and were taken out.",
            count,
        )
        % count
        if count
        else ""
    )
