"""Which of a person's notes are meant: by words, research, kind and tag."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self
from urllib.parse import urlencode
from uuid import UUID

from django.db import connection
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from research.models import Note, Run

WORDS = 8
OFFERED = 100  # of each kind of choice
LOOKED_AT = 5_000  # of the newest notes, for the tags that are offered


@dataclass(frozen=True)
class NoteFilter:
    """What a person asked for. What makes no sense is as if it had not been asked."""

    user: Any
    q: str = ""
    run: UUID | None = None
    kind: str = ""
    tag: str = ""

    @classmethod
    def of(cls, user: Any, given: Mapping[str, str]) -> Self:
        """Read it from an address."""
        try:
            run = UUID(given.get("run", ""))
        except ValueError:
            run = None
        kind, tag = given.get("kind", "")[:32], given.get("tag", "")[:64]
        return cls(user, given.get("q", "").strip()[:200].replace("\0", ""), run, kind, tag)

    @property
    def mine(self) -> QuerySet[Note]:
        """Return all notes of the person's runs."""
        return Note.objects.filter(run__user=self.user)

    @property
    def notes(self) -> QuerySet[Note]:
        """Return the notes that are meant, the newest first."""
        found = self.mine
        for word in self.q.split()[:WORDS]:
            named = (
                Q(title__icontains=word) | Q(content__icontains=word) | Q(member__icontains=word)
            )
            found = found.filter(named)
        if self.run:
            found = found.filter(run=self.run)
        if self.kind:
            found = found.filter(note_type=self.kind)
        if self.tag:
            found = tagged(found, self.tag)
        return found.order_by("-pk")

    @property
    def asks(self) -> bool:
        """Tell whether anything was asked for."""
        return bool(self.q or self.run or self.kind or self.tag)

    @property
    def query(self) -> str:
        """Return it as the query of an address."""
        given = {"q": self.q, "run": self.run or "", "kind": self.kind, "tag": self.tag}
        return urlencode({name: value for name, value in given.items() if value})

    # --- what may be chosen ---------------------------------------------------------------------
    @cached_property
    def runs(self) -> list[Run]:
        """Return the person's newest runs that have notes, and the one that was chosen."""
        mine = Run.objects.visible_to(self.user).only("topic", "created_at")
        runs = list(mine.filter(pk__in=self.mine.values("run")).order_by("-created_at")[:OFFERED])
        if self.run and self.run not in {run.pk for run in runs}:
            runs += mine.filter(pk=self.run)
        return runs

    @cached_property
    def kinds(self) -> list[str]:
        """Return the kinds of notes that there are."""
        return list(self.mine.order_by("note_type").values_list("note_type", flat=True).distinct())

    @cached_property
    def tags(self) -> list[str]:
        """Return the tags that are used most, and the one that was chosen."""
        newest = self.mine.exclude(tags=[]).order_by("-pk").values_list("tags", flat=True)
        used = Counter(tag for tags in newest[:LOOKED_AT] for tag in tags)
        names = {tag for tag, _ in used.most_common(OFFERED)} | ({self.tag} if self.tag else set())
        return sorted(names, key=str.casefold)


def tagged(notes: QuerySet[Note], tag: str) -> QuerySet[Note]:
    """Return those of the notes that have a tag."""
    if connection.features.supports_json_field_contains:
        return notes.filter(tags__contains=[tag])
    # As JSON a tag stands in quotes, and so is none that only contains it.
    told = notes.annotate(tags_told=Cast("tags", TextField()))
    return told.filter(tags_told__contains=json.dumps(tag))
