"""What all pages of the admin here have in common.

A run's own page is for its user alone, whoever else may do what: staff who may see runs see their
rows here, and have the export. So only who owns a run gets a link to its page.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from .counting import Bounded
from .telling import NOTHING, link_to, moment


class ReadOnly:
    """Rows to look at: none is added, changed or deleted here."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Add nothing."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Change nothing."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Delete nothing."""
        return False


class Rows(admin.ModelAdmin[Any]):
    """Rows, however many there are. `late` names fields whose texts no list reads."""

    list_per_page = 50
    show_full_result_count = False
    paginator = Bounded
    late: tuple[str, ...] = ()
    owner = ""
    """Leads from a row to the user whose run it belongs to."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Note which rows are of the visitor's own runs; leave long texts where they are."""
        rows = super().get_queryset(request)
        if self.owner:
            mine = ExpressionWrapper(Q(**{self.owner: request.user.pk}), BooleanField())
            rows = rows.annotate(mine=mine)
        one = request.resolver_match and "object_id" in request.resolver_match.kwargs
        return rows if one else rows.defer(*self.late)

    @admin.display(description=_("created"), ordering="created_at")
    def created(self, row: Any) -> str:
        """Return when it was written."""
        return moment(row.created_at)

    @admin.display(description=_("page"))
    def page(self, row: Any) -> SafeString | str:
        """Return a link to where its user sees it."""
        if not getattr(row, "mine", False):
            return NOTHING
        run_id = getattr(row, "run_id", row.pk)
        href = reverse("run", args=[run_id]) + self.place(row)
        return format_html('<a href="{}">{}</a>', href, _("page"))

    def place(self, row: Any) -> str:
        """Return where on its run's pages a row is."""
        return ""


class RowsOfRun(ReadOnly, Rows):
    """Rows that belong to a run."""

    list_select_related = ["run"]
    owner = "run__user"

    @admin.display(description=_("run"), ordering="run__topic")
    def of_run(self, row: Any) -> SafeString | str:
        """Return a link to the run's row."""
        return link_to(row.run)

    @admin.display(description=_("task"), ordering="task__title")
    def of_task(self, row: Any) -> SafeString | str:
        """Return a link to its task."""
        return link_to(row.task)


class RowsInline(ReadOnly, admin.TabularInline[Any, Any]):
    """Rows of a run, on the run's page."""

    extra = 0
    show_change_link = True
    late: tuple[str, ...] = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave long texts where they are."""
        return super().get_queryset(request).defer(*self.late)
