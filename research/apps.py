"""The research application."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ResearchConfig(AppConfig):
    """The team, its tools and its pages."""

    name = "research"
    verbose_name = _("Research")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the commands and faces that only research knows."""
        from . import commands  # noqa: F401  registers on import
        from .faces import html  # noqa: F401  registers on import
