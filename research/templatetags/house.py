"""What the admin's first page shows above its lists."""

from __future__ import annotations

from typing import Any

from django import template

from research.admin import glance

register = template.Library()


@register.inclusion_tag("admin/glance.html")
def house(user: Any) -> dict[str, Any]:
    """Show the house at a glance, to those who may see runs."""
    return {"glance": glance.glance(user)}
