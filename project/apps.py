"""The project as an application: it brings the system checks."""

from django.apps import AppConfig


class ProjectConfig(AppConfig):
    """What holds research and streaming together."""

    name = "project"

    def ready(self) -> None:
        """Register the system checks."""
        from . import checks  # noqa: F401  registers on import
