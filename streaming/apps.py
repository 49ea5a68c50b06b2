"""The streaming application."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class StreamingConfig(AppConfig):
    """The log and everything that follows it; knows nothing about research."""

    name = "streaming"
    verbose_name = _("Streaming")
    default_auto_field = "django.db.models.BigAutoField"
