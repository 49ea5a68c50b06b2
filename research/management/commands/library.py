"""`manage.py library`: add, list, search and remove documents.

Exit codes: 0 done, 1 nothing was found or a file that was named could not be read, 2 not begun.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, NoReturn

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError
from django.db.models import Count
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from research.library.add import AddReport, add_paths
from research.library.find import search
from research.library.remove import remove_collection, remove_documents
from research.models.library import Collection, Document

_SHOWN = 10
_NAME_WIDTH = 40


class Command(BaseCommand):
    """Manages the documents that searches see."""

    help = "Add, list, search and remove documents and collections of them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the verbs."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        add = verbs.add_parser("add", help="Add files, or folders with all below them.")
        add.add_argument("path", nargs="+")
        add.add_argument("--collection", help="Its name; without one, that of the folder.")
        find = verbs.add_parser("search", help="Show the passages that research would find.")
        find.add_argument("query")
        find.add_argument("--collection", help="Where to look; without one, everywhere.")
        find.add_argument("--limit", type=int, default=5, help="How many passages to show.")
        listed = verbs.add_parser("list", help="List the collections, or the documents of one.")
        listed.add_argument("name", nargs="?")
        remove = verbs.add_parser("remove", help="Remove a collection, or documents of it.")
        remove.add_argument("name")
        remove.add_argument("document", nargs="*", help="Paths; without any, the collection goes.")
        for verb in (add, find, listed, remove):
            verb.add_argument("--user", help="Whose it is; without one, everybody's.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Carry the verb out."""
        getattr(self, f"_{options['verb']}")(options)

    def _stop(self, message: str) -> NoReturn:
        raise CommandError(message, returncode=2)

    def _user(self, options: dict[str, Any]) -> Any:
        name = options.get("user")
        if not name:
            return None
        model = get_user_model()
        user = model.objects.filter(**{model.USERNAME_FIELD: name}).first()
        if user is None:
            self._stop(f"There is no user {name!r}.")
        return user

    def _collection(self, options: dict[str, Any]) -> Collection:
        user, name = self._user(options), options.get("collection") or options.get("name")
        collection = Collection.objects.filter(name=name, owner=user).first()
        if collection is None:
            whose = f" of {user}" if user else " that everybody reads"
            self._stop(f"There is no collection {name!r}{whose}.")
        return collection

    # --- add --------------------------------------------------------------------------------------
    def _add(self, options: dict[str, Any]) -> None:
        paths = [Path(path).expanduser() for path in options["path"]]
        for path in paths:
            if not path.exists():
                self._stop(f"There is no {path}.")
        user = self._user(options)
        named: dict[str, list[Path]] = {}
        for path in paths:
            folder = path.resolve() if path.is_dir() else path.resolve().parent
            named.setdefault(options["collection"] or folder.name or "documents", []).append(path)
        alone = {path.name for path in paths if not path.is_dir()}
        unread = False
        for name, some in named.items():
            report = self._with_progress(some, name, user)
            unread = unread or any(file in alone for file, _ in report.skipped)
            self._tell(name, report)
        if unread:
            sys.exit(1)

    def _tell(self, name: str, report: AddReport) -> None:
        for file, reason in report.skipped[:_SHOWN]:
            self.stderr.write(f"left out {file}: {reason}")
        if len(report.skipped) > _SHOWN:
            self.stderr.write(f"left out {len(report.skipped) - _SHOWN} more")
        self.stdout.write(
            f"{name}: {report.added} added, {report.updated} updated, "
            f"{report.unchanged} unchanged, {report.removed} removed, "
            f"{len(report.skipped)} left out"
        )

    def _with_progress(self, paths: list[Path], name: str, user: Any) -> AddReport:
        console = Console(stderr=True)
        if not console.is_terminal:
            return add_paths(paths, name, user)
        bar = Progress(
            TextColumn("Reading"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[name]}", markup=False),
            console=console,
            transient=True,
        )
        with bar:
            task = bar.add_task("read", total=None, name="")

            def show(done: int, total: int, file: str) -> None:
                said = "making the index" if done == total else _end(file)
                bar.update(task, completed=done, total=total, name=said)

            return add_paths(paths, name, user, show)

    # --- look -------------------------------------------------------------------------------------
    def _list(self, options: dict[str, Any]) -> None:
        if options["name"]:
            documents = self._collection(options).documents.order_by("path")
            for path, title in documents.values_list("path", "title").iterator(chunk_size=500):
                self.stdout.write(f"{path}  {title}")
            return
        found = Collection.objects.order_by("name").select_related("owner")
        if options["user"]:
            found = found.filter(owner=self._user(options))
        sizes = dict(Document.objects.values_list("collection").annotate(n=Count("pk")).order_by())
        for item in found:
            whose = f" ({item.owner})" if item.owner else ""
            self.stdout.write(f"{item.name}{whose}: {sizes.get(item.pk, 0)} documents")
        if not found:
            self.stdout.write("There are no collections yet.")

    def _search(self, options: dict[str, Any]) -> None:
        if options["collection"]:
            ids = [self._collection(options).pk]
        else:
            user = self._user(options)
            ids = list(Collection.objects.readable_by(user).values_list("pk", flat=True))
        passages = search(ids, options["query"], max(1, options["limit"])).passages
        paths = dict(
            Document.objects.filter(
                pk__in=[passage.document_id for passage in passages if passage.document_id]
            ).values_list("pk", "path")
        )
        console = Console(file=self.stdout, highlight=False)  # type: ignore[arg-type]
        for number, passage in enumerate(passages):
            if number:
                console.print()
            place = " > ".join(dict.fromkeys((passage.title, *passage.headings)))
            console.print(Text(place, style="bold"))
            console.print(Text(paths.get(passage.document_id or 0, ""), style="dim"))
            console.print(Text(passage.text))
        if not passages:
            self.stderr.write("Nothing was found.")
            sys.exit(1)

    # --- remove -----------------------------------------------------------------------------------
    def _remove(self, options: dict[str, Any]) -> None:
        collection = self._collection(options)
        if not options["document"]:
            count = remove_collection(collection)
            self.stdout.write(f"{collection.name}: removed with {count} documents")
            return
        found = collection.documents.filter(path__in=options["document"])
        missing = set(options["document"]) - set(found.values_list("path", flat=True))
        count = remove_documents(found)
        for path in sorted(missing):
            self.stderr.write(f"There is no document {path!r}.")
        self.stdout.write(f"{collection.name}: {count} documents removed")
        if missing:
            sys.exit(1)


def _end(name: str) -> str:
    """Return the end of a long path, which tells most."""
    return name if len(name) <= _NAME_WIDTH else f"…{name[1 - _NAME_WIDTH :]}"
