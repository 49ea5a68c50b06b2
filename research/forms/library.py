"""Collections of documents."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from research.library.names import visible
from research.library.rights import may_share
from research.models import Collection


class CollectionForm(forms.Form):
    """A collection of documents to be made, or another name for one."""

    name = forms.CharField(
        label=_("Name"),
        max_length=80,
        error_messages={"required": _("Give the collection a name.")},
    )
    shared = forms.BooleanField(label=_("Everybody on this site may read it"), required=False)

    def __init__(
        self, *args: Any, user: Any, collection: Collection | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        self.collection = collection
        if collection is not None or not may_share(user):
            del self.fields["shared"]

    def clean(self) -> dict[str, Any]:
        """Keep what can be seen of the name, and see that it is not taken."""
        cleaned: dict[str, Any] = super().clean() or {}
        name = visible(cleaned.get("name", ""))
        if not self.errors and not any(map(str.isalnum, name)):
            self.add_error("name", _("Give the collection a name."))
        same = Collection.objects.filter(name=name, owner=self.owner)
        if self.collection is not None:
            same = same.exclude(pk=self.collection.pk)
        if same.exists():
            self.add_error("name", _("There is a collection of that name already."))
        return {**cleaned, "name": name}

    @property
    def owner(self) -> Any:
        """Return whose it is: nobody's if everybody reads it."""
        if self.collection is not None:
            return self.collection.owner
        return None if self.data.get("shared") and "shared" in self.fields else self.user

    def make(self) -> Collection:
        """Make the collection; pressed twice, it is made once."""
        made: Collection
        made, _created = Collection.objects.get_or_create(
            name=self.cleaned_data["name"], owner=self.owner
        )
        return made

    def rename(self) -> None:
        """Give the collection its new name."""
        assert self.collection is not None
        self.collection.name = self.cleaned_data["name"]
        self.collection.save(update_fields=["name"])
