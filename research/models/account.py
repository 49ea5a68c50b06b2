"""How a person's programs come in: tokens and remembered commands."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from .run import Run


class Scope(models.TextChoices):
    """What a token can be good for."""

    READ_RUNS = "runs:read", _("read research: follow it, fetch it, export it")
    WRITE_RUNS = "runs:write", _("start research, steer it and cancel it")
    NOTES = "notes", _("read and change notes")


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    """Finds tokens."""

    def valid(self) -> ApiTokenQuerySet:
        """Return the tokens that open a door now."""
        lasts = models.Q(expires_at=None) | models.Q(expires_at__gt=timezone.now())
        return self.filter(lasts, revoked_at=None, user__is_active=True)


class ApiToken(models.Model):
    """A key for API clients; only its hash is kept."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, verbose_name=_("user"), related_name="api_tokens"
    )
    name = models.CharField(_("name"), max_length=80, blank=True)
    prefix = models.CharField(
        _("beginning"), max_length=12, help_text=_("Its first characters, to tell it by.")
    )
    hash = models.CharField(
        _("hash"), max_length=64, unique=True, help_text=_("SHA-256 of the token, in hex.")
    )
    scopes = models.JSONField(_("scopes"), default=list, help_text=_("What it is good for."))
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    expires_at = models.DateTimeField(
        _("ends"), null=True, blank=True, help_text=_("Empty: never.")
    )
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)
    last_used_at = models.DateTimeField(
        _("last used"), null=True, blank=True, help_text=_("To the minute.")
    )

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("API token"), _("API tokens")
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.prefix}…"

    @property
    def expired(self) -> bool:
        """Tell whether its time is over."""
        return self.expires_at is not None and self.expires_at <= timezone.now()


class SignInTries(models.Model):
    """How often somebody tried to sign in under one name from one address, of late."""

    key = models.CharField(
        _("key"), max_length=64, primary_key=True, help_text=_("A hash of the two.")
    )
    count = models.PositiveIntegerField(_("count"), default=0)
    since = models.DateTimeField(_("since"), db_index=True)

    class Meta:
        verbose_name, verbose_name_plural = _("sign-in tries"), _("sign-in tries")

    def __str__(self) -> str:
        return f"{self.count} since {self.since:%H:%M}"


class Command(models.Model):
    """A command that was carried out under an idempotency key."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, verbose_name=_("user"), related_name="commands"
    )
    key = models.CharField(_("key"), max_length=200)
    type = models.CharField(_("type"), max_length=32)
    request_hash = models.CharField(_("hash of the request"), max_length=64)
    run = models.ForeignKey(
        Run, models.CASCADE, verbose_name=_("run"), null=True, related_name="commands"
    )
    answer = models.JSONField(_("answer"), default=dict)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name, verbose_name_plural = _("command"), _("commands")
        constraints = [
            models.UniqueConstraint(fields=["user", "key"], name="command_key_once_a_user"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.key}"
