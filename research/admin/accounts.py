"""How programs come in: whose tokens there are, and which commands are remembered."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from research.access import revoke
from research.models import ApiToken, Command

from .reading import ReadOnly, Rows
from .telling import as_json, link_to, moment, state


class IsValid(admin.SimpleListFilter):
    """Whether a token opens a door now."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        """Return what may be asked for."""
        return [("valid", _("Valid")), ("expired", _("Expired")), ("revoked", _("Revoked"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> QuerySet[ApiToken]:
        """Return the tokens in this state."""
        match self.value():
            case "valid":
                return queryset.filter(pk__in=ApiToken.objects.valid().values("pk"))
            case "expired":
                return queryset.filter(revoked_at=None, expires_at__lte=timezone.now())
            case "revoked":
                return queryset.exclude(revoked_at=None)
        return queryset


@admin.register(ApiToken)
class ApiTokenAdmin(Rows):
    """API tokens: to be looked at, and revoked. The secret is nowhere, and its hash not here."""

    list_display = ["prefix", "user", "name", "told_scopes", "told", "created", "ends",
                    "used"]  # fmt: skip
    list_filter = [IsValid, "created_at", "last_used_at"]
    list_select_related = ["user"]
    search_fields = ["name", "prefix", "user__username"]
    search_help_text = _("A name, the first characters of a token, or the name of its user")
    date_hierarchy = "created_at"
    fields = ["user", "name", "prefix", "told_scopes", "told", "created_at", "expires_at",
              "revoked_at", "last_used_at"]  # fmt: skip
    readonly_fields = ["user", "prefix", "told_scopes", "told", "created_at", "expires_at",
                       "revoked_at", "last_used_at"]  # fmt: skip
    late = ("hash",)
    actions = ["revoke"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Add none: a token is shown once, where it is made."""
        return False

    @admin.display(description=_("scopes"))
    def told_scopes(self, token: ApiToken) -> str:
        """Return what it is good for."""
        return ", ".join(token.scopes)

    @admin.display(description=_("ends"), ordering="expires_at")
    def ends(self, token: ApiToken) -> str:
        """Return when it ends."""
        return moment(token.expires_at)

    @admin.display(description=_("last used"), ordering="last_used_at")
    def used(self, token: ApiToken) -> str:
        """Return when it was used last."""
        return moment(token.last_used_at)

    @admin.display(description=_("state"))
    def told(self, token: ApiToken) -> SafeString | str:
        """Return whether it opens a door."""
        return state("revoked" if token.revoked_at else "expired" if token.expired else "valid")

    @admin.action(description=_("Revoke the chosen tokens"), permissions=["change"])
    def revoke(self, request: HttpRequest, tokens: QuerySet[ApiToken]) -> None:
        """Revoke tokens; what is open by them is closed."""
        rows = list(tokens.filter(revoked_at=None))
        count = revoke(ApiToken.objects.filter(pk__in=[row.pk for row in rows]))
        for row in rows:
            self.log_change(request, row, gettext("Revoked"))
        said = ngettext("%d token is revoked.", "%d tokens are revoked.", count) % count
        self.message_user(request, said, messages.SUCCESS if count else messages.WARNING)


@admin.register(Command)
class CommandAdmin(ReadOnly, Rows):
    """Commands that are remembered by their key: asked twice, they are answered alike."""

    list_display = ["key", "type", "user", "of_run", "created"]
    list_filter = ["type", "created_at"]
    list_select_related = ["user", "run"]
    search_fields = ["=key", "user__username", "=run__stream__id"]
    search_help_text = _("A key, the name of a user, or a run's id")
    date_hierarchy = "created_at"
    ordering = ["-pk"]
    late = ("answer", "run__options", "run__error_message")
    fields = ["user", "key", "type", "of_run", "told_answer", "created_at"]

    @admin.display(description=_("run"), ordering="run__topic")
    def of_run(self, command: Command) -> SafeString | str:
        """Return a link to the run that it was about."""
        return link_to(command.run)

    @admin.display(description=_("answer"))
    def told_answer(self, command: Command) -> SafeString:
        """Return what was answered."""
        return as_json(command.answer)
