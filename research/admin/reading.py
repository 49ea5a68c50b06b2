"""What all pages of the admin here have in common."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe


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


class RowsOfRun(ReadOnly, admin.ModelAdmin[Any]):
    """Rows that belong to a run."""

    list_select_related = ["run"]
    list_per_page = 50
    show_full_result_count = False

    @admin.display(description="run", ordering="run__topic")
    def of_run(self, row: Any) -> SafeString:
        """Return a link to the run's row."""
        return link_to(row.run)


class RowsInline(ReadOnly, admin.TabularInline[Any, Any]):
    """Rows of a run, on the run's page."""

    extra = 0
    show_change_link = True


def link_to(row: Model | None) -> SafeString:
    """Return a link to a row's page in the admin."""
    if row is None:
        return mark_safe("–")
    meta = row._meta
    href = reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.pk])
    return format_html('<a href="{}">{}</a>', href, str(row)[:80])


def page_of(run_id: UUID, *rest: str) -> SafeString:
    """Return a link to where people see it. Only the run's own user may follow it."""
    href = reverse("run", args=[run_id]) + "".join(f"{part}/" for part in rest)
    return format_html('<a href="{}">{}</a>', href, "page")
