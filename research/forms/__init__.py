"""What a person fills in."""

from .library import CollectionForm
from .notes import NoteForm, moment_of, tags_of
from .start import StartForm
from .tokens import TokenForm

__all__ = ["CollectionForm", "NoteForm", "StartForm", "TokenForm", "moment_of", "tags_of"]
