"""`manage.py library`: add, list and remove collections of documents."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from research.library.add import AddReport, add_path
from research.library.remove import remove_collection
from research.models.library import Collection

_SHOWN = 10


class Command(BaseCommand):
    """Manages the documents that searches see."""

    help = "Add, list and remove collections of documents."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare `add`, `list` and `remove`."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        add = verbs.add_parser("add", help="Add a file or a folder.")
        add.add_argument("path")
        add.add_argument("--collection", help="Its name; without one, the folder's.")
        add.add_argument("--owner", help="Whose it is; without one, everybody reads it.")
        verbs.add_parser("list", help="List the collections.")
        remove = verbs.add_parser("remove", help="Remove a collection and its documents.")
        remove.add_argument("name")
        remove.add_argument("--owner", help="Whose it is, if it has an owner.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Carry the verb out."""
        getattr(self, f"_{options['verb']}")(options)

    def _owner(self, options: dict[str, Any]) -> Any:
        name = options.get("owner")
        if not name:
            return None
        model = get_user_model()
        owner = model.objects.filter(**{model.USERNAME_FIELD: name}).first()
        if owner is None:
            raise CommandError(f"There is no user {name!r}.")
        return owner

    def _add(self, options: dict[str, Any]) -> None:
        path = Path(options["path"]).expanduser()
        if not path.exists():
            raise CommandError(f"There is no {path}.")
        name = options["collection"] or path.resolve().name
        report = self._with_progress(path, name, self._owner(options))
        for file, reason in report.skipped[:_SHOWN]:
            self.stdout.write(f"skipped {file}: {reason}")
        if len(report.skipped) > _SHOWN:
            self.stdout.write(f"skipped {len(report.skipped) - _SHOWN} more")
        self.stdout.write(
            f"{name}: {report.added} added, {report.updated} updated, "
            f"{report.unchanged} unchanged, {report.removed} removed, "
            f"{len(report.skipped)} skipped"
        )

    def _with_progress(self, path: Path, name: str, owner: Any) -> AddReport:
        if not self.stdout.isatty():
            return add_path(path, name, owner)
        bar = Progress(
            TextColumn("Reading"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[name]}"),
            console=Console(stderr=True),
            transient=True,
        )
        with bar:
            task = bar.add_task("read", total=None, name="")
            return add_path(
                path,
                name,
                owner,
                lambda done, total, file: bar.update(task, completed=done, total=total, name=file),
            )

    def _list(self, options: dict[str, Any]) -> None:
        found = Collection.objects.order_by("name").select_related("owner")
        for item in found:
            whose = f" ({item.owner})" if item.owner else ""
            self.stdout.write(f"{item.name}{whose}: {item.documents.count()} documents")
        if not found:
            self.stdout.write("There are no collections yet.")

    def _remove(self, options: dict[str, Any]) -> None:
        owner = self._owner(options)
        collection = Collection.objects.filter(name=options["name"], owner=owner).first()
        if collection is None:
            raise CommandError(f"There is no collection {options['name']!r}.")
        count = remove_collection(collection)
        self.stdout.write(f"{options['name']}: removed with {count} documents")
