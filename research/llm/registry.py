"""The models there are, by name. Nothing else in the code asks which one it has."""

from __future__ import annotations

from functools import cache

from django.conf import settings
from pydantic_ai.models import Model, infer_model


def model(role: str) -> Model:
    """Return the model that the settings give a role: its own, or the one for all."""
    return by_name(settings.RESEARCH_MODELS.get(role) or settings.RESEARCH_MODEL)


@cache
def by_name(name: str) -> Model:
    """Return a model: `keyless`, `scripted:<path>`, or any name that pydantic-ai knows."""
    if name == "keyless":
        from .keyless import KeylessModel

        return KeylessModel()
    kind, _, rest = name.partition(":")
    if kind == "scripted":
        from .scripted import ScriptedModel

        return ScriptedModel(rest)
    return infer_model(name)
