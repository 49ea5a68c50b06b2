"""The models there are, by name. Nothing else in the code asks which one it has."""

from __future__ import annotations

from functools import cache

from django.conf import settings
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model


def model(role: str) -> Model:
    """Return the model that the settings give a role: its own, or the one for all."""
    return by_name(settings.RESEARCH_MODELS.get(role) or settings.RESEARCH_MODEL)


@cache
def by_name(name: str) -> Model:
    """Return a model: `keyless`, `scripted:<path>`, or any name that pydantic-ai knows.

    Raises `UserError` where there is no such model.
    """
    if name == "keyless":
        from .keyless import KeylessModel

        return KeylessModel()
    kind, _, rest = name.partition(":")
    if kind == "scripted":
        from .scripted import ScriptedModel

        try:
            return ScriptedModel(rest)
        except (OSError, ValueError) as error:
            raise UserError(f"{rest} is not a script.") from error
    return infer_model(name)
