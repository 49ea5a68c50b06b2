"""RunOptions: what one may choose when a run is started. Closed: an unknown option is an error."""

from __future__ import annotations

from typing import Annotated, Any

from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field

from research.models import Collection
from streaming.exceptions import BadRequest


class RunOptions(BaseModel):
    """The choices for one run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    researchers: Annotated[int, Field(ge=1, le=8)] = 3
    collections: Annotated[list[int | str], Field(max_length=50)] | None = None
    """Ids or names of collections to search; all that the user may read if there are none."""
    sources: Annotated[list[str], Field(min_length=1, max_length=20)] | None = None
    """Search providers to ask; all of this site if there are none."""

    def resolved(self, user: Any) -> RunOptions:
        """Return the options with ids of collections that this user may read; else `BadRequest`."""
        for name in self.sources or ():
            if name not in settings.SEARCH_PROVIDERS:
                raise BadRequest(f"This site has no search provider {name!r}.", code="no_provider")
        if self.collections is None:
            return self
        readable = list(Collection.objects.readable_by(user).values_list("pk", "name"))
        by_name = {name: pk for pk, name in readable}
        ids = {pk for pk, _ in readable}
        chosen: list[int | str] = []
        for item in self.collections:
            pk = item if isinstance(item, int) else by_name.get(item)
            if pk not in ids:
                raise BadRequest(f"There is no collection {item!r}.", code="no_collection")
            chosen.append(pk)
        return self.model_copy(update={"collections": chosen})
