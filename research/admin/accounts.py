"""Keys of API clients: whose, since when, used when. The secret is nowhere."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from research.models import ApiToken


@admin.register(ApiToken)
class ApiTokenAdmin(admin.ModelAdmin[ApiToken]):
    """API tokens: to be looked at, and revoked by deleting them."""

    list_display = ["prefix", "user", "name", "created_at", "last_used_at"]
    list_filter = ["created_at", "last_used_at"]
    list_select_related = ["user"]
    search_fields = ["name", "prefix", "user__username"]
    fields = ["user", "name", "prefix", "created_at", "last_used_at"]
    readonly_fields = ["user", "prefix", "created_at", "last_used_at"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Add none: a token is shown once, where it is made."""
        return False
