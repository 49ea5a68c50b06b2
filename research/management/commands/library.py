"""`manage.py library`: add, list, search and remove documents.

Exit codes: 0 done, 1 nothing was found or a file that was named could not be read, 2 not begun.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, NoReturn

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError
from django.db.models import Count
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from research.library.add import AddReport, add_paths
from research.library.find import search
from research.library.remove import remove_collection, remove_documents
from research.models.library import Collection, Document
from research.terminal.language import SpeakingCommand

_SHOWN = 10
_NAME_WIDTH = 40


class Command(SpeakingCommand):
    """Manages the documents that searches see."""

    about = gettext_lazy("Add, list, search and remove documents and collections of them.")

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the verbs."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        add = verbs.add_parser("add", help=_("Add files, or folders with all below them."))
        add.add_argument("path", nargs="+")
        add.add_argument("--collection", help=_("Its name; without one, that of the folder."))
        find = verbs.add_parser("search", help=_("Show the passages that research would find."))
        find.add_argument("query")
        find.add_argument("--collection", help=_("Where to look; without one, everywhere."))
        find.add_argument("--limit", type=int, default=5, help=_("How many passages to show."))
        listed = verbs.add_parser("list", help=_("List the collections, or the documents of one."))
        listed.add_argument("name", nargs="?")
        remove = verbs.add_parser("remove", help=_("Remove a collection, or documents of it."))
        remove.add_argument("name")
        remove.add_argument(
            "document", nargs="*", help=_("Paths; without any, the collection goes.")
        )
        for verb in (add, find, listed, remove):
            verb.add_argument("--user", help=_("Whose it is; without one, everybody's."))

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
            self._stop(_("There is no user %s.") % name)
        return user

    def _collection(self, options: dict[str, Any]) -> Collection:
        user, name = self._user(options), options.get("collection") or options.get("name")
        collection = Collection.objects.filter(name=name, owner=user).first()
        if collection is None:
            said = (
                _("%(user)s has no collection “%(name)s”.")
                if user
                else _("There is no collection “%(name)s” that everybody reads.")
            )
            self._stop(said % {"user": user, "name": name})
        return collection

    # --- add --------------------------------------------------------------------------------------
    def _add(self, options: dict[str, Any]) -> None:
        paths = [Path(path).expanduser() for path in options["path"]]
        for path in paths:
            if not path.exists():
                self._stop(_("There is no %s.") % path)
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
            self.stderr.write(_("left out %(file)s: %(reason)s") % {"file": file, "reason": reason})
        if len(report.skipped) > _SHOWN:
            self.stderr.write(_("left out %d more") % (len(report.skipped) - _SHOWN))
        told = _("%(name)s: %(added)d added, %(updated)d updated, %(unchanged)d unchanged, "
                 "%(removed)d removed, %(skipped)d left out")  # fmt: skip
        counts = {
            "added": report.added, "updated": report.updated, "unchanged": report.unchanged,
            "removed": report.removed, "skipped": len(report.skipped),
        }  # fmt: skip
        self.stdout.write(told % {"name": name, **counts})

    def _with_progress(self, paths: list[Path], name: str, user: Any) -> AddReport:
        console = Console(stderr=True)
        if not console.is_terminal:
            return add_paths(paths, name, user)
        bar = Progress(
            TextColumn(_("Reading")),
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
                said = _("making the index") if done == total else _end(file)
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
            self.stdout.write(
                _("%(name)s: %(n)d documents")
                % {"name": item.name + whose, "n": sizes.get(item.pk, 0)}
            )
        if not found:
            self.stdout.write(_("There are no collections yet."))

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
            self.stderr.write(_("Nothing was found."))
            sys.exit(1)

    # --- remove -----------------------------------------------------------------------------------
    def _remove(self, options: dict[str, Any]) -> None:
        collection = self._collection(options)
        if not options["document"]:
            count = remove_collection(collection)
            self.stdout.write(
                _("%(name)s: removed with %(n)d documents") % {"name": collection.name, "n": count}
            )
            return
        found = collection.documents.filter(path__in=options["document"])
        missing = set(options["document"]) - set(found.values_list("path", flat=True))
        count = remove_documents(found)
        for path in sorted(missing):
            self.stderr.write(_("There is no document “%s”.") % path)
        self.stdout.write(
            _("%(name)s: %(n)d documents removed") % {"name": collection.name, "n": count}
        )
        if missing:
            sys.exit(1)


def _end(name: str) -> str:
    """Return the end of a long path, which tells most."""
    return name if len(name) <= _NAME_WIDTH else f"…{name[1 - _NAME_WIDTH :]}"
