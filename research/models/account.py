"""How a person's programs come in: tokens and remembered commands."""

from django.conf import settings
from django.db import models

from .run import Run


class ApiToken(models.Model):
    """A key for API clients; only its hash is kept."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80, blank=True)
    prefix = models.CharField(max_length=12, help_text="Its first characters, to tell it by.")
    hash = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the token, in hex.")
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.prefix}…"


class Command(models.Model):
    """A command that was carried out under an idempotency key."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="commands")
    key = models.CharField(max_length=200)
    type = models.CharField(max_length=32)
    request_hash = models.CharField(max_length=64)
    run = models.ForeignKey(Run, models.CASCADE, null=True, related_name="commands")
    answer = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "key"], name="command_key_once_a_user"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.key}"
