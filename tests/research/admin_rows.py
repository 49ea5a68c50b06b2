"""Rows of every kind that the admin shows, with a text of one's choice wherever one can be."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Permission, User
from django.urls import reverse

from research import models
from research.models import Run
from streaming.models import EventRow, Fence, Stream
from tests.research import recorded

READ_ONLY = (
    models.Run,
    models.Work,
    models.Task,
    models.Member,
    models.ToolCall,
    models.Source,
    models.Citation,
    models.Steer,
    models.Document,
    models.Archive,
    models.Command,
    EventRow,
    Stream,
)
KINDS = (*READ_ONLY, models.Note, models.Collection, models.ApiToken)


def name_of(model: Any) -> str:
    return f"admin:{model._meta.app_label}_{model._meta.model_name}"


def list_of(model: Any) -> str:
    return reverse(f"{name_of(model)}_changelist")


def page_of(row: Any) -> str:
    return reverse(f"{name_of(type(row))}_change", args=[row.pk])


def with_rows(run: Run, text: str = "<script>alert(1)</script>") -> Run:
    """Add a row of every kind to a run."""
    said = {"member": text[:64], "work": "task:1", "attempt": 1}
    task = models.Task.objects.create(
        run=run, task_id=1, step=1, title=text, query=text, summary=text, member=text[:64]
    )
    models.Work.objects.create(
        run=run, name="task:1", member=text[:64], input={text: text}, error_code=text[:40]
    )
    models.Member.objects.create(run=run, name=text[:64], role="teammate")
    models.ToolCall.objects.create(
        run=run,
        tool_call_id=text[:64],
        task=task,
        tool=text[:60],
        args={"query": text},
        result=text,
        status=text[:16],
        **said,
    )
    models.Note.objects.create(
        run=run, note_id=1, task=task, title=text, content=text, tags=[text], **said
    )
    Run.objects.filter(pk=run.pk).update(last_note=1)
    source = run.sources.all()[0]
    models.Source.objects.filter(pk=source.pk).update(
        title=text, uri=f"https://evil.test/{text}", site=text[:200], provider=text[:32]
    )
    models.Citation.objects.create(
        run=run, number=1, section=1, source=source, claim=text, quote=text, verdict=text[:16]
    )
    models.Steer.objects.create(run=run, number=1, by=text[:64], to=text[:64], text=text)
    collection = models.Collection.objects.create(name=text[:80])
    archive = models.Archive.objects.create(hash=run.pk.hex * 2, text=text)
    models.Document.objects.create(
        collection=collection, path=text[:500], title=text, archive=archive, outline=[text]
    )
    models.ApiToken.objects.create(
        user=run.user, name=text[:80], prefix="snd_abcd", hash=run.pk.hex * 2
    )
    models.Command.objects.create(
        user=run.user, key=text[:200], type="start", run=run, answer={"said": text}
    )
    Fence.objects.create(stream=run.stream, name=text[:64])
    run.refresh_from_db()
    return run


def more_rows(run: Run, count: int) -> None:
    """Add many rows of every kind, each with all that it refers to."""
    for number in range(100, 100 + count):
        said = {"member": "m", "work": "w", "attempt": 1}
        other = recorded.record(User.objects.create_user(f"user-{number}"), [])
        task = models.Task.objects.create(run=other, task_id=1, step=1, title="t", query="q")
        models.Work.objects.create(run=other, name="plan", member="leader")
        models.ToolCall.objects.create(run=other, tool_call_id="c", task=task, tool="t", **said)
        models.Note.objects.create(
            run=other, note_id=number, task=task, title="t", content="c", **said
        )
        models.Citation.objects.create(
            run=other, number=1, section=1, source=other.sources.all()[0], claim="c", quote="q"
        )
        models.Steer.objects.create(run=other, number=1, by="b", text="t")
        collection = models.Collection.objects.create(name="c", owner=other.user)
        archive = models.Archive.objects.create(hash=f"{number:064}", text="t")
        models.Document.objects.create(collection=collection, path="p", title="t", archive=archive)
        models.ApiToken.objects.create(user=other.user, prefix="snd_", hash=f"{number:064}")
        models.Command.objects.create(user=other.user, key="k", type="start", run=other)


def staff_with(*permissions: str) -> User:
    """Return a member of staff who may do these things and no more."""
    user = User.objects.create_user("staff", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    assert user.user_permissions.count() == len(permissions)
    return user
