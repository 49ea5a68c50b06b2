"""The streaming application."""

from django.apps import AppConfig


class StreamingConfig(AppConfig):
    """The log and everything that follows it; knows nothing about research."""

    name = "streaming"
    default_auto_field = "django.db.models.BigAutoField"
