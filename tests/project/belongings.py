"""Everything that a person can have here, each with a word in it that nobody else may read."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from django.apps import apps
from django.contrib.auth.models import User
from django.urls import URLPattern, URLResolver, get_resolver

from research import models
from research.access import new_token
from research.models import Run
from streaming.models import Blob
from tests.research import recorded

SECRET = "xyzzy-secret"
PASSWORD = "a-long-password"
NO_ROW = 2_000_000_000
APPS = ("auth", "research", "streaming", "admin", "contenttypes")
MASS = {
    **dict.fromkeys(("is_staff", "is_superuser", "is_active"), "on"),
    **{"status": "completed", "cost": "0", "hash": "0" * 64, "prefix": "snd_", "expires_at": ""},
}
"""What a form has no field for, and a stranger adds all the same."""


@dataclass(frozen=True)
class Belongings:
    """One user, a run with rows of every kind, a collection, and the ids to address them by."""

    user: User
    run: Run
    token: str
    ids: dict[str, Any]
    """What each part of an address means: ids that are there, and are this user's."""

    def elsewhere(self) -> dict[str, Any]:
        """Return the same ids, of things that are not there."""
        return self.ids | {
            "run_id": uuid.uuid4(),
            **dict.fromkeys(("token_id", "note", "collection_id", "document_id"), NO_ROW),
        }


def of(name: str, **user: Any) -> Belongings:
    """Make a user, and all that there is to have."""
    owner = User.objects.create_user(name, password=PASSWORD, **user)
    run = recorded.record(owner)
    Run.objects.filter(pk=run.pk).update(topic=SECRET)
    said = {"member": "researcher-1", "work": "task:1", "attempt": 1}
    task = models.Task.objects.create(run=run, task_id=1, step=1, title=SECRET, query=SECRET)
    models.ToolCall.objects.create(run=run, tool_call_id="c1-1", task=task, tool=SECRET, **said)
    note = models.Note.objects.create(
        run=run, note_id=1, task=task, title=SECRET, content=SECRET, tags=[SECRET], **said
    )
    source = run.sources.get(source_id=1)
    models.Source.objects.filter(pk=source.pk).update(title=SECRET)
    models.Citation.objects.create(
        run=run, number=1, section=1, source=source, claim=SECRET, quote=SECRET
    )
    text = f"{SECRET} {name}"
    archive = models.Archive.objects.create(hash=sha256(text.encode()).hexdigest(), text=text)
    collection = models.Collection.objects.create(name=SECRET, owner=owner)
    document = models.Document.objects.create(
        collection=collection, path=f"{SECRET}.md", title=SECRET, archive=archive
    )
    Blob.objects.create(stream=run.stream, hash="0" * 64, text=SECRET)
    token = new_token(owner, SECRET)
    run.refresh_from_db()
    ids = {
        "run_id": run.pk,
        "task_id": 1,
        "tool_call_id": "c1-1",
        "source_id": 1,
        "hash": "0" * 64,
        "note_id": 1,
        "note": note.pk,
        "token_id": models.ApiToken.objects.get(user=owner).pk,
        "collection_id": collection.pk,
        "document_id": document.pk,
        "format": "md",
    }
    return Belongings(owner, run, token, ids)


def rows() -> dict[str, list[Any]]:
    """Return every row of every table but the sessions, without when they were used."""
    return {
        model._meta.label: sorted(map(repr, model._default_manager.values_list(*_columns(model))))
        for app in APPS
        for model in apps.get_app_config(app).get_models()
    }


def _columns(model: Any) -> list[str]:
    names = [field.attname for field in model._meta.concrete_fields]
    return [name for name in names if name not in ("last_login", "last_used_at")]


@dataclass(frozen=True)
class Address:
    """A pattern of the URL conf."""

    route: str
    name: str
    converters: dict[str, Any]

    def path(self, ids: dict[str, Any]) -> str:
        """Return a path that this pattern matches."""
        path = self.route
        for name, converter in self.converters.items():
            assert name in ids, f"/{self.route}: say in tests/project/belongings.py what {name} is"
            for kind in (f"<{_kind(converter)}:{name}>", f"<{name}>"):
                path = path.replace(kind, converter.to_url(ids[name]))
        assert "<" not in path, path
        return f"/{path}"


def addresses() -> list[Address]:
    """Return every address there is, so every one that is added later; the admin's are apart."""
    return list(_walk(get_resolver().url_patterns, ""))


def _walk(patterns: list[Any], before: str) -> Iterator[Address]:
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            if pattern.namespace != "admin":
                yield from _walk(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern):
            yield Address(route, pattern.name or route, dict(pattern.pattern.converters))


def _kind(converter: Any) -> str:
    from django.urls.converters import get_converters

    return next(name for name, known in get_converters().items() if type(known) is type(converter))
