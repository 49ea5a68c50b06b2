"""Export: a run as Markdown, HTML, PDF, DOCX or JSON."""

from .base import FORMATS, Exported, Format, export

__all__ = ["FORMATS", "Exported", "Format", "export"]
