"""Who may see and who may change a collection."""

from __future__ import annotations

from typing import Any

from research.models.library import Collection
from streaming.exceptions import NotFound


def visible_collection(user: Any, collection_id: int) -> Collection:
    """Return a collection that this user may see; `NotFound`, the same as for one that is not."""
    found = Collection.objects.readable_by(user).filter(pk=collection_id).first()
    if found is None:
        raise NotFound("There is no such collection.")
    return found


def may_change(user: Any, collection: Collection) -> bool:
    """Tell whether a user may add to a collection, take from it, rename and delete it."""
    if collection.owner_id is not None:
        return bool(collection.owner_id == user.pk)
    return may_share(user)


def may_share(user: Any) -> bool:
    """Tell whether a user may have collections that everybody on this site reads."""
    return bool(user.is_staff and user.has_perm("research.change_collection"))
